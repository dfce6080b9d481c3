//! Uncached tokens per second of the paired test's BURST runs, over the all-miss rate, beside
//! what the round-robin layer predicts at the cell and nominal rate (App. E.9, Table 11).

use std::collections::BTreeMap;

use crate::judged::ScoredRun;
use crate::model::Theory;
use crate::setup::Arm;

use super::about_run::{token_rate_ratio, with_identity};
use super::model_values::token_ratio;
use super::{Col, Heading, Table, judged_for_the_paired_test};

/// A run, and the layer's ratio at its cell and rate.
type Predicted<'a> = (&'a ScoredRun, Option<f64>);

/// The table, a row per BURST run of the paired test.
pub fn table(runs: &[ScoredRun], theories: &BTreeMap<String, Theory>) -> Table {
    let columns: Vec<Col<Predicted<'_>>> = with_identity(&[
        Heading("uncached_over_all_miss", "", "Uncached token rate over the all-miss rate")
            .known(3, |(run, _)| token_rate_ratio(run)),
        Heading("rr_token_ratio", "", "Uncached over all-miss token rate by the round-robin layer")
            .known(3, |(_, ratio)| *ratio),
        Heading("uncached_over_all_miss_minus_rr", "", "Measured less round-robin ratio").known(
            3,
            |(run, ratio)| {
                let both = token_rate_ratio(run).zip(*ratio);
                both.map(|(measured, ratio)| measured - ratio)
            },
        ),
    ]);
    // The layer depends on cell and rate alone.
    let mut predicted: BTreeMap<(String, u64), Option<f64>> = BTreeMap::new();
    let bursts = judged_for_the_paired_test(runs).filter(|r| r.meta.arm == Arm::Burst);
    let rows = bursts.filter_map(|run| {
        let (cell, lambda) = (&run.meta.cell, run.load?.lambda_per_s);
        let of_cell = || token_ratio(theories.get(cell)?, lambda).ok();
        let ratio = predicted.entry((cell.clone(), lambda.to_bits())).or_insert_with(of_cell);
        Some((run, *ratio))
    });
    let title = "Uncached token rates of trapped runs against the round-robin layer";
    super::about_run::table("token_rates", title, &columns, rows)
}
