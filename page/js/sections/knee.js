// How many sessions fit: hits against the population, from an empty engine and from a trap.

import { draw } from "../chart/chart.js";
import { showCommand } from "../command.js";
import { fill, h, one } from "../dom.js";
import { bind, offer } from "../form.js";
import { say, wrong } from "../notice.js";
import { ask, lists } from "../program.js";
import { table } from "../table.js";
import { notes } from "./calculator.js";
import { named } from "./engines.js";

/** @param {HTMLElement} root */
export async function start(root) {
  const status = one(root, ".status");
  const form = bind(/** @type {HTMLFormElement} */ (one(root, "form")), () => {
    say(status, "Changed. Simulate to see what it does.");
  });
  const { cells, workloads } = await lists();
  const simulated = cells.filter((/** @type {any} */ cell) => cell.has_iteration_costs);
  offer(/** @type {HTMLSelectElement} */ (one(root, "[name=cell]")), named(simulated));
  offer(/** @type {HTMLSelectElement} */ (one(root, "[name=workload]")), named(workloads));

  async function answer() {
    say(status, "simulating closed populations: some seconds …");
    root.dataset.busy = "yes";
    try {
      const { ok, elapsedMs } = await ask(question(form));
      show(root, ok);
      const seconds = (elapsedMs / 1000).toPrecision(2);
      say(
        status,
        `Simulated: ${ok.points.length} runs in ${seconds} s, in this browser. The lines that say theory are model values.`,
      );
    } catch (error) {
      wrong(status, error);
    }
    root.dataset.busy = "no";
  }
  one(root, "#knee-go").addEventListener("click", answer);
  await answer();
}

/** @param {import("../form.js").Form} form */
function question(form) {
  return {
    ask: "knee",
    cell: form.text("cell"),
    workload: form.text("workload"),
    engine: form.text("engine") || undefined,
    population: form.list("population"),
    seeds: form.number("seeds"),
    pool_tokens: form.number("pool_tokens"),
    gap_limit: form.number("gap_limit"),
    host_tokens: form.number("host_tokens"),
    host_load_rate: form.number("host_load_rate"),
  };
}

/**
 * @param {HTMLElement} root
 * @param {any} ok
 */
function show(root, ok) {
  draw(one(root, ".picture"), picture(ok.points));
  const tables = Object.entries(ok.printed).map(([name, printed]) =>
    h("div", { "data-table": name }, table(/** @type {any} */ (printed), ok[name])),
  );
  fill(one(root, ".tables"), ...notes(ok.notes), ...tables);
  showCommand(one(root, ".commands"), [ok.command]);
}

/**
 * @param {{start: string, population: number, seed: number, hit_share: number | null}[]} runs
 * @returns {import("../chart/chart.js").Chart}
 */
function picture(runs) {
  const known = runs.filter((run) => run.hit_share !== null);
  const points = known.map((run) => ({
    x: run.population,
    y: run.hit_share ?? 0,
    look: run.start === "empty" ? "noburst simulated" : "burst simulated",
    name: `${run.population} sessions from ${run.start}, seed ${run.seed}: hit share ${run.hit_share?.toPrecision(3)}`,
  }));
  const populations = known.map((run) => run.population);
  return {
    name: "Simulated. The share of hits against the number of sessions kept in the system, from an empty engine and from a trap.",
    x: {
      label: "sessions kept in the system",
      log: true,
      domain: [Math.min(...populations) / 1.15, Math.max(...populations) * 1.15],
    },
    plain: true,
    panels: [
      {
        y: { label: "hit share", domain: [0, 1.02] },
        height: 250,
        points,
        lines: [
          { name: "from an empty engine", look: "noburst", x: [], y: [] },
          { name: "from a trap", look: "burst", x: [], y: [] },
        ],
        stamp: "SIMULATED",
      },
    ],
  };
}
