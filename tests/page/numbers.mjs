// What the page shows against what the command line prints, number by number.

import assert from "node:assert/strict";
import { test } from "node:test";
import { onPage, ready, settled, shot } from "./open.mjs";
import { printed } from "./program.mjs";
import { command, same, sameAnswer } from "./shown.mjs";

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
    await sameAnswer(section, "engines");
    assert.ok((await section.locator(".stamp").allTextContents()).filter((word) => word === "SIMULATED").length >= 4);
    await shot(section, `engines-${query.replaceAll(/[^a-z0-9]+/g, "-")}`);
  });
}

test("the time scales are those of the runs that the shown commands make", async () => {
  await onPage({ hash: "#scales?scales.rate=1.5" }, async (page) => {
    const section = await ready(page, "scales");
    await sameAnswer(section, "scales");
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
