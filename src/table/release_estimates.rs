//! Two single-phase estimates of when a rescue is released, beside when it was (App. F).
//!
//! Both let the backlog above the cap drain at one rate. The measured one takes the greatest
//! rate of the cell's own closed runs and the backlog that the run had; the model's takes the
//! entry model's rate at the cap and model F's backlog. Layer H4, which lets every paused
//! session's next turn miss first, is among the model values.

use std::collections::BTreeMap;

use crate::judged::ScoredRun;
use crate::judged::statistics::extra::Extra;
use crate::judged::verdict::{Verdict, VerdictRun};
use crate::model::Theory;
use crate::model::rescue::drain_s;
use crate::setup::registration::Test;
use crate::setup::registration::rescue::RescueTest;

use super::measured_curve::MeasuredCurve;
use super::{Cell, Column, Row, Table};

const COLUMNS: &[Column] = &[
    Column::key("run", ""),
    Column::key("source", ""),
    Column::key("registration", ""),
    Column::key("rate_multiple", "lambda_ref"),
    Column::key("seed", ""),
    Column::new("release_drain_estimate_s", "s"),
    Column::new("release_single_phase_s", "s"),
    Column::new("released_s", "s"),
];

/// The table: a row per rescue run that counts for its registration.
pub fn table(
    verdicts: &[Verdict],
    runs: &[ScoredRun],
    theories: &BTreeMap<String, Theory>,
) -> Table {
    let mut rows = Vec::new();
    for verdict in verdicts {
        if let Test::Rescue(rule) = &verdict.registration.registration.test {
            let name = &verdict.registration.registration.name;
            let of_run =
                |run: &VerdictRun| row(name, rule, run, runs, theories.get(&run.meta.cell));
            rows.extend(verdict.subjects().filter_map(of_run));
        }
    }
    Table {
        name: "release_estimates".into(),
        title: "When a rescue is released by single-phase drains, and when it was".into(),
        columns: COLUMNS.to_vec(),
        rows,
    }
}

fn row(
    name: &str,
    rule: &RescueTest,
    run: &VerdictRun,
    runs: &[ScoredRun],
    theory: Option<&Theory>,
) -> Option<Row> {
    let Extra::Rescue { rescue: Some(rescue), .. } = &run.extra else { return None };
    let lambda = run.meta.rate.lambda?;
    let cap = rescue.cap.map(|cap| cap as f64);
    let curve = MeasuredCurve::of(runs, &run.meta.cell, run.meta.source.word());
    let drain = cap.zip(curve).and_then(|(cap, curve)| {
        let surplus = curve.peak_per_s() - lambda;
        (surplus > 0.0).then(|| (rescue.outstanding_on - cap).max(0.0) / surplus)
    });
    let single_phase = cap.zip(theory).and_then(|(cap, theory)| {
        let burst = theory.burst(lambda);
        let fluid = burst.run(&theory.model_f, lambda, &[], rule.engage_s + 1.0).ok()?;
        drain_s(theory.curve().ok()?, lambda, cap, fluid.backlog(rule.engage_s))
    });
    let released = |drain: Option<f64>| drain.map(|s| rule.engage_s + s + rule.hold_s);
    let key = run.dir.display().to_string();
    Some(Row {
        cells: vec![
            Cell::text(&key),
            Cell::text(run.meta.source.word()),
            Cell::text(name),
            Cell::optional(run.meta.rate.multiple, 2),
            Cell::Count(run.meta.seed),
            Cell::known(released(drain), 0),
            Cell::known(released(single_phase), 0),
            rescue.released_s.map_or(Cell::text("never"), |t| Cell::Number(t, 0)),
        ],
        key,
        sources: run.sources.clone(),
    })
}
