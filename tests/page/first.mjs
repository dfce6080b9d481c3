// The first view: small, quick, still, and nothing asked of anyone else.

import assert from "node:assert/strict";
import { test } from "node:test";
import { onPage, shot } from "./open.mjs";

/** @param {import("playwright-core").Page} page */
async function drawn(page) {
  await page.waitForSelector("#trap[data-ready=yes] .chart");
}

test("the first view is under 300 kB and is drawn within a second", async () => {
  const times = [];
  for (let i = 0; i < 3; i += 1) {
    await onPage({}, async (page) => {
      await drawn(page);
      await page.waitForFunction(() => performance.getEntriesByName("first-view").length > 0);
      times.push(await page.evaluate(() => performance.getEntriesByName("first-view")[0].startTime));
      const bytes = await page.evaluate(() =>
        performance
          .getEntriesByType("resource")
          .reduce((sum, e) => sum + e.transferSize, performance.getEntriesByType("navigation")[0].transferSize),
      );
      assert.ok(bytes < 300_000, `${bytes} bytes`);
      const asked = await page.evaluate(() => performance.getEntriesByType("resource").map((e) => e.name));
      assert.ok(!asked.some((name) => name.endsWith(".wasm")), "the program is loaded after the first view");
    });
  }
  const best = Math.min(...times);
  console.log(`# first view drawn after ${times.map((t) => t.toFixed(0)).join(", ")} ms`);
  assert.ok(best < 1000, `${best} ms`);
});

for (const [name, viewport] of Object.entries({
  desk: { width: 1280, height: 900 },
  phone: { width: 390, height: 844 },
})) {
  test(`nothing that is in view moves, neither at first nor when a section comes up: ${name}`, async () => {
    await onPage({ context: { viewport } }, async (page) => {
      await page.evaluate(() => {
        window.shifts = [];
        new PerformanceObserver((list) => {
          for (const entry of list.getEntries()) {
            const what = entry.sources.map(({ node }) =>
              node?.parentElement?.closest("[class], [id]")?.outerHTML.slice(0, 60),
            );
            window.shifts.push({ value: entry.value, what });
          }
        }).observe({ type: "layout-shift", buffered: true });
      });
      await drawn(page);
      const first = await page.evaluate(() => window.shifts);
      assert.ok(sum(first) < 0.01, JSON.stringify(first));
      for (const section of ["engines", "calculator", "scales", "knee", "law", "figures", "tables", "ledger", "tests", "drop"]) {
        await page.evaluate((id) => document.getElementById(id).scrollIntoView({ behavior: "instant" }), section);
        await page.waitForSelector(`#${section}[data-ready]:not([data-busy=yes])`, { state: "attached" });
        await page.waitForTimeout(100);
        const shifts = await page.evaluate(() => window.shifts.splice(0));
        console.log(`# ${name} ${section}: moved by ${sum(shifts).toFixed(3)}`);
        assert.ok(sum(shifts) < 0.02, `${section}: ${JSON.stringify(shifts)}`);
      }
    });
  });
}

/** @param {{value: number}[]} shifts */
function sum(shifts) {
  return shifts.reduce((all, shift) => all + shift.value, 0);
}

test("the verdicts beside the picture are those of the runs", async () => {
  await onPage({}, async (page, base) => {
    await drawn(page);
    const real = await (await fetch(`${base}data/real.json`)).json();
    const arms = real.runs;
    const lines = await page.locator(".arms li").allInnerTexts();
    assert.equal(lines.length, arms.length);
    for (const [i, run] of arms.entries()) {
      assert.ok(lines[i].includes(run.state), `${lines[i]} says ${run.state}`);
      assert.ok(lines[i].includes(`${run.arm.toUpperCase()} seed ${run.seed}`), lines[i]);
    }
    assert.equal((await page.locator("#trap path.line.burst").count()) > 0, true);
    await shot(page, "first-light");
  });
});
