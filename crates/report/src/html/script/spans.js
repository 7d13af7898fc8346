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
