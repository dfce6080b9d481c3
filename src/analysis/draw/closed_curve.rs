//! The closed-population curve, from closed runs: one point per population, with
//! the mean and its standard error where there are several seeds.

use crate::analysis::score::ScoredRun;
use crate::analysis::spec::FigureSpec;
use crate::figure::Figure;
use crate::figure::closed_curve::{
    ClosedCell, ClosedCurves, ClosedPoint, ClosedSeries, CurveKind, closed_curves,
};
use crate::figure::population::Estimate;
use crate::figure::predicted_curve::MeasuredPoint;
use crate::measure::closed_curve::by_population;
use crate::measure::{WindowMeasures, stats};
use crate::model::Theory;
use crate::run::Source;
use crate::setup::Configs;

/// The closed runs of some cells.
pub fn of_cells<'a>(runs: &'a [ScoredRun], cells: &[String]) -> Vec<&'a ScoredRun> {
    let closed = |run: &&ScoredRun| run.meta.arm == "closed" && cells.contains(&run.meta.cell);
    runs.iter().filter(closed).collect()
}

/// What closed runs measured, a point per population, to stand beside a prediction.
pub fn measured(runs: &[&ScoredRun], theory: &Theory) -> Vec<MeasuredPoint> {
    let own = runs.iter().filter(|run| run.meta.cell == theory.cell.name).copied();
    points(own, Some(theory.means.mean_turns))
        .into_iter()
        .map(|point| MeasuredPoint {
            n: point.n,
            sessions_per_s: point.sessions_per_s.map(|e| e.value),
            turns_based_per_s: point.turns_based_per_s,
        })
        .collect()
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
    let input = ClosedCurves { title: spec.title.clone(), cells, source: spec.source.clone() };
    (closed_curves(&input), used)
}

fn closed_cell(name: &str, runs: &[&ScoredRun], configs: &Configs) -> ClosedCell {
    let mean_turns =
        configs.of_cell(name).map(|(_, workload, _)| workload.survival().iter().sum::<f64>());
    let kinds = [
        (Source::Engine, CurveKind::Engine, "engine"),
        (Source::Simulator, CurveKind::Simulator, "simulator"),
    ];
    let series = kinds
        .into_iter()
        .filter_map(|(source, kind, label)| {
            let of_source = runs.iter().filter(|run| run.meta.source == source).copied();
            let points = points(of_source, mean_turns);
            (!points.is_empty()).then(|| ClosedSeries { kind, label: label.into(), points })
        })
        .collect();
    let registration = configs.paired_of_cell(name);
    ClosedCell {
        title: name.into(),
        series,
        lambda_ref_per_s: configs.cells.get(name).map(|cell| cell.lambda_ref_per_s),
        cap: registration.and_then(|r| r.registration.cap).map(|cap| cap as u32),
    }
}

fn points<'a>(
    runs: impl Iterator<Item = &'a ScoredRun>,
    mean_turns: Option<f64>,
) -> Vec<ClosedPoint> {
    by_population(runs.map(|run| (run.meta.population, run.measures.window.as_ref())))
        .into_iter()
        .map(|(n, windows)| {
            let of = |f: &dyn Fn(&WindowMeasures) -> Option<f64>| {
                // As in the tables: unknown where one of the seeds is.
                estimate(&windows.iter().map(|w| f(w)).collect::<Option<Vec<_>>>()?)
            };
            ClosedPoint {
                n: n as u32,
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
