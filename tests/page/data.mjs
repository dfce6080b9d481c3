// What was written into data/: runs, figures, tests and the ledger, against the files of the project.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { onPage, ready, settled, shot } from "./open.mjs";
import { PROJECT, printed, run, scratch } from "./program.mjs";
import { serve } from "./serve.mjs";

/** @param {string} path */
async function sha256(path) {
  return createHash("sha256")
    .update(await readFile(join(PROJECT, path)))
    .digest("hex");
}

test("every point of the law opens its run, with the hashes of its files and the command line's verdict", async () => {
  await onPage({ hash: "#law" }, async (page, base) => {
    const section = await ready(page, "law");
    const law = await (await fetch(`${base}data/law.json`)).json();
    for (const figure of law.figures) {
      await section.locator("[name=figure]").selectOption(figure.name);
      await settled(page, "law");
      for (const [i, panel] of figure.panels.entries()) {
        const known = figure.points.filter((point) => typeof point.values[panel.quantity] === "number");
        assert.equal(
          await section.locator(".pictures > .picture").nth(i).locator("a[data-run]").count(),
          known.length,
          panel.quantity,
        );
      }
      await shot(section, `law-${figure.name}`);
    }
    const measured = law.figures.flatMap((figure) => figure.points).find((point) => point.source === "engine");
    const figure = law.figures.find((f) => f.points.includes(measured));
    await section.locator("[name=figure]").selectOption(figure.name);
    await settled(page, "law");
    await section.locator(`a[data-run="${measured.id}"]`).first().focus();
    await page.keyboard.press("Enter");
    const dialog = page.locator("#run");
    await dialog.locator("svg[role=img]").waitFor();
    assert.match(page.url(), new RegExp(`run=${measured.id.replaceAll(".", "\\.")}`));
    const files = await dialog
      .locator(".files li")
      .evaluateAll((all) => all.map((line) => [...line.querySelectorAll("code")].map((code) => code.textContent)));
    assert.ok(files.length > 1);
    for (const [path, hash] of files) {
      assert.equal(hash, await sha256(path), path);
    }
    const score = await printed(await dialog.locator(".command code").innerText());
    const state = score.states.find((s) => s.run === measured.run) ?? score.states[0];
    assert.equal(await dialog.locator(".state").first().innerText(), state.state);
    const margins = await dialog
      .locator(".clause")
      .evaluateAll((all) => all.map((clause) => Number(clause.dataset.margin)));
    const clauses = [...state.trapped, ...state.recovered, ...state.draining].map((clause) => clause.margin);
    assert.deepEqual(margins, clauses);
    await shot(page, "run-light");
    await page.keyboard.press("Escape");
    assert.equal(await dialog.evaluate((element) => element.open), false);
    assert.doesNotMatch(page.url(), /run=/);
  });
});

test("a simulated run says so where it is opened", async () => {
  await onPage({}, async (page, base) => {
    const { runs } = await (await fetch(`${base}data/runs.json`)).json();
    const simulated = runs.find((run) => run.source === "simulator" && run.arm === "rescue");
    await page.goto(`${base}#law?run=${simulated.id}`);
    await page.reload();
    const dialog = page.locator("#run");
    await dialog.locator("svg[role=img]").waitFor();
    assert.match(await dialog.locator("p.source").innerText(), /SIMULATED/);
  });
});

test("the ledger has every number of paper/numbers.json, and finds them by text, section, status and cause", async () => {
  const { ledger } = JSON.parse(await readFile(join(PROJECT, "paper/numbers.json"), "utf8"));
  const count = async (page) => Number((await page.locator("#ledger .status").innerText()).match(/^(\d+) of/)[1]);
  await onPage({ hash: "#ledger" }, async (page) => {
    const section = await ready(page, "ledger");
    assert.equal(await count(page), ledger.length);
    await section.locator("[name=status]").selectOption("differs");
    await settled(page, "ledger");
    assert.equal(await count(page), ledger.filter((row) => row.status === "differs").length);
    await section.locator("[name=section]").selectOption("sec 4");
    await settled(page, "ledger");
    assert.equal(await count(page), ledger.filter((row) => row.status === "differs" && row.section === "sec 4").length);
    await section.locator("[name=section]").selectOption("");
    const cause = ledger.find((row) => row.cause).cause.kind;
    await section.locator("[name=cause]").selectOption(cause);
    await settled(page, "ledger");
    assert.equal(
      await count(page),
      ledger.filter((row) => row.status === "differs" && row.cause?.kind === cause).length,
    );
    await section.locator("[name=cause]").selectOption("");
    await section.locator("[name=status]").selectOption("");
    await section.locator("[name=text]").fill("rescue-rescued");
    await settled(page, "ledger");
    assert.equal(await count(page), 1);
    const row = section.locator("tr[data-id=rescue-rescued]");
    const expected = ledger.find((entry) => entry.id === "rescue-rescued");
    assert.ok((await row.innerText()).includes(expected.published));
    assert.ok((await row.innerText()).includes(expected.ours));
    await row.locator("button").click();
    const below = section.locator("tr.opened").first();
    await below.locator(".files li").first().waitFor({ state: "attached" });
    assert.equal(await below.locator("pre").innerText(), expected.query.trim());
    const files = await below
      .locator(".files li")
      .evaluateAll((all) =>
        all.slice(0, 5).map((line) => [...line.querySelectorAll("code")].map((code) => code.textContent)),
      );
    for (const [path, hash] of files) {
      assert.equal(hash, await sha256(path), path);
    }
    await shot(section, "ledger-light");
  });
});

test("each registered test has its file's hash and its outcome on the runs that are here", async () => {
  await onPage({ hash: "#tests" }, async (page, base) => {
    const section = await ready(page, "tests");
    const { tests } = await (await fetch(`${base}data/tests.json`)).json();
    assert.equal(await section.locator("[data-test]").count(), tests.length);
    for (const test of tests) {
      assert.equal(test.sha256, await sha256(test.file), test.file);
    }
    for (const test of tests.filter(({ outcomes }) => outcomes.length > 0)) {
      const line = await section.locator(`[data-test="${test.name}"] > summary`).innerText();
      for (const { verdict, sources } of test.outcomes) {
        assert.ok(line.includes(`${verdict} ${sources === "engine" ? "measured" : "simulated"}`), line);
      }
    }
    const open = section.locator("[data-test=vllm-cpu]");
    await open.locator("summary").first().click();
    assert.match(await open.innerText(), /MEASURED/);
    await shot(section, "tests-light");
  });
});

test("a registered test says what is proven of it, and what the paper alone says", async () => {
  const verified = await run(["provenance", "verify", "provenance"]);
  assert.equal(verified.code, 0, verified.stdout + verified.stderr);
  await onPage({ hash: "#tests" }, async (page, base) => {
    const section = await ready(page, "tests");
    const { tests } = await (await fetch(`${base}data/tests.json`)).json();
    const proven = tests.filter((test) => test.provenance.is_proven);
    assert.ok(proven.length > 0);
    for (const { name, file, provenance } of proven) {
      const line = verified.stdout.split("\n").find((text) => text.includes(`: ${file}, `));
      assert.match(line, /^ok /);
      assert.ok(line.includes(provenance.committed), line);
      const open = section.locator(`[data-test="${name}"]`);
      await open.locator("summary").first().click();
      assert.ok((await open.innerText()).includes(provenance.words), name);
      assert.ok((await open.innerText()).includes(provenance.commit), name);
    }
    const r1 = section.locator("[data-test=r1]");
    await r1.locator("summary").first().click();
    assert.match(await r1.locator(".claims").innerText(), /commit f0bc3ad \(Table 14, Table 19\)[\s\S]*tag r11-rescue-reg/);
    assert.match(await r1.innerText(), /no proof of when it was committed is here/);
    await shot(r1, "tests-claims");
    await shot(section.locator("[data-test=vllm-cpu-2]"), "tests-proof");
  });
});

test("a figure is read when it is opened, and takes the page's colours", async () => {
  await onPage({ hash: "#figures?theme=dark" }, async (page) => {
    const section = await ready(page, "figures");
    const figure = section.locator("[data-figure=vllm-cpu_stampede]");
    assert.equal(await figure.locator("svg[role=img]").count(), 0);
    await figure.locator("summary").click();
    await figure.locator("svg[role=img]").waitFor();
    const fill = await figure
      .locator("svg text")
      .first()
      .evaluate((text) => getComputedStyle(text).fill);
    const ink = await page.evaluate(() => getComputedStyle(document.body).color);
    assert.equal(fill, ink);
    await shot(figure, "figure-dark");
  });
});

test("a page of one's own runs has their verdicts, and says what it does not have", async () => {
  const folder = join(await scratch(), "mine");
  const { code, stderr } = await run(["page", "--out", folder, "results/vllm-cpu-driven"]);
  assert.equal(code, 0, stderr);
  const { base, close } = await serve(folder);
  try {
    await onPage({ of: base }, async (page) => {
      const { parts } = await (await fetch(`${base}data/index.json`)).json();
      for (const name of ["trap", "law", "figures", "ledger", "tests", "engines", "drop"]) {
        const section = await ready(page, name);
        const absent = parts[name === "trap" ? "real" : name]?.absent;
        if (absent) {
          assert.equal(await section.locator(".status").innerText(), absent);
        }
      }
      assert.ok(parts.ledger.absent, "the paper's numbers are not those of other runs");
      assert.equal(await page.locator("[data-project]").isVisible(), false);
    });
  } finally {
    close();
  }
});
