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
    await bindingsOf(dialog, await (await fetch(`${base}data/${measured.file}`)).json());
    const score = await printed(await dialog.locator(".command code").innerText());
    const state = score.states.find((s) => s.run === measured.run) ?? score.states[0];
    assert.equal(await dialog.locator(".state").first().innerText(), state.state);
    const margins = await dialog
      .locator(".clauses .clause")
      .evaluateAll((all) => all.map((clause) => Number(clause.dataset.margin)));
    const clauses = [...state.trapped, ...state.recovered, ...state.draining].map((clause) => clause.margin);
    assert.deepEqual(margins, clauses);
    await shot(page, "run-light");
    await page.keyboard.press("Escape");
    assert.equal(await dialog.evaluate((element) => element.open), false);
    assert.doesNotMatch(page.url(), /run=/);
  });
});

/**
 * Each registered test that a run is part of: its label, the clause that decided it in words, and every clause.
 * @param {import("playwright-core").Locator} dialog
 * @param {any} run
 */
async function bindingsOf(dialog, run) {
  const lines = dialog.locator(".of-tests > li");
  assert.ok(run.tests.length > 0);
  assert.equal(await lines.count(), run.tests.length);
  for (const [i, test] of run.tests.entries()) {
    const said = await lines.nth(i).innerText();
    assert.ok(said.startsWith(`${test.registration} (${test.kind}), ${test.role}: `), said);
    assert.ok(said.includes(test.label ?? "no label"), said);
    if (test.decided_by) {
      assert.ok(said.includes(test.decided_by.words), said);
    }
    const margins = await lines
      .nth(i)
      .locator(".clause")
      .evaluateAll((all) => all.map((clause) => clause.dataset.margin ?? null));
    const clauses = [...(test.clauses ?? []), ...test.secondary];
    assert.deepEqual(
      margins.map((margin) => (margin === null ? null : Number(margin))),
      clauses.map((clause) => clause.margin),
    );
  }
}

/**
 * The numbers of a run's verdict, without what says where it lies.
 * @param {any} state
 */
const verdictOf = ({ state, stuck, trapped, recovered, draining }) => ({ state, stuck, trapped, recovered, draining });

test("every run has a command, and that of a simulated one makes it and prints its verdict", async () => {
  await onPage({}, async (_, base) => {
    const get = async (file) => (await fetch(`${base}data/${file}`)).json();
    const { runs } = await get("runs.json");
    const whole = await Promise.all(runs.map((run) => get(run.file)));
    assert.deepEqual(
      whole.filter((run) => !run.command).map((run) => run.id),
      [],
    );
    // One of each campaign that the page simulates, and one of each state.
    const made = whole.filter((run) => run.command.includes("campaign"));
    assert.ok(made.length > 0);
    const kinds = new Map(made.map((run) => [`${run.files[0].path} ${run.state?.state}`, run]));
    const out = await scratch();
    for (const run of kinds.values()) {
      const { states, runs: rows } = await printed(run.command.replaceAll(" made", ` ${out}`));
      if (run.state === null) {
        assert.equal(states[0]?.state ?? null, null, run.command);
      } else {
        assert.deepEqual(verdictOf(states[0]), verdictOf(run.state), run.command);
      }
      const { run: _place, ...numbers } = rows[0];
      const { run: _other, ...ours } = run.tables.runs.values[0];
      assert.deepEqual(numbers, ours, run.command);
    }
  });
});

test("the command of a registered test's outcome prints that outcome", async () => {
  await onPage({}, async (_, base) => {
    const { tests } = await (await fetch(`${base}data/tests.json`)).json();
    const outcomes = tests.flatMap((test) => test.outcomes.map((outcome) => ({ name: test.name, ...outcome })));
    assert.deepEqual(
      outcomes.filter(({ command }) => !command).map(({ name }) => name),
      [],
    );
    const out = await scratch();
    const wanted = process.env.EVERY ? outcomes : outcomes.filter(({ name }) => TRIED.includes(name));
    for (const { name, command, analysis: _, runs, not_used: _paths, ...outcome } of wanted) {
      const answer = await printed(command.replaceAll(" made/", ` ${out}/`));
      const { not_used: _others, ...printedOutcome } = answer.outcome;
      assert.deepEqual(printedOutcome, pick(outcome, Object.keys(printedOutcome)), `${name}: ${command}`);
      assert.deepEqual(labels(answer.runs), labels(runs), command);
    }
  });
});

/**
 * @param {Record<string, unknown>} whole
 * @param {string[]} keys
 */
const pick = (whole, keys) => Object.fromEntries(keys.map((key) => [key, whole[key]]));

/**
 * What runs are labelled, and by which clause.
 * @param {any[]} runs
 */
const labels = (runs) => runs.map(({ role, label, decided_by }) => `${role} ${label} ${decided_by?.words}`).sort();

/** Tests whose runs lie here, are simulated, or both; EVERY=1 tries all. */
const TRIED = ["vllm-cpu", "r1", "edge-300k", "cut"];

test("the first screen's command prints its verdicts, and the law's draws its points", async () => {
  await onPage({}, async (page, base) => {
    await ready(page, "trap");
    const [verdicts, picture] = await page.locator("#trap .command code").allTextContents();
    const real = await (await fetch(`${base}data/real.json`)).json();
    const { states } = await printed(verdicts);
    assert.deepEqual(
      states.map(({ run, state }) => [run, state]).sort(),
      real.runs.map(({ run, state }) => [run, state]).sort(),
    );
    assert.match(picture, /^trapcheck figures \S+$/);
    const { figures } = await (await fetch(`${base}data/figures.json`)).json();
    assert.ok(figures.some(({ command }) => command === picture));
    const section = await ready(page, "law");
    const { figures: laws } = await (await fetch(`${base}data/law.json`)).json();
    assert.equal(await section.locator(".command code").innerText(), `trapcheck figures ${laws[0].name}`);
  });
});

test("a derived table is the project's file", async () => {
  await onPage({ hash: "#tables" }, async (page, base) => {
    const section = await ready(page, "tables");
    const { tables } = await (await fetch(`${base}data/tables.json`)).json();
    assert.equal(await section.locator("[data-derived]").count(), tables.length);
    for (const table of tables) {
      assert.equal(table.sha256, await sha256(table.path), table.path);
    }
    const fold = section.locator("[data-derived=table_2]");
    await fold.locator("summary").click();
    await fold.locator("tbody tr").first().waitFor();
    const csv = await readFile(join(PROJECT, "paper/derived/table_2.csv"), "utf8");
    const lines = csv.trimEnd().split("\n");
    assert.equal(await fold.locator("tbody tr").count(), lines.length - 1);
    const cells = await fold.locator("tbody tr").last().locator("td").allTextContents();
    // A field with a comma or a quote is quoted in the csv.
    const field = (cell) => (/[",]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
    assert.equal(cells.map(field).join(","), lines.at(-1));
    await shot(fold, "table-light");
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
    for (const [key, value] of [["text", "Premium 1.65"], ["cause", "simulator"], ["section", "sec 4"], ["status", "differs"]]) {
      const control = section.locator(`[name=${key}]`);
      await (key === "text" ? control.fill(value) : control.selectOption(value));
      await settled(page, "ledger");
      const listed = await printed(await section.locator(":scope > .commands code").innerText());
      assert.equal(await count(page), listed.numbers.length, `${key} ${value}`);
      const shown = await section.locator("tr[data-id]").evaluateAll((all) => all.map((row) => row.dataset.id));
      const ids = listed.numbers.slice(0, shown.length).map((row) => row.id);
      assert.deepEqual(shown, ids);
    }
    for (const key of ["cause", "section", "status"]) {
      await section.locator(`[name=${key}]`).selectOption("");
    }
    await section.locator("[name=text]").fill("rescue-rescued");
    await settled(page, "ledger");
    assert.equal(await count(page), 1);
    const row = section.locator("tr[data-id=rescue-rescued]");
    const expected = ledger.find((entry) => entry.id === "rescue-rescued");
    assert.ok((await row.innerText()).includes(expected.published));
    assert.ok((await row.innerText()).includes(expected.ours));
    assert.equal((await row.innerText()).includes("SIMULATED"), expected.basis.includes("simulated"));
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
    assert.equal(await section.locator(".outcome .command").count(), tests.flatMap(({ outcomes }) => outcomes).length);
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
      for (const name of ["trap", "law", "figures", "tables", "ledger", "tests", "engines", "drop"]) {
        const section = await ready(page, name);
        const absent = parts[name === "trap" ? "real" : name]?.absent;
        if (absent) {
          assert.equal(await section.locator(".status").innerText(), absent);
        }
      }
      assert.ok(parts.ledger.absent, "the paper's numbers are not those of other runs");
      const ours = page.locator("[data-project]");
      assert.ok((await ours.count()) > 2);
      assert.deepEqual(
        await ours.evaluateAll((all) => all.filter((one) => one.checkVisibility()).map((one) => one.textContent)),
        [],
      );
      assert.equal(await page.locator("[data-runs]").first().isVisible(), true);
      const { figures } = await (await fetch(`${base}data/law.json`)).json().catch(() => ({ figures: [] }));
      for (const { command } of figures) {
        assert.match(command, /^trapcheck score /);
      }
    });
  } finally {
    close();
  }
});

test("a page without its data says so in words, and still computes", async () => {
  const { base, close } = await serve(join(PROJECT, "page"));
  try {
    await onPage({ of: base, missing: /data\/index\.json$/ }, async (page) => {
      for (const name of ["trap", "law", "figures", "tables", "ledger", "tests"]) {
        const section = await ready(page, name);
        assert.match(await section.locator(".status").innerText(), /^The data of this page are not here: `make page`/);
      }
      const section = await ready(page, "calculator");
      assert.ok((await section.locator("[data-value]").count()) > 0);
    });
  } finally {
    close();
  }
});
