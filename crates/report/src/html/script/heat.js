// Fields of cells.

const heat = ({ figure, width }) => {
  const { values, labels, notes, log, title } = figure.marks;
  const least = 1e-4 * values.flat().reduce((a, b) => Math.max(a, b ?? 0), Number.MIN_VALUE);
  const shown = values.map((row) => row.map((v) => (v === null ? null : log ? Math.log10(Math.max(v, least)) : v)));
  const all = shown.flat().filter((v) => v !== null);
  const low = all.reduce((a, b) => Math.min(a, b), Infinity), high = all.reduce((a, b) => Math.max(a, b), -Infinity);
  // Many rows are low, so that all are seen at once.
  const row = Math.min(28, 640 / figure.y.names.length);
  // Labels that find no room are told when the cell is pointed at, and in the table.
  const cell = (width - 120) / figure.x.names.length;
  const room = cell / longest(labels.flat());
  const size = room >= 7.5 ? 12 : 10;
  // Where the other ink is easier to read.
  const turn = low + (root.dataset.theme === "dark" ? 0.42 : 0.6) * (high - low);
  const label = (text, row, column) => ({
    x: column, y: row, text: plain(text), showarrow: false,
    font: { size, color: css(shown[row][column] !== null && shown[row][column] > turn ? "--on-accent" : "--ink") },
  });
  return {
    data: [{
      type: "heatmap", z: shown, customdata: values, xgap: cell < 12 ? 0 : 2, ygap: row < 12 ? 0 : 2, colorscale: ramp(), showscale: false,
      text: values.map((cells, r) => cells.map((_, c) => [told(figure.y, r), told(figure.x, c)].join("<br>"))),
      hovertext: values.map((cells, r) => cells.map((_, c) => (notes[r]?.[c] ? `<br>${plain(notes[r][c])}` : ""))),
      hoverongaps: false, hovertemplate: `%{text}<br>${plain(title)}: %{customdata:,.6~g}%{hovertext}<extra></extra>`,
    }],
    layout: {
      // The title of the vertical axis needs room, too.
      height: 70 + Math.max(row * figure.y.names.length, 8 * figure.y.title.length), hovermode: "closest",
      annotations: room < 5.8 || row < 16 ? [] : labels.flatMap((row, r) => row.flatMap((text, c) => (text ? [label(text, r, c)] : []))),
      xaxis: { ...axis(figure.x, width, 18), side: "top" }, yaxis: downward(axis(figure.y)),
    },
  };
};
