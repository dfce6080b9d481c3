//! The sustaining variable: the median gap between a session's turns over the pool's
//! turnover time (App. E.9, Table 10). The model's is the
//! round-robin layer's at the nominal rate, for runs with a burst.

use std::collections::BTreeMap;

use crate::analysis::ScoredRun;
use crate::model::Theory;

use super::about_run::{in_window, with_identity};
use super::model_values::gap_over_turnover;
use super::{Cell, Col, Table};

/// A run, and the layer's ratio at its cell and rate.
type Predicted<'a> = (&'a ScoredRun, Option<f64>);

/// The table, a row per run of an open arm.
pub fn table(runs: &[ScoredRun], theories: &BTreeMap<String, Theory>) -> Table {
    let columns: Vec<Col<Predicted<'_>>> = with_identity(&[
        Col::new("gap_median_s", "s", |of| in_window(of, |w| w.gap_median_s, 2)),
        Col::new("churn_tokens_per_s", "tokens/s", |of| in_window(of, |w| w.churn_tokens_per_s, 0)),
        Col::new("turnover_s", "s", |of| in_window(of, |w| w.turnover_s, 1)),
        Col::new("gap_over_turnover", "", |of| in_window(of, |w| w.gap_over_turnover, 3)),
        Col::new("model_gap_over_turnover", "", |(run, model)| match run.measures.burst_start_s {
            Some(_) => Cell::known(*model, 3),
            None => Cell::Empty,
        }),
        Col::new("follow_up_hit_fraction", "", |of| in_window(of, |w| w.follow_up_hits.value(), 3)),
        Col::new("tool_time_mean_s", "s", |of| in_window(of, |w| w.tool_time_mean_s, 2)),
    ]);
    // The layer depends on cell and rate alone.
    let mut predicted: BTreeMap<(String, u64), Option<f64>> = BTreeMap::new();
    let mut model = |run: &ScoredRun| {
        run.measures.burst_start_s?;
        let lambda = run.load?.lambda_per_s;
        let of_cell = || gap_over_turnover(theories.get(&run.meta.cell)?, lambda).ok();
        *predicted.entry((run.meta.cell.clone(), lambda.to_bits())).or_insert_with(of_cell)
    };
    let title = "Median gap, turnover time R_M = M / churn, and their ratio, over the window";
    let open = runs.iter().filter(|run| run.burst.is_some());
    Table::of_runs("loop_variables", title, &columns, open.map(|run| (run, model(run))))
}
