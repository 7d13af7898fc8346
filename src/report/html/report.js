"use strict";
// Inflates the page's figures and the charting library, and draws. A figure is drawn anew
// whenever its part in view, its curves or the colours change.
(() => {
  const root = document.documentElement;
  const make = (name, properties = {}, ...children) => {
    const element = Object.assign(document.createElement(name), properties);
    element.append(...children);
    return element;
  };

  // ---- Colours ----

  const KEY = "gleaner-theme";
  const dark = matchMedia("(prefers-color-scheme: dark)");
  // Storage may be forbidden, as it is for files in some browsers.
  const remembered = () => { try { return localStorage.getItem(KEY); } catch { return null; } };
  const remember = (theme) => { try { localStorage.setItem(KEY, theme); } catch { /* not kept */ } };
  const applyTheme = () => { root.dataset.theme = remembered() ?? (dark.matches ? "dark" : "light"); };
  applyTheme();

  const DASHES = ["solid", "dash", "dot", "dashdot", "longdash", "longdashdot", "solid"];
  const SERIES = DASHES.length;
  const css = (name) => getComputedStyle(root).getPropertyValue(name).trim();
  // Curves that are smooth differ by their dashes, too; those that jump would be torn by them.
  const dashOf = (figure, curve) =>
    figure.x.scale !== "duration" || curve.colour === null ? "solid" : DASHES[curve.colour % SERIES];
  const shade = (colour) => css(colour === null ? "--muted" : `--s${colour % SERIES}`);
  const ramp = () => [[0, css("--low")], [1, css("--high")]];

  // ---- Data ----

  const inflate = async (id) => {
    const bytes = Uint8Array.from(atob(document.getElementById(id).textContent), (c) => c.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  };
  const numbers = ({ first, steps }) => {
    const out = new Float64Array(steps.length + 1);
    out[0] = first;
    steps.forEach((step, i) => { out[i + 1] = out[i] + step; });
    return out;
  };
  const unpack = (figure) => {
    if (figure.kind === "curves") {
      figure.marks.forEach((curve, i) => {
        curve.x = curve.x ? numbers(curve.x) : figure.marks[i - 1].x;
      });
    } else if (figure.kind === "spans") {
      figure.marks.from = numbers(figure.marks.from);
    }
    return figure;
  };
  // The library reads some markup in texts.
  const plain = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

  // The first place in sorted numbers that is not below a value.
  const place = (sorted, value) => {
    let [low, high] = [0, sorted.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sorted[middle] < value) low = middle + 1; else high = middle;
    }
    return low;
  };

  // Places of curves over a common x to draw: all in view where they are few, else of each
  // of so many stretches the first, the last, and each curve's lowest and highest.
  const inView = (x, ys, range, stretches) => {
    const low = range ? Math.max(0, place(x, range[0]) - 1) : 0;
    const high = range ? Math.min(x.length, place(x, range[1]) + 1) : x.length;
    const all = Array.from({ length: high - low }, (_, i) => low + i);
    const width = (x[high - 1] - x[low]) / stretches;
    if (all.length <= 4 * stretches || !(width > 0)) return all;
    const kept = [];
    for (let i = low; i < high;) {
      const stretch = Math.floor((x[i] - x[low]) / width);
      const places = new Set([i]);
      const lowest = ys.map(() => i), highest = ys.map(() => i);
      for (; i < high && Math.floor((x[i] - x[low]) / width) === stretch; i++) {
        ys.forEach((y, k) => {
          if (y[i] < y[lowest[k]]) lowest[k] = i;
          if (y[i] > y[highest[k]]) highest[k] = i;
        });
      }
      [...lowest, ...highest, i - 1].forEach((p) => places.add(p));
      kept.push(...[...places].sort((a, b) => a - b));
    }
    return kept;
  };

  // ---- Figures ----

  const DURATIONS = [[1, "1 s"], [10, "10 s"], [60, "1 min"], [600, "10 min"], [3600, "1 h"], [36000, "10 h"],
    [86400, "1 d"], [864000, "10 d"], [8640000, "100 d"]];
  const durations = (width) => DURATIONS.filter((_, i) => width >= 520 || i % 2 === 0);
  const tell = (seconds) => {
    const units = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]];
    const [size, unit] = units.find(([size]) => seconds >= size) ?? units[3];
    return `${+(seconds / size).toPrecision(3)} ${unit}`;
  };

  const axis = ({ title, scale, names }, width = Infinity) => {
    const common = {
      ...(title ? { title: { text: plain(title), standoff: 10 } } : {}), automargin: true, zeroline: false, fixedrange: true,
      gridcolor: css("--grid"), linecolor: css("--line"), tickcolor: css("--line"), separatethousands: true,
    };
    switch (scale) {
      case "time": return { ...common, type: "date", ticks: "outside", tickangle: 0, nticks: width < 520 ? 4 : 9, hoverformat: "%Y-%m-%d %H:%M:%S" };
      case "log": return { ...common, type: "log" };
      case "duration": return {
        ...common, type: "log", ticks: "outside",
        tickangle: 0, tickvals: durations(width).map((d) => d[0]), ticktext: durations(width).map((d) => d[1]),
      };
      case "names": {
        const few = names.length <= 40;
        const every = few ? 1 : Math.ceil(names.length / 12);
        const shown = names.map((_, i) => i).filter((i) => i % every === 0);
        return {
          ...common, type: "linear", showgrid: false, tickvals: shown,
          ticktext: shown.map((i) => plain(names[i])), range: [-0.5, names.length - 0.5],
        };
      }
      default: return { ...common, type: "linear" };
    }
  };
  const downward = (axis) => ({ ...axis, range: [axis.range[1], axis.range[0]] });
  const inThousands = (highest) => (highest >= 1e4 ? { tickformat: "~s" } : {});

  const curves = ({ figure, width, range, hidden }) => {
    const { marks, x, y } = figure;
    const groups = new Map();
    marks.forEach((curve) => groups.set(curve.x, [...(groups.get(curve.x) ?? []), curve]));
    const places = new Map();
    for (const [xs, group] of groups) {
      const thinned = x.scale === "time" || x.scale === "linear";
      places.set(xs, inView(xs, group.map((c) => c.y), thinned ? range : null, Math.max(300, width)));
    }
    const shares = groups.size < marks.length || marks.length === 1;
    const data = marks.map((curve, i) => {
      const kept = places.get(curve.x);
      const colour = shade(curve.colour);
      const xs = kept.map((p) => curve.x[p]);
      return {
        type: "scatter", mode: curve.shape === "points" ? "markers" : "lines", name: plain(curve.name),
        x: xs, y: kept.map((p) => curve.y[p]), visible: !hidden.has(i),
        line: {
          shape: curve.shape === "line" ? "linear" : "hv", color: colour,
          width: curve.shape === "area" ? 1 : 1.75,
          dash: dashOf(figure, curve),
        },
        marker: { color: colour, size: 8 },
        ...(curve.shape === "area" ? { fill: "tozeroy", fillcolor: curve.colour === null ? colour + "90" : colour + "b0" } : {}),
        ...(x.scale === "duration" ? { customdata: xs.map(tell) } : {}),
        hovertemplate: x.scale === "duration"
          ? `${plain(curve.name)}: %{y:.3~g} ${y.title}<br>within %{customdata}<extra></extra>`
          : shares ? `%{y:,.5~g}<extra>${plain(curve.name)}</extra>` : `%{x}<br>%{y:,.5~g}<extra>${plain(curve.name)}</extra>`,
      };
    });
    const alone = x.scale === "duration" || marks.some((curve) => curve.shape === "points");
    const highest = marks.reduce((most, c) => c.y.reduce((a, b) => Math.max(a, b), most), 0);
    return {
      data,
      layout: {
        height: 320, hovermode: alone ? "closest" : "x unified", hoverdistance: alone ? 20 : -1,
        xaxis: { ...axis(x, width), fixedrange: false, ...(range ? { range: [...range] } : {}) },
        yaxis: { ...axis(y), rangemode: "tozero", ...inThousands(highest) },
      },
    };
  };

  // Spans as a field of cells as fine as the screen: of each cell the largest value, and
  // only the rows with a span in view.
  const spans = ({ figure, width, range }) => {
    const { row, from, length, value, title } = figure.marks;
    const names = figure.y.names;
    const ends = from.map((x, i) => x + length[i]);
    const low = range?.[0] ?? from.reduce((a, b) => Math.min(a, b), Infinity);
    const high = range?.[1] ?? ends.reduce((a, b) => Math.max(a, b), -Infinity);
    const seen = [];
    for (let i = 0; i < row.length; i++) if (from[i] < high && ends[i] > low) seen.push(i);
    const rows = [...new Set(seen.map((i) => row[i]))].sort((a, b) => a - b);
    const line = new Map(rows.map((r, i) => [r, i]));
    const cells = Math.max(100, Math.min(900, Math.floor(width)));
    const step = (high - low) / cells;
    const z = rows.map(() => new Array(cells).fill(null));
    let most = 1;
    for (const i of seen) {
      const cell = z[line.get(row[i])];
      const first = Math.max(0, Math.floor((from[i] - low) / step));
      const last = Math.min(cells - 1, Math.max(first, Math.ceil((ends[i] - low) / step) - 1));
      for (let c = first; c <= last; c++) cell[c] = Math.max(cell[c] ?? 0, value[i]);
    }
    for (const v of value) most = Math.max(most, v);
    const shown = rows.map((r) => names[r]);
    return {
      data: rows.length === 0 ? [] : [{
        type: "heatmap", z, x0: low + step / 2, dx: step, xtype: "scaled", y: rows.map((_, i) => i),
        text: shown.map((name) => new Array(cells).fill(plain(name))), hoverongaps: false,
        colorscale: ramp(), zmin: 0, zmax: most, zsmooth: false,
        colorbar: {
          title: { text: plain(title), side: "right" }, orientation: "h", thickness: 8, lenmode: "pixels", len: 150, nticks: 4,
          x: 1, xanchor: "right", y: 1, yanchor: "bottom", outlinewidth: 0, tickfont: { size: 11 },
        },
        hovertemplate: `%{text}<br>%{x|%Y-%m-%d %H:%M:%S}<br>%{z:,} ${plain(title)}<extra></extra>`,
      }],
      layout: {
        height: Math.max(200, Math.min(560, 70 + 16 * shown.length)), hovermode: "closest",
        xaxis: { ...axis(figure.x, width), fixedrange: false, range: [low, high] },
        yaxis: downward(axis({ ...figure.y, names: shown })),
      },
    };
  };

  const bars = ({ figure, hidden, width }) => {
    const rows = figure.y.names.map((_, i) => i);
    return {
      data: figure.marks.map((part, i) => ({
        type: "bar", orientation: "h", name: plain(part.name), y: rows, x: part.values, visible: !hidden.has(i),
        // Shares that are too short for their label tell it when pointed at.
        text: part.labels.map((label, row) => (part.values[row] * width > 6000 ? label : "")),
        textposition: "inside", insidetextanchor: "middle", textangle: 0, constraintext: "none",
        marker: { color: shade(part.colour) }, width: 0.62,
        insidetextfont: { color: part.colour === null ? css("--ink") : css("--on-accent") },
        hovertemplate: `${plain(part.name)}: %{x:.1f} %<extra></extra>`,
      })),
      layout: {
        height: 80 + 44 * rows.length, barmode: "stack", hovermode: "closest",
        xaxis: { ...axis({ ...figure.x, title: "" }), range: [0, 100], ticksuffix: " %" },
        yaxis: { ...downward(axis(figure.y)), ticksuffix: "  " },
      },
    };
  };

  const groups = ({ figure, hidden }) => {
    const columns = figure.x.names.map((_, i) => i);
    return {
      data: figure.marks.map((part, i) => ({
        type: "bar", name: plain(part.name), x: columns, y: part.values, visible: !hidden.has(i),
        marker: { color: shade(part.colour) }, customdata: part.labels,
        hovertemplate: `${plain(part.name)}: %{customdata}<extra></extra>`,
      })),
      layout: {
        height: 300, barmode: "group", bargap: 0.3, bargroupgap: 0.06, hovermode: "closest",
        xaxis: { ...axis(figure.x), tickangle: "auto" }, yaxis: { ...axis(figure.y), rangemode: "tozero" },
      },
    };
  };

  const heat = ({ figure, width }) => {
    const { values, labels, log, title } = figure.marks;
    const shown = values.map((row) => row.map((v) => (v === null ? null : log ? Math.log10(Math.max(v, 1)) : v)));
    const all = shown.flat().filter((v) => v !== null);
    const [low, high] = [Math.min(...all), Math.max(...all)];
    const size = width > 90 * figure.x.names.length + 120 ? 12 : 10;
    const label = (text, row, column) => ({
      x: column, y: row, text: plain(text), showarrow: false,
      font: { size, color: css(shown[row][column] !== null && shown[row][column] - low > 0.6 * (high - low) ? "--on-accent" : "--ink") },
    });
    return {
      data: [{
        type: "heatmap", z: shown, customdata: values, xgap: 2, ygap: 2, colorscale: ramp(), showscale: false,
        text: labels.map((row) => row.map(plain)), hoverongaps: false,
        hovertemplate: `%{text}<br>${plain(title)}: %{customdata:,.4~g}<extra></extra>`,
      }],
      layout: {
        height: 50 + 28 * figure.y.names.length, hovermode: "closest",
        annotations: labels.flatMap((row, r) => row.map((text, c) => label(text, r, c))),
        xaxis: { ...axis(figure.x), side: "top" }, yaxis: downward(axis(figure.y)),
      },
    };
  };

  const KINDS = { curves, spans, bars, groups, heat };
  const CONFIG = { displayModeBar: false, responsive: false, doubleClick: "reset", showTips: false };

  const draw = async (chart) => {
    chart.width = Math.floor(chart.element.clientWidth);
    const { data, layout } = KINDS[chart.figure.kind](chart);
    const coarse = matchMedia("(pointer: coarse)").matches;
    await Plotly.react(chart.element, data, {
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", showlegend: false, width: chart.width,
      // A finger scrolls the page; the buttons zoom.
      dragmode: chart.zooms && !coarse ? "zoom" : false,
      margin: { l: 8, r: 12, t: 8, b: 8 },
      font: { family: getComputedStyle(document.body).fontFamily, size: 12, color: css("--soft") },
      hoverlabel: { bgcolor: css("--card"), bordercolor: css("--line"), font: { color: css("--ink"), size: 12 }, align: "left" },
      ...layout,
    }, CONFIG);
  };

  // ---- Controls ----

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
    const solid = figure.kind !== "curves" || mark.shape === "area";
    const colour = shade(mark.colour);
    const dash = { solid: "", dash: "5 3", dot: "1.5 2.5", dashdot: "5 2 1.5 2", longdash: "8 3", longdashdot: "8 2 1.5 2" };
    const style = solid ? "" : dash[dashOf(figure, mark)];
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("width", solid ? 12 : 26);
    svg.setAttribute("height", 12);
    svg.setAttribute("aria-hidden", "true");
    const shape = document.createElementNS(svg.namespaceURI, solid ? "rect" : "line");
    const attributes = solid ? { width: 12, height: 12, rx: 2, fill: colour }
      : { x2: 26, y1: 6, y2: 6, stroke: colour, "stroke-width": 2.5, "stroke-dasharray": style };
    Object.entries(attributes).forEach(([name, value]) => shape.setAttribute(name, value));
    svg.append(shape);
    return svg;
  };
  const keys = (chart) => {
    const { marks } = chart.figure;
    const buttons = Array.isArray(marks) && marks.length > 1 ? marks.map((mark, i) => {
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

  const build = async (element, figure) => {
    const zooms = figure.kind === "spans" || (figure.kind === "curves" && figure.x.scale !== "duration");
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

  // ---- The page ----

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
})();
