//! The simulator against real runs: the same plans, on a simulated engine whose
//! costs come from a cache-off run of the real one.
//!
//! Nothing is fitted to the runs that are predicted. Rescue runs are left out: their
//! gate's own times are not in `meta.json`.

use std::path::PathBuf;

use rayon::prelude::*;

use crate::law::iteration::IterationFit;
use crate::measure::{RunMeasures, measure};
use crate::plan::{DrawnSession, Plan};
use crate::rule::state::{State, judge};
use crate::run::{Meta, Source, SourceFile};
use crate::setup::{Arm, ArmSpec, Cell, Configs};
use crate::sim::directory::{Label, to_measure};
use crate::sim::{Options, RunSpec, SimError, replay};

use crate::judged::ScoredRun;

/// The simulator's account of an analysis' engine runs.
#[derive(Debug, Clone)]
pub(crate) struct Replay {
    /// The cache-off run the costs were fitted on: the first in order of path.
    pub calibrated_on: PathBuf,
    /// Its files.
    pub calibration_sources: Vec<SourceFile>,
    /// The costs.
    pub fit: IterationFit,
    /// A run each, in order of path.
    pub runs: Vec<Replayed>,
}

/// A real run and the simulator's prediction of it.
#[derive(Debug, Clone)]
pub(crate) struct Replayed {
    /// Its directory.
    pub dir: PathBuf,
    /// Who, what and when.
    pub meta: Meta,
    /// The files it was read from.
    pub sources: Vec<SourceFile>,
    /// What was measured on it.
    pub measured: RunMeasures,
    /// Its state, where the paired rule judges it.
    pub measured_state: Option<State>,
    /// The same, of the simulated run; or why there is none.
    pub predicted: Result<(RunMeasures, Option<State>), String>,
}

/// Why there is no prediction at all.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReplayError {
    /// No cache-off run to calibrate on.
    #[error("no cache-off run of an engine among the runs")]
    NoCalibration,
    /// It does not tell the costs.
    #[error("{}: {why}", run.display())]
    Fit {
        /// The run.
        run: PathBuf,
        /// Why.
        why: String,
    },
}

/// Replays every engine run on a simulated engine.
///
/// # Errors
/// [`ReplayError`].
pub(crate) fn replay_runs(runs: &[ScoredRun], configs: &Configs) -> Result<Replay, ReplayError> {
    let engine = |run: &&ScoredRun| run.meta.source == Source::Engine;
    let calibration = runs
        .iter()
        .filter(engine)
        .find(|run| !run.meta.prefix_caching)
        .ok_or(ReplayError::NoCalibration)?;
    let fit = calibration
        .iteration_cost
        .clone()
        .ok_or(ReplayError::NoCalibration)?
        .map_err(|why| ReplayError::Fit { run: calibration.dir.clone(), why })?;
    let of_cell: Vec<&ScoredRun> = runs
        .iter()
        .filter(engine)
        .filter(|run| run.meta.cell == calibration.meta.cell && arm(&run.meta).is_some())
        .collect();
    let replayed = of_cell
        .par_iter()
        .map(|run| Replayed {
            dir: run.dir.clone(),
            meta: run.meta.clone(),
            sources: run.sources.clone(),
            measured: run.measures.clone(),
            measured_state: run.state.as_ref().map(|state| state.state),
            predicted: predict(run, configs, &fit),
        })
        .collect();
    Ok(Replay {
        calibrated_on: calibration.dir.clone(),
        calibration_sources: calibration.sources.clone(),
        fit,
        runs: replayed,
    })
}

fn predict(
    run: &ScoredRun,
    configs: &Configs,
    fit: &IterationFit,
) -> Result<(RunMeasures, Option<State>), String> {
    let (cell, workload, protocol) =
        configs.of_cell(&run.meta.cell).ok_or("its cell is not in configs/cells")?;
    let cell = Cell { costs: fit.costs(), iteration_costs: None, ..cell.clone() };
    let arm = arm(&run.meta).ok_or("its arm is not replayed")?;
    let spec = RunSpec {
        cell: &cell,
        workload,
        protocol,
        arm: &arm,
        multiple: run.meta.rate.multiple,
        seed: run.meta.seed,
        options: Options { batching: cell.batching, ..Options::default() },
    };
    if run.planned.iter().any(|session| session.recorded.is_some()) {
        return Err("it plays recorded sessions, which are not replayed".into());
    }
    let plan = plan(run).ok_or("it has no plan table")?;
    let simulated = replay(&spec, plan).map_err(|e: SimError| e.to_string())?;
    let label = Label { run_id: run.meta.run_id.clone(), registration: None };
    let measures = measure(&to_measure(&simulated, &spec, &label), protocol);
    let state = match (run.load, &run.state) {
        (Some(load), Some(_)) => Some(judge(&measures, load, &run.rule).state),
        _ => None,
    };
    Ok((measures, state))
}

/// The arm as the simulator knows it.
fn arm(meta: &Meta) -> Option<ArmSpec> {
    let population = || u32::try_from(meta.population?).ok();
    Some(match meta.arm {
        Arm::Burst => ArmSpec::Burst { sessions: None },
        Arm::NoBurst => ArmSpec::NoBurst {},
        Arm::Capped => ArmSpec::Capped { cap: u32::try_from(meta.gate?.n_cap).ok()? },
        Arm::Closed => ArmSpec::Closed { population: population()? },
        Arm::E0a => ArmSpec::E0a { population: population()? },
        Arm::E0b => ArmSpec::E0b {},
        _ => return None,
    })
}

/// The run's own plan, sessions numbered in the order of the file.
fn plan(run: &ScoredRun) -> Option<Plan> {
    let sessions: Vec<DrawnSession> = run
        .planned
        .iter()
        .zip(0..)
        .map(|(s, session)| DrawnSession {
            kind: s.kind,
            session,
            t_arrival_s: s.t_arrival_s,
            tool_s: s.tool_s.clone(),
            trace: None,
            started_by: None,
        })
        .collect();
    (!sessions.is_empty()).then_some(Plan { seed: run.meta.seed, sessions })
}
