//! Every run around the burst: hits before it, backlog after it and over the window, the
//! first bin without a hit, and how long a gate took to drain it.

use crate::analysis::ScoredRun;

use super::{Cell, Column, Row, Table, open_run};

const COLUMNS: &[Column] = &[
    Column::new("hit_fraction_before", ""),
    Column::new("backlog_before_sessions", "sessions"),
    Column::new("backlog_after_burst_sessions", "sessions"),
    Column::new("backlog_window_mean_sessions", "sessions"),
    Column::new("first_bin_without_hits_s", "s"),
    Column::new("gate_drained_after_s", "s"),
];

/// The table, a row per run of an open arm.
pub fn table(runs: &[ScoredRun]) -> Table {
    Table {
        name: "burst".into(),
        title: "Runs around the burst: before, after, the first bin without a hit, the drain"
            .into(),
        columns: open_run::columns(COLUMNS),
        rows: runs.iter().filter_map(row).collect(),
    }
}

fn row(run: &ScoredRun) -> Option<Row> {
    let burst = run.burst.as_ref()?;
    let gated = run.meta.gate.is_some();
    let found = vec![
        Cell::known(burst.hits_before.value(), 3),
        Cell::Number(burst.backlog_before, 0),
        Cell::Number(burst.backlog_after, 0),
        Cell::known(run.measures.window.as_ref().map(|w| w.backlog_mean), 1),
        Cell::optional(burst.no_hits_from_s, 0),
        // A gate that never empties has no drain time; a run without a gate no gate.
        match burst.gate_drained_after_s {
            Some(s) => Cell::Number(s, 0),
            None if gated => Cell::text("never"),
            None => Cell::Empty,
        },
    ];
    Some(open_run::row(run, found))
}
