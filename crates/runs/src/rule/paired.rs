//! The paired test over arms and seeds: does a rate pass (App. E.5, Table 6)?
//!
//! A rate passes if, in two thirds of at least three seeds, BURST is TRAPPED and
//! NOBURST and CAPPED of that same seed are RECOVERED. With fewer seeds it is not
//! decidable. Two runs that claim the same arm, rate and seed are both set aside.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::setup::Arm;

use super::in_words;
use super::outcome::{Group, Labelled, Outcome, PairedVerdict, SeedOutcome};
use super::registered::{Candidate, Case, Evidence, Judged, RegisteredTest, Role};
use super::state::State;
use super::thresholds::PairedThresholds;
use super::vote::{Tally, tally};

/// BURST, NOBURST and CAPPED at the registration's rates (Table 6). Its thresholds are the
/// registration's, which every kind of test shares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PairedTest {}

impl RegisteredTest for PairedTest {
    fn words(&self) -> &'static str {
        "paired test"
    }

    fn in_words(&self, thresholds: &PairedThresholds) -> String {
        format!(
            "At each rate, in {} of {} seeds: BURST is TRAPPED (arrivals above lambda_ref, uncached \
             token rate within {} % of the all-miss rate, backlog slope above {} times the excess \
             of arrivals over lambda_ref), NOBURST and CAPPED are RECOVERED (hit fraction above {} \
             and fewer than {} sessions outstanding at the end of the window).",
            thresholds.seeds_passing,
            thresholds.seeds_at_least,
            in_words::percent(thresholds.token_rate_tolerance),
            thresholds.slope_factor,
            thresholds.recovered_hit_above,
            thresholds.recovered_outstanding_below,
        )
    }

    fn needs_cap(&self) -> bool {
        true
    }

    fn needs_all_miss_rate(&self) -> bool {
        true
    }

    fn role(&self, run: &Candidate<'_>) -> Role {
        of_an_arm(run)
    }

    fn judge(&self, case: &Case<'_>, evidence: &[Evidence<'_>]) -> Judged {
        let registration = case.registration;
        let runs: Vec<PairedRun> =
            evidence.iter().filter(|e| e.counts).filter_map(PairedRun::of).collect();
        let rates = pair(&runs, &registration.rule);
        let verdicts: Vec<_> = rates.iter().map(|r| r.verdict).collect();
        let outcome = Outcome::of_all("PASS", rates.iter().map(group).collect(), &verdicts);
        let mut set_aside: Vec<String> = rates.iter().flat_map(|r| r.set_aside.clone()).collect();
        for rate in registration.rates {
            if !rates.iter().any(|r| (r.multiple - rate).abs() < 1e-6) {
                set_aside.push(format!("rate {rate:.2} has no run"));
            }
        }
        Judged { rates, ..Judged::labelled(evidence, state_label) }.with(outcome, set_aside)
    }

    fn tables(&self) -> &'static [&'static str] {
        &["paired"]
    }
}

/// A run of one of the three arms, its burst the protocol's.
pub(super) fn of_an_arm(run: &Candidate<'_>) -> Role {
    match run.arm() {
        Arm::NoBurst => Role::Subject,
        Arm::Burst | Arm::Capped => Role::subject(run.has_full_burst()),
        _ => Role::None,
    }
}

fn state_label(run: &Evidence<'_>) -> Option<Labelled> {
    let state = run.state?;
    let clauses = match state.state {
        State::Recovered => state.recovered.clone(),
        State::Draining => state.draining.clone(),
        _ => state.trapped.clone(),
    };
    Some(Labelled { because: state.because.clone(), ..Labelled::new(state.state.word(), clauses) })
}

fn group(rate: &PairedVerdict) -> Group {
    let seed = |s: &SeedOutcome| {
        let words = s.states.map(|state| state.map_or("missing", State::word));
        format!("seed {}: {}", s.seed, words.join(", "))
    };
    let seeds: Vec<String> = rate.seeds.iter().map(seed).collect();
    let (met, judged) = (rate.met, rate.judged);
    let because = format!("all three arms in {met} of {judged} seeds; {}", seeds.join("; "));
    Group::of_rate(rate.multiple, rate.verdict.words(), because)
}

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

impl PairedRun {
    fn of(run: &Evidence<'_>) -> Option<Self> {
        Some(Self {
            arm: run.meta.arm.clone(),
            multiple: run.meta.rate.multiple?,
            seed: run.meta.seed,
            state: run.state?.state,
            name: run.name.clone(),
        })
    }
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
    let Tally { met, judged, verdict } = tally(seeds.iter().map(|s| s.met), rule.quorum());
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
#[path = "paired/tests.rs"]
mod tests;
