// A section while it is answered: what it says, and that nothing of an older answer stands beside newer controls.

import { erase } from "./chart/chart.js";
import { one } from "./dom.js";
import { say, wrong } from "./notice.js";

/** Where a section shows an answer. */
const ANSWER = ".answers, .picture, .tables, .now, .verdict, .events, .commands";

/**
 * Shows what comes of some work. Where it fails the section shows why, and no answer.
 * @param {HTMLElement} root
 * @param {string} meanwhile what is said while it takes
 * @param {() => Promise<string>} work shows the answer, and says what is then said
 */
export async function answering(root, meanwhile, work) {
  const status = one(root, ".status");
  say(status, meanwhile);
  root.dataset.busy = "yes";
  try {
    say(status, await work());
  } catch (error) {
    clear(root);
    wrong(status, error);
  }
  root.dataset.busy = "no";
}

/**
 * Takes away an answer.
 * @param {HTMLElement} root
 */
export function clear(root) {
  for (const place of root.querySelectorAll(ANSWER)) {
    erase(place);
  }
}
