//! The sustaining variable: the median gap between a session's turns over the pool's
//! turnover time (App. E.9, Table 10). The model's is the
//! round-robin layer's at the nominal rate, for runs with a burst.

use std::collections::BTreeMap;

use crate::judged::ScoredRun;
use crate::model::Theory;

use super::model_values::gap_over_turnover;
use super::{Cell, Column, Row, Table, open_run};

const COLUMNS: &[Column] = &[
    Column::new("gap_median_s", "s"),
    Column::new("churn_tokens_per_s", "tokens/s"),
    Column::new("turnover_s", "s"),
    Column::new("gap_over_turnover", ""),
    Column::new("model_gap_over_turnover", ""),
    Column::new("follow_up_hit_fraction", ""),
    Column::new("tool_time_mean_s", "s"),
];

/// The table, a row per run of an open arm.
pub fn table(runs: &[ScoredRun], theories: &BTreeMap<String, Theory>) -> Table {
    // The layer depends on cell and rate alone.
    let mut predicted: BTreeMap<(String, u64), Option<f64>> = BTreeMap::new();
    let mut model = |run: &ScoredRun| {
        let lambda = run.load?.lambda_per_s;
        let of_cell = || gap_over_turnover(theories.get(&run.meta.cell)?, lambda).ok();
        *predicted.entry((run.meta.cell.clone(), lambda.to_bits())).or_insert_with(of_cell)
    };
    let open = runs.iter().filter(|run| run.burst.is_some());
    let rows = open.map(|run| {
        let trapped = run.measures.burst_start_s.is_some();
        row(run, if trapped { Cell::known(model(run), 3) } else { Cell::Empty })
    });
    Table {
        name: "loop_variables".into(),
        title: "Median gap, turnover time R_M = M / churn, and their ratio, over the window".into(),
        columns: open_run::columns(COLUMNS),
        rows: rows.collect(),
    }
}

fn row(run: &ScoredRun, model: Cell) -> Row {
    let window = run.measures.window.as_ref();
    let found = vec![
        Cell::known(window.and_then(|w| w.gap_median_s), 2),
        Cell::known(window.and_then(|w| w.churn_tokens_per_s), 0),
        Cell::known(window.and_then(|w| w.turnover_s), 1),
        Cell::known(window.and_then(|w| w.gap_over_turnover), 3),
        model,
        Cell::known(window.and_then(|w| w.follow_up_hits.value()), 3),
        Cell::known(window.and_then(|w| w.tool_time_mean_s), 2),
    ];
    open_run::row(run, found)
}
