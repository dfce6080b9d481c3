//! The sustaining variable: the median gap between a session's turns over the pool's
//! turnover time (App. E.9, Table 10). The model's column comes with the entry model.

use crate::analysis::ScoredRun;

use super::{Cell, Column, Row, Table};

const COLUMNS: &[Column] = &[
    Column::key("run", ""),
    Column::key("source", ""),
    Column::key("cell", ""),
    Column::key("arm", ""),
    Column::key("rate_multiple", "lambda_ref"),
    Column::key("seed", ""),
    Column::new("gap_median_s", "s"),
    Column::new("churn_tokens_per_s", "tokens/s"),
    Column::new("turnover_s", "s"),
    Column::new("gap_over_turnover", ""),
    Column::new("follow_up_hit_fraction", ""),
];

/// The table, a row per run of an open arm.
pub fn table(runs: &[ScoredRun]) -> Table {
    Table {
        name: "loop_variables".into(),
        title: "Median gap, turnover time R_M = M / churn, and their ratio, over the window".into(),
        columns: COLUMNS.to_vec(),
        rows: runs.iter().filter(|run| run.burst.is_some()).map(row).collect(),
    }
}

fn row(run: &ScoredRun) -> Row {
    let window = run.measures.window.as_ref();
    let key = run.dir.display().to_string();
    let cells = vec![
        Cell::text(&key),
        Cell::text(run.meta.source.word()),
        Cell::text(&run.meta.cell),
        Cell::text(&run.meta.arm),
        Cell::optional(run.meta.rate.multiple, 2),
        Cell::Count(run.meta.seed),
        Cell::known(window.and_then(|w| w.gap_median_s), 2),
        Cell::known(window.and_then(|w| w.churn_tokens_per_s), 0),
        Cell::known(window.and_then(|w| w.turnover_s), 1),
        Cell::known(window.and_then(|w| w.gap_over_turnover), 3),
        Cell::known(window.and_then(|w| w.follow_up_hits.value()), 3),
    ];
    Row { key, cells, sources: run.sources.clone() }
}
