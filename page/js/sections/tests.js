// The registered tests: the rule, how it comes out on the runs that are here, and when it was fixed.

import { showCommand } from "../command.js";
import { part } from "../data.js";
import { fill, h, one } from "../dom.js";
import { bind } from "../form.js";
import { keep } from "../opened.js";
import { badge, words } from "../verdict.js";

/** @param {HTMLElement} root */
export async function start(root) {
  const { absent, tests } = await part("tests");
  if (absent) {
    one(root, ".status").textContent = absent;
    one(root, "form").hidden = true;
    return;
  }
  const list = one(root, ".tests");
  const form = bind(/** @type {HTMLFormElement} */ (one(root, "form")), () => show());
  const entries = tests.map((/** @type {any} */ test) => ({
    test,
    element: entry(test),
    text: JSON.stringify([test.name, test.kind, test.rule, test.cell]).toLowerCase(),
  }));
  function show() {
    const wanted = form.text("text").toLowerCase();
    const found = entries.filter((/** @type {any} */ one) => one.text.includes(wanted));
    fill(list, ...found.map((/** @type {any} */ one) => one.element));
    one(root, ".status").textContent =
      `${found.length} of ${tests.length} registered tests. Only an engine's runs decide one.`;
  }
  show();
}

/** @param {any} test */
function entry(test) {
  const verdicts = test.outcomes.map((/** @type {any} */ outcome) =>
    h("span", { class: "outcome-in-short" }, badge(outcome.verdict), ` ${made(outcome).toLowerCase()} `),
  );
  const whole = h(
    "details",
    { "data-test": test.name },
    h("summary", {}, `${test.name}: ${test.kind}, ${test.cell} `, ...verdicts),
    h("p", {}, test.rule),
    h(
      "p",
      { class: "note" },
      `Registration ${test.status}${test.because ? `: ${test.because}` : ""}. Provenance: ${test.provenance.words}.`,
    ),
    ...provenance(test),
    ...(test.outcomes.length > 0 ? test.outcomes.map(outcome) : [h("p", {}, test.no_outcome)]),
    h("details", {}, h("summary", {}, "parameters"), parameters(test.parameters)),
    h("details", {}, h("summary", {}, test.file), h("p", { class: "hash" }, test.sha256), h("pre", {}, test.text)),
  );
  keep("tests", test.name, whole);
  return whole;
}

/**
 * What is proven of when it was fixed, and what the paper alone says of it.
 * @param {any} test
 */
function provenance({ provenance, claimed }) {
  const { commit, predictions } = provenance;
  const claims = (claimed ?? []).map((/** @type {any} */ claim) => {
    const what = claim.tag === null ? h("code", {}, claim.path) : h("span", {}, "tag ", h("code", {}, claim.tag));
    const commit = claim.commit === null ? null : h("span", {}, ", commit ", h("code", {}, claim.commit));
    return h("li", {}, what, commit, ` (${claim.where.join(", ")})`);
  });
  return [
    commit ? h("p", { class: "hash" }, `commit ${commit}`) : null,
    predictions ? h("p", { class: "note" }, `Its predictions, ${predictions.file}: ${predictions.words}.`) : null,
    predictions ? h("p", { class: "hash" }, `commit ${predictions.commit}`) : null,
    claims.length === 0
      ? null
      : h("p", { class: "note" }, "The paper says of its own registration, whose repository is not here to prove it:"),
    claims.length === 0 ? null : h("ul", { class: "claims" }, ...claims),
  ];
}

/**
 * What made the runs of an outcome.
 * @param {{sources: string}} outcome
 */
function made({ sources }) {
  return sources === "engine" ? "MEASURED" : "SIMULATED";
}

/** @param {any} outcome */
function outcome(outcome) {
  const simulated = made(outcome) === "SIMULATED";
  const commands = h("div", { class: "commands" });
  showCommand(commands, [outcome.command]);
  const groups = outcome.groups.map((/** @type {any} */ group) =>
    h("li", {}, `${group.group}: `, badge(group.verdict), ` ${group.because}`),
  );
  return h(
    "div",
    { class: "outcome" },
    h(
      "p",
      {},
      badge(outcome.verdict),
      ` ${outcome.because ?? ""} `,
      h("span", { class: simulated ? "source simulated" : "source" }, made(outcome)),
    ),
    outcome.decisive ? null : h("p", { class: "note" }, `Not decisive: ${outcome.not_decisive_because}`),
    h("ul", {}, ...groups),
    h(
      "details",
      {},
      h("summary", {}, `${outcome.runs.length} runs`),
      h("ul", { class: "runs" }, ...outcome.runs.map(run)),
    ),
    ...outcome.notes.map((/** @type {string} */ note) => h("p", { class: "note" }, note)),
    ...outcome.not_used.map((/** @type {string} */ run) => h("p", { class: "note" }, `Not used: ${run}`)),
    commands,
  );
}

/** @param {any} run */
function run(run) {
  return h(
    "li",
    {},
    h("a", { href: `#law?run=${run.id}`, "data-run": run.id }, run.id),
    ` ${run.role}: ${run.label ?? run.because ?? "no label"}. ${words(run.decided_by)}`,
  );
}

/** @param {{name: string, value: string, stated: boolean}[]} list */
function parameters(list) {
  return h(
    "ul",
    {},
    ...list.map(({ name, value, stated }) =>
      h("li", {}, h("code", {}, `${name}: ${value}`), stated ? "" : " (by default)"),
    ),
  );
}
