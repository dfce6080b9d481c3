// What a section shows, held against the command line's answer to the command that it shows.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { nearest } from "../../page/js/chart/cursor.js";
import { printed, run, scratch } from "./program.mjs";

/**
 * The numbers of a table as shown, by column.
 * @param {import("playwright-core").Locator} section
 * @param {string} name
 */
async function shown(section, name) {
  const cells = await section
    .locator(`[data-table="${name}"] [data-row]`)
    .evaluateAll((all) => all.map(({ dataset }) => ({ ...dataset })));
  const rows = [];
  for (const { row, column, value } of cells) {
    rows[row] ??= {};
    if (value !== undefined) {
      rows[row][column] = Number(value);
    }
  }
  return rows;
}

/**
 * Every table of an answer is shown, and each of its numbers is the command line's, to the last bit.
 * @param {import("playwright-core").Locator} section
 * @param {any} answer
 */
export async function same(section, answer) {
  const tables = await section.locator("[data-table]").evaluateAll((all) => all.map((table) => table.dataset.table));
  let compared = 0;
  for (const name of tables) {
    const rows = await shown(section, name);
    assert.equal(rows.length, answer[name].length, name);
    for (const [i, row] of rows.entries()) {
      for (const [column, value] of Object.entries(row)) {
        assert.equal(value, answer[name][i][column], `${name} row ${i} ${column}`);
        compared += 1;
      }
    }
  }
  assert.ok(compared > 0, "nothing was compared");
  return compared;
}

/** @param {import("playwright-core").Locator} section */
export const command = (section) => section.locator(".command code").innerText();

/**
 * What a section shows is what its command prints.
 * @param {import("playwright-core").Locator} section
 * @param {"engines" | "calculator" | "scales" | "knee"} name
 */
export async function sameAnswer(section, name) {
  if (name === "engines" || name === "scales") {
    const folder = await scratch();
    const answer = await printed(await command(section), folder);
    await (name === "engines" ? sameEngines(section, answer, folder) : sameScales(section, answer));
  } else {
    await same(section, await printed(await command(section)));
  }
}

/**
 * Gap, turnover and their ratio of both runs.
 * @param {import("playwright-core").Locator} section
 * @param {any} answer of `trapcheck score`
 */
async function sameScales(section, answer) {
  const rows = await section
    .locator(".tables tbody tr")
    .evaluateAll((all) =>
      all.map((row) => [...row.querySelectorAll("[data-column$=_s], [data-column=ratio]")].map(({ dataset }) => dataset.value)),
    );
  assert.equal(rows.length, 2);
  for (const [i, values] of rows.entries()) {
    const { gap_median_s, turnover_s, gap_over_turnover } = answer.runs[i];
    const shown = values.map((value) => (value === undefined ? null : Number(value)));
    assert.deepEqual(shown, [gap_median_s, turnover_s, gap_over_turnover]);
  }
}

/** The readings at a moment, in the order in which they are shown, by the name of their series in data/. */
const READINGS = ["follow_up_hits", "backlog", null, "held"];

/**
 * The states with their clauses, the readings at the moment of the slider, and each event: those of the runs in a folder,
 * which the command line has simulated, as `trapcheck page` has them.
 * @param {import("playwright-core").Locator} section
 * @param {any} answer of `trapcheck score`
 * @param {string} folder where its runs are
 */
async function sameEngines(section, answer, folder) {
  const states = await section.locator(".verdict > .state").allInnerTexts();
  assert.deepEqual(
    states,
    answer.states.map((state) => state.state),
  );
  const t = Number(await section.locator("#engines-time").inputValue());
  const names = (await command(section)).split(" && trapcheck score ")[1].split(" ");
  const { code, stderr } = await run(["page", "--out", "page", ...names], folder);
  assert.equal(code, 0, stderr);
  const read = async (/** @type {string} */ file) => JSON.parse(await readFile(join(folder, "page/data", file), "utf8"));
  const { runs: lines } = await read("runs.json");
  const events = [];
  for (const [i, name] of names.entries()) {
    const engine = section.locator(".engine").nth(i);
    await sameVerdict(engine, answer.states[i]);
    const { series, events: own } = await read(lines.find((line) => line.run === name).file);
    events.push(...own.map((event) => ({ ...event, who: i })));
    const shown = await engine.locator(".now dd").allInnerTexts();
    for (const [at, key] of READINGS.entries()) {
      const line = key === null ? undefined : series[key];
      if (line !== undefined) {
        const value = line.value[nearest({ name: "", look: "", x: line.t_s, y: line.value }, t)];
        assert.equal(number(shown[at]), value === null ? null : Number(value.toPrecision(3)), `${name} ${key} at ${t} s`);
      }
    }
  }
  events.sort((a, b) => a.t_s - b.t_s);
  const rows = await section
    .locator(".events tr")
    .evaluateAll((all) => all.map((row) => [...row.children].map((cell) => cell.dataset.value ?? cell.textContent)));
  const whose = await section.locator(".engine h3").allInnerTexts();
  assert.deepEqual(
    rows.map(([at, who, what]) => [Number(Number(at).toFixed(6)), who, what]),
    events.map(({ t_s, who, what }) => [t_s, whose[who], what]),
  );
}

/**
 * @param {import("playwright-core").Locator} engine
 * @param {any} state
 */
async function sameVerdict(engine, { trapped, recovered, draining, because }) {
  const margins = await engine
    .locator(".clause")
    .evaluateAll((all) => all.map((clause) => clause.dataset.margin ?? null));
  const clauses = [...trapped, ...recovered, ...draining];
  assert.deepEqual(
    margins.map((margin) => (margin === null ? null : Number(margin))),
    clauses.map((clause) => clause.margin),
  );
  const [why] = (await engine.locator(".verdict").innerText()).split("\n");
  // The token rate goes by a shorter name there: what decided is told by its margin.
  const signed = (/** @type {number} */ margin) => `(${margin < 0 ? "" : "+"}${margin.toFixed(4)})`;
  assert.ok(
    clauses.some(({ words, margin }) => why.includes(words) || (margin !== null && why.includes(signed(margin)))) ||
      (because && why.includes(because)),
    `${why} names what decided`,
  );
}

/**
 * A reading as a number; none for a dash.
 * @param {string} text
 */
function number(text) {
  return text === "–" ? null : Number(text.replaceAll("\u2009", "").replace("\u2212", "-"));
}
