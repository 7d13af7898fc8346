// Bars that lie, and groups of bars that stand.

const bars = ({ figure, hidden, width }) => {
  const rows = figure.y.names.map((_, i) => i);
  // Percents of a whole, or lengths to either side of zero.
  const lengths = figure.x.scale === "spread";
  const ends = figure.marks.flatMap((part) => part.values).reduce(([a, b], v) => [Math.min(a, v), Math.max(b, v)], [0, 0]);
  const range = lengths ? ends[1] - ends[0] || 1 : 100;
  return {
    data: figure.marks.map((part, i) => ({
      type: "bar", orientation: "h", name: plain(part.name), y: rows, x: part.values, visible: !hidden.has(i),
      // Shares that are too short for their label tell it when pointed at.
      text: part.labels.map((label, row) => (Math.abs(part.values[row]) * width > 60 * range ? label : "")),
      textposition: "inside", insidetextanchor: "middle", textangle: 0, constraintext: "none",
      marker: { color: shade(part.colour) }, width: 0.62,
      insidetextfont: { color: part.colour === null ? css("--ink") : css("--on-accent") },
      customdata: part.labels.map(plain),
      hovertemplate: `${plain(part.name)}: ${lengths ? "%{customdata}" : "%{x:.1f} %"}<extra></extra>`,
    })),
    layout: {
      height: 80 + (lengths ? 26 : 44) * rows.length, barmode: "stack", hovermode: "closest",
      xaxis: lengths
        ? { ...axis(figure.x), zeroline: true, zerolinecolor: css("--line") }
        : { ...axis({ ...figure.x, title: "" }), range: [0, 100], ticksuffix: " %" },
      yaxis: { ...downward(axis(figure.y)), ticksuffix: "  " },
    },
  };
};

const groups = ({ figure, hidden, width }) => {
  const columns = figure.x.names.map((_, i) => i);
  return {
    data: figure.marks.map((part, i) => ({
      type: "bar", name: plain(part.name), x: columns, y: part.values, visible: !hidden.has(i),
      marker: { color: shade(part.colour) }, customdata: part.labels.map(plain),
      hovertext: columns.map((column) => told(figure.x, column)), hovertemplate: `%{hovertext}<br>${plain(part.name)}: %{customdata}<extra></extra>`,
    })),
    layout: {
      height: 300, barmode: "group", bargap: 0.3, bargroupgap: 0.06, hovermode: "closest",
      xaxis: { ...axis(figure.x, width), tickangle: "auto" }, yaxis: { ...axis(figure.y), rangemode: "tozero" },
    },
  };
};
