// Colours, light and dark.

const root = document.documentElement;
const make = (name, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
};

const KEY = "gleaner-theme";
const dark = matchMedia("(prefers-color-scheme: dark)");
// Storage may be forbidden, as it is for files in some browsers.
const remembered = () => { try { return localStorage.getItem(KEY); } catch { return null; } };
const remember = (theme) => { try { localStorage.setItem(KEY, theme); } catch { /* not kept */ } };
const applyTheme = () => { root.dataset.theme = remembered() ?? (dark.matches ? "dark" : "light"); };
applyTheme();

const DASHES = ["solid", "dash", "dot", "dashdot", "longdash", "longdashdot", "solid"];
const SERIES = DASHES.length;
const isLog = ({ scale }) => scale === "duration" || scale === "hours";
const css = (name) => getComputedStyle(root).getPropertyValue(name).trim();
// Curves that are smooth differ by their dashes, too; those that jump would be torn by them.
const dashOf = (figure, curve) =>
  !isLog(figure.x) || curve.colour === null ? "solid" : DASHES[curve.colour % SERIES];
const shade = (colour) => css(colour === null ? "--muted" : `--s${colour % SERIES}`);
const ramp = () => [[0, css("--low")], [1, css("--high")]];
