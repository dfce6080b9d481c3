//! What clients paid in each run of an open arm: gate waits, turn latency, unfinished
//! sessions, and the load and completions that were realized.

use crate::analysis::ScoredRun;
use crate::rule::Load;

use super::about_run::{in_window, with_identity};
use super::{Cell, Col, Table};

/// A run with a rate, and its load.
type Loaded<'a> = (&'a ScoredRun, Load);

/// The table, a row per run with a rate.
pub fn table(runs: &[ScoredRun]) -> Table {
    let columns: Vec<Col<Loaded<'_>>> = with_identity(&[
        Col::new("sessions_held_at_gate", "sessions", |(run, _)| {
            Cell::Count(run.measures.whole.sessions_held)
        }),
        Col::new("gate_hold_mean_s", "s", |(run, _)| {
            Cell::optional(run.measures.whole.held_mean_s, 1)
        }),
        Col::new("gate_hold_session_hours", "session-hours", |(run, _)| {
            Cell::Number(run.measures.whole.held_session_hours, 1)
        }),
        Col::new("latency_median_s", "s", |of| in_window(of, |w| w.latency_median_s, 2)),
        Col::new("latency_p90_s", "s", |of| in_window(of, |w| w.latency_p90_s, 2)),
        Col::new("sessions_unfinished", "sessions", |(run, _)| {
            Cell::Count(run.measures.whole.sessions_unfinished)
        }),
        Col::new("sessions_failed", "sessions", |(run, _)| {
            Cell::Count(run.measures.whole.sessions_failed)
        }),
        Col::new("realized_arrivals_multiple", "lambda_ref", |of| {
            in_window(of, |w| Some(w.base_arrivals_per_s / of.1.lambda_ref_per_s), 3)
        }),
        Col::new("completions_multiple", "lambda_ref", |of| {
            in_window(of, |w| Some(w.completions_per_s / of.1.lambda_ref_per_s), 3)
        }),
    ]);
    let title = "What clients paid: gate waits over the run, latency and rates over the window";
    let open = runs.iter().filter(|run| run.burst.is_some());
    let rows = open.filter_map(|run| Some((run, run.load?)));
    Table::of_runs("client_cost", title, &columns, rows)
}
