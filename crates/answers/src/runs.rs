//! One row per run: what was measured over its window and how it was judged.

use crate::judged::ScoredRun;

use crate::about_run::{
    AboutRun, arm, cell, population, rate_multiple, run, seed, source, state, token_rate_ratio,
};
use crate::table::{Cell, Col, Heading, Table};

const COLUMNS: &[Col<ScoredRun>] = &[
    run(),
    source(),
    cell(),
    arm(),
    rate_multiple(),
    population(),
    seed(),
    Heading("state", "", "State under the paired test's rule; none where no rule applies")
        .new(state),
    Heading("registration", "", "The registration that judges, by its name or hash").new(|run| {
        run.judged_by.as_ref().filter(|_| is_asked(run)).map_or(Cell::Empty, Cell::text)
    }),
    Heading("binding", "", "How the run stands to its registration").new(|run| {
        match is_asked(run) {
            true => Cell::text(run.binding.word()),
            false => Cell::Empty,
        }
    }),
    Heading("stuck", "", "Whether its follow-up hit fraction is below the threshold")
        .new(|run| run.load.map_or(Cell::Empty, |_| Cell::yes_no(run.stuck))),
    Heading("window_start_s", "s", "Start of the evaluation window")
        .number(0, |run| run.measures.window_span.start_s),
    Heading("window_end_s", "s", "End of the evaluation window")
        .number(0, |run| run.measures.window_span.end_s),
    Heading("hit_fraction", "", "Share of the window's turns that hit")
        .known(3, |run| run.window()?.hits.value()),
    Heading("follow_up_hit_fraction", "", "Share of the window's follow-ups that hit")
        .known(3, |run| run.window()?.follow_up_hits.value()),
    Heading("uncached_tokens_per_s", "tokens/s", "Uncached token rate of the window")
        .known(0, |run| run.window()?.uncached_tokens_per_s),
    Heading("uncached_over_all_miss", "", "Uncached token rate over the all-miss rate")
        .new(uncached_over_all_miss),
    Heading("backlog_mean_sessions", "sessions", "Mean backlog over the window")
        .known(1, |run| Some(run.window()?.backlog_mean)),
    Heading("backlog_slope_per_s", "sessions/s", "Backlog slope over the window")
        .known(4, |run| run.window()?.backlog_slope_per_s),
    Heading("slope_threshold_per_s", "sessions/s", "The rule's line on the backlog slope").new(
        |run| match run.measures.window {
            Some(_) => Cell::optional(slope_threshold(run), 4),
            None => Cell::Unknown,
        },
    ),
    Heading("outstanding_end_sessions", "sessions", "Outstanding at the end of the window")
        .known(0, |run| run.measures.last.map(|last| last.outstanding_end)),
    Heading("hit_fraction_end", "", "Share of turns that hit at the end of the window")
        .known(3, |run| run.measures.last.and_then(|last| last.hits.value())),
    Heading("completions_per_s", "sessions/s", "Sessions completed per second of the window")
        .known(4, |run| Some(run.window()?.completions_per_s)),
    Heading("realized_base_arrivals_per_s", "sessions/s", "Arrivals of the base stream")
        .known(4, |run| Some(run.window()?.base_arrivals_per_s)),
    Heading("mean_prompt_tokens", "tokens", "Mean prompt of the turns served in the window")
        .known(0, |run| run.window()?.mean_prompt_tokens),
    Heading("gap_median_s", "s", "Median gap between the completions of a session's turns")
        .known(2, |run| run.window()?.gap_median_s),
    Heading("gap_slope", "s/s", "How fast the gap grows over the window")
        .known(4, |run| run.window()?.gap_slope),
    Heading("churn_tokens_per_s", "tokens/s", "Churn: rate at which new KV is written")
        .known(0, |run| run.window()?.churn_tokens_per_s),
    Heading("turnover_s", "s", "Turnover time R_M: pool tokens over churn")
        .known(2, |run| run.window()?.turnover_s),
    Heading("gap_over_turnover", "", "Median gap over turnover time")
        .known(3, |run| run.window()?.gap_over_turnover),
    Heading("latency_median_s", "s", "Median latency of a turn, queue included")
        .known(2, |run| run.window()?.latency_median_s),
    Heading("latency_p90_s", "s", "90 % quantile of a turn's latency, queue included")
        .known(2, |run| run.window()?.latency_p90_s),
    Heading("token_hit_fraction", "", "Share of prompt tokens found in the cache")
        .known(4, |run| run.window()?.token_hit_fraction),
    Heading("pool_occupancy", "", "Mean share of the pool that admitted requests hold")
        .known(4, |run| run.window()?.pool_occupancy),
    Heading("sessions_arrived", "sessions", "Sessions that arrived over the whole run")
        .count(|run| run.measures.whole.sessions_arrived),
    Heading("sessions_completed", "sessions", "Sessions that completed over the whole run")
        .count(|run| run.measures.whole.sessions_completed),
    Heading("sessions_unfinished", "sessions", "Sessions not completed when the run ended")
        .count(|run| run.measures.whole.sessions_unfinished),
    Heading("sessions_held_at_gate", "sessions", "Sessions held or paused by the gate")
        .count(|run| run.measures.whole.sessions_held),
    Heading("gate_hold_mean_s", "s", "Mean time that these sessions were held")
        .optional(1, |run| run.measures.whole.held_mean_s),
    // Without an arrival rate there is no burst to come after.
    Heading("longest_queue_after_burst_requests", "requests", "Longest queue after the burst").new(
        |run| match run.meta.rate.lambda {
            Some(_) => Cell::known(run.queue_lengths.and_then(|queue| queue.most_after_burst), 0),
            None => Cell::Empty,
        },
    ),
    Heading("hits", "turns", "Turns of the run that hit")
        .new(|run| run.reuse.map_or(Cell::Unknown, |_| Cell::Count(run.measures.whole.hits.hits))),
    Heading("hits_not_exact", "turns", "Hits that computed more or less than their new tokens")
        .new(|run| run.reuse.map_or(Cell::Unknown, |reuse| Cell::Count(reuse.not_exact))),
    Heading("hit_uncached_tokens_median", "tokens", "Median prompt tokens that a hit computed")
        .new(|run| {
            run.reuse.map_or(Cell::Unknown, |reuse| Cell::optional(reuse.uncached_median, 1))
        }),
];

/// The table of runs.
pub fn table<'a>(runs: impl IntoIterator<Item = &'a ScoredRun>) -> Table {
    let title = "Runs: measurements over the window, and the state under the paired test";
    crate::about_run::table("runs", title, COLUMNS, runs)
}

/// Whether a registration was looked for.
fn is_asked(run: &ScoredRun) -> bool {
    run.state.is_some() || run.fitting_rules().is_some()
}

/// The rule's line on the backlog slope, where the run is judged.
pub fn slope_threshold(run: &ScoredRun) -> Option<f64> {
    run.state.as_ref()?.slope_threshold_per_s
}

/// The ratio is asked of a judged run; without a measured all-miss rate it is unknown.
fn uncached_over_all_miss(run: &ScoredRun) -> Cell {
    let is_unknown = run.measures.window.is_none();
    match run.state.as_ref().and(run.load) {
        None if !is_unknown => Cell::Empty,
        _ => Cell::known(token_rate_ratio(run), 3),
    }
}
