// Pictures of model F: the turns that are served, the premium, a backlog after a cut.

/**
 * @param {{turn: number, trapped: number, stationary: number}[]} mix
 * @returns {import("../chart/chart.js").Chart}
 */
export function mixPicture(mix) {
  const bars = mix.map(({ turn, trapped }) => ({
    from: turn - 0.5,
    to: turn + 0.5,
    share: trapped,
    look: "burst",
    name: `turn ${turn}: share ${trapped.toPrecision(3)} of the turns served in a trap`,
  }));
  const x = mix.map(({ turn }) => turn);
  return {
    name: "Which turns a trapped engine serves, by model F, against the stationary mix: young turns are served more often.",
    x: { label: "turn of its session", domain: [0.5, (x.at(-1) ?? 1) + 0.5] },
    panels: [
      {
        title: "turns that are served",
        y: { label: "share of turns", zero: true },
        height: 190,
        bars,
        lines: [
          { name: "trapped, model F", look: "burst solid", x: [], y: [] },
          { name: "all turns", look: "ink", x, y: mix.map(({ stationary }) => stationary) },
        ],
        stamp: "MODEL",
      },
    ],
  };
}

/**
 * @param {{rho: number, premium: number | null, turn_factor: number | null, cost_factor: number | null}[]} grid
 * @param {{rho: number, premium: number} | null} at
 * @returns {import("../chart/chart.js").Chart}
 */
export function premiumPicture(grid, at) {
  const x = grid.map(({ rho }) => rho);
  const points = at ? [{ x: at.rho, y: at.premium, look: "model here", name: "this load" }] : [];
  return {
    name: "The youth premium over the load, by model F.",
    x: { label: "load ρ = λ/λmiss" },
    panels: [
      {
        title: "youth premium",
        y: { label: "D/λmiss − 1" },
        height: 190,
        lines: [{ name: "model F", look: "model", x, y: grid.map(({ premium }) => premium) }],
        points,
        stamp: "MODEL",
      },
    ],
  };
}

/**
 * @param {{cut_to?: number, t_s: number[], backlog: number[]}[]} paths
 * @param {string} what
 * @returns {import("../chart/chart.js").Chart}
 */
export function cutPicture(paths, what) {
  const lines = paths.map((path, i) => ({
    name:
      path.cut_to === undefined || what === "stop" ? "backlog" : `cut to ${Number(path.cut_to.toPrecision(3))} × λref`,
    look: `series-${i % 6}`,
    x: path.t_s,
    y: path.backlog,
  }));
  return {
    name: "The backlog of a trap after arrivals are cut or stopped, by model F.",
    x: { label: "time (s)" },
    panels: [{ title: "backlog", y: { label: "sessions", zero: true }, height: 230, lines, stamp: "MODEL" }],
  };
}

/**
 * @param {{population: number[], mu_per_s: number[], turns_that_hit: number[]}} path
 * @returns {import("../chart/chart.js").Chart}
 */
export function curvePicture(path) {
  const x = path.population;
  return {
    name: "Throughput and hits of a closed population, by the entry model.",
    x: { label: "sessions kept in the system" },
    panels: [
      {
        title: "throughput",
        y: { label: "sessions/s", zero: true },
        height: 150,
        lines: [{ name: "entry model", look: "model", x, y: path.mu_per_s }],
        stamp: "MODEL",
      },
      {
        y: { label: "turns that hit (%)", zero: true },
        height: 110,
        lines: [{ name: "entry model", look: "model", x, y: path.turns_that_hit, quiet: true }],
        stamp: "MODEL",
      },
    ],
  };
}
