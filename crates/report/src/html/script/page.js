// The page: builds every chart, and draws all anew where the window or the colours change.

const build = async (element, figure) => {
  const zooms = figure.kind === "spans" || figure.kind === "panels" || (figure.kind === "curves" && !isLog(figure.x) && figure.x.scale !== "names");
  const chart = { element, figure: unpack(figure), range: null, hidden: new Set(), zooms };
  const title = document.getElementById(figure.id).textContent;
  chart.keys = keys(chart);
  element.before(make("div", { className: "above" }, chart.keys, ...(zooms ? [tools(chart, title)] : [])));
  await draw(chart);
  element.on("plotly_relayout", (change) => {
    if (change["xaxis.autorange"]) return show(chart, null);
    if (!("xaxis.range[0]" in change)) return undefined;
    return show(chart, whole(chart));
  });
  chart.full = whole(chart);
  return chart;
};

const start = async () => {
  const [figures, library] = await Promise.all([inflate("figures"), inflate("library")]);
  document.head.append(make("script", { textContent: library }));
  const byId = new Map(JSON.parse(figures).map((figure) => [figure.id, figure]));
  const charts = [];
  for (const element of document.querySelectorAll(".chart")) {
    charts.push(await build(element, byId.get(element.dataset.figure)));
    // Lets the browser show what there is so far.
    await new Promise((next) => setTimeout(next));
  }
  const redraw = () => charts.forEach((chart) => {
    const fresh = keys(chart);
    chart.keys.replaceWith(fresh);
    chart.keys = fresh;
    draw(chart);
  });
  const button = document.getElementById("theme");
  const label = () => { button.textContent = root.dataset.theme === "dark" ? "Light theme" : "Dark theme"; };
  button.onclick = () => {
    remember(root.dataset.theme === "dark" ? "light" : "dark");
    root.dataset.theme = remembered() ?? (root.dataset.theme === "dark" ? "light" : "dark");
    label();
    redraw();
  };
  label();
  button.hidden = false;
  dark.addEventListener("change", () => { applyTheme(); label(); redraw(); });
  let waiting;
  addEventListener("resize", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => charts.forEach((c) => c.width !== c.element.clientWidth && draw(c)), 150);
  });
  const printing = (on) => () => { root.toggleAttribute("data-printing", on); redraw(); };
  addEventListener("beforeprint", printing(true));
  addEventListener("afterprint", printing(false));
  root.dataset.drawn = String(charts.length);
};
document.addEventListener("DOMContentLoaded", start);
