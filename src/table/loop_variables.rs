//! The sustaining variable: the median gap between a session's turns over the pool's
//! turnover time (App. E.9, Table 10). The model's is the
//! round-robin layer's at the nominal rate, for runs with a burst.

use std::collections::BTreeMap;

use crate::judged::ScoredRun;
use crate::model::Theory;

use super::about_run::{AboutRun, with_identity};
use super::model_values::gap_over_turnover;
use super::{Cell, Col, Heading, Table};

/// A run, and the layer's ratio at its cell and rate.
type Predicted<'a> = (&'a ScoredRun, Option<f64>);

/// The table, a row per run of an open arm.
pub fn table(runs: &[ScoredRun], theories: &BTreeMap<String, Theory>) -> Table {
    let columns: Vec<Col<Predicted<'_>>> = with_identity(&[
        Heading("gap_median_s", "s", "Median gap between the completions of a session's turns")
            .known(2, |of| of.window()?.gap_median_s),
        Heading("churn_tokens_per_s", "tokens/s", "Churn: rate at which new KV is written")
            .known(0, |of| of.window()?.churn_tokens_per_s),
        Heading("turnover_s", "s", "Turnover time R_M: pool tokens over churn")
            .known(1, |of| of.window()?.turnover_s),
        Heading("gap_over_turnover", "", "Median gap over turnover time")
            .known(3, |of| of.window()?.gap_over_turnover),
        Heading("model_gap_over_turnover", "", "Gap over turnover time by the round-robin layer")
            .new(|(run, model)| match run.measures.burst_start_s {
                Some(_) => Cell::known(*model, 3),
                None => Cell::Empty,
            }),
        Heading("follow_up_hit_fraction", "", "Share of the window's follow-ups that hit")
            .known(3, |of| of.window()?.follow_up_hits.value()),
        Heading("tool_time_mean_s", "s", "Mean tool call")
            .known(2, |of| of.window()?.tool_time_mean_s),
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
    super::about_run::table("loop_variables", title, &columns, open.map(|run| (run, model(run))))
}
