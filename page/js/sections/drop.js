// Files of one's own, judged in the browser: a run directory, a log, a scrape.

import { answering } from "../answering.js";
import { draw } from "../chart/chart.js";
import { showCommand } from "../command.js";
import { fill, h, one } from "../dom.js";
import { bind, offer } from "../form.js";
import { gather } from "../gather.js";
import { say } from "../notice.js";
import { named, offered } from "../offered.js";
import { asking } from "../program.js";
import { table } from "../table.js";
import { look, moments, timeline } from "../timeline.js";
import { badge, clauses } from "../verdict.js";
import { notes } from "./calculator.js";

/** @typedef {{name: string, file: File}} Chosen */

/** @param {HTMLElement} root */
export async function start(root) {
  const zone = one(root, ".zone");
  const ask = asking();
  /** @type {Chosen[]} */
  let chosen = [];
  const form = bind(/** @type {HTMLFormElement} */ (one(root, "form")), () => {
    if (chosen.length > 0) {
      judge(root, ask, form, chosen);
    }
  });
  const take = (/** @type {Chosen[]} */ files) => {
    chosen = files;
    if (files.length === 0) {
      turn += 1;
      ask.close();
      root.dataset.busy = "no";
      say(one(root, ".status"), "No file was given.");
      return;
    }
    return judge(root, ask, form, files);
  };
  const over = (/** @type {DragEvent} */ event) => {
    event.preventDefault();
    zone.classList.add("over");
  };
  zone.addEventListener("dragover", over);
  zone.addEventListener("dragleave", () => zone.classList.remove("over"));
  zone.addEventListener("drop", async (event) => {
    event.preventDefault();
    zone.classList.remove("over");
    if (event.dataTransfer !== null) {
      take(await gather(event.dataTransfer));
    }
  });
  for (const input of root.querySelectorAll("input[type=file]")) {
    input.addEventListener("change", () => {
      const { files } = /** @type {HTMLInputElement} */ (input);
      take([...(files ?? [])].map((file) => ({ name: file.webkitRelativePath || file.name, file })));
      /** @type {HTMLInputElement} */ (input).value = "";
    });
  }
  say(one(root, ".status"), "Nothing is sent anywhere: what is dropped stays in this browser.");
  // The lists come from the program, which takes a while: until then files are judged without them.
  const { cells, formats } = await offered();
  offer(/** @type {HTMLSelectElement} */ (one(root, "[name=cell]")), [NONE, ...named(cells)]);
  const words = formats.map((name) => ({ name, label: name }));
  offer(/** @type {HTMLSelectElement} */ (one(root, "[name=from]")), [{ ...NONE, label: "told by its content" }, ...words]);
}

/** What stands in a list for none. */
const NONE = { name: "", label: "none" };

/** How often files were judged: what is read for an older question is not asked. */
let turn = 0;

/**
 * @param {HTMLElement} root
 * @param {import("../program.js").Ask} ask
 * @param {import("../form.js").Form} form
 * @param {Chosen[]} chosen
 */
function judge(root, ask, form, chosen) {
  turn += 1;
  const mine = turn;
  const what = chosen.length === 1 ? chosen[0]?.name : `${chosen.length} files`;
  return answering(root, `reading ${what} …`, async () => {
    // By name and size first: what is too large is judged without its bytes.
    const sizes = chosen.map(({ name, file }) => ({ name, size: file.size }));
    const over = new Set((await ask({ ask: "sizes", files: sizes })).ok.too_large);
    const reading = chosen
      .filter(({ name }) => !over.has(name))
      .map(async ({ name, file }) => ({ name, bytes: new Uint8Array(await file.arrayBuffer()) }));
    const read = await Promise.all(reading).catch((why) => {
      if (mine === turn) {
        throw why;
      }
      return [];
    });
    if (mine !== turn) {
      await new Promise(() => {});
    }
    const files = sizes.filter(({ name }) => over.has(name));
    const { ok, elapsedMs } = await ask({ ask: "judge", ...known(form), files }, read);
    fill(one(root, ".answers"), ...(ok.what === "runs" ? runs(ok) : observed(ok)));
    paint(root, ok);
    showCommand(one(root, ".commands"), ok.command ? [ok.command] : []);
    return `Judged in ${(elapsedMs / 1000).toPrecision(2)} s, in this browser. Nothing was sent anywhere.`;
  });
}

/**
 * What logs cannot say themselves.
 * @param {import("../form.js").Form} form
 */
function known(form) {
  return {
    from: form.text("from") || undefined,
    pool: form.number("pool"),
    reuse_ceiling: form.number("reuse_ceiling"),
    closed: form.text("client") === "closed" || undefined,
    cell: form.text("cell") || undefined,
    sessions_per_s: form.number("sessions_per_s"),
  };
}

/** @param {any} ok */
function runs(ok) {
  const judged = ok.states.map((/** @type {any} */ state) => {
    const engine = (ok.engines ?? []).find((/** @type {any} */ one) => one.name === state.run);
    return h(
      "article",
      {},
      h("h3", {}, state.run === "." ? "What was dropped" : state.run),
      h("p", {}, badge(state.state), ` ${engine?.because ?? state.because ?? ""}`),
      h("p", { class: "note" }, state.binding ?? ""),
      clauses(state),
    );
  });
  const pictures = (ok.engines ?? []).map(() => h("div", { class: "picture" }));
  const tables = Object.entries(ok.printed ?? {}).map(([name, printed]) =>
    h("div", { "data-table": name }, table(/** @type {any} */ (printed), ok[name])),
  );
  const bad = (ok.not_scored ?? []).map((/** @type {any} */ run) =>
    h("p", { class: "wrong" }, [run.problems].flat().join("; ")),
  );
  return [...bad, ...judged, ...pictures, ...tables, ...notes(ok.notes)];
}

/** @param {any} ok */
function observed(ok) {
  const services = ok.services ?? [];
  const answers = services.flatMap((/** @type {any} */ service) => service.answers);
  const verdicts = answers.map((/** @type {any} */ answer) =>
    h("p", {}, badge(answer.verdict), ` ${answer.headline ?? ""}`),
  );
  const pictures = answers.map(() => h("div", { class: "picture" }));
  return [...verdicts, h("pre", { class: "text" }, ok.text ?? ""), ...pictures, ...notes(ok.notes)];
}

/**
 * @param {HTMLElement} root
 * @param {any} ok
 */
function paint(root, ok) {
  const places = [...root.querySelectorAll(".answers .picture")];
  const drawn =
    ok.what === "runs"
      ? (ok.engines ?? []).map(engine)
      : (ok.services ?? []).flatMap((/** @type {any} */ s) => s.answers.map(answer));
  for (const [i, chart] of drawn.entries()) {
    const place = places[i];
    if (place !== undefined && chart !== null) {
      draw(place, chart);
    }
  }
}

/** @param {import("../shapes.js").Engine} engine */
function engine(engine) {
  return timeline({
    name: `${engine.name}: hit fraction and sessions in the system over time.`,
    runs: [
      {
        name: engine.arm,
        look: look(engine.arm),
        source: engine.source,
        series: { follow_up_hits: engine.follow_up_hits, backlog: engine.backlog, held: engine.held },
      },
    ],
    followUps: true,
    moments: moments(engine.events.filter((event) => !event.what.startsWith("window"))),
    shades: engine.window ? [{ from: engine.window[0], to: engine.window[1], look: "window" }] : [],
    span: [0, engine.duration_s],
    stamp: "MEASURED",
  });
}

/**
 * What was observed, piece by piece of time.
 * @param {any} answer
 * @returns {import("../chart/chart.js").Chart | null}
 */
function answer(answer) {
  /** @type {any[]} */
  const pieces = answer.timeline ?? [];
  if (pieces.length === 0) {
    return null;
  }
  const x = pieces.map((piece) => piece.from_s);
  const series = (/** @type {string} */ key) => pieces.map((piece) => piece[key] ?? null);
  const stamp = answer.simulated ? "SIMULATED" : "OBSERVED";
  return {
    name: `What was observed of ${answer.engine ?? "the engine"} over time: hit fraction, requests that run and wait.`,
    x: { label: "time on the source's clock (s)" },
    panels: [
      {
        y: { label: "hit fraction", domain: [0, 1] },
        lines: [{ name: "hit fraction", look: "burst", x, y: series("hit_fraction"), step: true }],
        stamp,
      },
      {
        y: { label: "requests", zero: true },
        lines: [
          { name: "running", look: "noburst", x, y: series("running"), step: true },
          { name: "waiting", look: "capped", x, y: series("waiting"), step: true },
        ],
      },
    ],
  };
}
