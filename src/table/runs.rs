//! One row per run: what was measured over its window and how it was judged.

use crate::judged::ScoredRun;

use super::about_run::{
    AboutRun, arm, cell, population, rate_multiple, run, seed, source, state, token_rate_ratio,
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
    Col::number("window_start_s", "s", 0, |run| run.measures.window_span.start_s),
    Col::number("window_end_s", "s", 0, |run| run.measures.window_span.end_s),
    Col::known("hit_fraction", "", 3, |run| run.window()?.hits.value()),
    Col::known("follow_up_hit_fraction", "", 3, |run| run.window()?.follow_up_hits.value()),
    Col::known("uncached_tokens_per_s", "tokens/s", 0, |run| run.window()?.uncached_tokens_per_s),
    Col::new("uncached_over_all_miss", "", uncached_over_all_miss),
    Col::known("backlog_mean_sessions", "sessions", 1, |run| Some(run.window()?.backlog_mean)),
    Col::known("backlog_slope_per_s", "sessions/s", 4, |run| run.window()?.backlog_slope_per_s),
    Col::new("slope_threshold_per_s", "sessions/s", |run| match run.measures.window {
        Some(_) => Cell::optional(slope_threshold(run), 4),
        None => Cell::Unknown,
    }),
    Col::known("outstanding_end_sessions", "sessions", 0, |run| {
        run.measures.last.map(|last| last.outstanding_end)
    }),
    Col::known("hit_fraction_end", "", 3, |run| {
        run.measures.last.and_then(|last| last.hits.value())
    }),
    Col::known("completions_per_s", "sessions/s", 4, |run| Some(run.window()?.completions_per_s)),
    Col::known("realized_base_arrivals_per_s", "sessions/s", 4, |run| {
        Some(run.window()?.base_arrivals_per_s)
    }),
    Col::known("mean_prompt_tokens", "tokens", 0, |run| run.window()?.mean_prompt_tokens),
    Col::known("gap_median_s", "s", 2, |run| run.window()?.gap_median_s),
    Col::known("gap_slope", "s/s", 4, |run| run.window()?.gap_slope),
    Col::known("churn_tokens_per_s", "tokens/s", 0, |run| run.window()?.churn_tokens_per_s),
    Col::known("turnover_s", "s", 2, |run| run.window()?.turnover_s),
    Col::known("gap_over_turnover", "", 3, |run| run.window()?.gap_over_turnover),
    Col::known("latency_median_s", "s", 2, |run| run.window()?.latency_median_s),
    Col::known("latency_p90_s", "s", 2, |run| run.window()?.latency_p90_s),
    Col::known("token_hit_fraction", "", 4, |run| run.window()?.token_hit_fraction),
    Col::known("pool_occupancy", "", 4, |run| run.window()?.pool_occupancy),
    Col::count("sessions_arrived", "sessions", |run| run.measures.whole.sessions_arrived),
    Col::count("sessions_completed", "sessions", |run| run.measures.whole.sessions_completed),
    Col::count("sessions_unfinished", "sessions", |run| run.measures.whole.sessions_unfinished),
    Col::count("sessions_held_at_gate", "sessions", |run| run.measures.whole.sessions_held),
    Col::optional("gate_hold_mean_s", "s", 1, |run| run.measures.whole.held_mean_s),
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
    super::about_run::table("runs", title, COLUMNS, runs)
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
