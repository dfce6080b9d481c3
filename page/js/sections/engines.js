// Two engines under the same traffic, live: one is left alone, the other gets a session cap.

import { answering } from "../answering.js";
import { draw, mark } from "../chart/chart.js";
import { nearest } from "../chart/cursor.js";
import { tick } from "../chart/scale.js";
import { showCommand } from "../command.js";
import { fill, h, one } from "../dom.js";
import { bind, offer } from "../form.js";
import { named, OWN, offered } from "../offered.js";
import { asking } from "../program.js";
import { moments, timeline } from "../timeline.js";
import { badge, clauses } from "../verdict.js";

/** Events that the picture shows by other means, or that lie on their beginning. */
const ENDS = /^(window|burst over)/;

/** @param {HTMLElement} root */
export async function start(root) {
  const time = /** @type {HTMLInputElement} */ (one(root, "#engines-time"));
  const ask = asking();
  /** @type {any} */
  let shown = null;
  let protocol = "";
  const { simulated, workloads, protocol: protocolOf, factor } = await offered();
  const form = bind(/** @type {HTMLFormElement} */ (one(root, "form")), (byHand) => {
    fit(byHand);
    answer();
  });
  offer(/** @type {HTMLSelectElement} */ (one(root, "[name=cell]")), named(simulated));
  offer(/** @type {HTMLSelectElement} */ (one(root, "[name=workload]")), [OWN, ...named(workloads)]);

  /**
   * Fits burst and times to the cell's protocol. Where a hand chose another one, what was set for the last is gone.
   * @param {boolean} byHand
   */
  function fit(byHand) {
    const own = protocolOf(form.text("cell"));
    form.standards({ token_cost_factor: { value: factor(form.text("cell")) ?? "" } }, false);
    if (own !== undefined && own.name !== protocol) {
      form.standards(times(own), byHand);
      protocol = own.name;
    }
  }

  function answer() {
    shown = null;
    return answering(root, "simulating both engines …", async () => {
      const { ok, elapsedMs } = await ask(question(form));
      shown = ok;
      show(root, ok);
      at(root, ok, Number(time.value));
      const seconds = (elapsedMs / 1000).toPrecision(2);
      root.dataset.elapsedS = String(elapsedMs / 1000);
      return `Simulated: ${ok.engines.length} engines in ${seconds} s, in this browser.`;
    });
  }

  time.addEventListener("input", () => shown && at(root, shown, Number(time.value)));
  player(one(root, "#engines-play"), time);
  fit(false);
  answer();
}

/**
 * What burst and times are at first under a protocol: the cap comes ten lengths of the burst after its beginning, as in
 * the registered rescues at 1800 s and at 150 s, and what is looked at is where the evaluation window begins.
 * @param {{burst: {sessions: number, start_s: number, length_s: number}, horizon_s: number, window: number[]}} protocol
 * @returns {Record<string, import("../form.js").Standard>}
 */
function times({ burst, horizon_s, window: [from = 0] }) {
  const step = 10 ** Math.floor(Math.log10(horizon_s / 500));
  return {
    burst: { value: burst.sessions },
    from: { value: burst.start_s + 10 * burst.length_s, max: horizon_s, step },
    t: { value: from, max: horizon_s, step },
  };
}

/** @param {import("../form.js").Form} form */
function question(form) {
  const burst = form.number("burst");
  const second = form.text("second");
  /** @type {Record<string, Record<string, unknown>>} */
  const arms = {
    rescue: { arm: "rescue", burst, cap: form.number("cap"), from: form.number("from") },
    capped: { arm: "capped", burst, cap: form.number("cap") },
    noburst: { arm: "noburst" },
  };
  return {
    ask: "simulate",
    cell: form.text("cell"),
    workload: form.text("workload") || undefined,
    rate: form.number("rate"),
    seed: form.number("seed"),
    token_cost_factor: form.number("token_cost_factor"),
    runs: [{ arm: "burst", burst }, arms[second]],
  };
}

/** @type {Record<string, string>} */
const NAMES = {
  burst: "left alone",
  rescue: "rescued by a cap",
  capped: "capped from the start",
  noburst: "without the burst",
};

/**
 * @param {HTMLElement} root
 * @param {any} ok
 */
function show(root, ok) {
  /** @type {import("../shapes.js").Engine[]} */
  const engines = ok.engines.map((/** @type {any} */ engine) => ({ ...engine, name: NAMES[engine.arm] ?? engine.arm }));
  const places = root.querySelectorAll(".engine");
  for (const [i, engine] of engines.entries()) {
    const place = places[i];
    if (place !== undefined) {
      one(place, "h3").textContent = engine.name;
      draw(one(place, ".picture"), picture(engine));
      fill(
        one(place, ".verdict"),
        ...verdict(
          ok.states.find((/** @type {any} */ state) => state.run === ok.engines[i].name),
          ok.engines[i].because,
        ),
      );
    }
  }
  fill(one(root, ".events"), ...events(engines));
  showCommand(one(root, ".commands"), [ok.command]);
}

/**
 * @param {import("../shapes.js").Engine} engine
 */
function picture(engine) {
  const { window } = engine;
  return timeline({
    name: `${engine.name}: hit fraction and sessions in the system over time.`,
    runs: [
      {
        name: engine.name,
        look: engine.arm,
        source: engine.source,
        series: { follow_up_hits: engine.follow_up_hits, backlog: engine.backlog, held: engine.held },
      },
    ],
    followUps: true,
    moments: moments(engine.events.filter((event) => !ENDS.test(event.what))),
    shades: [
      ...(window ? [{ from: window[0], to: window[1], look: "window", name: "evaluation window" }] : []),
      ...capped(engine),
    ],
    span: [0, engine.duration_s],
    rows: 4,
    height: 120,
  });
}

/** @param {import("../shapes.js").Engine} engine */
function capped(engine) {
  const on = engine.events.find((event) => event.what === "cap on");
  const off = engine.events.find((event) => event.what === "cap off");
  return on === undefined ? [] : [{ from: on.t_s, to: off?.t_s ?? engine.duration_s, look: "cap" }];
}

/**
 * @param {import("../shapes.js").State | undefined} state
 * @param {string | null} because what decided, in words
 */
function verdict(state, because) {
  if (state === undefined) {
    return [];
  }
  return [
    badge(state.state),
    ` ${because ?? state.because ?? ""}`,
    h("details", {}, h("summary", {}, "every clause"), clauses(state)),
  ];
}

/** @param {import("../shapes.js").Engine[]} engines */
function events(engines) {
  const all = engines.flatMap((engine) => engine.events.map((event) => ({ ...event, who: engine.name })));
  all.sort((a, b) => a.t_s - b.t_s);
  return all.map((event) =>
    h(
      "tr",
      {},
      h("td", { class: "number", "data-value": event.t_s }, tick(event.t_s)),
      h("td", {}, event.who),
      h("td", {}, event.what),
    ),
  );
}

/**
 * The numbers at one moment, side by side.
 * @param {HTMLElement} root
 * @param {any} ok
 * @param {number} t
 */
function at(root, ok, t) {
  one(root, "#engines-at").textContent = `${tick(t)} s`;
  const places = root.querySelectorAll(".engine .now");
  for (const [i, engine] of ok.engines.entries()) {
    const place = places[i];
    if (place !== undefined) {
      mark(one(root, `.engine:nth-child(${i + 1}) .picture`), t);
      fill(
        place,
        now("follow-ups that hit", engine.follow_up_hits, t),
        now("sessions in the system", engine.backlog, t),
        now("waiting in the engine", engine.waiting, t),
        now("held at the client", engine.held, t),
      );
    }
  }
}

/**
 * @param {string} name
 * @param {import("../shapes.js").Series | undefined} series
 * @param {number} t
 */
function now(name, series, t) {
  const known = series !== undefined && series.t_s.length > 0;
  const value = known ? series.value[nearest({ name, look: "", x: series.t_s, y: series.value }, t)] : null;
  const text = value === null || value === undefined ? "–" : tick(Number(value.toPrecision(3)));
  return h("div", {}, h("dt", {}, name), h("dd", {}, text));
}

/**
 * Moves the time by itself, where the system does not ask for less motion.
 * @param {HTMLElement} button
 * @param {HTMLInputElement} time
 */
function player(button, time) {
  let frame = 0;
  const stop = () => {
    cancelAnimationFrame(frame);
    frame = 0;
    button.textContent = "Play";
  };
  const move = () => {
    const next = Number(time.value) + Number(time.max) / 900;
    time.value = String(Math.min(next, Number(time.max)));
    time.dispatchEvent(new Event("input", { bubbles: true }));
    frame = requestAnimationFrame(move);
    if (next >= Number(time.max)) {
      stop();
    }
  };
  button.hidden = matchMedia("(prefers-reduced-motion: reduce)").matches;
  button.addEventListener("click", () => {
    if (frame !== 0) {
      stop();
      return;
    }
    if (Number(time.value) >= Number(time.max)) {
      time.value = "0";
    }
    button.textContent = "Stop";
    frame = requestAnimationFrame(move);
  });
}
