//! Stability of runs from an empty engine, by the registered rule (App. E.3).

use std::collections::BTreeMap;

use crate::analysis::score::ScoredRun;
use crate::analysis::spec::FigureSpec;
use crate::figure::Figure;
use crate::figure::from_empty::{FromEmpty, FromEmptyCell, StableCurve, from_empty};
use crate::model::Theory;
use crate::rule::stability;
use crate::run::Source;
use crate::setup::registration::test::Stability;

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
                .filter(|run| run.meta.cell == theory.cell.name && run.meta.arm == "e0b")
                .collect();
            used.extend(&own);
            cell(theory, &own)
        })
        .collect();
    let input = FromEmpty { title: spec.title.clone(), cells, source: spec.source.clone() };
    (from_empty(&input), used)
}

fn cell(theory: &Theory, runs: &[&ScoredRun]) -> FromEmptyCell {
    let mut engine = Vec::new();
    let mut simulated: BTreeMap<u64, (f64, Vec<bool>)> = BTreeMap::new();
    for run in runs {
        let label = stability::judge(run.queue.as_ref(), &Stability::default()).label;
        let (Some(load), Some(multiple)) = (run.load, run.meta.rate.multiple) else { continue };
        let stable = match label {
            "STABLE" => true,
            "UNSTABLE" => false,
            _ => continue,
        };
        match run.meta.source {
            Source::Engine => engine.push((load.lambda_per_s, stable)),
            Source::Simulator => {
                let key = (multiple * 1e6).round() as u64;
                simulated.entry(key).or_insert((load.lambda_per_s, Vec::new())).1.push(stable);
            }
        }
    }
    let points: Vec<(f64, f64)> = simulated
        .into_values()
        .map(|(lambda, stable)| {
            let share = stable.iter().filter(|s| **s).count() as f64 / stable.len() as f64;
            (lambda, share)
        })
        .collect();
    let simulators = if points.is_empty() {
        Vec::new()
    } else {
        vec![StableCurve { label: "simulator".into(), points }]
    };
    FromEmptyCell {
        title: theory.cell.name.clone(),
        lambda_ref_per_s: theory.cell.lambda_ref_per_s,
        lambda_miss_per_s: Some(theory.model_f.lambda_miss_per_s()),
        engine,
        simulators,
    }
}
