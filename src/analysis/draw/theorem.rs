//! Theorem 1 against the stuck runs of some cells: model F's lines, and what the runs did.

use crate::figure::Figure;
use crate::figure::theorem::{ModelCurve, Protocol, Reading, StuckRun, TheoremCheck, theorem};
use crate::judged::score::ScoredRun;
use crate::law::trap_check::{Calibration, Entry};
use crate::model::fifo::{ModelF, Regime};
use crate::model::{AllMiss, SessionMeans};
use crate::setup::Configs;

use super::origin;
use super::spec::{FigureSpec, StuckCounts};

/// Points of a model line.
const STEPS: usize = 60;

/// What is asked for.
pub struct Asked<'a> {
    /// The cells whose stuck runs are drawn, with a model line each.
    pub cells: &'a [String],
    /// The loads that the lines span, rho.
    pub rho: (f64, f64),
    /// Whose lambda_miss the runs are divided by.
    pub calibration: Calibration,
    /// How many stuck runs the published figure has.
    pub published: Option<&'a StuckCounts>,
}

/// The figure's input, and the runs behind it.
pub struct Check<'a> {
    /// What is drawn.
    pub input: TheoremCheck,
    /// Every stuck run that belongs to it, whether it could be checked or not.
    pub stuck: Vec<&'a ScoredRun>,
    /// Those behind the points of the input, in their order.
    pub points: Vec<&'a ScoredRun>,
}

/// Draws the check.
pub fn draw<'a>(
    runs: &'a [ScoredRun],
    spec: &FigureSpec,
    asked: &Asked<'_>,
    configs: &Configs,
) -> (Figure, Vec<&'a ScoredRun>) {
    let check = check(runs, spec, asked, configs);
    (theorem(&check.input), check.stuck)
}

/// A line per cell, and a point per stuck run of these cells that a trigger or an empty engine
/// led into the trap, as the ledger counts them ([`Entry`]).
pub fn check<'a>(
    runs: &'a [ScoredRun],
    spec: &FigureSpec,
    asked: &Asked<'_>,
    configs: &Configs,
) -> Check<'a> {
    let mut missing = Vec::new();
    let curves = asked
        .cells
        .iter()
        .filter_map(|cell| match curve(cell, asked.rho, configs) {
            Some(curve) => Some(curve),
            None => {
                missing.push(format!("model line of {cell}"));
                None
            }
        })
        .collect();
    let stuck: Vec<(Protocol, &ScoredRun)> = runs
        .iter()
        .filter(|run| run.stuck == Some(true) && asked.cells.contains(&run.meta.cell))
        .filter_map(|run| Some((protocol(run)?, run)))
        .collect();
    let (points, drawn): (Vec<StuckRun>, Vec<&ScoredRun>) = stuck
        .iter()
        .filter_map(|(protocol, run)| {
            Some((stuck_run(*protocol, run, asked.calibration, configs)?, *run))
        })
        .unzip();
    missing.extend(unchecked(stuck.len() - points.len()));
    missing.extend(asked.published.into_iter().flat_map(|counts| not_here(counts, &points)));
    let input = TheoremCheck {
        title: spec.title.clone(),
        cells: curves,
        runs: points,
        missing,
        note: format!("Loads and ratios by {}.", asked.calibration.words()),
    };
    Check { input, stuck: stuck.into_iter().map(|(_, run)| run).collect(), points: drawn }
}

/// How a stuck run began; none for one whose arrivals or admission were changed in the trap.
fn protocol(run: &ScoredRun) -> Option<Protocol> {
    match Entry::of(&run.meta.arm) {
        Entry::Triggered => Some(Protocol::Triggered),
        Entry::FromEmpty => Some(Protocol::FromEmpty),
        Entry::Changed => None,
    }
}

fn unchecked(count: usize) -> Option<String> {
    (count > 0).then(|| format!("{count} stuck runs without a check against model F"))
}

/// Which of the published figure's runs are not among these.
fn not_here(published: &StuckCounts, points: &[StuckRun]) -> Vec<String> {
    let counts = [
        (published.triggered, Protocol::Triggered, "stuck after a trigger"),
        (published.from_empty, Protocol::FromEmpty, "stuck from empty"),
    ];
    let lacking = counts.into_iter().filter_map(|(published, protocol, what)| {
        let here = points.iter().filter(|run| run.protocol == protocol).count();
        (here < published)
            .then(|| format!("{} of the published {published} runs {what}", published - here))
    });
    lacking.collect()
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
fn stuck_run(
    protocol: Protocol,
    run: &ScoredRun,
    calibration: Calibration,
    configs: &Configs,
) -> Option<StuckRun> {
    let check = run.checks.as_ref().ok()?.iter().find(|c| c.calibration == calibration)?;
    let window = run.measures.window.as_ref()?;
    let (_, workload, _) = configs.of_cell(&run.meta.cell)?;
    let stationary = SessionMeans::of(workload).mean_prompt_tokens();
    let lambda_miss = check.lambda_miss_per_s;
    Some(StuckRun {
        cell: run.meta.cell.clone(),
        origin: origin(run),
        protocol,
        reading: Reading {
            rho: check.rho,
            prompt_ratio: window.mean_prompt_tokens.map(|p| p / stationary),
            completions_ratio: Some(window.completions_per_s / lambda_miss),
            growth_ratio: window.backlog_slope_per_s.map(|s| s / lambda_miss),
            gap_slope: window.gap_slope,
        },
    })
}
