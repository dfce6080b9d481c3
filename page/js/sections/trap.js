// The first screen: the real engine's runs, with and without the burst.

import { draw } from "../chart/chart.js";
import { showCommand } from "../command.js";
import { part } from "../data.js";
import { fill, h, one } from "../dom.js";
import { look, timeline } from "../timeline.js";
import { badge, words } from "../verdict.js";

/** @param {HTMLElement} root */
export async function start(root) {
  const real = await part("real");
  if (real.absent) {
    for (const said of root.querySelectorAll(".measured")) {
      said.toggleAttribute("hidden", true);
    }
    one(root, ".status").textContent = real.absent;
    return;
  }
  /** @type {any[]} */
  const runs = real.runs;
  const named = new Set();
  const drawn = runs.map((run) => {
    const quiet = named.has(run.arm);
    named.add(run.arm);
    return { name: run.arm.toUpperCase(), look: look(run.arm), source: real.source, series: run.series, quiet };
  });
  draw(
    one(root, ".picture"),
    timeline({
      name: `${real.made_by}: hit fraction and sessions in the system over time. ${said(runs)}`,
      runs: drawn.map((run) => ({ ...run, series: { hits: run.series.hits, backlog: run.series.backlog } })),
      moments: real.burst === null ? [] : [{ at: real.burst.start_s, name: "burst" }],
      shades: [{ from: real.window_s[0], to: real.window_s[1], look: "window", name: "evaluation window" }],
      span: [0, real.horizon_s],
      title: `${real.made_by}: measured`,
      height: 165,
      rows: 2,
    }),
  );
  if (real.burst !== null) {
    const { sessions, start_s } = real.burst;
    one(root, ".about").textContent = `Here ${sessions} sessions arrive at once at ${start_s} s.`;
  }
  fill(
    one(root, ".arms"),
    ...runs.map((run) =>
      h(
        "li",
        {},
        h("a", { href: `#law?run=${run.id}`, "data-run": run.id }, `${run.arm.toUpperCase()} seed ${run.seed}`),
        " ",
        run.state ? badge(run.state) : "",
        h("span", { class: "because" }, ` ${words(run.decided_by)}`),
      ),
    ),
  );
  showCommand(one(root, ".commands"), [real.commands.verdicts, real.commands.picture]);
  // What was being read gives its room to what says where it is from.
  one(root, ".status").hidden = true;
  one(root, "details").hidden = false;
  requestAnimationFrame(() => performance.mark("first-view"));
}

/** @param {any[]} runs */
function said(runs) {
  return runs.map((run) => `${run.arm} seed ${run.seed}: ${run.state}.`).join(" ");
}
