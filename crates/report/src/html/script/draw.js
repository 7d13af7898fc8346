// A figure is drawn anew whenever its part in view, its curves or the colours change.

const KINDS = { curves, panels, spans, bars, groups, heat };
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
