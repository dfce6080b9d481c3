// The command line that prints the same numbers, with a button that copies it.

import { fill, h } from "./dom.js";

/**
 * A box for each command; none where nothing prints the same.
 * @param {Element} place
 * @param {(string | null | undefined)[]} commands
 */
export function showCommand(place, commands) {
  fill(place, ...commands.map((command) => (command ? line(command) : null)));
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
