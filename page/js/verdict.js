// A run's state and the clauses that decided it, each with its margin.

import { h } from "./dom.js";

/**
 * @param {string} state
 */
export function badge(state) {
  return h("span", { class: `state ${state.toLowerCase().replaceAll(" ", "-")}` }, state);
}

/**
 * What decided, in one line.
 * @param {import("./shapes.js").Clause | null | undefined} clause
 */
export function words(clause) {
  if (!clause) {
    return "";
  }
  return clause.words ?? `${clause.quantity}: ${clause.measured ?? "unknown"} ${clause.needs} ${bounds(clause)}`;
}

/** @param {import("./shapes.js").Clause} clause */
function bounds(clause) {
  return [clause.needs_least, clause.needs_most].filter((bound) => bound !== null).join(" to ");
}

/**
 * The clauses of each state, those that hold and those that do not.
 * @param {import("./shapes.js").State} state
 */
export function clauses(state) {
  const groups = /** @type {[string, import("./shapes.js").Clause[]][]} */ ([
    ["TRAPPED needs", state.trapped],
    ["RECOVERED needs", state.recovered],
    ["DRAINING needs", state.draining],
  ]);
  return h(
    "div",
    { class: "clauses" },
    ...groups
      .filter(([, list]) => list?.length > 0)
      .map(([name, list]) => h("div", {}, h("h4", {}, name), clauseList(list))),
  );
}

/** @param {import("./shapes.js").Clause[]} list */
export function clauseList(list) {
  return h("ul", {}, ...list.map(clauseLine));
}

/** @param {import("./shapes.js").Clause} clause */
function clauseLine(clause) {
  const holds = clause.holds === null ? "cannot be told" : clause.holds ? "holds" : "does not hold";
  const sign = clause.holds === null ? "?" : clause.holds ? "✓" : "×";
  return h(
    "li",
    { class: `clause ${holds.replaceAll(" ", "-")}`, "data-margin": clause.margin },
    h("span", { class: "sign", role: "img", "aria-label": holds }, sign),
    ` ${words(clause)}`,
  );
}
