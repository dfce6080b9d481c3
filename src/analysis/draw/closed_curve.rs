//! The closed-population curve, from closed runs: one point per population, with
//! the mean and its standard error where there are several seeds.

use std::collections::BTreeMap;

use crate::figure::closed_curve::{
    ClosedCell, ClosedCurves, ClosedPoint, ClosedSeries, CurveKind, closed_curves,
};
use crate::figure::population::Estimate;
use crate::figure::predicted_curve::RunPoint;
use crate::figure::{Figure, Origin};
use crate::judged::score::ScoredRun;
use crate::measure::closed_curve::by_population;
use crate::measure::{WindowMeasures, stats};
use crate::model::Theory;
use crate::run::Source;
use crate::setup::{Arm, Configs};

use super::spec::FigureSpec;
use super::{origin, per_point};

/// The closed runs of some cells.
pub(crate) fn of_cells<'a>(runs: &'a [ScoredRun], cells: &[String]) -> Vec<&'a ScoredRun> {
    let closed = |run: &&ScoredRun| run.meta.arm == Arm::Closed && cells.contains(&run.meta.cell);
    runs.iter().filter(closed).collect()
}

/// What closed runs did, a point per population, to stand beside a prediction.
pub(crate) fn of_theory(runs: &[&ScoredRun], theory: &Theory) -> Vec<RunPoint> {
    let own = runs.iter().filter(|run| run.meta.cell == theory.cell.name).copied();
    points(own, Some(theory.means.mean_turns))
        .into_iter()
        .map(|point| RunPoint {
            n: point.n,
            origin: point.origin,
            sessions_per_s: point.sessions_per_s.map(|e| e.value),
            turns_based_per_s: point.turns_based_per_s,
        })
        .collect()
}

/// How many runs of one source share a population.
pub(crate) fn runs_note(runs: &[&ScoredRun]) -> String {
    let mut counts: BTreeMap<(&str, Source, u64), usize> = BTreeMap::new();
    for run in runs {
        let population = run.meta.population.unwrap_or_default();
        *counts.entry((&run.meta.cell, run.meta.source, population)).or_default() += 1;
    }
    per_point("run", "population", &counts)
}

/// A column per cell.
pub fn draw<'a>(
    runs: &'a [ScoredRun],
    spec: &FigureSpec,
    cells: &[String],
    configs: &Configs,
) -> (Figure, Vec<&'a ScoredRun>) {
    let used = of_cells(runs, cells);
    let cells = cells
        .iter()
        .map(|cell| {
            let own: Vec<_> = used.iter().filter(|run| run.meta.cell == *cell).copied().collect();
            closed_cell(cell, &own, configs)
        })
        .collect();
    let input = ClosedCurves { title: spec.title.clone(), cells, note: runs_note(&used) };
    (closed_curves(&input), used)
}

fn closed_cell(name: &str, runs: &[&ScoredRun], configs: &Configs) -> ClosedCell {
    let mean_turns =
        configs.of_cell(name).map(|(_, workload, _)| workload.survival().iter().sum::<f64>());
    let kinds = [
        (Source::Engine, CurveKind::Engine, "engine"),
        (Source::Simulator, CurveKind::Simulator, "simulated"),
    ];
    let series = kinds
        .into_iter()
        .filter_map(|(source, kind, label)| {
            let of_source = runs.iter().filter(|run| run.meta.source == source).copied();
            let points = points(of_source, mean_turns);
            (!points.is_empty()).then(|| ClosedSeries { kind, label: label.into(), points })
        })
        .collect();
    let registration = configs.paired_rule_of_cell(name).ok().flatten();
    ClosedCell {
        title: name.into(),
        series,
        lambda_ref_per_s: configs.cells.get(name).map(|cell| cell.lambda_ref_per_s),
        cap: registration.and_then(|r| r.registration.cap).map(|cap| cap as u32),
    }
}

/// A point per population, its rates by turns over `mean_turns`.
pub fn points<'a>(
    runs: impl Iterator<Item = &'a ScoredRun>,
    mean_turns: Option<f64>,
) -> Vec<ClosedPoint> {
    let of_run = |run: &'a ScoredRun| {
        let window = run.measures.window.as_ref();
        (run.meta.population, window.map(|window| (run, window)))
    };
    by_population(runs.map(of_run))
        .into_iter()
        .map(|(n, measured)| {
            let mut from = Origin::default();
            measured.iter().for_each(|(run, _)| from.add(&origin(run)));
            let of = |f: &dyn Fn(&WindowMeasures) -> Option<f64>| {
                // As in the tables: unknown where one of the seeds is.
                estimate(&measured.iter().map(|(_, w)| f(w)).collect::<Option<Vec<_>>>()?)
            };
            ClosedPoint {
                n: n as u32,
                origin: from,
                sessions_per_s: of(&|w| Some(w.completions_per_s)),
                turns_based_per_s: mean_turns
                    .and_then(|t| of(&|w| Some(w.turns_per_s / t)))
                    .map(|e| e.value),
                hit_fraction: of(&|w| w.hits.value()),
            }
        })
        .collect()
}

/// Mean over seeds, with its standard error when there are several.
fn estimate(values: &[f64]) -> Option<Estimate> {
    let value = stats::mean(values)?;
    let n = values.len() as f64;
    let squares: f64 = values.iter().map(|v| (v - value) * (v - value)).sum();
    let standard_error = (n > 1.0).then(|| (squares / (n - 1.0) / n).sqrt());
    Some(Estimate { value, standard_error })
}
