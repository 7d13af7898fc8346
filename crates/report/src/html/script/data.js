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
  if (figure.kind === "curves" || figure.kind === "panels") {
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

const isMean = (curve) => curve.shape === "mean" || curve.shape === "mean-area";
// Step curves over a common x by stretches of the part in view: where each begins, and of each curve the mean,
// weighted by length, the lowest and the highest value. Few points stay as they are.
const meansInView = (x, curves, range, count) => {
  const last = x.length - 1;
  const low = Math.max(range?.[0] ?? -Infinity, x[0]), high = Math.min(range?.[1] ?? Infinity, x[last]);
  const first = Math.max(0, place(x, low) - 1), end = Math.min(last, place(x, high));
  const ends = curves.map(({ y, extremes }) => extremes ?? [y, y]);
  if (end - first < 2 * count || !(high > low)) {
    const all = Array.from({ length: Math.max(0, end - first + 1) }, (_, i) => first + i);
    const at = (values) => all.map((p) => values[p]);
    return { x: at(x), parts: curves.map(({ y }, k) => ({ y: at(y), low: at(ends[k][0]), high: at(ends[k][1]) })) };
  }
  const width = (high - low) / count;
  const make = (value) => new Array(count).fill(value);
  const lengths = make(0);
  const parts = curves.map(() => ({ y: make(0), low: make(Infinity), high: make(-Infinity) }));
  for (let p = first; p < end; p++) {
    const to = Math.min(x[p + 1], high);
    for (let at = Math.max(x[p], low); at < to;) {
      const k = Math.min(count - 1, Math.floor((at - low) / width));
      const next = k === count - 1 ? to : Math.min(to, Math.max(low + (k + 1) * width, at + width * 1e-9));
      lengths[k] += next - at;
      curves.forEach(({ y }, c) => {
        parts[c].y[k] += y[p] * (next - at);
        parts[c].low[k] = Math.min(parts[c].low[k], ends[c][0][p]);
        parts[c].high[k] = Math.max(parts[c].high[k], ends[c][1][p]);
      });
      at = next;
    }
  }
  // The last mean holds to the end of the part in view.
  const closed = (values) => [...values, values.at(-1)];
  const means = parts.map((part) => ({
    y: closed(part.y.map((area, k) => area / lengths[k])), low: closed(part.low), high: closed(part.high),
  }));
  return { x: [...lengths.map((_, k) => low + k * width), high], parts: means };
};
