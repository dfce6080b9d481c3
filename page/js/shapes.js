// The shapes of what is read: answers of the program (crates/page/README.md) and data/ (docs/page.md).
// Nothing here runs.

/**
 * Values over time; a share that a bin cannot say is null.
 * @typedef {object} Series
 * @property {number[]} t_s
 * @property {(number | null)[]} value
 */

/** @typedef {{t_s: number, what: string}} Event */

/**
 * A condition of a rule, and how far a run is from it.
 * @typedef {object} Clause
 * @property {string} quantity
 * @property {string} unit
 * @property {number | null} measured
 * @property {string} needs
 * @property {number | null} needs_least
 * @property {number | null} needs_most
 * @property {boolean | null} holds
 * @property {number | null} margin
 * @property {string} [words] the same in one line
 */

/**
 * @typedef {object} State
 * @property {string} state
 * @property {boolean | null} stuck
 * @property {string | null} [because]
 * @property {string} [judged_by]
 * @property {string} [binding]
 * @property {Clause | null} [decided_by]
 * @property {Clause[]} trapped
 * @property {Clause[]} recovered
 * @property {Clause[]} draining
 */

/**
 * A run in a line, as in every place that shows one.
 * @typedef {object} RunLine
 * @property {string} id
 * @property {string} run
 * @property {"engine" | "simulator"} source
 * @property {string} made_by
 * @property {string} cell
 * @property {string} arm
 * @property {number | null} rate_multiple
 * @property {number | null} population
 * @property {number | null} seed
 * @property {string | null} state
 * @property {boolean | null} stuck
 * @property {number | null} hit_fraction
 * @property {string} file
 */

/**
 * @typedef {object} RunSeries
 * @property {Series} [hits]
 * @property {Series} [follow_up_hits]
 * @property {Series} [backlog]
 * @property {Series} [held]
 * @property {Series} [waiting]
 */

/**
 * A simulated or dropped run, as the program answers with it.
 * @typedef {object} Engine
 * @property {string} name
 * @property {string} arm
 * @property {"engine" | "simulator"} source
 * @property {number} duration_s
 * @property {[number, number] | null} window
 * @property {Series} hits
 * @property {Series} follow_up_hits
 * @property {Series} backlog
 * @property {Series} [held]
 * @property {Series} [waiting]
 * @property {{sessions: number, completed: number, turns: number}} counts
 * @property {Event[]} events
 */

/** @typedef {import("./table.js").Printed & {values?: any[]}} Printed */

export {};
