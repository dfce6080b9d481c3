//! Scoring runs: judging what was measured, and checking the stuck ones against model F.

use std::collections::BTreeSet;
use std::ops::Deref;
use std::sync::Arc;

use crate::configs::Configs;
use crate::law::{TrapCheck, trap_checks};
use crate::rule::paired::PairedTest;
use crate::rule::registration::PUBLISHED_RULE;
use crate::rule::registration::{PairedThresholds, RegistrationFile};
use crate::rule::stability::{Stability, is_stable};
use crate::rule::state::{Load, RunState, is_stuck, judge};
use crate::setup::ConfigError;

use super::Measured;
use super::binding::{RunBinding, bind, judge_of, load_of};
use super::statistics::{RunStatistics, Unreadable};
use super::verdict::{Verdict, most_fitting, verdict_of_paired};

/// A run that could be read, and how it was judged; its statistics are at hand by
/// dereferencing.
#[derive(Debug, Clone)]
pub struct ScoredRun {
    /// What was measured.
    pub statistics: Arc<RunStatistics>,
    /// How it stands to the registration that judged it.
    pub binding: RunBinding,
    /// The registration that judged it, by name; `None` where nothing did.
    pub judged_by: Option<String>,
    /// The thresholds that judged it; the published ones where nothing did.
    pub rule: PairedThresholds,
    /// When a run from empty of its cell is stable.
    pub stability: Stability,
    /// What it was judged against; `None` for runs without a rate of their own.
    pub load: Option<Load>,
    /// Its state; `None` for closed and cache-off runs, and where nothing judged it.
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

impl ScoredRun {
    /// How it stands to the rule that judged it, in words that name the rule.
    pub fn judged_in_words(&self) -> String {
        match (&self.binding, &self.judged_by) {
            (RunBinding::Elsewhere(_), Some(name)) => {
                format!("{}, judged by {name}", self.binding.words())
            }
            _ => self.binding.words(),
        }
    }

    /// Whether a run from empty is stable; `None` where it cannot tell.
    pub fn stable(&self) -> Option<bool> {
        is_stable(self.queue.as_ref(), &self.stability)
    }

    /// The registrations that fit it, where they are several and none was chosen.
    pub fn fitting_rules(&self) -> Option<&[String]> {
        match &self.binding {
            RunBinding::Several(files) if self.meta.rate.lambda.is_some() => Some(files),
            _ => None,
        }
    }
}

/// Everything scored together.
#[derive(Debug, Clone, Default)]
pub struct Scoring {
    /// Runs that could be read, in order of path.
    pub runs: Vec<ScoredRun>,
    /// Runs that could not, in order of path.
    pub unreadable: Vec<Unreadable>,
}

/// Scores runs that were measured, in their order; `registration` judges those of its cells
/// instead of the one that each run finds.
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
    pinned: Option<&RegistrationFile>,
) -> ScoredRun {
    let run = &*statistics;
    let (binding, file) = match judge_of(&run.meta, configs, pinned) {
        Ok(file) => (bind(&run.meta, &file, configs), Some(file)),
        Err(binding) => (binding, None),
    };
    let load = file.as_ref().and_then(|file| load_of(&run.meta, file));
    let state = file.as_ref().and_then(|file| state_of(run, file));
    let stuck = load.zip(file.as_ref()).and_then(|(_, file)| {
        is_stuck(&run.measures, file.registration.rule.stuck_follow_up_hit_below)
    });
    let checks = match (stuck, load, configs.of_cell(&run.meta.cell)) {
        (Some(true), Some(load), Some((cell, workload, _))) => {
            trap_checks(run.own_speed, load.lambda_per_s, cell, workload).map_err(|e| e.to_string())
        }
        _ => Ok(Vec::new()),
    };
    let rule = file.as_ref().map_or_else(PairedThresholds::default, |file| file.registration.rule);
    let judged_by = file.map(|file| file.registration.name.clone());
    let (stability, _) = configs.from_empty_rules(&run.meta.cell);
    ScoredRun { binding, judged_by, rule, stability, load, state, stuck, checks, statistics }
}

/// The state of an open run by a registration's rule; `None` for other runs.
pub fn state_of(run: &RunStatistics, file: &RegistrationFile) -> Option<RunState> {
    let load = load_of(&run.meta, file).filter(|_| run.meta.arm.is_open())?;
    Some(judge(&run.measures, load, &file.registration.rule))
}

impl Scoring {
    /// The verdict of the paired test under every rule that judged a run here and has a
    /// subject among them, in order of the rule's name.
    ///
    /// # Errors
    /// As [`verdict`].
    pub fn paired(&self, configs: &Configs) -> Result<Vec<Verdict>, ConfigError> {
        let judged: BTreeSet<(&String, &String)> = self
            .runs
            .iter()
            .filter_map(|run| Some((run.judged_by.as_ref()?, &run.meta.cell)))
            .collect();
        let published = |cell: &String| configs.cell_called(cell).map(RegistrationFile::published);
        let mut judges: Vec<RegistrationFile> = Vec::new();
        for (name, cell) in judged {
            let file = configs.registrations.get(name).cloned();
            let file = if name == PUBLISHED_RULE { published(cell) } else { file };
            judges.extend(file.filter(|file| PairedTest::of(&file.registration.test).is_some()));
        }
        judges.dedup_by(|a, b| a.sha256 == b.sha256 && !a.is_published());
        // Recorded sessions, which may not be here, have no law to hold a verdict against.
        judges.retain(|file| configs.of_cell(&file.registration.cell).is_some());
        let measured = self.judged();
        let of_paired = |file: &RegistrationFile| {
            let test = PairedTest::of(&file.registration.test)?;
            Some(verdict_of_paired(file, test, &measured, configs))
        };
        let verdicts: Result<Vec<_>, _> = judges.iter().filter_map(of_paired).collect();
        Ok(most_fitting(verdicts?))
    }

    /// The runs that something judged, as they were measured: those that several rules fit
    /// have no vote under any of them.
    pub fn judged(&self) -> Vec<Measured> {
        let judged = self.runs.iter().filter(|run| run.fitting_rules().is_none());
        judged.map(|run| Ok(Arc::clone(&run.statistics))).collect()
    }
}
