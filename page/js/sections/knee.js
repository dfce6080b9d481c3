// How many sessions fit: hits against the population, from an empty engine and from a trap.

import { answering, clear } from "../answering.js";
import { draw } from "../chart/chart.js";
import { showCommand } from "../command.js";
import { fill, h, one } from "../dom.js";
import { bind, offer } from "../form.js";
import { say } from "../notice.js";
import { named, offered } from "../offered.js";
import { asking } from "../program.js";
import { table } from "../table.js";
import { notes } from "./calculator.js";

/** @param {HTMLElement} root */
export async function start(root) {
  const ask = asking();
  const form = bind(/** @type {HTMLFormElement} */ (one(root, "form")), () => {
    ask.close();
    clear(root);
    say(one(root, ".status"), "Changed. Simulate to see what it does.");
    root.dataset.busy = "no";
  });
  const { simulated, workloads, factor } = await offered();
  offer(/** @type {HTMLSelectElement} */ (one(root, "[name=cell]")), named(simulated));
  offer(/** @type {HTMLSelectElement} */ (one(root, "[name=workload]")), named(workloads));

  function answer() {
    return answering(root, "simulating closed populations: some seconds …", async () => {
      const { ok, elapsedMs } = await ask({ ...question(form), token_cost_factor: factor(form.text("cell")) });
      show(root, ok);
      const seconds = (elapsedMs / 1000).toPrecision(2);
      return `Simulated: ${ok.points.length} runs in ${seconds} s, in this browser. The lines that say theory are model values.`;
    });
  }
  one(root, "#knee-go").addEventListener("click", answer);
  answer();
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
  draw(one(root, ".picture"), picture(ok));
  const tables = Object.entries(ok.printed).map(([name, printed]) =>
    h("div", { "data-table": name }, table(/** @type {any} */ (printed), ok[name])),
  );
  fill(one(root, ".tables"), ...notes(ok.notes), ...tables);
  showCommand(one(root, ".commands"), [ok.command]);
}

/**
 * As the command line's picture: a line through the means over seeds, where it falls, the predicted onset, the cap.
 * @param {{points: Run[], knee_populations: any[], knee: {quantity: string, value: any}[]}} ok
 * @returns {import("../chart/chart.js").Chart}
 * @typedef {{start: string, population: number, seed: number, hit_share: number | null}} Run
 */
function picture({ points: runs, knee_populations: means, knee }) {
  const known = runs.filter((run) => run.hit_share !== null);
  const points = known.map((run) => ({
    x: run.population,
    y: run.hit_share ?? 0,
    look: run.start === "empty" ? "noburst simulated" : "burst simulated",
    name: `${run.population} sessions from ${run.start}, seed ${run.seed}: hit share ${run.hit_share?.toPrecision(3)}`,
  }));
  const curve = (/** @type {string} */ start) => {
    const own = means.filter((mean) => mean.start === start);
    return { x: own.map((mean) => mean.population), y: own.map((mean) => share(mean.hits)) };
  };
  const fact = (/** @type {string} */ quantity) => {
    const value = knee.find((row) => row.quantity === quantity)?.value;
    return typeof value === "number" ? value : null;
  };
  const [good, trapped] = [fact("from empty: good up to"), fact("from empty: trapped from")];
  const [onset, cap] = [fact("theory: all-miss onset n_b"), fact("cap to set")];
  const drawn = [...known.map((run) => run.population), ...(onset === null ? [] : [onset])];
  return {
    name: "Simulated. The share of hits against the number of sessions kept in the system, from an empty engine and from a trap, with where it falls, the predicted onset and the cap.",
    x: {
      label: "sessions kept in the system",
      log: true,
      domain: [Math.min(...drawn) / 1.15, Math.max(...drawn) * 1.15],
    },
    plain: true,
    panels: [
      {
        y: { label: "hit share", domain: [0, 1.02] },
        height: 250,
        points,
        lines: [
          { name: "from an empty engine", look: "noburst", ...curve("empty") },
          { name: "from a trap", look: "burst", ...curve("trap") },
        ],
        shades:
          good !== null && trapped !== null
            ? [{ from: good, to: trapped, look: "window", name: "where it falls" }]
            : [],
        moments: [
          ...(onset === null ? [] : [{ at: onset, name: "predicted onset", look: "onset" }]),
          ...(cap === null ? [] : [{ at: cap, name: `cap ${cap}`, look: "cap" }]),
        ],
        rows: 2,
        stamp: "SIMULATED",
      },
    ],
  };
}

/** @param {number | null} percent */
function share(percent) {
  return percent === null ? null : percent / 100;
}
