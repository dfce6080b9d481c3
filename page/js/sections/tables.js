// The derived tables as they lie in the project; each is read when it is opened.

import { showCommand } from "../command.js";
import { data, part } from "../data.js";
import { fill, h, one } from "../dom.js";
import { bind } from "../form.js";
import { wrong } from "../notice.js";
import { keep } from "../opened.js";
import { files } from "../run.js";
import { table } from "../table.js";

/** @typedef {{name: string, title: string, analysis: string, rows: number, sources: string[], path: string, sha256: string, file: string}} Derived */

/** @param {HTMLElement} root */
export async function start(root) {
  const { absent, tables } = await part("tables");
  if (absent) {
    one(root, ".status").textContent = absent;
    one(root, "form").hidden = true;
    return;
  }
  const form = bind(/** @type {HTMLFormElement} */ (one(root, "form")), () => show());
  const entries = tables.map((/** @type {Derived} */ of) => ({
    element: entry(of),
    text: [of.name, of.title, of.analysis].join(" ").toLowerCase(),
  }));
  function show() {
    const wanted = form.text("text").toLowerCase();
    const found = entries.filter((/** @type {any} */ one) => one.text.includes(wanted));
    fill(one(root, ".derived"), ...found.map((/** @type {any} */ one) => one.element));
    one(root, ".status").textContent = `${found.length} of ${tables.length} tables.`;
  }
  show();
}

/** @param {Derived} of */
function entry(of) {
  const place = h("div", { class: "comes" });
  const commands = h("div", { class: "commands" });
  // The published tables beside ours are made of all others.
  showCommand(commands, [of.analysis === "published" ? "trapcheck derive" : `trapcheck derive ${of.analysis}`]);
  const whole = h(
    "details",
    { "data-derived": of.name },
    h("summary", {}, `${of.name}: ${of.title} `, h("span", { class: "made" }, `${of.rows} rows `), badge(of)),
    place,
    files([of]),
    commands,
  );
  whole.addEventListener("toggle", async () => {
    if (!whole.open || place.childElementCount > 0) {
      return;
    }
    try {
      const { columns, rows } = await data(of.file);
      fill(place, table({ title: of.title, columns, rows }));
    } catch (error) {
      wrong(place, error);
    }
  });
  keep("tables", of.name, whole);
  return whole;
}

/**
 * What made the runs that a table is of, where it is of runs.
 * @param {Derived} of
 */
function badge({ sources }) {
  if (sources.length === 0) {
    return null;
  }
  const simulated = sources.includes("simulator");
  const words = [simulated ? "SIMULATED" : "", sources.includes("engine") ? "MEASURED" : ""];
  return h(
    "span",
    { class: simulated ? "source simulated" : "source" },
    words.filter((word) => word !== "").join(" AND "),
  );
}
