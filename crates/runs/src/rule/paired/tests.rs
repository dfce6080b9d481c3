//! Votes over seeds, missing arms and double claims.

use super::*;
use crate::rule::RateVerdict;

fn run(arm: Arm, seed: u64, state: State) -> PairedRun {
    let name = format!("{arm}_{seed}");
    PairedRun { arm, multiple: 1.35, seed, state, name }
}

/// Seeds whose burst is in the given state; the controls are good.
fn seeds(bursts: &[State]) -> Vec<PairedRun> {
    (0..)
        .zip(bursts)
        .flat_map(|(seed, state)| {
            [
                run(Arm::Burst, seed, *state),
                run(Arm::NoBurst, seed, State::Recovered),
                run(Arm::Capped, seed, State::Recovered),
            ]
        })
        .collect()
}

fn verdict(runs: &[PairedRun]) -> PairedVerdict {
    pair(runs, &PairedThresholds::default()).remove(0)
}

use State::{Indeterminate, Recovered, Trapped, Unmeasurable};

#[test]
fn two_of_three_seeds_pass_and_one_does_not() {
    assert_eq!(verdict(&seeds(&[Trapped, Indeterminate, Trapped])).verdict, RateVerdict::Pass);
    assert_eq!(
        verdict(&seeds(&[Trapped, Indeterminate, Indeterminate])).verdict,
        RateVerdict::Fail
    );
}

#[test]
fn two_thirds_holds_for_more_than_three_seeds() {
    let with = |met: usize, of: usize| {
        let states: Vec<_> =
            (0..of).map(|i| if i < met { Trapped } else { Indeterminate }).collect();
        verdict(&seeds(&states)).verdict
    };
    assert_eq!(with(3, 4), RateVerdict::Pass);
    assert_eq!(with(2, 4), RateVerdict::Fail);
    assert_eq!(with(4, 6), RateVerdict::Pass);
    assert_eq!(with(3, 5), RateVerdict::Fail);
}

#[test]
fn fewer_than_three_seeds_are_not_decidable_but_their_states_are_shown() {
    let found = verdict(&seeds(&[Trapped, Trapped]));
    assert_eq!(found.verdict, RateVerdict::NotDecidable);
    assert_eq!(found.seeds[1].states, [Some(Trapped), Some(Recovered), Some(Recovered)]);
}

#[test]
fn a_seed_without_a_control_is_named_and_not_judged() {
    let mut runs = seeds(&[Trapped, Trapped, Trapped]);
    runs.retain(|r| !(r.arm == Arm::Capped && r.seed == 1));
    let found = verdict(&runs);
    assert_eq!((found.verdict, found.judged), (RateVerdict::NotDecidable, 2));
    assert_eq!(found.set_aside, ["seed 1 has no capped run"]);
}

#[test]
fn two_runs_that_claim_one_place_are_both_set_aside() {
    let mut runs = seeds(&[Trapped, Trapped, Trapped]);
    runs.push(run(Arm::Burst, 2, Trapped));
    let found = verdict(&runs);
    assert_eq!((found.verdict, found.judged), (RateVerdict::NotDecidable, 2));
    assert_eq!(found.set_aside, ["several runs claim burst seed 2: burst_2, burst_2"]);
}

#[test]
fn an_unmeasurable_run_is_no_vote_either_way() {
    let found = verdict(&seeds(&[Trapped, Unmeasurable, Trapped]));
    assert_eq!((found.verdict, found.judged, found.met), (RateVerdict::NotDecidable, 2, 2));
}

#[test]
fn a_control_that_is_not_good_loses_the_seed() {
    let mut runs = seeds(&[Trapped, Trapped, Trapped]);
    for run in runs.iter_mut().filter(|r| r.arm == Arm::NoBurst && r.seed < 2) {
        run.state = Indeterminate;
    }
    assert_eq!(verdict(&runs).verdict, RateVerdict::Fail);
}

#[test]
fn rates_are_judged_apart_and_in_order() {
    let mut runs = seeds(&[Trapped, Trapped, Trapped]);
    let faster = seeds(&[Indeterminate, Indeterminate, Indeterminate]);
    runs.splice(0..0, faster.into_iter().map(|r| PairedRun { multiple: 1.65, ..r }));
    let found = pair(&runs, &PairedThresholds::default());
    assert_eq!(found.iter().map(|v| v.multiple).collect::<Vec<_>>(), [1.35, 1.65]);
    assert_eq!(found[0].verdict, RateVerdict::Pass);
    assert_eq!(found[1].verdict, RateVerdict::Fail);
}
