//! Where a closed population falls off: how many sessions an engine keeps in its cache at once.
//!
//! Populations are simulated from two starts. From empty, lanes start one after the other; from a
//! trap, no KV is kept until the warm-up is half over, so that every turn misses and the queue is
//! there. A run's state is told by its *hit share*: cached tokens over those that could be reused
//! (the reuse ceiling of the turns it served). Between the largest population that stays good from
//! a trap and the largest that stays good from empty, both states persist.
//!
//! A population is of sessions; the subagents that they start come on top.
//!
//! Left out: sessions that share a prefix, and arrivals; an open stream has no population.

mod closed;
mod search;

use crate::plan::Kind;
use crate::setup::protocol::WarmUp;
use crate::setup::{ArmSpec, Cell, Protocol, Workload};
use crate::sim::{Options, RunSpec, SimError, SimRun, simulate_to_measure};
pub use closed::{ClosedMeasures, in_order};
pub use search::{Bracket, Found, Rungs};

/// Lanes start over this share of the warm-up.
const RAMP_SHARE: f64 = 1.0 / 3.0;
/// No KV is kept for this share of the warm-up in a start from a trap.
const COLD_SHARE: f64 = 0.5;

/// What is asked: an engine, its sessions, and how a run is judged.
#[derive(Debug, Clone, PartialEq)]
pub struct Question<'a> {
    /// Engine, pool and costs.
    pub cell: &'a Cell,
    /// What sessions are like.
    pub workload: &'a Workload,
    /// Durations of everything but closed runs, which a closed run does not use.
    pub protocol: &'a Protocol,
    /// How the engine is modelled.
    pub options: Options,
    /// Warm-up and window of a run.
    pub run: WarmUp,
    /// When a run counts as good or as trapped.
    pub levels: Levels,
}

/// Hit shares that tell the states apart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Levels {
    /// Good from here on.
    pub good: f64,
    /// Trapped below.
    pub trapped: f64,
}

impl Default for Levels {
    /// Trapped as the paper's stuck runs, below 0.2 (App. B); good from 0.8 on, as far from full.
    fn default() -> Self {
        Self { good: 0.8, trapped: 0.2 }
    }
}

/// How a run starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Start {
    /// Lanes start one after the other on an empty engine.
    Empty,
    /// Every turn misses until the warm-up is half over.
    Trap,
}

impl HitState {
    /// Its word in tables.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Between => "between",
            Self::Trapped => "trapped",
        }
    }
}

impl Start {
    /// Its word in tables.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::Trap => "trap",
        }
    }
}

/// What became of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum HitState {
    /// It hits what it can.
    Good,
    /// It hits in part.
    Between,
    /// It hits next to nothing.
    Trapped,
}

/// One run over its window. Rates are per second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outcome {
    /// Cached tokens over those that could be reused; `None` where no turn could reuse any.
    pub hit_share: Option<f64>,
    /// Cached tokens over prompt tokens.
    pub hit_fraction: Option<f64>,
    /// Turns answered.
    pub turns_per_s: f64,
    /// Sessions completed, without subagents.
    pub sessions_per_s: f64,
    /// Prompt tokens computed.
    pub uncached_tokens_per_s: f64,
    /// Median time to the first token, seconds.
    pub first_token_s: Option<f64>,
    /// Requests that run, mean.
    pub running: f64,
    /// Requests that wait, mean.
    pub waiting: f64,
    /// Its state; `None` where it cannot be told.
    pub state: Option<HitState>,
}

impl Question<'_> {
    /// Simulates one run.
    ///
    /// # Errors
    /// As [`simulate_to_measure`].
    pub fn run(&self, population: u32, start: Start, seed: u64) -> Result<Outcome, SimError> {
        let (simulated, window) = self.simulate(population, start, seed)?;
        Ok(self.measure(&simulated, window))
    }

    fn simulate(
        &self,
        population: u32,
        start: Start,
        seed: u64,
    ) -> Result<(SimRun, WarmUp), SimError> {
        let arm = ArmSpec::Closed { population };
        let protocol = Protocol { closed: self.run, ..self.protocol.clone() };
        let warm_up_s = self.run.warm_up_s;
        let options = match start {
            Start::Empty => Options { ramp_s: RAMP_SHARE * warm_up_s, ..self.options },
            Start::Trap => Options { cold_until_s: COLD_SHARE * warm_up_s, ..self.options },
        };
        let (cell, workload) = (self.cell, self.workload);
        let protocol = &protocol;
        let spec = RunSpec { cell, workload, protocol, arm: &arm, multiple: None, seed, options };
        Ok((simulate_to_measure(&spec)?, self.run))
    }

    fn measure(&self, run: &SimRun, window: WarmUp) -> Outcome {
        let (from_s, to_s) = (window.warm_up_s, window.warm_up_s + window.window_s);
        let within = |t_s: f64| from_s <= t_s && t_s < to_s;
        let served: Vec<_> =
            run.turns.iter().filter(|turn| turn.t_end_s.is_some_and(within)).collect();
        let (mut prompt, mut cached, mut reusable) = (0, 0, 0);
        for turn in &served {
            let session = &run.plan.sessions[turn.session.at()];
            reusable += session.turn(turn.number as u32, self.workload).reusable_tokens;
            prompt += turn.prompt_tokens;
            cached += turn.cached_tokens.unwrap_or(0);
        }
        let over = |all: u64| (all > 0).then(|| cached as f64 / all as f64);
        let mut waits_s: Vec<f64> =
            served.iter().filter_map(|turn| Some(turn.t_first_s? - turn.t_submit_s)).collect();
        waits_s.sort_by(f64::total_cmp);
        let completed = run
            .sessions
            .iter()
            .filter(|s| s.kind != Kind::Subagent)
            .filter(|s| s.turns_done == s.turns_planned && s.t_end_s.is_some_and(within));
        let samples: Vec<_> = run.engine.iter().filter(|sample| within(sample.t_s)).collect();
        let mean = |of: fn(&crate::run::EngineSample) -> Option<u64>| {
            let total: u64 = samples.iter().filter_map(|sample| of(sample)).sum();
            total as f64 / samples.len().max(1) as f64
        };
        let per_s = |count: f64| count / window.window_s;
        Outcome {
            hit_share: over(reusable),
            hit_fraction: over(prompt),
            turns_per_s: per_s(served.len() as f64),
            sessions_per_s: per_s(completed.count() as f64),
            uncached_tokens_per_s: per_s((prompt - cached) as f64),
            first_token_s: waits_s.get(waits_s.len() / 2).copied(),
            running: mean(|sample| sample.running),
            waiting: mean(|sample| sample.waiting),
            state: over(reusable).map(|share| self.levels.state(share)),
        }
    }
}

impl Levels {
    /// The state that a share of hits means.
    pub fn state(self, hit_share: f64) -> HitState {
        if hit_share >= self.good {
            HitState::Good
        } else if hit_share < self.trapped {
            HitState::Trapped
        } else {
            HitState::Between
        }
    }
}

#[cfg(test)]
mod tests;
