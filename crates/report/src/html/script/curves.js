// Curves, and points that are joined or not.

// What is told of each point when it is pointed at, and how.
const hover = ({ x, y }, curve, kept, shares) => {
  const name = plain(curve.name);
  if (curve.labels && curve.shape === "stairs") {
    return { customdata: kept.map((p) => plain(curve.labels[p])), hovertemplate: `%{customdata}<extra>${name}</extra>` };
  }
  const place = isLog(x) || x.scale === "names" ? "" : `${plain(x.title)}: %{x:,.6~g}<br>`;
  if (curve.labels) {
    return {
      customdata: kept.map((p) => plain(curve.labels[p]).replaceAll(", ", "<br>")),
      hovertemplate: `%{customdata}<br>${place}${plain(y.title)}: %{y:,.6~g}<extra></extra>`,
    };
  }
  if (isLog(x)) {
    return {
      customdata: kept.map((p) => (x.scale === "hours" ? `${+curve.x[p].toPrecision(3)} h` : tell(curve.x[p]))),
      hovertemplate: `${name}: %{y:.3~g} ${plain(y.title)}<br>within %{customdata}<extra></extra>`,
    };
  }
  return { hovertemplate: shares ? `%{y:,.5~g}<extra>${name}</extra>` : `%{x}<br>%{y:,.5~g}<extra>${name}</extra>` };
};

const MODES = { points: "markers", dotted: "lines+markers", stairs: "lines+markers", whiskers: "lines+markers" };
// Stairs have a dot only where their value changes. The dots of a large cloud are small.
const dots = (curve, kept) => curve.shape !== "stairs" ? (curve.shape === "points" && kept.length > 500 ? 5 : 8)
  : kept.map((p) => (p === 0 || curve.y[p] !== curve.y[p - 1] ? 8 : 0));

// Lines from each first point of a pair to the second, with a bar across at both ends.
const whiskers = (curve, colour) => {
  const pairs = Array.from({ length: curve.y.length >> 1 }, (_, i) => 2 * i);
  const broken = (values) => pairs.flatMap((p) => [values[p], values[p + 1], null]);
  const symbol = (p) => (curve.x[p] === curve.x[p + 1] ? "line-ew" : "line-ns");
  return {
    x: broken(curve.x), y: broken(curve.y), hoverinfo: "skip", line: { color: colour, width: 1.25 },
    marker: { symbol: pairs.flatMap((p) => [symbol(p), symbol(p), symbol(p)]), size: 7, line: { color: colour, width: 1.25 } },
  };
};

// The mean of each stretch, with the lowest and the highest value in it when pointed at.
const meanLine = (curve, { y, low, high }) => ({
  y, customdata: y.map((_, k) => (low[k] === high[k] ? "" : ` (${+low[k].toPrecision(4)} to ${+high[k].toPrecision(4)})`)),
  hovertemplate: `%{y:,.4~g}%{customdata}<extra>${plain(curve.name)}</extra>`,
});

const curves = ({ figure, width, range, hidden }) => {
  const { marks, x, y } = figure;
  const groups = new Map();
  marks.forEach((curve) => groups.set(curve.x, [...(groups.get(curve.x) ?? []), curve]));
  const places = new Map(), means = new Map();
  for (const [xs, group] of groups) {
    // Clouds are thinned already, and whiskers are pairs.
    if (group.some((c) => c.shape === "points" || c.shape === "whiskers")) {
      places.set(xs, Array.from(xs, (_, i) => i));
      continue;
    }
    if (group.some(isMean)) {
      means.set(xs, meansInView(xs, group, range, Math.max(100, Math.floor(width / 3))));
      continue;
    }
    const thinned = x.scale === "time" || x.scale === "linear";
    places.set(xs, inView(xs, group.map((c) => c.y), thinned ? range : null, Math.max(300, width)));
  }
  const shares = groups.size < marks.length || marks.length === 1;
  const data = marks.map((curve, i) => {
    const colour = shade(curve.colour);
    const common = { type: "scatter", mode: MODES[curve.shape] ?? "lines", name: plain(curve.name), visible: !hidden.has(i) };
    const filled = { fill: "tozeroy", fillcolor: curve.colour === null ? colour + "90" : colour + "b0" };
    if (isMean(curve)) {
      const { x, parts } = means.get(curve.x);
      return {
        ...common, x, line: { shape: "hv", color: colour, width: curve.shape === "mean" ? 1.75 : 0 },
        ...(curve.shape === "mean" ? {} : filled), ...meanLine(curve, parts[groups.get(curve.x).indexOf(curve)]),
      };
    }
    const kept = places.get(curve.x);
    return {
      ...common, x: kept.map((p) => curve.x[p]), y: kept.map((p) => curve.y[p]),
      line: {
        shape: curve.shape === "line" || curve.shape === "dotted" ? "linear" : "hv", color: colour,
        width: curve.shape === "area" ? 1 : 1.75,
        dash: dashOf(figure, curve),
      },
      marker: { color: colour, size: dots(curve, kept), opacity: 1 },
      ...(curve.shape === "area" ? filled : {}),
      ...(curve.shape === "whiskers" ? whiskers(curve, colour) : hover(figure, curve, kept, shares)),
    };
  });
  const alone = isLog(x) || marks.some((curve) => curve.shape === "points");
  const highest = marks.reduce((most, c) => c.y.reduce((a, b) => Math.max(a, b), most), 0);
  return {
    data,
    layout: {
      height: 320, hovermode: alone ? "closest" : "x unified", hoverdistance: alone ? 20 : -1,
      xaxis: { ...axis(x, width), ...(x.scale === "linear" ? { rangemode: "tozero" } : {}), fixedrange: false, ...(range ? { range: [...range] } : {}) },
      yaxis: { ...axis(y), ...(y.scale === "spread" ? {} : { rangemode: "tozero" }), ...inThousands(highest) },
    },
  };
};
