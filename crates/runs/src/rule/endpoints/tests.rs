//! The published outcomes of the dose tests.

use super::*;

use Endpoint::{Good, Neither, Stuck};

fn basin(expect: [(f64, Option<Expected>); 3]) -> EndpointTest {
    EndpointTest {
        arm: "burst".into(),
        dose: Dose::BurstSessions,
        during_s: None,
        doses: expect.map(|(dose, expect)| ExpectedDose { dose, expect, trapped: false }).to_vec(),
        stuck_control: None,
        endpoints: Endpoints::default(),
        seeds: Quorum::TWO_OF_THREE,
        held: "BRACKETED".into(),
    }
}

fn at(dose: f64, endpoints: [Endpoint; 3]) -> Vec<DoseRun> {
    (0..)
        .zip(endpoints)
        .map(|(seed, e)| DoseRun { dose, seed, endpoint: Some(e), trapped: Some(e == Stuck) })
        .collect()
}

/// BASIN-2: 40 good and 60 stuck bracket the boundary; 50 is shown.
fn basin_2(at_40: [Endpoint; 3], at_60: [Endpoint; 3]) -> Outcome {
    let test = basin([(40.0, Some(Expected::Good)), (50.0, None), (60.0, Some(Expected::Stuck))]);
    let runs = [at(40.0, at_40), at(50.0, [Good, Stuck, Good]), at(60.0, at_60)].concat();
    decide(&runs, &BTreeMap::new(), &test)
}

#[test]
fn a_boundary_is_bracketed_by_two_of_three_on_both_sides() {
    assert_eq!(basin_2([Good; 3], [Stuck; 3]).word, "BRACKETED");
    assert_eq!(basin_2([Good, Stuck, Good], [Stuck, Stuck, Neither]).word, "BRACKETED");
    assert_eq!(basin_2([Good, Stuck, Stuck], [Stuck; 3]).word, "NOT MET");
    assert_eq!(basin_2([Good; 3], [Stuck, Good, Neither]).word, "NOT MET");
}

#[test]
fn a_dose_the_rule_does_not_use_is_shown_and_does_not_decide() {
    let outcome = basin_2([Good; 3], [Stuck; 3]);
    assert_eq!(outcome.groups[1].verdict, NOT_USED);
    assert_eq!(outcome.groups[1].because, "seed 0 GOOD, seed 1 STUCK, seed 2 GOOD");
}

#[test]
fn a_co_primary_slope_rule_must_hold_too() {
    let mut test =
        basin([(25.0, Some(Expected::Good)), (50.0, None), (100.0, Some(Expected::Stuck))]);
    test.doses[2].trapped = true;
    let mut runs = [at(25.0, [Good; 3]), at(100.0, [Stuck; 3])].concat();
    assert_eq!(decide(&runs, &BTreeMap::new(), &test).word, "BRACKETED");
    for run in runs.iter_mut().filter(|r| r.seed < 2) {
        run.trapped = Some(false);
    }
    assert_eq!(decide(&runs, &BTreeMap::new(), &test).word, "NOT MET");
}

#[test]
fn a_slowdown_that_traps_one_of_three_does_not_meet_its_rule() {
    let test = basin([(10.0, Some(Expected::Good)), (20.0, None), (30.0, Some(Expected::Stuck))]);
    let runs = [at(10.0, [Good; 3]), at(30.0, [Good, Good, Stuck])].concat();
    let outcome = decide(&runs, &BTreeMap::new(), &test);
    assert_eq!(outcome.word, "NOT MET");
    assert_eq!(outcome.groups[2].because, "STUCK in 1 of 3 seeds");
}

#[test]
fn a_seed_votes_only_with_a_stuck_control_where_one_is_asked_for() {
    let mut test =
        basin([(600.0, Some(Expected::Stuck)), (0.0, None), (3600.0, Some(Expected::Good))]);
    test.stuck_control = Some("burst".into());
    test.seeds = Quorum { needed: 2, of: 2 };
    let runs = [at(600.0, [Stuck; 3]), at(3600.0, [Good; 3])].concat();
    let runs: Vec<_> = runs.into_iter().filter(|r| r.seed < 2).collect();
    let with = |first: Option<Option<bool>>| {
        let mut controls: BTreeMap<u64, Option<bool>> = [(1, Some(true))].into();
        controls.extend(first.map(|stuck| (0, stuck)));
        decide(&runs, &controls, &test)
    };
    assert_eq!(with(Some(Some(true))).word, "BRACKETED");
    assert_eq!(with(None).word, "not decidable");
    let unstuck = with(Some(Some(false)));
    assert_eq!(unstuck.word, "not decidable");
    assert!(unstuck.set_aside[0].ends_with("its control is not STUCK"), "{:?}", unstuck.set_aside);
}
