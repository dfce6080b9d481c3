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
        performance.getEntriesByType("resource").reduce((sum, e) => sum + e.transferSize, performance.getEntriesByType("navigation")[0].transferSize),
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

test("nothing moves while the page comes up, nor when each section comes into view", async () => {
  for (const viewport of [{ width: 1280, height: 900 }, { width: 390, height: 844 }]) {
    await onPage({ context: { viewport } }, async (page) => {
      await page.evaluate(() => {
        window.shifts = [];
        new PerformanceObserver((list) => {
          for (const entry of list.getEntries()) {
            const what = entry.sources.map((s) => s.node?.className?.baseVal ?? s.node?.className ?? s.node?.nodeName);
            window.shifts.push({ value: entry.value, what });
          }
        }).observe({ type: "layout-shift", buffered: true });
      });
      await drawn(page);
      await page.waitForTimeout(300);
      const shifts = await page.evaluate(() => window.shifts);
      const sum = shifts.reduce((all, shift) => all + shift.value, 0);
      assert.ok(sum < 0.02, JSON.stringify(shifts));
    });
  }
});

test("the verdicts beside the picture are those of the runs", async () => {
  await onPage({}, async (page, base) => {
    await drawn(page);
    const real = await (await fetch(`${base}data/real.json`)).json();
    const arms = real.runs.filter((run) => run.arm !== "rescue");
    const lines = await page.locator(".arms li").allInnerTexts();
    assert.equal(lines.length, arms.length);
    for (const [i, run] of arms.entries()) {
      assert.ok(lines[i].includes(run.state), `${lines[i]} says ${run.state}`);
      assert.ok(lines[i].includes(`${run.arm.toUpperCase()} seed ${run.seed}`), lines[i]);
    }
    assert.equal(await page.locator("#trap path.line.burst").count() > 0, true);
    await shot(page, "first-light");
  });
});
