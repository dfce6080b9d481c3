// Every control: it is in the address once it is moved, and the address brings it back.

import assert from "node:assert/strict";
import { test } from "node:test";
import { onPage, ready, settled } from "./open.mjs";

/** What a control is moved to, where the next step of a number or the next choice of a list would not do. */
const MOVES = {
  "calculator.to": "1.15,0.85",
  "calculator.cap": "16,24",
  "calculator.backlog": "240",
  "calculator.sessions": "25,100",
  "calculator.population": "16,40",
  "knee.population": "12,40",
  "knee.pool_tokens": "250000",
  "knee.gap_limit": "30",
  "knee.host_tokens": "600000",
  "knee.host_load_rate": "100000",
  "ledger.text": "premium",
  "tables.text": "rescue",
  "tests.text": "rescue",
  "drop.pool": "300000",
  // The first cell of the list plays days: with short sessions that is minutes to simulate.
  "engines.cell": "sglang-600k",
  "engines.t": "4000",
  "engines.token_cost_factor": "1.1",
};

/** Where a control is there for one question only. */
const BEFORE = {
  cut_at: "cut",
  to: "cut",
  until: "cut",
  stop_at: "stop",
  engage_at: "rescue",
  backlog: "rescue",
  hold: "rescue",
  cap: "rescue",
  sessions: "burst",
  population: "curve",
};

/**
 * Moves one control as a person would, and says to what.
 * @param {import("playwright-core").Locator} control
 * @param {string} key
 */
async function move(control, key) {
  const tag = await control.evaluate((element) => element.localName);
  const type = await control.getAttribute("type");
  if (tag === "select") {
    const options = await control.locator("option").evaluateAll((all) => all.map((option) => option.value));
    const now = await control.inputValue();
    const next = MOVES[key] ?? options.find((option) => option !== now && option !== "");
    assert.ok(next !== undefined, `${key} has nothing else to choose`);
    await control.selectOption(next);
    return next;
  }
  if (type === "range" && MOVES[key] === undefined) {
    await control.focus();
    await control.press("ArrowRight");
    return control.inputValue();
  }
  if (MOVES[key] !== undefined) {
    await control.fill(MOVES[key]);
    return MOVES[key];
  }
  const now = Number(await control.inputValue());
  const step = Number((await control.getAttribute("step")) ?? 1) || 1;
  const next = String(Number((now + step).toPrecision(10)));
  await control.fill(next);
  return next;
}

for (const name of ["engines", "calculator", "scales", "knee", "law", "tables", "ledger", "tests", "drop"]) {
  test(`each control of ${name} is in the address, and the address brings it back`, async () => {
    const moved = new Map();
    let address = "";
    await onPage({ hash: `#${name}` }, async (page) => {
      const section = await ready(page, name);
      const names = await section
        .locator("form :is(input, select):not([type=radio], [type=file])")
        .evaluateAll((all) => all.map((control) => control.name));
      assert.ok(names.length > 0);
      for (const control of names) {
        if (name === "calculator" && BEFORE[control] !== undefined) {
          await section.locator(`[name=what][value=${BEFORE[control]}]`).check();
          moved.set("calculator.what", BEFORE[control]);
          await settled(page, name);
        }
        const key = `${name}.${control}`;
        const place = section.locator(`form [name=${control}]`);
        if ((await place.locator("option").count()) === 1) {
          continue;
        }
        moved.set(key, await move(place, key));
        await settled(page, name);
        const query = new URLSearchParams(new URL(page.url()).hash.split("?")[1]);
        assert.equal(query.get(key), moved.get(key), key);
        // Several changes at once may ask for what has no answer; the words of the command line then say why.
        if (!["tables", "ledger", "tests", "law", "engines"].includes(name)) {
          assert.match(await section.locator(".status").innerText(), /\S/);
        }
      }
      address = new URL(page.url()).hash;
    });
    await onPage({ hash: address }, async (page) => {
      const section = await ready(page, name);
      for (const [key, value] of moved) {
        const control = key.slice(name.length + 1);
        const place =
          control === "what" ? section.locator("[name=what]:checked") : section.locator(`form [name=${control}]`);
        assert.equal(await place.inputValue(), value, key);
      }
    });
  });
}

test("the same address shows the same screen, number for number", async () => {
  const hash = "#calculator?calculator.amount=1.35&calculator.what=cut&theme=dark";
  const seen = [];
  for (let i = 0; i < 2; i += 1) {
    await onPage({ hash }, async (page) => {
      const section = await ready(page, "calculator");
      seen.push(await section.locator(".answers").innerText());
      assert.equal(await page.locator("html").getAttribute("data-theme"), "dark");
    });
  }
  assert.equal(seen[0], seen[1]);
});

test("the copied command is the shown one", async () => {
  await onPage(
    { hash: "#calculator", context: { permissions: ["clipboard-read", "clipboard-write"] } },
    async (page) => {
      const section = await ready(page, "calculator");
      await section.locator(".copy").first().click();
      await page.waitForFunction(() => document.querySelector("#calculator .said").textContent !== "");
      const copied = await page.evaluate(() => navigator.clipboard.readText());
      assert.equal(copied, await section.locator(".command code").first().innerText());
      assert.match(copied, /^trapcheck model trap /);
    },
  );
});

test("the moment that the slider names is read off both engines", async () => {
  await onPage({ hash: "#engines" }, async (page) => {
    const section = await ready(page, "engines");
    const slider = section.locator("#engines-time");
    await slider.fill("600");
    const before = await section.locator(".engine").first().locator(".now dd").allInnerTexts();
    await slider.fill("6000");
    const after = await section.locator(".engine").first().locator(".now dd").allInnerTexts();
    assert.notDeepEqual(before, after);
    assert.equal(after[0], "0", "the engine that is left alone has no hits");
    assert.match(await section.locator("#engines-at").innerText(), /6000 s/);
  });
});

test("a moment beyond the end that the slider begins with is in the address, and comes back", async () => {
  // The agents' cells play for hours.
  const hash = "#engines?engines.cell=agents-native&engines.t=12000";
  await onPage({ hash }, async (page) => {
    const section = await ready(page, "engines");
    assert.equal(await section.locator("#engines-time").inputValue(), "12000");
    assert.equal(await section.locator("#engines-at").innerText(), "12\u2009000 s");
  });
});

test("what is opened is in the address, and the address opens it", async () => {
  const last = "table_20";
  let address = "";
  await onPage({ hash: "#figures" }, async (page) => {
    const figures = await ready(page, "figures");
    await figures.locator("[data-figure=fig1_stampede] > summary").click();
    await figures.locator("[data-figure=vllm-cpu_stampede] > summary").click();
    await figures.locator("[data-figure=fig1_stampede] > summary").click();
    const tables = await ready(page, "tables");
    await tables.locator(`[data-derived=${last}] > summary`).click();
    const tests = await ready(page, "tests");
    await tests.locator("[data-test=vllm-cpu] > summary").click();
    const ledger = await ready(page, "ledger");
    await ledger.locator("#ledger-more").click();
    await ledger.locator("tr[data-id]").nth(50).locator("button").click();
    address = new URL(page.url()).hash;
    const query = new URLSearchParams(address.split("?")[1]);
    assert.equal(query.get("figures.open"), "vllm-cpu_stampede");
    assert.equal(query.get("tables.open"), last);
    assert.equal(query.get("tests.open"), "vllm-cpu");
    assert.equal(query.get("ledger.most"), "80");
    assert.equal(query.get("ledger.open"), await ledger.locator("tr[data-id]").nth(50).getAttribute("data-id"));
  });
  await onPage({ hash: address }, async (page) => {
    const figures = await ready(page, "figures");
    assert.deepEqual(
      await figures.locator("details[open]").evaluateAll((all) => all.map((fold) => fold.dataset.figure)),
      ["vllm-cpu_stampede"],
    );
    await figures.locator("details[open] svg[role=img]").waitFor();
    const tables = await ready(page, "tables");
    await tables.locator(`[data-derived=${last}][open] table`).waitFor();
    const tests = await ready(page, "tests");
    assert.equal(await tests.locator("[data-test][open]").getAttribute("data-test"), "vllm-cpu");
    const ledger = await ready(page, "ledger");
    assert.equal(await ledger.locator("tr[data-id]").count(), 80);
    await ledger.locator("tr.opened:not([hidden]) .command code").waitFor();
    assert.equal(await ledger.locator("tr.opened:not([hidden])").count(), 1);
  });
});
