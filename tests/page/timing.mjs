// How long the two engines take: in the browser, and as the binary's commands that the page shows.
//
//   node timing.mjs [rounds]
//
// TRAPCHECK is the program, CHROMIUM the browser, as for the tests.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { onPage, ready } from "./open.mjs";
import { run, split } from "./program.mjs";

const ROUNDS = Number(process.argv[2] ?? 7);

/** @param {number[]} times */
function said(times) {
  const sorted = [...times].sort((a, b) => a - b);
  const shown = (/** @type {number | undefined} */ time) => `${time?.toFixed(3)} s`;
  return `median ${shown(sorted[Math.floor(sorted.length / 2)])}, ${shown(sorted[0])} to ${shown(sorted.at(-1))}`;
}

test("two engines, in the browser and as commands", async () => {
  const browser = [];
  const binary = { simulate: [], all: [] };
  for (let seed = 0; seed < ROUNDS; seed += 1) {
    let command = "";
    await onPage({ hash: `#engines?engines.seed=${seed}` }, async (page) => {
      const section = await ready(page, "engines");
      browser.push(Number(await section.getAttribute("data-elapsed-s")));
      command = await section.locator(".command code").innerText();
    });
    const folder = await mkdtemp(join(tmpdir(), "timing-"));
    const times = [];
    for (const part of command.split(" && ")) {
      const begun = performance.now();
      const [, ...args] = split(part);
      const { code, stderr } = await run(args, folder);
      if (code === 2) {
        throw new Error(stderr);
      }
      times.push((performance.now() - begun) / 1000);
    }
    await rm(folder, { recursive: true });
    const sum = (/** @type {number[]} */ list) => list.reduce((all, time) => all + time, 0);
    binary.simulate.push(sum(times.slice(0, -1)));
    binary.all.push(sum(times));
  }
  console.log(`two engines, simulated and judged in the browser: ${said(browser)}`);
  console.log(`the binary's two \`trapcheck simulate\`, which also write: ${said(binary.simulate)}`);
  console.log(`these and \`trapcheck score\`, which reads them again: ${said(binary.all)}`);
});
