// Every control: it is in the address once it is moved, and the address brings it back.

import assert from "node:assert/strict";
import { test } from "node:test";
import { onPage, ready, settled } from "./open.mjs";
import { sameAnswer } from "./shown.mjs";

/** What a control is moved to, where the next step of a number or the next choice of a list would not do. */
const MOVES = {
  "calculator.to": "1.15,0.85",
  "calculator.cap": "16,24",
  "calculator.backlog": "240",
  "calculator.sessions": "25,100",
  "calculator.population": "16,40",
  "knee.population": "12",
  "knee.pool_tokens": "250000",
  "knee.gap_limit": "30",
  "knee.host_tokens": "600000",
  "knee.host_load_rate": "100000",
  "ledger.text": "premium",
  "tables.text": "rescue",
  "tests.text": "rescue",
  // The first cell of the list plays days: with short sessions that is minutes to simulate.
  "engines.cell": "sglang-600k",
  "calculator.cell": "vllm-300k",
  "scales.cell": "vllm-cpu-2",
  "knee.cell": "vllm-300k",
  "engines.t": "4000",
  "drop.reuse_ceiling": "0.9",
  "drop.pool": "300000",
  "drop.sessions_per_s": "0.1",
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

/** Sections whose numbers are those of a command. */
const COMPUTED = ["engines", "calculator", "scales", "knee"];
/** What makes a section quick enough to be asked after each move. */
const QUICK = { knee: "?knee.population=16&knee.seeds=1" };

for (const name of [...COMPUTED, "law", "tables", "ledger", "tests", "drop"]) {
  test(`each control of ${name} is in the address, which brings it back, and after each move its numbers are the command line's`, async () => {
    const moved = new Map();
    let address = "";
    let answers = 0;
    await onPage({ hash: `#${name}${QUICK[name] ?? ""}` }, async (page) => {
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
        const before = await place.inputValue();
        moved.set(key, await move(place, key));
        await settled(page, name);
        const query = new URLSearchParams(new URL(page.url()).hash.split("?")[1]);
        assert.equal(query.get(key), moved.get(key), key);
        if (COMPUTED.includes(name)) {
          if (name === "knee") {
            await section.locator("#knee-go").click();
            await settled(page, name);
          }
          // A control may ask for what has no answer without another one: it is put back.
          if ((await section.locator(".status .wrong").count()) === 0) {
            await sameAnswer(section, name);
            answers += 1;
          } else {
            assert.equal(await section.locator(".command, .chart").count(), 0, "an older answer beside an error");
            await ((await place.locator("option").count()) > 0 ? place.selectOption(before) : place.fill(before));
            moved.delete(key);
            await settled(page, name);
          }
        }
      }
      assert.ok(!COMPUTED.includes(name) || answers >= names.length - 3, `${answers} of ${names.length} moves were compared`);
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
    const readings = section.locator(".engine").first().locator(".now dd");
    await slider.fill("600");
    const before = await readings.allInnerTexts();
    await sameAnswer(section, "engines");
    await slider.fill("6000");
    const after = await readings.allInnerTexts();
    assert.notDeepEqual(before, after);
    assert.equal(after[0], "0", "the engine that is left alone has no hits");
    assert.match(await section.locator("#engines-at").innerText(), /6000 s/);
    await sameAnswer(section, "engines");
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
test("two engines answer of every cell that is offered, at its own controls", async () => {
  await onPage({ hash: "#engines" }, async (page) => {
    const section = await ready(page, "engines");
    const cell = section.locator("[name=cell]");
    const cells = await cell.locator("option").evaluateAll((all) => all.map((option) => option.value));
    assert.ok(cells.length >= 15, `${cells}`);
    for (const name of cells) {
      await cell.selectOption(name);
      await settled(page, "engines");
      assert.equal(await section.locator(".status").getAttribute("data-wrong"), null, `${name}: ${await section.locator(".status").innerText()}`);
      assert.equal(await section.locator(".verdict > .state").count(), 2, name);
      const { max, value } = await section.locator("#engines-time").evaluate((time) => ({ max: time.max, value: time.value }));
      assert.ok(Number(value) > 0 && Number(value) < Number(max), `${name}: ${value} of ${max}`);
      const [from, t] = await Promise.all(["from", "t"].map((key) => section.locator(`[name=${key}]`).inputValue()));
      assert.ok(Number(from) <= Number(t), `${name}: a cap from ${from} s, looked at at ${t} s`);
      // Only what differs from the cell's own is in the address.
      assert.doesNotMatch(page.url(), /engines\.(from|t|burst)/);
    }
  });
});

test("cells that play recorded sessions are not offered, as no page has those", async () => {
  await onPage({}, async (page) => {
    for (const name of COMPUTED) {
      const section = await ready(page, name);
      const cells = await section.locator("[name=cell] option").evaluateAll((all) => all.map((option) => option.value));
      assert.ok(cells.includes("vllm-300k") && cells.includes("vllm-cpu-2"), `${name}: ${cells}`);
      assert.ok(!cells.some((cell) => cell.includes("recorded")), `${name}: ${cells}`);
    }
  });
});

test("times set for one protocol are gone with it, and stay in a link", async () => {
  await onPage({ hash: "#engines?engines.cell=vllm-cpu-2&engines.from=200&engines.t=400" }, async (page) => {
    const section = await ready(page, "engines");
    assert.deepEqual(await Promise.all(["from", "t"].map((key) => section.locator(`[name=${key}]`).inputValue())), ["200", "400"]);
    assert.match(await section.locator(".command code").innerText(), / --from 200 /);
    await section.locator("[name=cell]").selectOption("sglang-300k");
    await settled(page, "engines");
    assert.match(await section.locator(".command code").innerText(), / --from 1800 /);
    assert.doesNotMatch(page.url(), /engines\.(from|t)=/);
  });
});

test("a newer question replaces one that runs, and no section waits for another", async () => {
  // Days of short sessions: minutes to simulate.
  await onPage({ hash: "#engines?engines.cell=agents-native&engines.workload=standard" }, async (page) => {
    const section = page.locator("#engines");
    await page.waitForSelector("#engines[data-busy=yes]", { state: "attached" });
    await ready(page, "calculator");
    assert.equal(await page.locator("#calculator .command").count(), 1);
    assert.equal(await section.getAttribute("data-busy"), "yes", "it is still simulating");
    await section.locator("[name=workload]").selectOption("");
    await section.locator("[name=cell]").selectOption("vllm-cpu-2");
    await settled(page, "engines");
    await sameAnswer(section, "engines");
    assert.match(await section.locator(".command code").innerText(), /--cell vllm-cpu-2 /);
  });
});

for (const name of COMPUTED) {
  test(`nothing of an older answer of ${name} stays beside an error`, async () => {
    await onPage({ hash: `#${name}${QUICK[name] ?? ""}` }, async (page) => {
      const section = await ready(page, name);
      const shown = section.locator(".command, .chart, .state, .events td, td[data-row], .now dd");
      assert.ok((await shown.count()) > 0);
      await page.evaluate((hash) => {
        location.hash = hash;
      }, `#${name}?${name}.cell=no-such-cell`);
      await settled(page, name);
      if (name === "knee") {
        assert.equal(await shown.count(), 0, "a change takes the answer away");
        await section.locator("#knee-go").click();
        await settled(page, name);
      }
      assert.match(await section.locator(".status .wrong").innerText(), /no-such-cell/);
      assert.equal(await shown.count(), 0);
    });
  });
}
