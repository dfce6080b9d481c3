// A line that follows the pointer, or the arrow keys, with the values that are drawn there.

import { h, s } from "../dom.js";
import { tick } from "./scale.js";

/** How far an arrow key moves the line, and with shift, px. */
const STEP = { near: 5, far: 50 };

/**
 * @param {SVGSVGElement} svg
 * @param {import("./chart.js").Chart} chart
 * @param {{panel: import("./chart.js").Panel, box: {top: number, height: number}, y: import("./scale.js").Scale}[]} panels
 * @param {import("./scale.js").Scale} x
 * @param {[number, number]} range px
 */
export function cursor(svg, chart, panels, x, [left, right]) {
  const drawn = panels.some(({ panel }) => panel.bars || panel.lines?.some((line) => !line.quiet));
  if (!drawn) {
    return;
  }
  const top = panels[0]?.box.top ?? 0;
  const foot = panels.at(-1)?.box;
  const bottom = foot === undefined ? top : foot.top + foot.height;
  const rule = s("line", { y1: top, y2: bottom, class: "cursor", visibility: "hidden" });
  const said = h("output", { class: "readout", hidden: true, "aria-hidden": "true" });
  svg.append(rule);
  svg.after(said);
  let at = (left + right) / 2;
  const show = (/** @type {number} */ px) => {
    const inside = px >= left && px <= right;
    rule.setAttribute("visibility", inside ? "visible" : "hidden");
    said.hidden = !inside;
    if (!inside) {
      return;
    }
    at = px;
    const place = x.value(px);
    rule.setAttribute("x1", String(px));
    rule.setAttribute("x2", String(px));
    const told = rows(place, panels, chart.x.label);
    said.replaceChildren(...told);
    said.style.setProperty("--at", `${px}px`);
    said.classList.toggle("before", px > (left + right) / 2);
    svg.setAttribute("aria-valuenow", place.toPrecision(4));
    svg.setAttribute("aria-valuetext", told.map((row) => row.textContent).join("; "));
  };
  const hide = () => {
    rule.setAttribute("visibility", "hidden");
    said.hidden = true;
  };
  svg.addEventListener("pointermove", (event) => show(event.clientX - svg.getBoundingClientRect().left));
  svg.addEventListener("pointerleave", hide);
  // To who cannot see it, the line is a slider whose text is what it says.
  svg.setAttribute("role", "slider");
  svg.setAttribute("tabindex", "0");
  svg.setAttribute("aria-valuemin", x.value(left).toPrecision(4));
  svg.setAttribute("aria-valuemax", x.value(right).toPrecision(4));
  svg.setAttribute("aria-valuenow", x.value(at).toPrecision(4));
  svg.addEventListener("focus", () => svg.matches(":focus-visible") && show(at));
  svg.addEventListener("blur", hide);
  svg.addEventListener("keydown", (event) => {
    const step = event.shiftKey ? STEP.far : STEP.near;
    /** @type {Record<string, number>} */
    const to = { ArrowLeft: at - step, ArrowRight: at + step, Home: left, End: right };
    const px = to[event.key];
    if (px !== undefined) {
      event.preventDefault();
      show(Math.min(Math.max(px, left), right));
    } else if (event.key === "Escape") {
      hide();
    }
  });
}

/**
 * @param {number} place
 * @param {{panel: import("./chart.js").Panel}[]} panels
 * @param {string} label
 */
function rows(place, panels, label) {
  const head = h("b", {}, `${label}: ${tick(Number(place.toPrecision(4)))}`);
  const rest = panels.flatMap(({ panel }) => [
    ...(panel.bars ?? [])
      .filter((bar) => bar.from <= place && place < bar.to)
      .map((bar) => h("span", {}, bar.name)),
    ...(panel.lines ?? [])
      .filter((line) => !line.quiet && line.x.length > 0)
      .map((line) => {
        const value = line.y[nearest(line, place)];
        const text = value === null || value === undefined ? "unknown" : tick(Number(value.toPrecision(4)));
        return h("span", {}, `${line.name}, ${panel.y.label}: ${text}`);
      }),
  ]);
  return [head, ...rest];
}

/**
 * Which value of a line is shown at a place: the nearest, of steps the one that holds.
 * @param {import("./mark.js").Line} line
 * @param {number} place
 */
export function nearest(line, place) {
  let low = 0;
  let high = line.x.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((line.x[middle] ?? 0) <= place) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  const here = line.x[low] ?? 0;
  const next = line.x[low + 1];
  return !line.step && next !== undefined && next - place < place - here ? low + 1 : low;
}
