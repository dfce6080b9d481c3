//! Plans that received what the paper's runs received: where the paper prints how many sessions
//! arrived, a draw's plan is one that has as many.
//!
//! The law of the arrivals stays Poisson; of its plans those are taken, in order of seed, that
//! have the printed count. All that depends on which of them it is stays drawn.

use std::collections::BTreeMap;

use rayon::prelude::*;
use serde::Deserialize;

use super::super::error::AnalysisError;
use crate::campaign::CampaignRun;
use crate::plan::Plan;
use crate::run::Kind;
use crate::setup::Arm;
use crate::sim::{RunSpec, plan_of};

/// So many seeds are looked through at a time.
const BATCH: u64 = 512;
/// A count that none of so many seeds has is not to be had.
const MOST_SEEDS: u64 = 200_000;

/// How many sessions arrived in a window, as the paper prints it for some seeds of a cell's rate.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Given {
    /// The cell's name.
    pub cell: String,
    /// Of runs from an empty engine; else of every other open run.
    #[serde(default)]
    pub from_empty: bool,
    /// The rate in multiples of lambda_ref.
    pub multiple: f64,
    /// The window on the run's clock, seconds.
    pub window_s: [f64; 2],
    /// By seed of the paper, the fewest and the most base arrivals that round to what is printed.
    pub sessions: BTreeMap<u64, [u64; 2]>,
}

/// The seeds that draws have in place of their own, for each of the paper's.
#[derive(Debug, Default)]
pub(super) struct Seeds<'g>(Vec<(&'g Given, BTreeMap<u64, Vec<u64>>)>);

impl Given {
    fn is_of(&self, run: &CampaignRun<'_>) -> bool {
        run.planned.test.cell == self.cell
            && (run.planned.arm.arm() == Arm::E0b) == self.from_empty
            && run.planned.multiple == Some(self.multiple)
    }

    /// Whether a plan has what the paper's seed has.
    fn holds(&self, plan: &Plan, [least, most]: [u64; 2]) -> bool {
        let [from_s, to_s] = self.window_s;
        let times = plan.sessions.iter().filter(|session| session.kind == Kind::Base);
        let times = times.filter_map(|session| session.t_arrival_s);
        let arrived = times.filter(|t_s| (from_s..to_s).contains(t_s)).count() as u64;
        (least..=most).contains(&arrived)
    }
}

impl<'g> Seeds<'g> {
    /// Looks for as many seeds as there are draws; `step` is how far apart the seeds of two draws
    /// are.
    ///
    /// # Errors
    /// A count that no run is of, by its rate or its seed, or that no plan has.
    pub(super) fn of<'a>(
        given: &'g [Given],
        runs: &[&CampaignRun<'a>],
        draws: u64,
        step: u64,
    ) -> Result<Self, AnalysisError> {
        let found = given.iter().map(|given| {
            let of_cell = || runs.iter().filter(|run| given.is_of(run));
            // Uncut, and without a burst: the base stream that its arms share.
            let run = of_cell()
                .find(|run| matches!(run.planned.arm.arm(), Arm::NoBurst | Arm::E0b))
                .ok_or_else(|| given.wrong(draws, "no run of an uncut arm has this rate"))?;
            let of_seed = |(seed, sessions): (&u64, &[u64; 2])| {
                if !of_cell().any(|run| run.spec.seed == *seed) {
                    return Err(given.wrong(draws, &format!("sessions: no run has seed {seed}")));
                }
                let seeds = given.seeds(&run.spec, *seed, *sessions, draws, step)?;
                Ok((*seed, seeds))
            };
            let by_seed = given.sessions.iter().map(of_seed);
            Ok((given, by_seed.collect::<Result<_, AnalysisError>>()?))
        });
        Ok(Self(found.collect::<Result<_, AnalysisError>>()?))
    }

    /// The seed of a draw of a run, if the paper prints what arrived in it.
    pub(super) fn get(&self, draw: u64, run: &CampaignRun<'_>) -> Option<u64> {
        let mut of_run = self.0.iter().filter(|(given, _)| given.is_of(run));
        let seeds = of_run.find_map(|(_, by_seed)| by_seed.get(&run.spec.seed))?;
        seeds.get(usize::try_from(draw).ok()?).copied()
    }
}

impl Given {
    /// The first `draws` seeds whose plan has the count.
    fn seeds(
        &self,
        spec: &RunSpec<'_>,
        seed: u64,
        sessions: [u64; 2],
        draws: u64,
        step: u64,
    ) -> Result<Vec<u64>, AnalysisError> {
        let mut found = Vec::new();
        for from in (0..MOST_SEEDS).step_by(BATCH as usize) {
            let holds = |draw: u64| {
                let seed = draw * step + seed;
                let plan = plan_of(&RunSpec { seed, ..spec.clone() });
                let plan = plan.map_err(|error| self.wrong(draw, &error.to_string()))?;
                Ok(self.holds(&plan, sessions).then_some(seed))
            };
            let batch: Result<Vec<Option<u64>>, AnalysisError> =
                (from..from + BATCH).into_par_iter().map(holds).collect();
            found.extend(batch?.into_iter().flatten());
            if found.len() as u64 >= draws {
                found.truncate(draws as usize);
                return Ok(found);
            }
        }
        let [least, most] = sessions;
        Err(self
            .wrong(draws, &format!("too few plans of seed {seed} have {least} to {most} sessions")))
    }

    fn wrong(&self, draw: u64, why: &str) -> AnalysisError {
        let problem = format!("arrivals of {} at {}: {why}", self.cell, self.multiple);
        AnalysisError::Draw { draw, problem }
    }
}
