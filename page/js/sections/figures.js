// Every figure, by the drawing code of the paper's files; each is read when it is opened.

import { showCommand } from "../command.js";
import { part } from "../data.js";
import { fill, h, one } from "../dom.js";
import { figure } from "../figure.js";
import { wrong } from "../notice.js";
import { keep } from "../opened.js";

/** @param {HTMLElement} root */
export async function start(root) {
  const { absent, figures } = await part("figures");
  if (absent) {
    one(root, ".status").textContent = absent;
    return;
  }
  fill(one(root, ".figures"), ...figures.map(entry));
  one(root, ".status").textContent = `${figures.length} figures. Each says what made its runs.`;
}

/** @param {any} drawn */
function entry(drawn) {
  const place = h("div", { class: "picture figure comes" });
  const commands = h("div", { class: "commands" });
  showCommand(commands, [drawn.command]);
  const whole = h(
    "details",
    { "data-figure": drawn.name },
    h("summary", {}, drawn.title, h("span", { class: "made" }, ` ${drawn.made_by}`)),
    place,
    h("p", { class: "note" }, drawn.description),
    h("p", { class: "note" }, `${drawn.runs.length} runs, ${drawn.files} files behind it.`),
    commands,
  );
  whole.addEventListener("toggle", () => {
    if (whole.open && place.childElementCount === 0) {
      figure(place, drawn.svg, drawn.description).catch((error) => wrong(place, error));
    }
  });
  keep("figures", drawn.name, whole);
  return whole;
}
