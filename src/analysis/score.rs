//! Scoring runs: judging what was measured, and checking the stuck ones against model F.

use std::ops::Deref;
use std::path::PathBuf;
use std::sync::Arc;

use crate::law::{TrapCheck, trap_checks};
use crate::rule::pairing::{Arm, PairedRun, PairedVerdict, pair};
use crate::rule::state::{Load, RunState, judge};
use crate::run::{Meta, Problem, Source};
use crate::setup::registration::{Status, Test};
use crate::setup::{Configs, PairedThresholds, RegistrationFile};

use super::statistics::{RunStatistics, is_open_arm};
use super::store::Measured;

/// How a run stands to the registration it is judged by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Binding {
    /// Its `meta.json` carries the hash of this FILLED registration.
    Bound(String),
    /// It carries the hash of this registration, whose verdicts are not decisive.
    NotDecisive(String, Status),
    /// It carries the hash of a file that this registration restates.
    Restated(String),
    /// It carries no hash; it is judged by this registration of its cell, exploratory.
    Unbound(String),
    /// It carries a hash that no registration here has.
    Elsewhere(String),
    /// There is no registration for its cell.
    None,
}

impl Binding {
    /// Whether a verdict on the run counts.
    pub const fn is_decisive(&self) -> bool {
        matches!(self, Self::Bound(_))
    }

    /// Whether the run was made for the registration, decisive or not.
    pub const fn is_bound(&self) -> bool {
        matches!(self, Self::Bound(_) | Self::NotDecisive(..) | Self::Restated(_))
    }

    /// In one word, beside the registration it speaks of and that one's status.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Bound(_) | Self::NotDecisive(..) => "bound",
            Self::Restated(_) => "bound to what it restates",
            Self::Unbound(_) => "not bound",
            Self::Elsewhere(_) => "bound to another",
            Self::None => "none",
        }
    }

    /// The registration it speaks of: its name, or the hash of one that is not here.
    pub fn registration(&self) -> Option<&str> {
        match self {
            Self::Bound(name)
            | Self::NotDecisive(name, _)
            | Self::Restated(name)
            | Self::Unbound(name)
            | Self::Elsewhere(name) => Some(name),
            Self::None => None,
        }
    }

    /// The words of the output.
    pub fn words(&self) -> String {
        match self {
            Self::Bound(name) => format!("bound to {name}"),
            Self::NotDecisive(name, status) => format!("bound to {name} ({})", status.word()),
            Self::Restated(name) => format!("bound to the file that {name} restates"),
            Self::Unbound(name) => format!("exploratory: not bound, judged by {name}"),
            Self::Elsewhere(hash) => {
                format!("bound to another registration ({}...)", hash.get(..12).unwrap_or(hash))
            }
            Self::None => "no registration for its cell".into(),
        }
    }
}

/// A run that could be read, and how it was judged; its statistics are at hand by
/// dereferencing.
#[derive(Debug, Clone)]
pub struct ScoredRun {
    /// What was measured.
    pub statistics: Arc<RunStatistics>,
    /// How it stands to a registration.
    pub binding: Binding,
    /// What it was judged against; `None` for runs without a rate of their own.
    pub load: Option<Load>,
    /// Its state; `None` for closed and cache-off runs, and without a registration.
    pub state: Option<RunState>,
    /// Whether it is stuck (follow-up hit fraction below the threshold over its
    /// window); `None` when it cannot say or the question does not arise.
    pub stuck: Option<bool>,
    /// The trap check of a stuck run, per calibration; or why there is none.
    pub checks: Result<Vec<TrapCheck>, String>,
}

impl Deref for ScoredRun {
    type Target = RunStatistics;

    fn deref(&self) -> &RunStatistics {
        &self.statistics
    }
}

/// A run, or why it could not be read.
#[derive(Debug, Clone)]
pub struct Unreadable {
    /// Its directory.
    pub dir: PathBuf,
    /// Everything that is wrong with it.
    pub problems: Vec<Problem>,
}

/// Everything scored together.
#[derive(Debug, Clone, Default)]
pub struct Scoring {
    /// Runs that could be read, in order of path.
    pub runs: Vec<ScoredRun>,
    /// Runs that could not, in order of path.
    pub unreadable: Vec<Unreadable>,
}

/// Scores runs that were measured, in their order; `registration` judges them instead of
/// the one of each run's cell.
pub fn score(
    measured: Vec<Measured>,
    configs: &Configs,
    registration: Option<&RegistrationFile>,
) -> Scoring {
    let mut scoring = Scoring::default();
    for outcome in measured {
        match outcome {
            Ok(statistics) => scoring.runs.push(score_run(statistics, configs, registration)),
            Err(unreadable) => scoring.unreadable.push(unreadable),
        }
    }
    scoring
}

fn score_run(
    statistics: Arc<RunStatistics>,
    configs: &Configs,
    forced: Option<&RegistrationFile>,
) -> ScoredRun {
    let run = &*statistics;
    let cell = configs.of_cell(&run.meta.cell);
    let lambda_ref = cell.map_or(f64::NAN, |(cell, ..)| cell.lambda_ref_per_s);
    let (binding, registration) = bind(&run.meta, configs, forced);
    let rule = registration.map_or_else(PairedThresholds::default, |r| r.registration.rule);
    let load = load_of(&run.meta, registration, lambda_ref);
    let state = match (load, registration) {
        (Some(load), Some(_)) if is_open_arm(&run.meta.arm) => {
            Some(judge(&run.measures, load, &rule))
        }
        _ => None,
    };
    let stuck = match (&run.measures.window, load) {
        (Some(window), Some(_)) => window.follow_up_hits.is_below(rule.stuck_follow_up_hit_below),
        _ => None,
    };
    let checks = match (stuck, load, cell) {
        (Some(true), Some(load), Some((cell, workload, _))) => {
            trap_checks(run.own_speed, load.lambda_per_s, cell, workload).map_err(|e| e.to_string())
        }
        _ => Ok(Vec::new()),
    };
    ScoredRun { binding, load, state, stuck, checks, statistics }
}

/// The registration a run is judged by, and what its verdict is worth.
fn bind<'a>(
    meta: &Meta,
    configs: &'a Configs,
    forced: Option<&'a RegistrationFile>,
) -> (Binding, Option<&'a RegistrationFile>) {
    let judged_by = forced.or_else(|| configs.paired_of_cell(&meta.cell));
    let Some(bound) = &meta.registration else {
        let binding =
            judged_by.map_or(Binding::None, |r| Binding::Unbound(r.registration.name.clone()));
        return (binding, judged_by);
    };
    let known = forced
        .filter(|r| r.sha256 == bound.sha256)
        .or_else(|| configs.bound_by(&bound.sha256).filter(|_| forced.is_none()));
    match known {
        Some(file) => {
            let name = file.registration.name.clone();
            let binding = match file.registration.status {
                Status::Filled => Binding::Bound(name),
                status => Binding::NotDecisive(name, status),
            };
            (binding, Some(file))
        }
        None => match judged_by.filter(|file| file.restates(&bound.sha256)) {
            Some(file) => (Binding::Restated(file.registration.name.clone()), Some(file)),
            None => (Binding::Elsewhere(bound.sha256.clone()), judged_by),
        },
    }
}

fn load_of(
    meta: &Meta,
    registration: Option<&RegistrationFile>,
    cell_lambda_ref: f64,
) -> Option<Load> {
    let lambda_per_s = meta.rate.lambda?;
    Some(match registration {
        Some(file) => Load {
            lambda_per_s,
            lambda_ref_per_s: file.registration.lambda_ref_per_s,
            all_miss_tokens_per_s: file.registration.all_miss_tokens_per_s.unwrap_or(f64::NAN),
        },
        None => Load {
            lambda_per_s,
            lambda_ref_per_s: meta.rate.lambda_ref.unwrap_or(cell_lambda_ref),
            all_miss_tokens_per_s: f64::NAN,
        },
    })
}

/// The paired verdicts of one cell under one registration.
#[derive(Debug, Clone, PartialEq)]
pub struct CellVerdict {
    /// The cell.
    pub cell: String,
    /// The registration.
    pub registration: String,
    /// Its status.
    pub status: Status,
    /// Whether every run that voted is an engine's, bound to it, and it is FILLED.
    /// Simulated runs decide nothing about an engine.
    pub decisive: bool,
    /// Where the runs come from: `engine`, `simulator`, or both.
    pub sources: String,
    /// A verdict per rate.
    pub rates: Vec<PairedVerdict>,
}

impl Scoring {
    /// The paired verdict of every cell that has a registration and runs of the test.
    pub fn paired(&self, configs: &Configs) -> Vec<CellVerdict> {
        configs.registrations.values().filter_map(|file| self.verdict_of(file)).collect()
    }

    /// The paired verdict under one registration; `None` without runs of the test.
    pub fn verdict_of(&self, file: &RegistrationFile) -> Option<CellVerdict> {
        let registration = &file.registration;
        if registration.test != Test::Paired {
            return None;
        }
        let judged_by = |run: &ScoredRun| match &run.binding {
            Binding::Bound(name)
            | Binding::NotDecisive(name, _)
            | Binding::Restated(name)
            | Binding::Unbound(name) => *name == registration.name,
            Binding::Elsewhere(_) | Binding::None => false,
        };
        let voters: Vec<&ScoredRun> = self
            .runs
            .iter()
            .filter(|run| run.meta.cell == registration.cell && judged_by(run))
            .filter(|run| Arm::of(&run.meta.arm).is_some())
            .collect();
        let paired: Vec<PairedRun> = voters.iter().filter_map(|run| paired_run(run)).collect();
        if paired.is_empty() {
            return None;
        }
        let mut sources: Vec<_> = voters.iter().map(|r| r.meta.source.word()).collect();
        sources.sort_unstable();
        sources.dedup();
        Some(CellVerdict {
            cell: registration.cell.clone(),
            registration: registration.name.clone(),
            status: registration.status,
            decisive: voters
                .iter()
                .all(|run| run.binding.is_decisive() && run.meta.source == Source::Engine),
            sources: sources.join(" and "),
            rates: pair(&paired, &registration.rule),
        })
    }
}

fn paired_run(run: &ScoredRun) -> Option<PairedRun> {
    Some(PairedRun {
        arm: Arm::of(&run.meta.arm)?,
        multiple: run.meta.rate.multiple?,
        seed: run.meta.seed,
        state: run.state.as_ref()?.state,
        name: run.dir.display().to_string(),
    })
}
