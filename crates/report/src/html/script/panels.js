// Curves with a panel each, one below the other. They share their axes, so that they can be compared.

const PANEL = 84;
const panels = (chart) => {
  const { figure } = chart;
  const { data, layout } = curves(chart);
  const count = data.length;
  const highest = figure.marks.reduce((most, c) => c.y.reduce((a, b) => Math.max(a, b), most), 0) || 1;
  const id = (i) => (i === 0 ? "" : String(i + 1));
  // The room above each panel is for its name.
  const domain = (i) => [1 - (i + 1) / count, 1 - (i + 0.24) / count];
  const axes = data.map((_, i) => [`yaxis${id(i)}`, {
    ...layout.yaxis, title: { text: "" }, domain: domain(i), range: [0, 1.02 * highest], nticks: 4,
  }]);
  return {
    data: data.map((trace, i) => ({ ...trace, yaxis: `y${id(i)}` })),
    layout: {
      ...layout, ...Object.fromEntries(axes), height: 60 + PANEL * count, hoversubplots: "axis",
      xaxis: { ...layout.xaxis, anchor: `y${id(count - 1)}` },
      annotations: figure.marks.map((curve, i) => ({
        text: `<b>${plain(curve.name)}</b>, ${plain(figure.y.title)}`, showarrow: false, xref: "paper", x: 0, xanchor: "left",
        yref: "paper", y: domain(i)[1], yanchor: "bottom", font: { size: 12, color: css("--soft") },
      })),
      shapes: figure.marks.flatMap((curve, i) => (curve.shades ?? []).map(({ from, to }) => ({
        type: "rect", xref: "x", x0: from, x1: to, yref: `y${id(i)} domain`, y0: 0, y1: 1,
        fillcolor: css("--shade"), line: { width: 0 }, layer: "below",
      }))),
    },
  };
};
