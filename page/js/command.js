// The command line that prints the same numbers, with a button that copies it.

import { fill, h } from "./dom.js";

/**
 * @param {Element} place
 * @param {string[]} commands
 */
export function showCommand(place, commands) {
  fill(place, ...commands.map(line));
}

/** @param {string} command */
function line(command) {
  const button = h("button", { type: "button", class: "copy" }, "Copy as command");
  const said = h("span", { class: "said", role: "status" });
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(command);
      said.textContent = "copied";
    } catch {
      said.textContent = "select it and copy: the browser does not let a page do it here";
    }
  });
  return h("p", { class: "command" }, h("code", {}, command), button, said);
}
