// The law against runs: figure 2, every point a run that opens.

import { draw } from "../chart/chart.js";
import { showCommand } from "../command.js";
import { part } from "../data.js";
import { fill, h, one } from "../dom.js";
import { bind, offer } from "../form.js";

/** @param {HTMLElement} root */
export async function start(root) {
  const law = await part("law");
  if (law.absent) {
    one(root, ".status").textContent = law.absent;
    one(root, "form").hidden = true;
    return;
  }
  const select = /** @type {HTMLSelectElement} */ (one(root, "[name=figure]"));
  select.dataset.standard = law.figures[0].name;
  const form = bind(/** @type {HTMLFormElement} */ (one(root, "form")), () => show(root, law, form.text("figure")));
  offer(
    select,
    law.figures.map((/** @type {any} */ figure) => ({
      name: figure.name,
      label: `${figure.title} (${figure.made_by})`,
    })),
  );
  show(root, law, form.text("figure"));
}

/**
 * @param {HTMLElement} root
 * @param {any} law
 * @param {string} name
 */
function show(root, law, name) {
  const figure = law.figures.find((/** @type {any} */ f) => f.name === name) ?? law.figures[0];
  const places = figure.panels.map(() => h("div", { class: "picture" }));
  fill(one(root, ".pictures"), ...places);
  figure.panels.forEach((/** @type {any} */ panel, /** @type {number} */ i) => {
    draw(places[i], picture(figure, panel));
  });
  showCommand(one(root, ".commands"), [figure.command]);
  const runs = figure.points.length;
  const missing = figure.missing.length > 0 ? ` Not here: ${figure.missing.join("; ")}.` : "";
  one(root, ".status").textContent = `${runs} runs, ${figure.made_by}. Model F with ${figure.calibration}.${missing}`;
}

/**
 * @param {any} figure
 * @param {any} panel
 * @returns {import("../chart/chart.js").Chart}
 */
function picture(figure, panel) {
  const curves = figure.curves.map((/** @type {any} */ curve, /** @type {number} */ i) => ({
    name: "model F",
    look: "model fine",
    x: curve.rho,
    y: curve.values[panel.quantity],
    quiet: i > 0,
  }));
  const quasi = panel.quasi_static
    ? [
        {
          name: "quasi-static",
          look: "quasi",
          x: panel.quasi_static.map((/** @type {number[]} */ p) => p[0]),
          y: panel.quasi_static.map((/** @type {number[]} */ p) => p[1]),
        },
      ]
    : [];
  const known = figure.points.filter((/** @type {any} */ p) => typeof p.values[panel.quantity] === "number");
  const points = known.map((/** @type {any} */ p) => ({
    x: p.rho,
    y: p.values[panel.quantity],
    look: `${p.began === "triggered" ? "stuck" : "from-empty"} ${p.source === "simulator" ? "simulated" : "engine"}`,
    name: `${p.made_by}, ${p.cell}, ${p.arm} ${p.rate_multiple ?? ""} seed ${p.seed}: load ${p.rho.toPrecision(3)}, ${panel.title} ${p.values[panel.quantity].toPrecision(3)}`,
    run: p.id,
  }));
  const looks = [
    { look: "stuck engine", name: "triggered, measured" },
    { look: "stuck simulated", name: "triggered, simulated" },
    { look: "from-empty engine", name: "from empty, measured" },
    { look: "from-empty simulated", name: "from empty, simulated" },
  ];
  const simulated = figure.points.some((/** @type {any} */ p) => p.source === "simulator");
  return {
    name: `${panel.title} against the load, model F's curves and ${points.length} runs (${figure.made_by}). Each point opens its run.`,
    x: {
      label: "load ρ = λ/λmiss",
      log: true,
      domain: [
        1,
        Math.max(...curves.flatMap((/** @type {any} */ c) => c.x), ...points.map((/** @type {any} */ p) => p.x)),
      ],
    },
    plain: true,
    panels: [
      {
        title: panel.title,
        y: { label: "" },
        height: 210,
        lines: [...quasi, ...curves],
        points,
        marks: looks.filter(({ look }) => points.some((/** @type {any} */ p) => p.look === look)),
        stamp: simulated ? "POINTS SIMULATED" : figure.made_by,
      },
    ],
  };
}
