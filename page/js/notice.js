// What a section says while it works, and when something went wrong.

import { fill, h } from "./dom.js";

/**
 * @param {Element} place
 * @param {unknown} error
 */
export function wrong(place, error) {
  const text = error instanceof Error ? error.message : String(error);
  place.setAttribute("data-wrong", "");
  fill(place, h("span", { class: "wrong" }, `error: ${text}`));
}

/**
 * @param {Element} place
 * @param {string} text
 */
export function say(place, text) {
  place.removeAttribute("data-wrong");
  fill(place, text);
}
