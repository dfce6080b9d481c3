// A table of an answer: the digits that the terminal prints, the number behind them beside it.

import { h } from "./dom.js";

/**
 * @typedef {object} Printed
 * @property {string} [title]
 * @property {{name: string, unit?: string, about?: string, number?: boolean}[]} columns
 * @property {string[][]} rows
 */

/** A table of more columns and of few rows is turned: nobody scrolls sideways for one run. */
const WIDE = { columns: 10, rows: 4 };

/**
 * @param {Printed} printed
 * @param {any[]} [raw] the rows with unrounded numbers, in the same order
 */
export function table(printed, raw = []) {
  const names = printed.columns.map(name);
  const rows = printed.rows.map((cells, row) =>
    cells.map((text, at) => {
      const column = printed.columns[at];
      return cell(text, row, column, raw[row]?.[column?.name ?? ""]);
    }),
  );
  const turned = printed.columns.length > WIDE.columns && printed.rows.length <= WIDE.rows;
  const head = turned ? [] : names;
  const body = turned
    ? names.map((name, column) => h("tr", {}, name, ...rows.map((row) => row[column])))
    : rows.map((row) => h("tr", {}, ...row));
  for (const one of turned ? names : []) {
    one.scope = "row";
  }
  const caption = printed.title ? h("caption", {}, printed.title) : null;
  const whole = h("table", {}, caption, h("thead", {}, h("tr", {}, ...head)), h("tbody", {}, ...body));
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": printed.title ?? "table" }, whole);
}

/**
 * @param {string} text
 * @param {number} row
 * @param {Printed["columns"][number] | undefined} column
 * @param {unknown} value what stands behind the text
 */
function cell(text, row, column, value) {
  return h(
    "td",
    {
      class: /^[-+]?[\d.]/.test(text) ? "number" : null,
      "data-value": typeof value === "number" ? value : null,
      "data-column": column?.name ?? null,
      "data-row": row,
    },
    text,
  );
}

/**
 * A column's name as words, with its unit once.
 * @param {Printed["columns"][number]} column
 */
function name(column) {
  const unit = column.unit ?? "";
  const ends = unit === "" ? [] : [`_${unit.replace("/", "_per_")}`, ...(unit.endsWith("/s") ? ["_per_s"] : [])];
  const end = ends.find((ending) => column.name.endsWith(ending)) ?? "";
  const words = column.name.slice(0, column.name.length - end.length).replaceAll("_", " ");
  const shown = unit === "" ? null : h("span", { class: "unit" }, ` (${unit})`);
  return h("th", { scope: "col", title: column.about ?? null }, words, shown);
}
