// One number of the ledger, opened: its query, the interval it is held against, and the chain of its sources.

import { showCommand } from "../command.js";
import { data } from "../data.js";
import { h } from "../dom.js";
import { files } from "../run.js";
import { table } from "../table.js";

/**
 * @param {Record<string, string>} row
 * @param {any} number
 */
export async function entry(row, number) {
  const commands = h("div", { class: "commands" });
  showCommand(commands, [number.command]);
  return [
    h("p", {}, `${row.id}: rests on ${row.basis || "nothing computed"}${row.unit ? `, in ${row.unit}` : ""}.`),
    number.intervals?.length > 0 ? intervals(number.intervals) : null,
    number.query ? h("pre", {}, number.query) : null,
    number.tables?.length > 0 ? await chain(number.tables) : null,
    number.files?.length > 0 ? h("h4", {}, "Files it is computed from") : null,
    files(number.files ?? []),
    commands,
  ];
}

/** @param {any[]} list */
function intervals(list) {
  const names = ["what", "published", "low", "high", "median", "rank", "outside"];
  const rows = list.map((interval) => names.map((name) => String(interval[name] ?? "")));
  return table({ title: "Held against forty simulated campaigns", columns: names.map((name) => ({ name })), rows });
}

/**
 * Each derived table, and how many files it was made from; the files themselves when one looks.
 * @param {string[]} names
 */
async function chain(names) {
  const sources = await data("sources.json");
  const known = names.filter((name) => sources.tables[name] !== undefined);
  return h(
    "div",
    {},
    h("h4", {}, "Tables it reads, and the files these are made from"),
    ...known.map((name) => {
      const { path, sha256, rows, files: behind } = sources.tables[name];
      const list = behind.map((/** @type {number} */ i) => ({
        path: sources.files[i][0],
        sha256: sources.files[i][1],
      }));
      return h(
        "details",
        {},
        h("summary", {}, `${path}: ${rows} rows, ${list.length} files`),
        files([{ path, sha256 }, ...list]),
      );
    }),
  );
}
