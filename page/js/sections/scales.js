// Two time scales: how long a session is away, and how long the pool takes to be written anew.

import { answering } from "../answering.js";
import { draw } from "../chart/chart.js";
import { showCommand } from "../command.js";
import { fill, one } from "../dom.js";
import { bind, offer } from "../form.js";
import { named, offered } from "../offered.js";
import { asking } from "../program.js";
import { table } from "../table.js";

/** @param {HTMLElement} root */
export async function start(root) {
  const ask = asking();
  const form = bind(/** @type {HTMLFormElement} */ (one(root, "form")), () => answer());
  const rate = /** @type {HTMLInputElement} */ (one(root, "[name=rate]"));
  const said = () => {
    one(root, "#scales-rate").textContent = rate.value;
  };
  rate.addEventListener("input", said);
  const { simulated, factor } = await offered();
  offer(/** @type {HTMLSelectElement} */ (one(root, "[name=cell]")), named(simulated));

  function answer() {
    said();
    return answering(root, "simulating …", async () => {
      const { ok } = await ask({
        ask: "time_scales",
        cell: form.text("cell"),
        rate: form.number("rate"),
        seed: form.number("seed"),
        token_cost_factor: factor(form.text("cell")),
      });
      show(root, ok);
      return "Simulated runs; their medians over the evaluation window.";
    });
  }
  answer();
}

/**
 * @typedef {object} Scale
 * @property {string} name
 * @property {string} arm
 * @property {"engine" | "simulator"} source
 * @property {number | null} gap_s
 * @property {number | null} turnover_s
 * @property {number | null} ratio
 */

/**
 * @param {HTMLElement} root
 * @param {any} ok
 */
function show(root, ok) {
  /** @type {Scale[]} */
  const scales = ok.scales;
  const state = (/** @type {string} */ name) =>
    ok.states.find((/** @type {any} */ state) => state.run === name)?.state ?? "";
  draw(one(root, ".picture"), picture(scales, state));
  const columns = [
    { name: "arm" },
    { name: "source" },
    { name: "gap_s", about: "median gap between a session's turns" },
    { name: "turnover_s", about: "pool over the rate at which new KV is written" },
    { name: "ratio", about: "gap over turnover" },
  ];
  const rows = scales.map((scale) => columns.map(({ name }) => text(/** @type {any} */ (scale)[name])));
  fill(one(root, ".tables"), table(ok.printed?.scales ?? { columns, rows }, scales));
  showCommand(one(root, ".commands"), [ok.command]);
}

/** @param {unknown} value */
function text(value) {
  return typeof value === "number" ? value.toPrecision(4) : String(value ?? "unknown");
}

/**
 * Two bars per run on one logarithmic axis of time.
 * @param {Scale[]} scales
 * @param {(name: string) => string} state
 * @returns {import("../chart/chart.js").Chart}
 */
function picture(scales, state) {
  const all = scales.flatMap((scale) => [scale.gap_s, scale.turnover_s]).filter((t) => t !== null);
  const least = Math.min(1, ...all.map((t) => 10 ** Math.floor(Math.log10(t))));
  const panels = scales.map((scale) => ({
    title: `${scale.arm.toUpperCase()}: ${state(scale.name)}${scale.source === "simulator" ? ", SIMULATED" : ""}`,
    y: { label: "", domain: /** @type {[number, number]} */ ([0, 2]) },
    height: 46,
    lines: [
      level(`gap between a session's turns, ${scale.arm.toUpperCase()}`, `${scale.arm} thick`, scale.gap_s, least, 1.5),
      level("pool turnover", "ink thick", scale.turnover_s, least, 0.5),
    ],
    bare: true,
  }));
  return {
    name: "The gap between a session's turns against the time in which the pool is written anew, on one logarithmic axis.",
    x: { label: "seconds", log: true, domain: [least, Math.max(10, ...all) * 1.1] },
    plain: true,
    panels,
  };
}

/**
 * @param {string} name
 * @param {string} look
 * @param {number | null} seconds
 * @param {number} least where the axis begins
 * @param {number} y
 */
function level(name, look, seconds, least, y) {
  return { name, look, x: seconds === null ? [] : [least, seconds], y: seconds === null ? [] : [y, y] };
}
