// Charts of an hour: a line for each figure, drawn once for each set of samples.
import { h, s } from "./dom.js";
import { clock } from "./format.js";

const width = 360;
const height = 88;
/** How far charts reach back: as far as there is something, up to an hour. */
const reaches = [[120, "2 min ago"], [300, "5 min ago"], [900, "15 min ago"], [1800, "30 min ago"], [3600, "1 h ago"]];

/**
 * @param title of the chart
 * @param samples `{at, …}`, the oldest first
 * @param lines one or two `{name, value(sample), words(value)}`; a value of null leaves a gap
 */
export function chart(title, samples, lines) {
  const end = samples.length ? Date.parse(samples.at(-1).at) / 1000 : Date.now() / 1000;
  const age = samples.length ? end - Date.parse(samples[0].at) / 1000 : 0;
  const [reach, began] = reaches.find(([seconds]) => seconds >= age) ?? reaches.at(-1);
  const points = lines.map((line) => samples.map((sample) => ({
    x: width * (1 - (end - Date.parse(sample.at) / 1000) / reach), value: line.value(sample), at: sample.at,
  })).filter((point) => point.x >= 0));
  const values = points.flat().map((point) => point.value).filter((value) => value !== null && value !== undefined);
  const top = nice(Math.max(...values, 0));
  const y = (value) => height - (value / top) * (height - 4);
  const latest = points.map((line) => line.at(-1)?.value ?? null);
  const said = lines.map((line, index) => `${line.name} ${latest[index] === null ? "not known" : line.words(latest[index])}`);
  const most = values.length ? lines[0].words(Math.max(...values)) : "nothing";
  const key = h("span", { class: "key" }, lines.length > 1 ? `${lines[0].name} (line), ${lines[1].name} (dashed)` : `at most ${most}`);
  const mark = s("line", { class: "mark", y1: 0, y2: height, x1: 0, x2: 0 });
  const svg = s("svg", {
    viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", role: "img",
    "aria-label": `${title}, in the last hour. Now: ${said.join(", ")}. At most ${most}.`,
  }, s("line", { class: "rule", x1: 0, x2: width, y1: y(top), y2: y(top) }),
  points.map((line, index) => [
    index === 0 && s("path", { class: "area", d: path(line, y, true) }),
    s("path", { class: index === 0 ? "one" : "two", d: path(line, y, false) }),
  ]), mark);
  const standard = key.textContent;
  svg.addEventListener("pointermove", (event) => {
    const x = ((event.clientX - svg.getBoundingClientRect().left) / svg.getBoundingClientRect().width) * width;
    const index = nearest(points[0], x);
    if (index < 0) return;
    mark.setAttribute("x1", points[0][index].x);
    mark.setAttribute("x2", points[0][index].x);
    mark.classList.add("shown");
    key.textContent = `${clock(points[0][index].at)}: ` + lines.map((line, number) => {
      const value = points[number][index]?.value;
      return `${line.name} ${value === null || value === undefined ? "not known" : line.words(value)}`;
    }).join(", ");
  });
  svg.addEventListener("pointerleave", () => {
    mark.classList.remove("shown");
    key.textContent = standard;
  });
  return h("figure", { class: "chart" }, h("figcaption", null, h("span", { class: "title" }, title),
    h("span", { class: "now" }, latest.map((value, index) => (value === null ? "–" : lines[index].words(value))).join(" / ")), key),
  svg, h("div", { class: "axis", "aria-hidden": "true" },
    h("span", null, began), h("span", null, `top ${lines[0].words(top)}`), h("span", null, "now")));
}

/** A line alone, for a cell of a table. What it says stands beside it. */
export function spark(values) {
  const top = Math.max(...values, 1);
  const step = values.length > 1 ? 100 / (values.length - 1) : 100;
  const line = values.map((value, index) => ({ x: index * step, value }));
  return s("svg", { class: "spark", viewBox: "0 0 100 20", preserveAspectRatio: "none", "aria-hidden": "true" },
    s("path", { class: "one", d: path(line, (value) => 19 - (value / top) * 18, false) }));
}

/** A bar for a part of the greatest. What it says stands beside it. */
export function bar(part) {
  return s("svg", { class: "bar", viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" },
    s("rect", { x: 0, y: 0, height: 10, width: Math.max(part * 100, 0.5) }));
}

function path(points, y, isArea) {
  let text = "";
  let start = null;
  let last = null;
  const close = () => { if (isArea && last) text += `L${last.x.toFixed(1)} ${height}L${start.x.toFixed(1)} ${height}Z`; };
  for (const point of points) {
    if (point.value === null || point.value === undefined) { close(); start = last = null; continue; }
    text += `${last ? "L" : "M"}${point.x.toFixed(1)} ${y(point.value).toFixed(1)}`;
    start ??= point;
    last = point;
  }
  close();
  return text;
}

function nearest(points, x) {
  let best = -1;
  points.forEach((point, index) => {
    if (best < 0 || Math.abs(point.x - x) < Math.abs(points[best].x - x)) best = index;
  });
  return best;
}

/** The next of 1, 2 and 5 with its tens. */
function nice(value) {
  if (!(value > 0)) return 1;
  const tens = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((digit) => digit * tens).find((step) => step >= value);
}
