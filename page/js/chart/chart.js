// Panels one below another on a common axis, drawn as SVG as wide as their place.

import { fill, h, s } from "../dom.js";
import { cursor } from "./cursor.js";
import { path, point } from "./mark.js";
import { extent, scale, tick } from "./scale.js";

/**
 * @typedef {object} Axis
 * @property {string} label
 * @property {[number, number]} [domain] by default what is drawn
 * @property {boolean} [log]
 * @property {boolean} [zero] whether the axis begins at 0
 */

/**
 * @typedef {object} Panel
 * @property {Axis} y
 * @property {string} [title]
 * @property {number} [height] px
 * @property {import("./mark.js").Line[]} [lines]
 * @property {import("./mark.js").Point[]} [points]
 * @property {{look: string, name: string}[]} [marks] what the looks of points mean, for the legend
 * @property {import("./mark.js").Bar[]} [bars]
 * @property {import("./mark.js").Shade[]} [shades]
 * @property {import("./mark.js").Moment[]} [moments]
 * @property {boolean} [bare] no ordinate
 * @property {number} [rows] rows that are kept free above for names, so that panels beside each other align
 * @property {string} [stamp] a word across the panel, such as SIMULATED
 */

/**
 * @typedef {object} Chart
 * @property {string} name what the picture shows, for who cannot see it
 * @property {Axis} x
 * @property {Panel[]} panels
 * @property {boolean} [plain] no line that follows the pointer
 */

const LEFT = 58;
const RIGHT = 10;
const BELOW = 40;

/** @type {WeakMap<Element, Chart>} */
const drawn = new WeakMap();
/** @type {WeakMap<Element, number>} */
const marked = new WeakMap();
/** @type {WeakMap<Element, (value: number) => void>} */
const rules = new WeakMap();
const widths = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    const chart = drawn.get(target);
    if (chart !== undefined) {
      paint(target, chart);
    }
  }
});

/**
 * Takes away a chart, so that it is not drawn again either.
 * @param {Element} place
 */
export function erase(place) {
  drawn.delete(place);
  widths.unobserve(place);
  place.replaceChildren();
}

/**
 * Draws a chart in its place, and again when the place becomes wider or narrower.
 * @param {Element} place
 * @param {Chart} chart
 */
export function draw(place, chart) {
  drawn.set(place, chart);
  widths.observe(place);
  paint(place, chart);
}

/**
 * Draws a line across all panels at one value of the abscissa.
 * @param {Element} place
 * @param {number} value
 */
export function mark(place, value) {
  marked.set(place, value);
  rules.get(place)?.(value);
}

/**
 * @param {Element} place
 * @param {Chart} chart
 */
function paint(place, chart) {
  const width = Math.max(260, Math.floor(place.clientWidth));
  const x = scale(chart.x.domain ?? spread(chart), [LEFT, width - RIGHT], {
    log: chart.x.log,
    count: width / 110,
  });
  let top = 4;
  const panels = chart.panels.map((panel) => {
    const names = named(panel, x, [LEFT, width - RIGHT]);
    const rows = Math.max(panel.rows ?? 0, ...names.map(({ row }) => row + 1));
    const head = 4 + (panel.title ? 18 : 0) + 16 * rows;
    const height = panel.height ?? 150;
    const box = { top: top + head, height, width };
    top += head + height + 16;
    return { panel, box, y: ordinate(panel, box), names, rows };
  });
  const height = top + BELOW - 16;
  const svg = s("svg", {
    viewBox: `0 0 ${width} ${height}`,
    width,
    height,
    role: chart.panels.some((p) => p.points?.some((q) => q.run)) ? "group" : "img",
    "aria-label": chart.name,
    class: "chart",
  });
  for (const { panel, box, y, names, rows } of panels) {
    const g = body(panel, box, x, y);
    for (const { name, at, row } of names) {
      g.append(s("text", { x: at, y: box.top - 6 - 16 * row, class: "tick middle" }, name));
    }
    if (panel.title) {
      g.append(s("text", { x: LEFT, y: box.top - 7 - 16 * rows, class: "title" }, panel.title));
    }
    svg.append(g);
  }
  const foot = panels.at(-1);
  if (foot !== undefined) {
    svg.append(abscissa(chart.x, x, foot.box.top + foot.box.height, width));
  }
  fill(place, legend(chart), svg);
  const rule = s("path", { class: "now-line" });
  svg.append(rule);
  const move = (/** @type {number} */ value) =>
    rule.setAttribute("d", `M${x.at(value)} ${panels[0]?.box.top ?? 0}V${height - BELOW}`);
  rules.set(place, move);
  const value = marked.get(place);
  if (value !== undefined) {
    move(value);
  }
  if (!chart.plain) {
    cursor(svg, chart, panels, x, [LEFT, width - RIGHT]);
  }
}

/**
 * Where the names of moments and shades stand above a panel: in the lowest row in which they lie on no other.
 * @param {Panel} panel
 * @param {import("./scale.js").Scale} x
 * @param {[number, number]} range px
 */
function named(panel, x, [left, right]) {
  const moments = (panel.moments ?? []).map(({ at, name }) => ({ name, at: x.at(at) }));
  const shades = (panel.shades ?? []).map(({ from, to, name }) => ({ name: name ?? "", at: x.at((from + to) / 2) }));
  /** @type {{name: string, at: number, row: number, half: number}[]} */
  const placed = [];
  for (const { name, at } of [...moments, ...shades].filter((one) => one.name !== "")) {
    const half = 3.4 * name.length + 4;
    const middle = Math.min(Math.max(at, left + half), right - half);
    let row = 0;
    while (placed.some((other) => other.row === row && Math.abs(other.at - middle) < other.half + half)) {
      row += 1;
    }
    placed.push({ name, at: middle, row, half });
  }
  return placed;
}

/** @param {Chart} chart */
function spread(chart) {
  const all = chart.panels.flatMap((panel) => [
    ...(panel.lines ?? []).flatMap((line) => line.x),
    ...(panel.points ?? []).map((p) => p.x),
    ...(panel.bars ?? []).flatMap((bar) => [bar.from, bar.to]),
  ]);
  return extent(all);
}

/**
 * @param {Panel} panel
 * @param {{top: number, height: number}} box
 */
function ordinate(panel, box) {
  const { log, zero } = panel.y;
  const values = [
    ...(panel.lines ?? []).flatMap((line) => line.y),
    ...(panel.points ?? []).map((p) => p.y),
    ...(panel.bars ?? []).map((bar) => bar.share),
  ].filter((value) => value !== null && (!log || value > 0));
  let [least, most] = panel.y.domain ?? extent(values);
  if (panel.y.domain === undefined && !log) {
    const room = (most - least || Math.abs(most) || 1) * 0.06;
    [least, most] = [zero ? Math.min(0, least) : least - room, most + room];
  }
  if (panel.y.domain === undefined && log) {
    [least, most] = [least / 1.2, most * 1.2];
  }
  return scale([least, most], [box.top + box.height, box.top], { log, count: box.height / 34 });
}

/**
 * @param {Panel} panel
 * @param {{top: number, height: number, width: number}} box
 * @param {import("./scale.js").Scale} x
 * @param {import("./scale.js").Scale} y
 */
function body(panel, box, x, y) {
  const bottom = box.top + box.height;
  const right = box.width - RIGHT;
  const g = s("g");
  const within = (/** @type {number} */ px) => Math.min(Math.max(px, LEFT), right);
  for (const shade of panel.shades ?? []) {
    const from = within(x.at(shade.from));
    const wide = Math.max(0, within(x.at(shade.to)) - from);
    g.append(s("rect", { x: from, y: box.top, width: wide, height: box.height, class: `shade ${shade.look}` }));
  }
  for (const value of panel.bare ? [] : y.ticks) {
    const at = y.at(value);
    g.append(s("line", { x1: LEFT, x2: right, y1: at, y2: at, class: "grid" }));
    g.append(s("text", { x: LEFT - 7, y: at + 4, class: "tick end" }, tick(value)));
  }
  for (const bar of panel.bars ?? []) {
    const from = x.at(bar.from);
    const at = y.at(bar.share);
    const shape = s("rect", {
      x: from,
      y: at,
      width: Math.max(0.5, x.at(bar.to) - from - 1),
      height: Math.max(0, bottom - at),
      class: `bar ${bar.look}`,
    });
    shape.append(s("title", {}, bar.name));
    g.append(shape);
  }
  for (const line of panel.lines ?? []) {
    g.append(s("path", { d: path(line, x, y), class: `line ${line.look}` }));
  }
  for (const moment of panel.moments ?? []) {
    const at = x.at(moment.at);
    g.append(s("line", { x1: at, x2: at, y1: box.top, y2: bottom, class: `moment ${moment.look ?? ""}` }));
  }
  if (panel.stamp) {
    g.append(s("text", { x: right - 6, y: box.top + 16, class: "stamp end" }, panel.stamp));
  }
  for (const p of panel.points ?? []) {
    g.append(point(p, x.at(p.x), y.at(p.y)));
  }
  const middle = box.top + box.height / 2;
  g.append(
    s("text", { x: 0, y: 0, transform: `translate(13 ${middle}) rotate(-90)`, class: "label middle" }, panel.y.label),
  );
  g.append(s("path", { d: `M${LEFT} ${box.top}V${bottom}H${right}`, class: "axis" }));
  return g;
}

/**
 * @param {Axis} axis
 * @param {import("./scale.js").Scale} x
 * @param {number} bottom
 * @param {number} width
 */
function abscissa(axis, x, bottom, width) {
  const g = s("g");
  for (const value of x.ticks) {
    const at = x.at(value);
    g.append(s("line", { x1: at, x2: at, y1: bottom, y2: bottom + 4, class: "axis" }));
    g.append(s("text", { x: at, y: bottom + 17, class: "tick middle" }, tick(value)));
  }
  g.append(s("text", { x: (LEFT + width - RIGHT) / 2, y: bottom + 35, class: "label middle" }, axis.label));
  return g;
}

/** @param {Chart} chart */
function legend(chart) {
  const named = new Map();
  for (const panel of chart.panels) {
    for (const line of panel.lines ?? []) {
      if (!line.quiet) {
        named.set(line.name, line.look);
      }
    }
  }
  const entries = [...named].map(([name, look]) => {
    const sample = s(
      "svg",
      { width: 30, height: 10, "aria-hidden": "true" },
      s("path", { d: "M1 5H29", class: `line ${look}` }),
    );
    return h("span", { class: "entry" }, sample, name);
  });
  const marks = new Map(chart.panels.flatMap((panel) => panel.marks ?? []).map(({ look, name }) => [name, look]));
  const points = [...marks].map(([name, look]) => {
    const sample = s("svg", { width: 12, height: 12, "aria-hidden": "true" }, point({ x: 0, y: 0, look, name }, 6, 6));
    return h("span", { class: "entry" }, sample, name);
  });
  return h("div", { class: "legend" }, ...entries, ...points);
}
