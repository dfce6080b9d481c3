//! The paired test over arms and seeds: does a rate pass (App. E.5, Table 6)?
//!
//! A rate passes if, in two thirds of at least three seeds, BURST is TRAPPED and
//! NOBURST and CAPPED of that same seed are RECOVERED. With fewer seeds it is not
//! decidable. Two runs that claim the same arm, rate and seed are both set aside.

use std::collections::BTreeMap;

use crate::setup::{Arm, PairedThresholds};

use super::state::State;

/// The three arms of the test, in the order they are printed, with the state it asks of each.
pub const ARMS: [(Arm, State); 3] = [
    (Arm::Burst, State::Trapped),
    (Arm::NoBurst, State::Recovered),
    (Arm::Capped, State::Recovered),
];

/// The place of an arm in [`ARMS`], if it is one of the three.
pub fn place(arm: &Arm) -> Option<usize> {
    ARMS.iter().position(|(of_test, _)| of_test == arm)
}

/// One run as the pairing sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct PairedRun {
    /// Its arm; a run of another than the three is left out.
    pub arm: Arm,
    /// Rate, a multiple of lambda_ref.
    pub multiple: f64,
    /// Seed of its plan.
    pub seed: u64,
    /// Its state.
    pub state: State,
    /// A name for messages.
    pub name: String,
}

/// One seed of one rate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeedOutcome {
    /// The seed.
    pub seed: u64,
    /// The arms' states, in the order of [`ARMS`]; `None` where there is no usable run.
    pub states: [Option<State>; 3],
    /// Whether all three arms met their condition; `None` when one is missing or
    /// cannot be measured.
    pub met: Option<bool>,
}

/// How a rate came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RateVerdict {
    /// Enough seeds met all three conditions.
    Pass,
    /// Enough seeds could be judged, too few met them.
    Fail,
    /// Too few seeds could be judged.
    NotDecidable,
}

impl RateVerdict {
    /// The words of the output.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Pass => "PASS",
            Self::Fail => "FAIL",
            Self::NotDecidable => "not decidable",
        }
    }
}

/// The verdict on one rate.
#[derive(Debug, Clone, PartialEq)]
pub struct PairedVerdict {
    /// The rate, a multiple of lambda_ref.
    pub multiple: f64,
    /// Seeds, in order.
    pub seeds: Vec<SeedOutcome>,
    /// How it came out.
    pub verdict: RateVerdict,
    /// Seeds in which all conditions were met.
    pub met: u64,
    /// Seeds that could be judged.
    pub judged: u64,
    /// Runs that could not be used, and why.
    pub set_aside: Vec<String>,
}

/// Multiples are compared as printed, to 1e-6.
fn rate_key(multiple: f64) -> u64 {
    (multiple * 1e6).round() as u64
}

/// Judges every rate that has a run of the test, in order of rate.
pub fn pair(runs: &[PairedRun], rule: &PairedThresholds) -> Vec<PairedVerdict> {
    let mut rates: BTreeMap<u64, BTreeMap<u64, [Vec<&PairedRun>; 3]>> = BTreeMap::new();
    for run in runs {
        let Some(place) = place(&run.arm) else { continue };
        let seeds = rates.entry(rate_key(run.multiple)).or_default();
        seeds.entry(run.seed).or_default()[place].push(run);
    }
    rates.into_values().map(|seeds| judge_rate(&seeds, rule)).collect()
}

fn judge_rate(
    by_seed: &BTreeMap<u64, [Vec<&PairedRun>; 3]>,
    rule: &PairedThresholds,
) -> PairedVerdict {
    let mut set_aside = Vec::new();
    let mut seeds = Vec::new();
    let mut multiple = 0.0;
    for (seed, by_arm) in by_seed {
        let mut states = [None; 3];
        for (((arm, _), claims), state) in ARMS.iter().zip(by_arm).zip(&mut states) {
            match claims.as_slice() {
                [] => set_aside.push(format!("seed {seed} has no {arm} run")),
                [run] => {
                    multiple = run.multiple;
                    *state = Some(run.state);
                    if run.state == State::Unmeasurable {
                        set_aside.push(format!("{} cannot be measured", run.name));
                    }
                }
                several => {
                    multiple = several[0].multiple;
                    let names: Vec<_> = several.iter().map(|r| r.name.as_str()).collect();
                    let names = names.join(", ");
                    set_aside.push(format!("several runs claim {arm} seed {seed}: {names}"));
                }
            }
        }
        seeds.push(SeedOutcome { seed: *seed, states, met: conditions_met(&states) });
    }
    let judged = seeds.iter().filter(|s| s.met.is_some()).count() as u64;
    let met = seeds.iter().filter(|s| s.met == Some(true)).count() as u64;
    let verdict = if judged < rule.seeds_at_least {
        RateVerdict::NotDecidable
    } else if met * rule.seeds_at_least >= judged * rule.seeds_passing {
        RateVerdict::Pass
    } else {
        RateVerdict::Fail
    };
    PairedVerdict { multiple, seeds, verdict, met, judged, set_aside }
}

fn conditions_met(states: &[Option<State>; 3]) -> Option<bool> {
    let usable = |state: &Option<State>| state.filter(|s| *s != State::Unmeasurable);
    let states: Vec<State> = states.iter().filter_map(usable).collect();
    if states.len() < ARMS.len() {
        return None;
    }
    Some(ARMS.iter().zip(states).all(|((_, needed), state)| state == *needed))
}

#[cfg(test)]
#[path = "pairing/tests.rs"]
mod tests;
