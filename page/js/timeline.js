// Runs over time: the hit fraction above, sessions in the system below.

/**
 * One run to draw.
 * @typedef {object} Drawn
 * @property {string} name
 * @property {string} look
 * @property {"engine" | "simulator"} source
 * @property {import("./shapes.js").RunSeries} series
 * @property {boolean} [quiet] not named in the legend again
 */

/**
 * @typedef {object} Timeline
 * @property {string} name what the picture shows
 * @property {Drawn[]} runs
 * @property {import("./chart/mark.js").Moment[]} [moments]
 * @property {import("./chart/mark.js").Shade[]} [shades]
 * @property {string} [stamp] what made the runs, where it is not told by their source
 * @property {number} [height]
 * @property {string} [title]
 * @property {[number, number]} [span] s
 * @property {number} [rows] rows kept free for the names of moments
 * @property {boolean} [followUps] draw hits of follow-ups instead of all turns
 */

/**
 * @param {Timeline} timeline
 * @returns {import("./chart/chart.js").Chart}
 */
export function timeline({ name, runs, moments = [], shades = [], stamp, height = 150, title, span, rows, followUps }) {
  const simulated = runs.some((run) => run.source === "simulator");
  const hits = (/** @type {Drawn} */ run) => (followUps ? run.series.follow_up_hits : run.series.hits);
  const above = runs.flatMap((run) => line(run, hits(run)));
  const below = runs.flatMap((run) => [
    ...line(run, run.series.backlog, true),
    ...line({ ...run, name: `${run.name}: held at the client`, look: "held" }, run.series.held, true),
  ]);
  return {
    name: simulated ? `Simulated. ${name}` : name,
    x: { label: "time since start of run (s)", ...(span ? { domain: span } : {}) },
    panels: [
      {
        title,
        rows,
        y: { label: followUps ? "follow-up hit fraction" : "hit fraction", domain: [-0.04, 1.04] },
        height,
        lines: above,
        shades,
        moments,
        stamp: simulated ? "SIMULATED" : stamp,
      },
      {
        y: { label: "sessions in system", log: true },
        height,
        lines: below,
        shades: shades.map((shade) => ({ ...shade, name: "" })),
        moments: moments.map((moment) => ({ ...moment, name: "" })),
        stamp: simulated ? "SIMULATED" : "",
      },
    ],
  };
}

/**
 * @param {Drawn} run
 * @param {import("./shapes.js").Series | undefined} series
 * @param {boolean} [step]
 * @returns {import("./chart/mark.js").Line[]}
 */
function line(run, series, step = false) {
  if (series === undefined || series.t_s.length === 0) {
    return [];
  }
  return [{ name: run.name, look: run.look, x: series.t_s, y: series.value, step, quiet: run.quiet }];
}

/**
 * Events as moments of a picture. What happens again is a line without its name: a table has the times.
 * @param {import("./shapes.js").Event[]} events
 * @returns {import("./chart/mark.js").Moment[]}
 */
export function moments(events) {
  return events.map(({ t_s, what }, i) => {
    const first = events.findIndex((event) => event.what === what) === i;
    return { at: t_s, name: first ? what : "" };
  });
}

/**
 * The look of an arm: its colour and dash in the figures.
 * @param {string} arm
 */
export function look(arm) {
  return ["burst", "noburst", "capped", "rescue"].includes(arm) ? arm : "other";
}
