//! Theorem 1 against every stuck run: model F's lines, and what the runs did.

use crate::analysis::score::ScoredRun;
use crate::analysis::spec::FigureSpec;
use crate::figure::Figure;
use crate::figure::theorem::{ModelCurve, Protocol, Reading, StuckRun, TheoremCheck, theorem};
use crate::law::trap_check::Calibration;
use crate::model::fifo::{ModelF, Regime};
use crate::model::{AllMiss, SessionMeans};
use crate::setup::Configs;

/// Points of a model line.
const STEPS: usize = 60;

/// The model lines to draw.
pub struct Lines<'a> {
    /// A line per cell.
    pub cells: &'a [String],
    /// The loads they span, rho.
    pub rho: (f64, f64),
}

/// Lines for the cells, a point per stuck run.
pub fn draw<'a>(
    runs: &'a [ScoredRun],
    spec: &FigureSpec,
    lines: &Lines<'_>,
    calibration: Calibration,
    configs: &Configs,
) -> (Figure, Vec<&'a ScoredRun>) {
    let mut missing = Vec::new();
    let curves = lines
        .cells
        .iter()
        .filter_map(|cell| match curve(cell, lines.rho, configs) {
            Some(curve) => Some(curve),
            None => {
                missing.push(format!("model line of {cell}"));
                None
            }
        })
        .collect();
    let stuck: Vec<&ScoredRun> = runs.iter().filter(|run| run.stuck == Some(true)).collect();
    let points = stuck.iter().filter_map(|run| stuck_run(run, calibration, configs)).collect();
    let input = TheoremCheck {
        title: spec.title.clone(),
        cells: curves,
        runs: points,
        missing,
        source: spec.source.clone(),
    };
    (theorem(&input), stuck)
}

fn curve(cell: &str, (from, to): (f64, f64), configs: &Configs) -> Option<ModelCurve> {
    let (cell, workload, _) = configs.of_cell(cell)?;
    let costs = AllMiss::of(cell, workload).ok()?;
    let means = SessionMeans::of(workload);
    let model = ModelF::new(&costs.costs_s, &means.survival).ok()?;
    let lambda_miss = model.lambda_miss_per_s();
    let points = (0..=STEPS)
        .filter_map(|i| {
            let rho = from + (to - from) * i as f64 / STEPS as f64;
            let Regime::Trapped(trap) = model.at(rho * lambda_miss).ok()? else { return None };
            let served = trap.served_mean(&means.prompt_tokens);
            Some(Reading {
                rho,
                prompt_ratio: Some(served / means.mean_prompt_tokens()),
                completions_ratio: Some(trap.completions_per_s / lambda_miss),
                growth_ratio: Some(trap.alpha_per_s / lambda_miss),
                gap_slope: Some(trap.slope),
            })
        })
        .collect();
    Some(ModelCurve { cell: cell.name.clone(), points })
}

/// A stuck run at the load that the calibration gives it.
fn stuck_run(run: &ScoredRun, calibration: Calibration, configs: &Configs) -> Option<StuckRun> {
    let check = run.checks.as_ref().ok()?.iter().find(|c| c.calibration == calibration)?;
    let window = run.measures.window.as_ref()?;
    let (_, workload, _) = configs.of_cell(&run.meta.cell)?;
    let stationary = SessionMeans::of(workload).mean_prompt_tokens();
    let lambda_miss = check.lambda_miss_per_s;
    Some(StuckRun {
        cell: run.meta.cell.clone(),
        run: run.dir.display().to_string(),
        protocol: if run.meta.arm == "e0b" { Protocol::FromEmpty } else { Protocol::Burst },
        reading: Reading {
            rho: check.rho,
            prompt_ratio: window.mean_prompt_tokens.map(|p| p / stationary),
            completions_ratio: Some(window.completions_per_s / lambda_miss),
            growth_ratio: window.backlog_slope_per_s.map(|s| s / lambda_miss),
            gap_slope: window.gap_slope,
        },
    })
}
