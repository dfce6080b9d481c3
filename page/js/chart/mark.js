// What is drawn inside a panel: lines, steps, bars, points, shades and moments.

import { s } from "../dom.js";

/**
 * A series. `look` names its colour and dash in style.css (`burst`, `noburst`, `capped`, `rescue`, `model`, ...).
 * @typedef {object} Line
 * @property {string} name
 * @property {string} look
 * @property {number[]} x
 * @property {(number | null)[]} y
 * @property {boolean} [step] each value holds until the next
 * @property {boolean} [quiet] not named in the legend
 */

/**
 * @typedef {object} Point
 * @property {number} x
 * @property {number} y
 * @property {string} look
 * @property {string} name what it says when pointed at
 * @property {string} [run] the run that it opens
 */

/** @typedef {{from: number, to: number, share: number, look: string, name: string}} Bar */
/** @typedef {{from: number, to: number, look: string, name?: string}} Shade */
/** @typedef {{at: number, name: string, look?: string}} Moment */

/**
 * The path of a line; it breaks where a value is unknown or, on a logarithmic axis, not positive.
 * @param {Line} line
 * @param {import("./scale.js").Scale} x
 * @param {import("./scale.js").Scale} y
 */
export function path(line, x, y) {
  let d = "";
  let on = false;
  let before = 0;
  for (const [i, at] of line.x.entries()) {
    const value = line.y[i];
    if (value === null || value === undefined || (y.log && value <= 0)) {
      on = false;
      continue;
    }
    const px = x.at(at).toFixed(1);
    const py = y.at(value).toFixed(1);
    if (!on) {
      d += `M${px} ${py}`;
    } else if (line.step) {
      d += `H${px}V${py}`;
    } else {
      d += `L${px} ${py}`;
    }
    on = true;
    before = i;
  }
  // A lone value has no length: it is drawn as a dot by its round cap.
  return before === 0 && d !== "" ? `${d}h0.01` : d;
}

/**
 * A point: a circle for an engine's run, a square for a simulated one, so that colour is not alone.
 * @param {Point} point
 * @param {number} x
 * @param {number} y
 */
export function point(point, x, y) {
  const square = point.look.includes("simulated");
  const r = square ? 3.6 : 4.2;
  const shape = square
    ? s("rect", { x: x - r, y: y - r, width: 2 * r, height: 2 * r, class: `point ${point.look}` })
    : s("circle", { cx: x, cy: y, r, class: `point ${point.look}` });
  shape.append(s("title", {}, point.name));
  if (point.run === undefined) {
    return shape;
  }
  return s("a", { href: `#law?run=${point.run}`, "data-run": point.run, "aria-label": point.name }, shape);
}
