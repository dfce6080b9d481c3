// Files of one's own: a good run, a broken one, a log, against the command line.

import assert from "node:assert/strict";
import { mkdir, open, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { onPage, ready, settled, shot } from "./open.mjs";
import { PROJECT, printed, run, scratch } from "./program.mjs";
import { same } from "./shown.mjs";

/**
 * Drops files onto the page, each under the path it has below `folder`.
 * @param {import("playwright-core").Page} page
 * @param {string} folder
 * @param {string[]} names
 */
async function drop(page, folder, names) {
  const files = await Promise.all(
    names.map(async (name) => ({ name, base64: (await readFile(join(folder, name))).toString("base64") })),
  );
  await page.evaluate((list) => {
    const data = new DataTransfer();
    for (const { name, base64 } of list) {
      data.items.add(new File([Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))], name));
    }
    document
      .querySelector(".zone")
      .dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
  }, files);
  await settled(page, "drop");
}

/**
 * A simulated run as csv.gz.
 * @returns {Promise<{folder: string, names: string[]}>}
 */
async function made() {
  const folder = await scratch();
  const out = join(folder, "my-run");
  const { code, stderr } = await run(
    ["simulate", "--cell", "sglang-300k", "--arm", "burst", "--rate", "1.65", "--tables", "csv-gz", "--out", out],
    folder,
  );
  assert.equal(code, 0, stderr);
  return { folder: out, names: await readdir(out) };
}

test("a run directory that is dropped gets the command line's verdict, clause by clause", async () => {
  const { folder, names } = await made();
  const score = JSON.parse((await run(["score", folder, "--format", "json"], join(folder, ".."))).stdout);
  await onPage({ hash: "#drop" }, async (page) => {
    const section = await ready(page, "drop");
    await drop(page, folder, names);
    assert.equal(await section.locator(".status .wrong").count(), 0, await section.locator(".status").innerText());
    assert.equal(await section.locator(".answers .state").first().innerText(), score.states[0].state);
    const margins = await section
      .locator(".clause")
      .evaluateAll((all) => all.map((clause) => Number(clause.dataset.margin)));
    const { trapped, recovered, draining } = score.states[0];
    assert.deepEqual(
      margins,
      [...trapped, ...recovered, ...draining].map((clause) => clause.margin),
    );
    assert.ok((await section.locator(".stamp").allTextContents()).includes("SIMULATED"));
    // Every table that score prints is shown, the trap check of a stuck run among them.
    assert.ok(score.trap_check.length > 0, "a stuck run has a trap check");
    const tables = await section.locator("[data-table]").evaluateAll((all) => all.map(({ dataset }) => dataset.table));
    assert.ok(tables.includes("trap_check"), `${tables}`);
    await same(section, score);
    await shot(section, "drop-good");
  });
});

test("a folder can be chosen by its button", async () => {
  const { folder } = await made();
  await onPage({ hash: "#drop" }, async (page) => {
    const section = await ready(page, "drop");
    await section.locator("#drop-folder").setInputFiles(folder);
    await settled(page, "drop");
    await section.locator(".answers .state").first().waitFor();
    assert.equal(await section.locator(".answers .state").first().innerText(), "TRAPPED");
  });
});

test("a broken run gets the command line's own message", async () => {
  const folder = await scratch();
  const { folder: good, names } = await made();
  const broken = join(folder, "my-run");
  await mkdir(broken);
  for (const name of names) {
    const bytes = await readFile(join(good, name));
    await writeFile(join(broken, name), name.startsWith("turns") ? bytes.subarray(0, bytes.length / 2) : bytes);
  }
  const { stdout } = await run(["score", broken, "--format", "json"], folder);
  const [problem] = JSON.parse(stdout).not_scored[0].problems;
  // The page has no folder above what was dropped.
  const words = problem.slice(problem.indexOf("turns.csv.gz"));
  await onPage({ hash: "#drop" }, async (page) => {
    const section = await ready(page, "drop");
    await drop(page, broken, names);
    const said = await section.locator(".wrong").allInnerTexts();
    assert.match(words, /turns\.csv\.gz:\d+: /);
    assert.ok(said.join(" ").includes(words), `${said} says ${words}`);
    await shot(section, "drop-broken");
  });
});

test("a file that is too large gets the command line's own message", async () => {
  const folder = await scratch();
  const { folder: good, names } = await made();
  const large = join(folder, "my-run");
  await mkdir(large);
  for (const name of names) {
    const bytes = await readFile(join(good, name));
    await writeFile(join(large, name), name === "meta.json" ? Buffer.concat([bytes, Buffer.alloc(1 << 24, " ")]) : bytes);
  }
  const { stdout } = await run(["score", large, "--format", "json"], folder);
  const [problem] = JSON.parse(stdout).not_scored[0].problems;
  const words = problem.slice(problem.indexOf("meta.json"));
  assert.match(words, /too large|more than/);
  await onPage({ hash: "#drop" }, async (page) => {
    await ready(page, "drop");
    await drop(page, large, names);
    const said = await page.locator("#drop .wrong").allInnerTexts();
    assert.ok(said.join(" ").includes(words), `${said} says ${words}`);
  });
});

test("a file too large to be read is not read, and gets the command line's own message", async () => {
  const folder = await scratch();
  const { folder: good, names } = await made();
  const large = join(folder, "my-run");
  await mkdir(large);
  for (const name of names) {
    await writeFile(join(large, name), await readFile(join(good, name)));
  }
  // 600 MiB of nothing: no disk holds them, and no memory is to.
  const turns = await open(join(large, names.find((name) => name.startsWith("turns"))), "r+");
  await turns.truncate(600 << 20);
  await turns.close();
  const { stdout } = await run(["score", large, "--format", "json"], folder);
  const [problem] = JSON.parse(stdout).not_scored[0].problems;
  const words = problem.slice(problem.indexOf("turns"));
  assert.match(words, /expected at most 512 MiB, found 600 MiB/);
  await onPage({ hash: "#drop" }, async (page) => {
    const section = await ready(page, "drop");
    await page.evaluate(() => {
      window.read = 0;
      const whole = Blob.prototype.arrayBuffer;
      Blob.prototype.arrayBuffer = function () {
        window.read += this.size;
        return whole.call(this);
      };
    });
    await section.locator("#drop-folder").setInputFiles(large);
    await settled(page, "drop");
    const said = await section.locator(".wrong").allInnerTexts();
    assert.ok(said.join(" ").includes(words), `${said} says ${words}`);
    assert.ok((await page.evaluate(() => window.read)) < 64 << 20, "it was read");
  });
});

test("what logs do not say is asked with them: each control is a flag of diagnose", async () => {
  const log = join(PROJECT, "crates/observed/tests/corpus");
  const name = "vllm-log.v1.txt";
  const hash = "#drop?drop.pool=300000&drop.reuse_ceiling=0.9&drop.client=closed&drop.cell=sglang-300k";
  await onPage({ hash }, async (page) => {
    const section = await ready(page, "drop");
    await drop(page, log, [name]);
    const flags = "--pool 300000 --reuse-ceiling 0.9 --closed --cell sglang-300k";
    const command = section.locator(".command code");
    assert.equal(await command.innerText(), `trapcheck diagnose ${flags} ${name}`);
    const text = async () => (await section.locator(".answers pre").textContent()).trim();
    const told = async () => (await run((await command.innerText()).split(" ").slice(1), log)).stdout.trim();
    assert.equal(await text(), await told());
    // A control that is moved judges the same files again.
    await section.locator("[name=client]").selectOption("");
    await section.locator("[name=sessions_per_s]").fill("0.1");
    await settled(page, "drop");
    assert.match(await command.innerText(), / --pool 300000 --reuse-ceiling 0.9 --cell sglang-300k --sessions-per-s 0.1 /);
    assert.equal(await text(), await told());
    const { services } = await printed(await command.innerText(), log);
    assert.equal(await section.locator(".answers .state").first().innerText(), services[0].answers[0].verdict);
    // A format that it is not in: the command line's own words.
    await section.locator("[name=from]").selectOption("prometheus");
    await settled(page, "drop");
    const { stderr } = await run(["diagnose", "--from", "prometheus", name], log);
    assert.equal((await section.locator(".status").innerText()).trim(), stderr.trim());
    assert.equal(await section.locator(".command, .answers > *").count(), 0);
    await shot(section, "drop-flags");
  });
});

test("what a page cannot unpack is told with what does", async () => {
  const folder = await scratch();
  await writeFile(join(folder, "night.log.zst"), Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, 0, 0, 0]));
  await onPage({ hash: "#drop" }, async (page) => {
    await ready(page, "drop");
    await drop(page, folder, ["night.log.zst"]);
    assert.match(await page.locator("#drop .status").innerText(), /zstd -d.*trapcheck diagnose/);
  });
});

test("a scrape that says nothing of use is answered as diagnose answers it", async () => {
  const folder = await scratch();
  await writeFile(join(folder, "a.prom"), "up 1\n");
  const told = await run(["diagnose", "a.prom"], folder);
  await onPage({ hash: "#drop" }, async (page) => {
    const section = await ready(page, "drop");
    await drop(page, folder, ["a.prom"]);
    const said = (await section.locator(".status, .answers").allInnerTexts()).join("\n");
    const line = `${told.stdout}${told.stderr}`.split("\n").find((text) => text.trim() !== "");
    assert.ok(said.includes(line.trim()), `${said} says ${line}`);
  });
});
