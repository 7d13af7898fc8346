// The figures and the charting library, inflated.

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
