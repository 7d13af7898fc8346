// Buttons that zoom, and a legend that hides and shows.

const whole = (chart) => {
  const axis = chart.element._fullLayout.xaxis;
  return axis.range.map((value) => axis.r2l(value));
};
const show = (chart, range) => { chart.range = range; return draw(chart); };
// Scales the part in view about its middle and moves it by a share of its length.
const move = (chart, scale, shift) => {
  const [low, high] = chart.range ?? whole(chart);
  const length = Math.min((high - low) * scale, chart.full[1] - chart.full[0]);
  const middle = (low + high) / 2 + shift * (high - low);
  const start = Math.max(chart.full[0], Math.min(middle - length / 2, chart.full[1] - length));
  return show(chart, [start, start + length]);
};

const tools = (chart, title) => {
  const buttons = [
    ["−", "Zoom out", () => move(chart, 2, 0)], ["+", "Zoom in", () => move(chart, 0.5, 0)],
    ["‹", "Move left", () => move(chart, 1, -0.25)], ["›", "Move right", () => move(chart, 1, 0.25)],
    ["All", "Show all", () => show(chart, null)],
  ].map(([text, label, onclick]) => {
    const button = make("button", { type: "button", textContent: text, title: label, onclick });
    button.setAttribute("aria-label", `${label}: ${title}`);
    return button;
  });
  return make("div", { className: "tools" }, ...buttons);
};

const swatch = (mark, figure) => {
  const solid = figure.kind !== "curves" || mark.shape === "area" || mark.shape === "mean-area" || mark.shape === "points";
  const colour = shade(mark.colour);
  const dash = { solid: "", dash: "5 3", dot: "1.5 2.5", dashdot: "5 2 1.5 2", longdash: "8 3", longdashdot: "8 2 1.5 2" };
  const style = solid ? "" : dash[dashOf(figure, mark)];
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("width", solid ? 12 : 26);
  svg.setAttribute("height", 12);
  svg.setAttribute("aria-hidden", "true");
  const shape = document.createElementNS(svg.namespaceURI, solid ? "rect" : "line");
  const attributes = solid ? { width: 12, height: 12, rx: mark.shape === "points" ? 6 : 2, fill: colour }
    : { x2: 26, y1: 6, y2: 6, stroke: colour, "stroke-width": 2.5, "stroke-dasharray": style };
  Object.entries(attributes).forEach(([name, value]) => shape.setAttribute(name, value));
  svg.append(shape);
  return svg;
};
const keys = (chart) => {
  const { marks } = chart.figure;
  const buttons = Array.isArray(marks) && marks.length > 1 && chart.figure.kind !== "panels" ? marks.map((mark, i) => {
    const button = make("button", { type: "button", onclick: () => {
      if (!chart.hidden.delete(i)) chart.hidden.add(i);
      button.setAttribute("aria-pressed", String(!chart.hidden.has(i)));
      return draw(chart);
    } }, swatch(mark, chart.figure), mark.name);
    button.setAttribute("aria-pressed", String(!chart.hidden.has(i)));
    return button;
  }) : [];
  const group = make("div", { className: "keys" }, ...buttons);
  group.setAttribute("role", "group");
  group.setAttribute("aria-label", "Shown");
  return group;
};
