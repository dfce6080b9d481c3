//! What clients paid in each run of an open arm: gate waits, turn latency, unfinished
//! sessions, and the load and completions that were realized.

use crate::judged::ScoredRun;
use crate::rule::Load;

use super::about_run::{AboutRun, with_identity};
use super::{Col, Table};

/// A run with a rate, and its load.
type Loaded<'a> = (&'a ScoredRun, Load);

/// The table, a row per run with a rate.
pub fn table(runs: &[ScoredRun]) -> Table {
    let columns: Vec<Col<Loaded<'_>>> = with_identity(&[
        Col::count("sessions_held_at_gate", "sessions", |(run, _)| {
            run.measures.whole.sessions_held
        }),
        Col::optional("gate_hold_mean_s", "s", 1, |(run, _)| run.measures.whole.held_mean_s),
        Col::number("gate_hold_session_hours", "session-hours", 1, |(run, _)| {
            run.measures.whole.held_session_hours
        }),
        Col::known("latency_median_s", "s", 2, |of| of.window()?.latency_median_s),
        Col::known("latency_p90_s", "s", 2, |of| of.window()?.latency_p90_s),
        Col::count("sessions_unfinished", "sessions", |(run, _)| {
            run.measures.whole.sessions_unfinished
        }),
        Col::count("sessions_failed", "sessions", |(run, _)| run.measures.whole.sessions_failed),
        Col::known("realized_arrivals_multiple", "lambda_ref", 3, |of| {
            Some(of.window()?.base_arrivals_per_s / of.1.lambda_ref_per_s)
        }),
        Col::known("completions_multiple", "lambda_ref", 3, |of| {
            Some(of.window()?.completions_per_s / of.1.lambda_ref_per_s)
        }),
    ]);
    let title = "What clients paid: gate waits over the run, latency and rates over the window";
    let open = runs.iter().filter(|run| run.burst.is_some());
    let rows = open.filter_map(|run| Some((run, run.load?)));
    super::about_run::table("client_cost", title, &columns, rows)
}
