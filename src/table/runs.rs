//! One row per run: what was measured over its window and how it was judged.

use crate::analysis::ScoredRun;

use super::about_run::{
    arm, cell, in_window, population, rate_multiple, run, seed, source, state, token_rate_ratio,
};
use super::{Cell, Col, Table};

const COLUMNS: &[Col<ScoredRun>] = &[
    run(),
    source(),
    cell(),
    arm(),
    rate_multiple(),
    population(),
    seed(),
    Col::new("state", "", state),
    Col::new("registration", "", |run| {
        run.judged_by.as_ref().filter(|_| is_asked(run)).map_or(Cell::Empty, Cell::text)
    }),
    Col::new("binding", "", |run| match is_asked(run) {
        true => Cell::text(run.binding.word()),
        false => Cell::Empty,
    }),
    Col::new("stuck", "", |run| run.load.map_or(Cell::Empty, |_| Cell::yes_no(run.stuck))),
    Col::new("window_start_s", "s", |run| Cell::Number(run.measures.window_span.start_s, 0)),
    Col::new("window_end_s", "s", |run| Cell::Number(run.measures.window_span.end_s, 0)),
    Col::new("hit_fraction", "", |run| in_window(run, |w| w.hits.value(), 3)),
    Col::new("follow_up_hit_fraction", "", |run| in_window(run, |w| w.follow_up_hits.value(), 3)),
    Col::new("uncached_tokens_per_s", "tokens/s", |run| {
        in_window(run, |w| w.uncached_tokens_per_s, 0)
    }),
    Col::new("uncached_over_all_miss", "", uncached_over_all_miss),
    Col::new("backlog_mean_sessions", "sessions", |run| {
        in_window(run, |w| Some(w.backlog_mean), 1)
    }),
    Col::new("backlog_slope_per_s", "sessions/s", |run| {
        in_window(run, |w| w.backlog_slope_per_s, 4)
    }),
    Col::new("slope_threshold_per_s", "sessions/s", |run| match run.measures.window {
        Some(_) => Cell::optional(slope_threshold(run), 4),
        None => Cell::Unknown,
    }),
    Col::new("outstanding_end_sessions", "sessions", |run| {
        Cell::known(run.measures.last.map(|last| last.outstanding_end), 0)
    }),
    Col::new("hit_fraction_end", "", |run| {
        Cell::known(run.measures.last.and_then(|last| last.hits.value()), 3)
    }),
    Col::new("completions_per_s", "sessions/s", |run| {
        in_window(run, |w| Some(w.completions_per_s), 4)
    }),
    Col::new("realized_base_arrivals_per_s", "sessions/s", |run| {
        in_window(run, |w| Some(w.base_arrivals_per_s), 4)
    }),
    Col::new("mean_prompt_tokens", "tokens", |run| in_window(run, |w| w.mean_prompt_tokens, 0)),
    Col::new("gap_median_s", "s", |run| in_window(run, |w| w.gap_median_s, 2)),
    Col::new("gap_slope", "s/s", |run| in_window(run, |w| w.gap_slope, 4)),
    Col::new("churn_tokens_per_s", "tokens/s", |run| in_window(run, |w| w.churn_tokens_per_s, 0)),
    Col::new("turnover_s", "s", |run| in_window(run, |w| w.turnover_s, 2)),
    Col::new("gap_over_turnover", "", |run| in_window(run, |w| w.gap_over_turnover, 3)),
    Col::new("latency_median_s", "s", |run| in_window(run, |w| w.latency_median_s, 2)),
    Col::new("latency_p90_s", "s", |run| in_window(run, |w| w.latency_p90_s, 2)),
    Col::new("token_hit_fraction", "", |run| in_window(run, |w| w.token_hit_fraction, 4)),
    Col::new("pool_occupancy", "", |run| in_window(run, |w| w.pool_occupancy, 4)),
    Col::new("sessions_arrived", "sessions", |run| {
        Cell::Count(run.measures.whole.sessions_arrived)
    }),
    Col::new("sessions_completed", "sessions", |run| {
        Cell::Count(run.measures.whole.sessions_completed)
    }),
    Col::new("sessions_unfinished", "sessions", |run| {
        Cell::Count(run.measures.whole.sessions_unfinished)
    }),
    Col::new("sessions_held_at_gate", "sessions", |run| {
        Cell::Count(run.measures.whole.sessions_held)
    }),
    Col::new("gate_hold_mean_s", "s", |run| Cell::optional(run.measures.whole.held_mean_s, 1)),
    // Without an arrival rate there is no burst to come after.
    Col::new("longest_queue_after_burst_requests", "requests", |run| match run.meta.rate.lambda {
        Some(_) => Cell::known(run.queue_lengths.and_then(|queue| queue.most_after_burst), 0),
        None => Cell::Empty,
    }),
    Col::new("hits", "turns", |run| {
        run.reuse.map_or(Cell::Unknown, |_| Cell::Count(run.measures.whole.hits.hits))
    }),
    Col::new("hits_not_exact", "turns", |run| {
        run.reuse.map_or(Cell::Unknown, |reuse| Cell::Count(reuse.not_exact))
    }),
    Col::new("hit_uncached_tokens_median", "tokens", |run| {
        run.reuse.map_or(Cell::Unknown, |reuse| Cell::optional(reuse.uncached_median, 1))
    }),
];

/// The table of runs.
pub fn table(runs: &[ScoredRun]) -> Table {
    let title = "Runs: measurements over the window, and the state under the paired test";
    Table::of_runs("runs", title, COLUMNS, runs)
}

/// Whether a registration was looked for.
fn is_asked(run: &ScoredRun) -> bool {
    run.state.is_some() || run.fitting_rules().is_some()
}

/// The clause's threshold on the backlog slope, where the run is judged.
pub(super) fn slope_threshold(run: &ScoredRun) -> Option<f64> {
    let clause = run.state.as_ref()?.trapped.iter().find(|c| c.quantity == "backlog slope")?;
    match clause.needs {
        crate::rule::Comparison::Above(threshold) => Some(threshold),
        _ => None,
    }
}

/// The ratio is asked of a judged run; without a measured all-miss rate it is unknown.
fn uncached_over_all_miss(run: &ScoredRun) -> Cell {
    let is_unknown = run.measures.window.is_none();
    match run.state.as_ref().and(run.load) {
        None if !is_unknown => Cell::Empty,
        _ => Cell::known(token_rate_ratio(run), 3),
    }
}
