//! What clients paid in each run of an open arm: gate waits, turn latency, unfinished
//! sessions, and the load and completions that were realized.

use crate::judged::ScoredRun;
use crate::rule::Load;

use super::about_run::{AboutRun, with_identity};
use super::{Col, Heading, Table};

/// A run with a rate, and its load.
type Loaded<'a> = (&'a ScoredRun, Load);

/// The table, a row per run with a rate.
pub fn table(runs: &[ScoredRun]) -> Table {
    let columns: Vec<Col<Loaded<'_>>> = with_identity(&[
        Heading("sessions_held_at_gate", "sessions", "Sessions held or paused by the gate")
            .count(|(run, _)| run.measures.whole.sessions_held),
        Heading("gate_hold_mean_s", "s", "Mean time that these sessions were held")
            .optional(1, |(run, _)| run.measures.whole.held_mean_s),
        Heading("gate_hold_session_hours", "session-hours", "Waits and pauses at the gate, summed")
            .number(1, |(run, _)| run.measures.whole.held_session_hours),
        Heading("latency_median_s", "s", "Median latency of a turn, queue included")
            .known(2, |of| of.window()?.latency_median_s),
        Heading("latency_p90_s", "s", "90 % quantile of a turn's latency, queue included")
            .known(2, |of| of.window()?.latency_p90_s),
        Heading("sessions_unfinished", "sessions", "Sessions not completed when the run ended")
            .count(|(run, _)| run.measures.whole.sessions_unfinished),
        Heading("sessions_failed", "sessions", "Sessions that failed")
            .count(|(run, _)| run.measures.whole.sessions_failed),
        Heading("realized_arrivals_multiple", "lambda_ref", "Arrivals of the window")
            .known(3, |of| Some(of.window()?.base_arrivals_per_s / of.1.lambda_ref_per_s)),
        Heading("completions_multiple", "lambda_ref", "Completions of the window")
            .known(3, |of| Some(of.window()?.completions_per_s / of.1.lambda_ref_per_s)),
    ]);
    let title = "What clients paid: gate waits over the run, latency and rates over the window";
    let open = runs.iter().filter(|run| run.burst.is_some());
    let rows = open.filter_map(|run| Some((run, run.load?)));
    super::about_run::table("client_cost", title, &columns, rows)
}
