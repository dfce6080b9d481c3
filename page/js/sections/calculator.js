// Model F for any cell and load: the trap, a cut, a stop, a rescue.

import { answering } from "../answering.js";
import { draw } from "../chart/chart.js";
import { showCommand } from "../command.js";
import { fill, h, one } from "../dom.js";
import { bind, offer } from "../form.js";
import { named, OWN, offered } from "../offered.js";
import { asking } from "../program.js";
import { table } from "../table.js";
import { curvePicture, cutPicture, mixPicture, premiumPicture } from "./model.js";

/** @param {HTMLElement} root */
export async function start(root) {
  const ask = asking();
  const form = bind(/** @type {HTMLFormElement} */ (one(root, "form")), () => answer());
  const { cells, workloads } = await offered();
  offer(/** @type {HTMLSelectElement} */ (one(root, "[name=cell]")), named(cells));
  offer(/** @type {HTMLSelectElement} */ (one(root, "[name=workload]")), [OWN, ...named(workloads)]);

  function answer() {
    fields(root, form.text("what"));
    return answering(root, "computing …", async () => {
      const { ok } = await ask(question(form));
      show(root, form.text("what"), ok);
      return "Model values. No run is behind them.";
    });
  }
  answer();
}

/**
 * Shows the controls of the chosen question alone.
 * @param {HTMLElement} root
 * @param {string} what
 */
function fields(root, what) {
  for (const field of root.querySelectorAll("[data-of]")) {
    /** @type {HTMLElement} */ (field).hidden = !field.getAttribute("data-of")?.split(" ").includes(what);
  }
}

/** @param {import("../form.js").Form} form */
function question(form) {
  const what = form.text("what");
  const backlog = form.number("backlog");
  /** @type {Record<string, Record<string, unknown>>} */
  const own = {
    cut: { at: form.number("cut_at"), to: form.list("to"), until: form.number("until") },
    stop: { at: form.number("stop_at") },
    rescue: {
      ...(backlog === undefined ? { engage_at: form.number("engage_at") } : { backlog }),
      hold: form.number("hold"),
      cap: form.list("cap"),
    },
    burst: { sessions: form.list("sessions") },
    curve: { population: form.list("population") },
  };
  // What is undefined is not in the question: the program has its own default.
  return {
    ask: what,
    cell: form.text("cell"),
    workload: form.text("workload") || undefined,
    ...(what === "curve" ? {} : { [form.text("load")]: form.number("amount") }),
    ...own[what],
  };
}

/**
 * @param {HTMLElement} root
 * @param {string} what
 * @param {any} ok
 */
function show(root, what, ok) {
  const tables = Object.entries(ok.printed).map(([name, printed]) => {
    const place = h("div", { "data-table": name }, table(/** @type {any} */ (printed), ok[name]));
    return place;
  });
  const pictures = h("div", { class: "pictures" });
  fill(one(root, ".answers"), pictures, ...notes(ok.notes), h("div", { class: "tables" }, ...tables));
  const put = (/** @type {import("../chart/chart.js").Chart} */ chart) => {
    const place = h("div", { class: "picture" });
    pictures.append(place);
    draw(place, chart);
  };
  if (what === "trap") {
    if (ok.mix.length > 0) {
      put(mixPicture(ok.mix));
    }
    if (ok.premium.length > 0) {
      put(premiumPicture(ok.premium, ok.at));
    }
  } else if (what === "curve") {
    put(curvePicture(ok.path));
  } else if (ok.paths) {
    put(cutPicture(ok.paths, what));
  }
  showCommand(one(root, ".commands"), [ok.command]);
}

/** @param {string[] | undefined} said */
export function notes(said = []) {
  return said.map((note) => h("p", { class: "note" }, note));
}
