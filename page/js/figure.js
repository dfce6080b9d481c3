// A figure that the program drew, put into the page so that it takes the page's colours.

import { fill } from "./dom.js";

/**
 * @param {Element} place
 * @param {string} path in data/
 * @param {string} says what it shows
 */
export async function figure(place, path, says) {
  const answer = await fetch(new URL(`../data/${path}`, import.meta.url));
  if (!answer.ok) {
    throw new Error(`data/${path}: ${answer.status}`);
  }
  const parsed = new DOMParser().parseFromString(await answer.text(), "image/svg+xml");
  const svg = parsed.documentElement;
  if (svg.localName !== "svg") {
    throw new Error(`data/${path} is no picture`);
  }
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", says);
  fill(place, document.importNode(svg, true));
}
