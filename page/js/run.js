// One run, opened over the page: where it came from, its files, its picture, its verdict.

import * as address from "./address.js";
import { showCommand } from "./command.js";
import { data } from "./data.js";
import { fill, h, one } from "./dom.js";
import { figure } from "./figure.js";
import { wrong } from "./notice.js";
import { table } from "./table.js";
import { badge, clauseList, clauses, words } from "./verdict.js";

/** @param {string} id */
export async function open(id) {
  const dialog = /** @type {HTMLDialogElement} */ (one(document, "#run"));
  const body = one(dialog, ".body");
  one(dialog, "h2").textContent = id;
  fill(body, "reading …");
  if (!dialog.open) {
    dialog.showModal();
    dialog.addEventListener("close", () => address.set("run", ""), { once: true });
  }
  try {
    const run = await data(`runs/${encodeURIComponent(id)}.json`);
    one(dialog, "h2").textContent = `${run.arm.toUpperCase()}${rate(run)}, seed ${run.seed ?? "–"}`;
    fill(body, ...parts(run));
    await figure(one(body, ".picture"), run.picture, run.picture_says);
  } catch (error) {
    wrong(body, error);
  }
}

/** @param {any} run */
function rate(run) {
  if (run.rate_multiple !== null) {
    return ` ${run.rate_multiple} × λref`;
  }
  return run.population === null ? "" : ` ${run.population} sessions`;
}

/** @param {any} run */
function parts(run) {
  const simulated = run.source === "simulator";
  const { state } = run;
  const commands = h("div", { class: "commands" });
  showCommand(commands, [run.command]);
  return [
    h(
      "p",
      { class: simulated ? "source simulated" : "source" },
      simulated ? "SIMULATED" : `MEASURED: ${run.made_by}`,
      ` · cell ${run.cell} · ${run.run}`,
    ),
    h("div", { class: "picture figure" }),
    h("h3", {}, "Verdict"),
    state
      ? h("p", {}, badge(state.state), ` ${state.decided_by ? words(state.decided_by) : (state.because ?? "")}`)
      : h("p", {}, "No rule of a state applies to it."),
    run.judged_by ? h("p", { class: "note" }, `Judged by ${run.judged_by}: ${run.binding}.`) : null,
    state ? clauses(state) : null,
    ...Object.values(run.tables).map((printed) =>
      printed ? table(/** @type {any} */ (printed), /** @type {any} */ (printed).values) : null,
    ),
    run.no_trap_check_because ? h("p", { class: "note" }, `No trap check: ${run.no_trap_check_because}`) : null,
    run.tests.length > 0 ? h("h3", {}, "Registered tests it is part of") : null,
    h("ul", { class: "of-tests" }, ...run.tests.map(test)),
    h("h3", {}, "Files"),
    files(run.files),
    ...run.notes.map((/** @type {string} */ note) => h("p", { class: "note" }, note)),
    commands,
  ];
}

/**
 * What the run is to a registered test: its label, the clause that decided it, and every other with its margin.
 * @param {any} test
 */
function test(test) {
  const all = [...(test.clauses ?? []), ...test.secondary];
  return h(
    "li",
    { "data-registration": test.registration, "data-analysis": test.analysis },
    `${test.registration} (${test.kind}), ${test.role}: `,
    test.label ? badge(test.label) : "no label",
    test.decided_by ? ` ${words(test.decided_by)}` : "",
    test.because ? ` ${test.because}` : "",
    test.set_aside ? ` Set aside: ${test.set_aside}.` : "",
    h("p", { class: "note" }, `Binding: ${test.binding}.`),
    all.length === 0
      ? null
      : h(
          "details",
          {},
          h("summary", {}, "every clause"),
          clauseList(test.clauses ?? []),
          test.secondary.length > 0 ? h("h4", {}, "also looked at") : null,
          clauseList(test.secondary),
        ),
  );
}

/** @param {{path: string, sha256: string}[]} list */
export function files(list) {
  return h(
    "ul",
    { class: "files" },
    ...list.map(({ path, sha256 }) =>
      h("li", {}, h("code", {}, path), h("code", { class: "hash", title: "SHA-256" }, sha256)),
    ),
  );
}
