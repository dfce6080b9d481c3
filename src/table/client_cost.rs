//! What clients paid in each run of an open arm: gate waits, turn latency, unfinished
//! sessions, and the load and completions that were realized.

use crate::judged::ScoredRun;

use super::{Cell, Column, Row, Table, open_run};

const COLUMNS: &[Column] = &[
    Column::new("sessions_held_at_gate", "sessions"),
    Column::new("gate_hold_mean_s", "s"),
    Column::new("gate_hold_session_hours", "session-hours"),
    Column::new("latency_median_s", "s"),
    Column::new("latency_p90_s", "s"),
    Column::new("sessions_unfinished", "sessions"),
    Column::new("sessions_failed", "sessions"),
    Column::new("realized_arrivals_multiple", "lambda_ref"),
    Column::new("completions_multiple", "lambda_ref"),
];

/// The table, a row per run with a rate.
pub fn table(runs: &[ScoredRun]) -> Table {
    Table {
        name: "client_cost".into(),
        title: "What clients paid: gate waits over the run, latency and rates over the window"
            .into(),
        columns: open_run::columns(COLUMNS),
        rows: runs.iter().filter(|run| run.burst.is_some()).filter_map(row).collect(),
    }
}

fn row(run: &ScoredRun) -> Option<Row> {
    let load = run.load?;
    let (window, whole) = (run.measures.window.as_ref(), &run.measures.whole);
    let over_ref = |rate: f64| rate / load.lambda_ref_per_s;
    let found = vec![
        Cell::Count(whole.sessions_held),
        Cell::optional(whole.held_mean_s, 1),
        Cell::Number(whole.held_session_hours, 1),
        Cell::known(window.and_then(|w| w.latency_median_s), 2),
        Cell::known(window.and_then(|w| w.latency_p90_s), 2),
        Cell::Count(whole.sessions_unfinished),
        Cell::Count(whole.sessions_failed),
        Cell::known(window.map(|w| over_ref(w.base_arrivals_per_s)), 3),
        Cell::known(window.map(|w| over_ref(w.completions_per_s)), 3),
    ];
    Some(open_run::row(run, found))
}
