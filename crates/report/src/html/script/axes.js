// Axes, as the charting library takes them.

const DURATIONS = [[1e-6, "1 µs"], [1e-5, "10 µs"], [1e-4, "100 µs"], [1e-3, "1 ms"], [1e-2, "10 ms"], [1e-1, "100 ms"],
  [1, "1 s"], [10, "10 s"], [60, "1 min"], [600, "10 min"], [3600, "1 h"], [36000, "10 h"], [86400, "1 d"], [864000, "10 d"], [8640000, "100 d"]];
const durations = (width) => DURATIONS.filter((_, i) => width >= 520 || i % 2 === 0);
const tell = (seconds) => {
  const units = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"], [1e-3, "ms"], [1e-6, "µs"]];
  const [size, unit] = units.find(([size]) => seconds >= size) ?? units.at(-1);
  return `${+(seconds / size).toPrecision(3)} ${unit}`;
};

const axis = ({ title, scale, names }, width = Infinity, standoff = 10) => {
  const common = {
    ...(title ? { title: { text: plain(title), standoff } } : {}), automargin: true, zeroline: false, fixedrange: true,
    gridcolor: css("--grid"), linecolor: css("--line"), tickcolor: css("--line"), separatethousands: true,
  };
  switch (scale) {
    case "time": return { ...common, type: "date", ticks: "outside", tickangle: 0, nticks: width < 520 ? 4 : 9, hoverformat: "%Y-%m-%d %H:%M:%S" };
    case "log": return { ...common, type: "log" };
    case "hours": return { ...common, type: "log", ticks: "outside", dtick: 1, tickformat: ",~g" };
    case "duration": return {
      ...common, type: "log", ticks: "outside",
      tickangle: 0, tickvals: durations(width).map((d) => d[0]), ticktext: durations(width).map((d) => d[1]),
    };
    case "names": {
      const few = names.length <= 40;
      // Short names stay upright, as many as there is room for.
      const short = longest(names) <= 5 && width < Infinity;
      const every = short ? Math.ceil((names.length * (8 * longest(names) + 8)) / width) : few ? 1 : Math.ceil(names.length / 12);
      const shown = names.map((_, i) => i).filter((i) => i % every === 0);
      return {
        ...common, type: "linear", showgrid: false, tickvals: shown,
        ticktext: shown.map((i) => plain(names[i])), range: [-0.5, names.length - 0.5],
      };
    }
    default: return { ...common, type: "linear" };
  }
};
const longest = (texts) => texts.reduce((most, text) => Math.max(most, text.length), 1);
// A value of an axis of names, with what the axis is of.
const told = ({ title, names }, i) => plain(title ? `${title} ${names[i]}` : names[i]);
const downward = (axis) => ({ ...axis, range: [axis.range[1], axis.range[0]] });
const inThousands = (highest) => (highest >= 1e4 ? { tickformat: "~s" } : {});
