"use strict";
// All text is inserted with textContent, so that names of tasks and nodes are never read as HTML.
const MOST_NODES = 500;
const PERIOD_MS = 2000;
const byId = (id) => document.getElementById(id);

function element(name, text, className) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}

const time = (ms) => new Date(ms).toLocaleTimeString();

function number(value) {
  if (value === 0 || Math.abs(value) >= 100) return Math.round(value).toLocaleString();
  return Number(value.toPrecision(3)).toLocaleString();
}

function tile(value, label) {
  const made = element("div", undefined, "tile");
  made.append(element("b", value), element("span", label));
  return made;
}

function tiles(status) {
  const used = status.nodes.filter((node) => node.task !== null).length;
  const finished = status.tasks.filter((task) => task.state === "finished").length;
  const share = status.idle_node_s > 0 ? (100 * status.used_node_s) / status.idle_node_s : 0;
  return [
    tile(String(status.nodes.length), "idle nodes held"),
    tile(String(used), "nodes used"),
    tile(number(status.used_node_s / 3600), "node-hours harvested"),
    tile(share.toFixed(1) + " %", "of idle time held"),
    tile(finished + " of " + status.tasks.length, "tasks finished"),
    tile(String(status.pilots_pending), "pilots pending"),
    tile(String(status.preemptions), "preemptions"),
    ...(status.handover ? [tile(status.handover.longest_s.toFixed(1) + " s", "longest handover")] : []),
  ];
}

function progressCell(task) {
  const cell = element("td");
  if (task.work === null) {
    cell.textContent = number(task.done);
    return cell;
  }
  const bar = element("progress");
  bar.max = 1;
  bar.value = Math.min(1, task.done / task.work);
  bar.setAttribute("aria-label", "progress of " + task.name);
  const percent = Math.floor((100 * task.done) / task.work);
  cell.append(bar, element("span", " " + percent + " % of " + number(task.work)));
  return cell;
}

function taskRow(task) {
  const row = element("tr");
  const name = element("td", task.name, "name");
  if (task.groups.length > 0) name.append(element("small", "in " + task.groups.join(", ")));
  if (task.reason) name.append(element("small", task.reason));
  const nodes = task.nodes === task.running ? String(task.nodes) : task.running + " of " + task.nodes;
  const speeds = task.rates.map(({ class: kind, nodes, rate }) => (kind ? nodes + " " + kind : nodes) + ": " + number(rate) + "/s");
  row.append(
    name,
    element("td", task.state),
    element("td", nodes, "number"),
    progressCell(task),
    element("td", String(task.generation), "number"),
    element("td", speeds.join(", ")),
  );
  return row;
}

function searchRow(search) {
  const row = element("tr");
  const trials =
    search.started + " of " + search.trials + " started, " + search.stopped + " stopped, " + search.finished + " finished";
  const best = element("td");
  if (search.best !== null) {
    best.textContent = search.best.trial + ": loss " + number(search.best.loss) + " at " + number(search.best.resource);
    const parameters = Object.entries(search.best.parameters).map(([name, value]) => name + " = " + value);
    best.append(element("small", parameters.join(", ")));
  }
  row.append(
    element("td", search.name, "name"),
    element("td", search.algorithm),
    element("td", search.state),
    element("td", trials),
    best,
  );
  return row;
}

function nodeItem(node) {
  const task = node.task === null ? "idle" : node.task;
  const name = node.class ? node.name + " (" + node.class + ")" : node.name;
  const item = element("li", name + ": " + task, node.task === null ? "" : "used");
  if (node.ends !== null) item.title = "until " + time(node.ends);
  return item;
}

function nodeItems(nodes) {
  const items = nodes.slice(0, MOST_NODES).map(nodeItem);
  if (nodes.length > MOST_NODES) {
    items.push(element("li", "and " + (nodes.length - MOST_NODES) + " more"));
  }
  return items;
}

function decisionItem(decision) {
  const item = element("li");
  item.append(element("time", time(decision.time * 1000)), element("span", decision.why));
  const changes = element("ul");
  changes.append(...decision.changes.map((change) => element("li", change)));
  if (decision.changes.length > 0) item.append(changes);
  return item;
}

// Replaces the content of an element, and shows a sentence if there is none.
function fill(container, items, absent) {
  container.replaceChildren(...items);
  byId(absent).hidden = items.length > 0;
}

function show(status) {
  byId("mode").textContent = status.mode;
  byId("when").textContent =
    "as of " + new Date(status.now).toLocaleString() + ", since " + new Date(status.since).toLocaleString();
  byId("tiles").replaceChildren(...tiles(status));
  fill(byId("tasks").tBodies[0], status.tasks.map(taskRow), "no-tasks");
  byId("tasks").parentElement.hidden = status.tasks.length === 0;
  byId("searches").tBodies[0].replaceChildren(...status.searches.map(searchRow));
  byId("search-section").hidden = status.searches.length === 0;
  fill(byId("nodes"), nodeItems(status.nodes), "no-nodes");
  fill(byId("decisions"), status.decisions.map(decisionItem), "no-decisions");
}

let answered = Date.now();

async function update() {
  const trouble = byId("trouble");
  try {
    const response = await fetch("status.json", { cache: "no-store" });
    if (!response.ok) throw new Error(String(response.status));
    show(await response.json());
    answered = Date.now();
    trouble.hidden = true;
  } catch {
    trouble.textContent = "No answer from the daemon since " + time(answered) + ". The figures below are old.";
    trouble.hidden = false;
  }
  setTimeout(update, PERIOD_MS);
}

const embedded = JSON.parse(byId("data").textContent);
if (embedded === null) {
  update();
} else {
  show(embedded);
}
