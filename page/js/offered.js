// What there is to choose: the cells and workloads that the program in the page can answer about.

import { lists } from "./program.js";

/** What stands in a list of workloads for none in place of the cell's. */
export const OWN = { name: "", label: "the cell's own" };

/**
 * Recorded sessions lie in files that no page has, so cells that play them are not offered.
 * @returns {Promise<{cells: any[], simulated: any[], workloads: any[], formats: string[],
 *   protocol: (cell: string) => any, factor: (cell: string) => number | undefined}>} `simulated`: the cells with the costs
 *   that the simulator needs; `protocol`: that of a cell, if it is known; `factor`: what multiplies its costs of a token
 *   where it has to be said: 1, for what was calibrated
 */
export async function offered() {
  const all = await lists();
  const workloads = all.workloads.filter((/** @type {any} */ workload) => workload.kind !== "recorded");
  const names = new Set(workloads.map((/** @type {any} */ workload) => workload.name));
  const cells = all.cells.filter((/** @type {any} */ cell) => names.has(cell.workload));
  const cellOf = (/** @type {string} */ name) => all.cells.find((/** @type {any} */ one) => one.name === name);
  return {
    cells,
    simulated: cells.filter((/** @type {any} */ cell) => cell.has_iteration_costs),
    workloads,
    formats: all.formats,
    protocol: (name) =>
      all.protocols.find((/** @type {any} */ protocol) => protocol.name === cellOf(name)?.protocol),
    factor: (name) => (cellOf(name)?.needs_token_cost_factor ? 1 : undefined),
  };
}

/**
 * @param {any[]} list
 */
export function named(list) {
  return list.map(({ name }) => ({ name, label: name }));
}
