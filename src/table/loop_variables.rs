//! The sustaining variable: the median gap between a session's turns over the pool's
//! turnover time (App. E.9, Table 10). The model's column comes with the entry model.

use crate::analysis::ScoredRun;

use super::{Cell, Column, Row, Table, open_run};

const COLUMNS: &[Column] = &[
    Column::new("gap_median_s", "s"),
    Column::new("churn_tokens_per_s", "tokens/s"),
    Column::new("turnover_s", "s"),
    Column::new("gap_over_turnover", ""),
    Column::new("follow_up_hit_fraction", ""),
    Column::new("tool_time_mean_s", "s"),
];

/// The table, a row per run of an open arm.
pub fn table(runs: &[ScoredRun]) -> Table {
    Table {
        name: "loop_variables".into(),
        title: "Median gap, turnover time R_M = M / churn, and their ratio, over the window".into(),
        columns: open_run::columns(COLUMNS),
        rows: runs.iter().filter(|run| run.burst.is_some()).map(row).collect(),
    }
}

fn row(run: &ScoredRun) -> Row {
    let window = run.measures.window.as_ref();
    let found = vec![
        Cell::known(window.and_then(|w| w.gap_median_s), 2),
        Cell::known(window.and_then(|w| w.churn_tokens_per_s), 0),
        Cell::known(window.and_then(|w| w.turnover_s), 1),
        Cell::known(window.and_then(|w| w.gap_over_turnover), 3),
        Cell::known(window.and_then(|w| w.follow_up_hits.value()), 3),
        Cell::known(window.and_then(|w| w.tool_time_mean_s), 2),
    ];
    open_run::row(run, found)
}
