//! From scored runs to figures: one file per figure builds its input.
//!
//! A figure never sees a run; it gets what was measured, judged and predicted, each value with
//! where it comes from, as the run's own `meta.json` says.

mod closed_curve;
mod from_empty;
mod mirror;
mod rescue;
pub mod run_picture;
mod session_law;
pub mod spec;
mod stampede;
pub mod theorem;
pub mod theory;
mod time_scales;
mod two_engines;

use std::collections::BTreeMap;

use crate::digits::fixed;
use crate::figure::origin::Source;
use crate::figure::{Figure, FigureError, Origin};
use crate::law::trap_check::Calibration;
use crate::measure::Share;
use crate::model::{ModelError, Theory};
use crate::run::{self, Meta, SourceFile};
use crate::setup::{Arm, Configs};

use super::score::ScoredRun;
use spec::{Draw, FigureSpec, RescueSpec};

/// Why a figure has no input.
#[derive(Debug, thiserror::Error)]
pub enum DrawError {
    /// A cell that the configuration lacks.
    #[error("no cell {0} in the configuration")]
    NoCell(String),
    /// A model without an answer.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// It cannot be drawn.
    #[error(transparent)]
    Drawing(#[from] FigureError),
    /// A typed source that a run contradicts.
    #[error(
        "source: the analysis says {}, but {contradicting} of its {runs} runs say {}, the first \
         {run}/meta.json; leave the line out: where the data come from is read from the runs",
        said.word(), found.word()
    )]
    Contradicted {
        /// What the analysis says.
        said: run::Source,
        /// What the run says.
        found: run::Source,
        /// How many runs contradict.
        contradicting: usize,
        /// How many runs are drawn.
        runs: usize,
        /// The first of them.
        run: String,
    },
}

/// Draws a figure of these runs, and lists the files behind it.
///
/// # Errors
/// A figure of the theory for a cell that is not there or has no such model, or runs that are
/// not from where the specification says.
pub fn draw(
    runs: &[ScoredRun],
    spec: &FigureSpec,
    configs: &Configs,
) -> Result<(Figure, Vec<SourceFile>), DrawError> {
    let solved = |name: &String| solve(name, configs);
    let (figure, used): (Figure, Vec<&ScoredRun>) = match &spec.draw {
        Draw::Stampede { cell, rates } => stampede::draw(runs, spec, cell.as_deref(), rates),
        Draw::Mirror { cell, standard, rate } => {
            let (mirror, standard) = (solved(cell)?, solved(standard)?);
            let (_, _, protocol) =
                configs.of_cell(cell).ok_or_else(|| DrawError::NoCell(cell.clone()))?;
            let compared =
                mirror::MirrorCells { mirror: &mirror, standard: &standard, rate: *rate, protocol };
            mirror::draw(runs, spec, &compared)?
        }
        Draw::FromEmpty { cells } => {
            let theories = cells.iter().map(solved).collect::<Result<Vec<_>, _>>()?;
            from_empty::draw(runs, spec, &theories)
        }
        Draw::TwoEngines { cell, rate, seed } => {
            let column = RescueSpec { cell: cell.clone(), rate: *rate, seed: *seed };
            let find = |arm| rescue::find(runs, &column, arm);
            two_engines::draw(find(&Arm::Burst), find(&Arm::Rescue), spec)
        }
        Draw::Rescue { columns } => rescue::draw(runs, spec, columns, configs),
        Draw::ClosedCurve { cells } => closed_curve::draw(runs, spec, cells, configs),
        Draw::Theorem { cells, rho, calibration, published } => {
            let asked = theorem::Asked {
                cells,
                rho: *rho,
                calibration: *calibration,
                published: published.as_ref(),
            };
            theorem::draw(runs, spec, &asked, configs)
        }
        Draw::SessionLaw { cell, rho } => {
            let cells = std::slice::from_ref(cell);
            let calibration = Calibration::default();
            let asked = theorem::Asked { cells, rho: *rho, calibration, published: None };
            session_law::draw(runs, spec, &asked, &solved(cell)?, configs)?
        }
        Draw::TimeScales {} => time_scales::draw(runs, spec),
        Draw::TiltedMix { cell, rate } => {
            let theory = solved(cell)?;
            (theory::mix(&theory, theory.rate_per_s(*rate), &spec.title)?, Vec::new())
        }
        Draw::PredictedCurve { cells } => {
            let theories = cells.iter().map(solved).collect::<Result<Vec<_>, _>>()?;
            let used = closed_curve::of_cells(runs, cells);
            let points = theories
                .iter()
                .map(|theory| (theory, closed_curve::of_theory(&used, theory)))
                .collect::<Vec<_>>();
            (theory::curves(&points, &spec.title, &closed_curve::runs_note(&used))?, used)
        }
        Draw::Cuts { cell, rate, at_s, until_s, to } => {
            let theory = solved(cell)?;
            let capacity = theory.model_f.lambda_miss_per_s();
            let rates: Vec<f64> = to.iter().map(|cut| cut * capacity).collect();
            let lambda = theory.rate_per_s(*rate);
            (theory::after_change(&theory, lambda, (*at_s, *until_s), &rates)?, Vec::new())
        }
    };
    check_source(spec.source, &used)?;
    let mut sources: Vec<SourceFile> =
        used.iter().flat_map(|run| run.sources.iter().cloned()).collect();
    sources.sort();
    sources.dedup();
    Ok((figure, sources))
}

/// A typed source, against what the runs themselves say.
fn check_source(said: Option<run::Source>, used: &[&ScoredRun]) -> Result<(), DrawError> {
    let Some(said) = said else { return Ok(()) };
    let against: Vec<_> = used.iter().filter(|run| run.meta.source != said).collect();
    let Some(first) = against.first() else { return Ok(()) };
    Err(DrawError::Contradicted {
        said,
        found: first.meta.source,
        contradicting: against.len(),
        runs: used.len(),
        run: first.dir.display().to_string(),
    })
}

/// How much work the bursts of these runs brought: a seed's may be far from the mean.
fn burst_words<'a>(runs: impl Iterator<Item = &'a ScoredRun>) -> String {
    let work = runs.filter_map(|run| run.burst_work_over_nominal);
    let mut times: Vec<String> = work.map(|over| fixed(over, 2)).collect();
    times.sort();
    times.dedup();
    match times.as_slice() {
        [] => String::new(),
        [all] => format!("Its burst brings {all} times the work of the workload's mean."),
        [least, .., most] => {
            format!("Its bursts bring {least} to {most} times the work of the workload's mean.")
        }
    }
}

/// Which run it is, and what made it.
fn origin(run: &ScoredRun) -> Origin {
    Origin::run(&run.dir.display().to_string(), &run.meta.cell, made_by(&run.meta))
}

pub(crate) fn made_by(meta: &Meta) -> Source {
    match meta.source {
        run::Source::Simulator => Source::Simulated,
        run::Source::Engine => {
            let name = match meta.engine.name.as_str() {
                "vllm" => "vLLM",
                "sglang" => "SGLang",
                other => other,
            };
            // What follows in brackets describes the machine: `CPU (2-core ...)`.
            let gpu = meta.gpu.as_ref().map(|gpu| gpu.name.split(" (").next().unwrap_or_default());
            let on =
                gpu.filter(|gpu| !gpu.is_empty()).map_or(String::new(), |gpu| format!(", {gpu}"));
            Source::Engine(format!("{name} {}{on}", meta.engine.version))
        }
    }
}

fn solve(name: &str, configs: &Configs) -> Result<Theory, DrawError> {
    let (cell, workload, protocol) =
        configs.of_cell(name).ok_or_else(|| DrawError::NoCell(name.to_owned()))?;
    Ok(Theory::of(cell, workload)?.under(protocol.paired, protocol.e0b.horizon_s))
}

/// Whether a run has this rate.
fn at_rate(run: &ScoredRun, rate: f64) -> bool {
    run.meta.rate.multiple.is_some_and(|m| (m - rate).abs() < 1e-6)
}

/// Bins of shares as hit fractions; unknown where a bin cannot say.
fn fractions(shares: &[(f64, Share)]) -> Vec<(f64, Option<f64>)> {
    shares.iter().map(|(t, share)| (*t, share.value())).collect()
}

/// How many runs stand behind each point, from the count of every point.
fn per_point<K>(what: &str, point: &str, counts: &BTreeMap<K, usize>) -> String {
    let (Some(least), Some(most)) = (counts.values().min(), counts.values().max()) else {
        return String::new();
    };
    let runs = match (least, most) {
        (1, 1) => format!("one {what}"),
        (least, most) if least == most => format!("{most} {what}s"),
        (least, most) => format!("{least} to {most} {what}s"),
    };
    format!("Each point stands for {runs} of one {point}.")
}
