//! Each mechanism check from both sides, and the frozen rule's count.

use super::*;
use crate::rule::testing::thousandths;

fn burst() -> MechanismRun {
    MechanismRun {
        burst: true,
        gap_over_turnover: Some(6.6),
        follow_up_hits: thousandths(0),
        kv_usage: Some(0.93),
        token_ratio: Some(0.95),
        detector_s: vec![1310.0, 1320.0],
        engine_s: Some(vec![1390.0]),
        burst_start_s: 1200.0,
    }
}

fn good() -> MechanismRun {
    MechanismRun {
        burst: false,
        gap_over_turnover: Some(0.016),
        follow_up_hits: thousandths(997),
        kv_usage: Some(0.4),
        token_ratio: Some(0.09),
        detector_s: vec![70.0],
        engine_s: Some(Vec::new()),
        burst_start_s: 1200.0,
    }
}

fn failed(run: MechanismRun) -> String {
    judge(&run, &MechanismTest::default()).because.unwrap_or_default()
}

#[test]
fn gaps_and_follow_up_hits_part_the_arms() {
    let gap = |g, of: &dyn Fn() -> MechanismRun| {
        failed(MechanismRun { gap_over_turnover: Some(g), ..of() })
    };
    assert_eq!((gap(0.049, &good), gap(0.05, &good)), (String::new(), "(a) failed".into()));
    assert_eq!((gap(2.01, &burst), gap(2.0, &burst)), (String::new(), "(a) failed".into()));
    let hit = |h, of: &dyn Fn() -> MechanismRun| {
        failed(MechanismRun { follow_up_hits: thousandths(h), ..of() })
    };
    assert_eq!((hit(951, &good), hit(950, &good)), (String::new(), "(a) failed".into()));
    assert_eq!((hit(49, &burst), hit(50, &burst)), (String::new(), "(a) failed".into()));
}

#[test]
fn the_trap_rewrites_a_full_pool_at_the_all_miss_rate() {
    let usage = |u| failed(MechanismRun { kv_usage: Some(u), ..burst() });
    assert_eq!((usage(0.90), usage(0.899)), (String::new(), "(b) failed".into()));
    let ratio = |r| failed(MechanismRun { token_ratio: Some(r), ..burst() });
    assert_eq!((ratio(0.851), ratio(0.849)), (String::new(), "(b) failed".into()));
    assert_eq!((ratio(1.149), ratio(1.151)), (String::new(), "(b) failed".into()));
}

#[test]
fn an_alarm_must_follow_the_burst_within_300_s_and_stay_quiet_in_good_arms() {
    let alarm = |t: Vec<f64>| failed(MechanismRun { detector_s: t, ..burst() });
    assert_eq!(alarm(vec![1500.0]), "");
    assert_eq!(alarm(vec![1510.0]), "(c) failed");
    assert_eq!(alarm(vec![]), "(c) failed");
    // An alarm before the burst does not count for it.
    assert_eq!(alarm(vec![900.0]), "(c) failed");
    let quiet = |t: Vec<f64>| failed(MechanismRun { detector_s: t, ..good() });
    assert_eq!((quiet(vec![600.0]), quiet(vec![610.0])), (String::new(), "(c) failed".into()));
}

#[test]
fn the_engine_rule_is_reported_and_does_not_decide() {
    let run = MechanismRun { engine_s: Some(vec![1510.0]), ..burst() };
    let labelled = judge(&run, &MechanismTest::default());
    assert_eq!((labelled.label, labelled.because), ("HELD", Some("(d) failed".into())));
}

#[test]
fn what_cannot_be_told_is_not_held() {
    let run = MechanismRun { kv_usage: None, ..burst() };
    assert_eq!(judge(&run, &MechanismTest::default()).label, UNMEASURABLE);
}

#[test]
fn windows_alarm_below_a_fifth_of_hits_or_above_30_s_to_the_first_token() {
    let rule = MechanismTest::default();
    let window = |end_s, hits| Rolled { end_s, value: thousandths(hits) };
    let empty = Rolled { end_s: 30.0, value: Share::default() };
    assert_eq!(detector_alarms(&[window(10.0, 200), window(20.0, 199), empty], &rule), [20.0]);
    let ttft = |end_s, value| Rolled { end_s, value };
    let waits = [ttft(10.0, Some(30.0)), ttft(20.0, Some(30.1)), ttft(30.0, None)];
    assert_eq!(engine_alarms(&waits, &rule), [20.0]);
}

/// Six BURST and twelve good runs, of which so many fail.
fn outcome(burst_failing: usize, good_failing: usize) -> String {
    let rule = MechanismTest::default();
    let late = |of: MechanismRun| MechanismRun { detector_s: vec![2080.0], ..of };
    let runs: Vec<(bool, Labelled)> = (0..6)
        .map(|i| (true, if i < burst_failing { late(burst()) } else { burst() }))
        .chain((0..12).map(|i| (false, if i < good_failing { late(good()) } else { good() })))
        .map(|(b, run)| (b, judge(&run, &rule)))
        .collect();
    decide(&runs, &rule).word
}

#[test]
fn one_good_run_may_fail_two_may_not_and_no_burst_run_may() {
    assert_eq!(outcome(0, 0), "HELD");
    assert_eq!(outcome(0, 1), "HELD");
    // As published: the detector alarmed in two CAPPED runs.
    assert_eq!(outcome(0, 2), "NOT MET");
    assert_eq!(outcome(1, 0), "NOT MET");
    assert_eq!(decide(&[], &MechanismTest::default()).word, "not decidable");
}
