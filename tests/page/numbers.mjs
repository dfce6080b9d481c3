// What the page shows against what the command line prints, number by number.

import assert from "node:assert/strict";
import { test } from "node:test";
import { onPage, ready, settled, shot } from "./open.mjs";
import { printed, scratch } from "./program.mjs";

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
async function same(section, answer) {
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
const command = (section) => section.locator(".command code").innerText();

const QUESTIONS = [
  "calculator.what=trap",
  "calculator.what=trap&calculator.cell=mirror&calculator.load=rho&calculator.amount=1.4",
  "calculator.what=trap&calculator.cell=sglang-native&calculator.amount=4",
  "calculator.what=trap&calculator.cell=vllm-300k&calculator.load=sessions_per_s&calculator.amount=0.05",
  "calculator.what=trap&calculator.workload=agent-sessions&calculator.load=rho&calculator.amount=1.5",
  "calculator.what=cut",
  "calculator.what=cut&calculator.to=1.15%2C0.85&calculator.cut_at=2400",
  "calculator.what=stop&calculator.amount=1.35",
  "calculator.what=rescue",
  "calculator.what=rescue&calculator.cell=sglang-native&calculator.amount=4&calculator.engage_at=2100&calculator.cap=48%2C64",
  "calculator.what=rescue&calculator.backlog=240",
  "calculator.what=burst",
  "calculator.what=burst&calculator.cell=vllm-300k&calculator.sessions=25%2C100",
  "calculator.what=curve",
  "calculator.what=curve&calculator.cell=h200-300k&calculator.population=32%2C64",
];

for (const query of QUESTIONS) {
  test(`the calculator shows the command line's numbers: ${query.replaceAll("calculator.", "")}`, async () => {
    await onPage({ hash: `#calculator?${query}` }, async (page) => {
      const section = await ready(page, "calculator");
      assert.equal(await section.locator(".wrong").count(), 0, await section.locator(".status").innerText());
      await same(section, await printed(await command(section)));
    });
  });
}

test("a question without an answer gets the command line's own words", async () => {
  await onPage({ hash: "#calculator?calculator.cell=no-such-cell" }, async (page) => {
    const section = await ready(page, "calculator").catch(() => page.locator("#calculator"));
    await settled(page, "calculator");
    const said = await section.locator(".status").innerText();
    assert.match(said, /no-such-cell/);
    const { run } = await import("./program.mjs");
    const { stderr } = await run(["model", "trap", "--cell", "no-such-cell", "--rate", "1.65"]);
    assert.equal(said.trim(), stderr.trim());
  });
});

for (const query of [
  "engines.seed=3&engines.cap=18",
  "engines.workload=mirror&engines.rate=1.6",
  "engines.workload=agent-sessions&engines.cell=sglang-600k&engines.rate=1.5",
  "engines.cell=vllm-300k&engines.token_cost_factor=0.95&engines.second=capped",
]) {
  test(`the two engines are the runs that the shown commands make: ${query}`, () => sameEngines(query));
}

/** @param {string} query */
async function sameEngines(query) {
  await onPage({ hash: `#engines?${query}` }, async (page) => {
    const section = await ready(page, "engines");
    const answer = await printed(await command(section), await scratch());
    const states = await section.locator(".verdict > .state").allInnerTexts();
    assert.deepEqual(
      states,
      answer.states.map((state) => state.state),
    );
    const margins = await section
      .locator(".engine")
      .first()
      .locator(".clause")
      .evaluateAll((all) => all.map((clause) => clause.dataset.margin ?? null));
    const { trapped, recovered, draining } = answer.states[0];
    const clauses = [...trapped, ...recovered, ...draining];
    const [why] = (await section.locator(".verdict").first().innerText()).split("\n");
    // The token rate goes by a shorter name there: what decided is told by its margin.
    const signed = (margin) => `(${margin < 0 ? "" : "+"}${margin.toFixed(4)})`;
    assert.ok(
      clauses.some(({ words, margin }) => why.includes(words) || (margin !== null && why.includes(signed(margin)))),
      `${why} names what decided`,
    );
    assert.deepEqual(
      margins.map((m) => (m === null ? null : Number(m))),
      clauses.map((clause) => clause.margin),
    );
    assert.ok((await section.locator(".stamp").allTextContents()).filter((word) => word === "SIMULATED").length >= 4);
    await shot(section, `engines-${query.replaceAll(/[^a-z0-9]+/g, "-")}`);
  });
}

test("the time scales are those of the runs that the shown commands make", async () => {
  await onPage({ hash: "#scales?scales.rate=1.5" }, async (page) => {
    const section = await ready(page, "scales");
    const answer = await printed(await command(section), await scratch());
    const shownRows = await section
      .locator(".tables tbody tr")
      .evaluateAll((rows) =>
        rows.map((row) => [...row.querySelectorAll("[data-value]")].map((cell) => Number(cell.dataset.value))),
      );
    assert.equal(shownRows.length, 2);
    for (const [i, values] of shownRows.entries()) {
      const run = answer.runs[i];
      assert.deepEqual(values, [run.gap_median_s, run.turnover_s, run.gap_over_turnover]);
    }
    await shot(section, "scales-light");
  });
});

test("the knee is the command line's", async () => {
  await onPage({ hash: "#knee?knee.population=16%2C32&knee.seeds=2" }, async (page) => {
    const section = await ready(page, "knee");
    const count = await same(section, await printed(await command(section)));
    assert.ok(count > 4);
    assert.equal(await section.locator("rect.point").count(), 2 * 2 * 2);
    for (const look of ["noburst", "burst"]) {
      const line = await section.locator(`.chart path.line.${look}`).getAttribute("d");
      assert.match(line, /^M[\d. ]+L[\d. ]+$/, "a line joins the two populations");
    }
    assert.equal(await section.locator(".chart .moment.onset").count(), 1);
    await shot(section, "knee-light");
  });
});
