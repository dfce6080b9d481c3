// A line that follows the pointer, with the values that are drawn there.

import { h, s } from "../dom.js";
import { tick } from "./scale.js";

/**
 * @param {SVGSVGElement} svg
 * @param {import("./chart.js").Chart} chart
 * @param {{panel: import("./chart.js").Panel, box: {top: number, height: number}, y: import("./scale.js").Scale}[]} panels
 * @param {import("./scale.js").Scale} x
 * @param {[number, number]} range px
 */
export function cursor(svg, chart, panels, x, [left, right]) {
  const lines = panels.flatMap(({ panel }) => (panel.lines ?? []).filter((line) => !line.quiet));
  if (lines.length === 0) {
    return;
  }
  const top = panels[0]?.box.top ?? 0;
  const foot = panels.at(-1)?.box;
  const bottom = foot === undefined ? top : foot.top + foot.height;
  const rule = s("line", { y1: top, y2: bottom, class: "cursor", visibility: "hidden" });
  const said = h("output", { class: "readout", hidden: true, "aria-hidden": "true" });
  svg.append(rule);
  svg.after(said);
  svg.addEventListener("pointermove", (event) => {
    const px = event.clientX - svg.getBoundingClientRect().left;
    const inside = px >= left && px <= right;
    rule.setAttribute("visibility", inside ? "visible" : "hidden");
    said.hidden = !inside;
    if (!inside) {
      return;
    }
    const place = x.value(px);
    rule.setAttribute("x1", String(px));
    rule.setAttribute("x2", String(px));
    said.replaceChildren(...rows(place, panels, chart.x.label));
    said.style.setProperty("--at", `${px}px`);
    said.classList.toggle("before", px > (left + right) / 2);
  });
  svg.addEventListener("pointerleave", () => {
    rule.setAttribute("visibility", "hidden");
    said.hidden = true;
  });
}

/**
 * @param {number} place
 * @param {{panel: import("./chart.js").Panel}[]} panels
 * @param {string} label
 */
function rows(place, panels, label) {
  const head = h("b", {}, `${label}: ${tick(Number(place.toPrecision(4)))}`);
  const rest = panels.flatMap(({ panel }) =>
    (panel.lines ?? [])
      .filter((line) => !line.quiet)
      .map((line) => {
        const value = line.y[nearest(line, place)];
        const text = value === null || value === undefined ? "unknown" : tick(Number(value.toPrecision(4)));
        return h("span", {}, `${line.name}, ${panel.y.label}: ${text}`);
      }),
  );
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
