//! Uncached tokens per second of the paired test's BURST runs, over the all-miss rate, beside
//! what the round-robin layer predicts at the cell and nominal rate (App. E.9, Table 11).

use std::collections::BTreeMap;

use crate::judged::ScoredRun;
use crate::model::Theory;
use crate::rule::Arm;

use super::model_values::token_ratio;
use super::{Cell, Column, Row, Table, judged_for_the_paired_test, open_run};

const COLUMNS: &[Column] = &[
    Column::new("uncached_over_all_miss", ""),
    Column::new("rr_token_ratio", ""),
    Column::new("uncached_over_all_miss_minus_rr", ""),
];

/// The table, a row per BURST run of the paired test.
pub fn table(runs: &[ScoredRun], theories: &BTreeMap<String, Theory>) -> Table {
    // The layer depends on cell and rate alone.
    let mut predicted: BTreeMap<(String, u64), Option<f64>> = BTreeMap::new();
    let bursts =
        judged_for_the_paired_test(runs).filter(|r| Arm::of(&r.meta.arm) == Some(Arm::Burst));
    let rows = bursts.filter_map(|run| {
        let load = run.load?;
        let cell = &run.meta.cell;
        let ratio =
            *predicted.entry((cell.clone(), load.lambda_per_s.to_bits())).or_insert_with(|| {
                theories.get(cell).and_then(|theory| token_ratio(theory, load.lambda_per_s).ok())
            });
        let window = run.measures.window.as_ref();
        let measured = window
            .and_then(|w| w.uncached_tokens_per_s)
            .map(|rate| rate / load.all_miss_tokens_per_s)
            .filter(|ratio| ratio.is_finite());
        let found = vec![
            Cell::known(measured, 3),
            Cell::known(ratio, 3),
            Cell::known(measured.zip(ratio).map(|(measured, ratio)| measured - ratio), 3),
        ];
        Some(open_run::row(run, found))
    });
    let rows: Vec<Row> = rows.collect();
    Table {
        name: "token_rates".into(),
        title: "Uncached token rates of trapped runs against the round-robin layer".into(),
        columns: open_run::columns(COLUMNS),
        rows,
    }
}
