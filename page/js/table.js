// A table of an answer: the digits that the terminal prints, the number behind them beside it.

import { h } from "./dom.js";

/**
 * @typedef {object} Printed
 * @property {string} [title]
 * @property {{name: string, unit?: string, about?: string, number?: boolean}[]} columns
 * @property {string[][]} rows
 */

/**
 * @param {Printed} printed
 * @param {any[]} [raw] the rows with unrounded numbers, in the same order
 */
export function table(printed, raw = []) {
  const head = printed.columns.map((column) => {
    const unit = column.unit ? h("span", { class: "unit" }, ` (${column.unit})`) : null;
    return h("th", { scope: "col", title: column.about ?? null }, words(column.name), unit);
  });
  const body = printed.rows.map((cells, at) => {
    const row = raw[at] ?? {};
    return h("tr", {}, ...cells.map((text, column) => cell(text, column, row, printed.columns)));
  });
  const caption = printed.title ? h("caption", {}, printed.title) : null;
  const whole = h("table", {}, caption, h("thead", {}, h("tr", {}, ...head)), h("tbody", {}, ...body));
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": printed.title ?? "table" }, whole);
}

/**
 * @param {string} text
 * @param {number} at
 * @param {Record<string, unknown>} row
 * @param {Printed["columns"]} columns
 */
function cell(text, at, row, columns) {
  const value = row[columns[at]?.name ?? ""];
  const number = /^[-+]?[\d.]/.test(text);
  const attributes = {
    class: number ? "number" : null,
    "data-value": typeof value === "number" ? value : null,
    "data-column": columns[at]?.name ?? null,
  };
  if (at === 0) {
    return h("th", { scope: "row", ...attributes }, text);
  }
  return h("td", attributes, text);
}

/**
 * A column's name as words.
 * @param {string} name
 */
export function words(name) {
  return name.replaceAll("_", " ");
}
