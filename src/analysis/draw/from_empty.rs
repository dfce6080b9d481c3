//! Stability of runs from an empty engine, by the registered rule (App. E.3).

use std::collections::BTreeMap;

use crate::figure::from_empty::{FromEmpty, FromEmptyCell, StableCurve, StablePoint, from_empty};
use crate::figure::{Figure, Origin};
use crate::judged::score::ScoredRun;
use crate::model::Theory;
use crate::run::Source;
use crate::setup::Arm;

use super::spec::FigureSpec;
use super::{origin, per_point};

/// A panel per cell: engine runs as points, simulated ones as the share that is stable.
pub fn draw<'a>(
    runs: &'a [ScoredRun],
    spec: &FigureSpec,
    theories: &[Theory],
) -> (Figure, Vec<&'a ScoredRun>) {
    let mut used = Vec::new();
    let cells = theories
        .iter()
        .map(|theory| {
            let own: Vec<&ScoredRun> = runs
                .iter()
                .filter(|run| run.meta.cell == theory.cell.name && run.meta.arm == Arm::E0b)
                .collect();
            used.extend(&own);
            cell(theory, &own)
        })
        .collect();
    let input = FromEmpty { title: spec.title.clone(), cells, note: runs_note(&used) };
    (from_empty(&input), used)
}

/// How many simulated runs share an arrival rate.
fn runs_note(runs: &[&ScoredRun]) -> String {
    let mut counts: BTreeMap<(&str, u64), usize> = BTreeMap::new();
    for run in runs.iter().filter(|run| run.meta.source == Source::Simulator) {
        let multiple = run.meta.rate.multiple.unwrap_or_default();
        *counts.entry((&run.meta.cell, (multiple * 1e6).round() as u64)).or_default() += 1;
    }
    per_point("simulated run", "arrival rate", &counts)
}

fn cell(theory: &Theory, runs: &[&ScoredRun]) -> FromEmptyCell {
    let mut engine = Vec::new();
    let mut simulated: BTreeMap<u64, (f64, Origin, Vec<bool>)> = BTreeMap::new();
    for run in runs {
        let (Some(load), Some(multiple), Some(stable)) =
            (run.load, run.meta.rate.multiple, run.stable())
        else {
            continue;
        };
        match run.meta.source {
            Source::Engine => engine.push(StablePoint {
                rate_per_s: load.lambda_per_s,
                share: if stable { 1.0 } else { 0.0 },
                origin: origin(run),
            }),
            Source::Simulator => {
                let key = (multiple * 1e6).round() as u64;
                let none = (load.lambda_per_s, Origin::default(), Vec::new());
                let (_, from, labels) = simulated.entry(key).or_insert(none);
                from.add(&origin(run));
                labels.push(stable);
            }
        }
    }
    let points: Vec<StablePoint> = simulated
        .into_values()
        .map(|(rate_per_s, origin, stable)| {
            let share = stable.iter().filter(|s| **s).count() as f64 / stable.len() as f64;
            StablePoint { rate_per_s, share, origin }
        })
        .collect();
    let simulators = if points.is_empty() {
        Vec::new()
    } else {
        vec![StableCurve { label: "simulated".into(), points }]
    };
    FromEmptyCell {
        title: theory.cell.name.clone(),
        lambda_ref_per_s: theory.cell.lambda_ref_per_s,
        lambda_miss_per_s: Some(theory.model_f.lambda_miss_per_s()),
        engine,
        simulators,
    }
}
