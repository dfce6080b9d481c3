//! Each clause of the rescue rule from both sides, and the precedence of its outcomes.

use super::*;
use crate::measure::population::StepFunction;
use crate::measure::rescue::{AfterRelease, Pauses};
use crate::measure::rolling::Rolled;
use crate::measure::{LastMeasures, Share};
use crate::rule::outcome::UNMEASURABLE;
use crate::rule::testing::thousandths;
use crate::rule::thresholds::PairedThresholds;

/// R1 at 1.35, seed 0 (Table 9): released at 4550 s and good after it.
fn rescued_run() -> RescueMeasures {
    let span = Span::new(4850.0, 8700.0);
    RescueMeasures {
        before: thousandths(0),
        outstanding_on: 146.0,
        engaged_s: Some(1800.003),
        released_s: Some(4550.0),
        cap: Some(20),
        after: Some(AfterRelease {
            span,
            tiles: crate::measure::tiles::tiles(span, 300.0)
                .into_iter()
                .map(|t| (t, thousandths(999)))
                .collect(),
            follow_up_hits: thousandths(999),
            uncached_tokens_per_s: Some(0.1 * 11_243.0),
            outstanding_mean: 2.0,
            backlog_max: 16.0,
        }),
        pauses: 160,
        sessions_paused: 124,
        pause: Pauses { total_s: 60_000.0, longest_s: Some(900.0) },
        held_max: 134.0,
        held_session_hours: 53.1,
        empty_before_release_s: Some(305.0),
        sessions_failed: 0,
        sessions_refused: 0,
        request_errors: 0,
    }
}

fn good_end() -> LastMeasures {
    LastMeasures { span: Span::new(8400.0, 8700.0), hits: thousandths(930), outstanding_end: 2.0 }
}

fn judged(change: impl FnOnce(&mut RescueMeasures, &mut LastMeasures)) -> RescueLabel {
    let (mut run, mut last) = (rescued_run(), good_end());
    change(&mut run, &mut last);
    let (rule, paired) = (RescueTest::default(), PairedThresholds::default());
    judge(&run, &last, Some(true), Some(11_243.0), &rule, &paired)
}

fn label(change: impl FnOnce(&mut RescueMeasures, &mut LastMeasures)) -> &'static str {
    judged(change).labelled.label
}

fn with_after(change: impl FnOnce(&mut AfterRelease)) -> RescueLabel {
    judged(|run, _| {
        if let Some(after) = &mut run.after {
            change(after);
        }
    })
}

#[test]
fn a_run_that_is_valid_released_and_good_after_is_rescued() {
    assert_eq!(label(|_, _| {}), "RESCUED");
}

#[test]
fn validity_needs_misses_and_a_crowd_at_t_on_on_the_registered_hardware() {
    assert_eq!(label(|r, _| r.before = thousandths(199)), "RESCUED");
    assert_eq!(label(|r, _| r.before = thousandths(200)), "INVALID");
    assert_eq!(label(|r, _| r.outstanding_on = 51.0), "RESCUED");
    assert_eq!(label(|r, _| r.outstanding_on = 50.0), "INVALID");
    let (rule, paired) = (RescueTest::default(), PairedThresholds::default());
    let on = |hardware| {
        judge(&rescued_run(), &good_end(), hardware, Some(11_243.0), &rule, &paired).labelled.label
    };
    assert_eq!((on(Some(false)), on(None)), ("INVALID", "RESCUED"));
}

#[test]
fn the_release_must_come_by_7200_s() {
    assert_eq!(label(|r, _| r.released_s = Some(7200.0)), "RESCUED");
    assert_eq!(label(|r, _| r.released_s = Some(7210.0)), "NOT RELEASED");
    let never = judged(|r, _| (r.released_s, r.after) = (None, None));
    assert_eq!((never.labelled.label, never.released), ("NOT RELEASED", false));
    assert_eq!(never.labelled.deciding().unwrap().holds, Some(false));
}

#[test]
fn every_tile_must_hit_half_and_one_below_a_fifth_is_a_relapse() {
    let tile = |hits| with_after(|a| a.tiles[3].1 = thousandths(hits));
    assert_eq!(tile(500).labelled.label, "RESCUED");
    assert_eq!(tile(499).labelled.label, "NOT POST-GOOD");
    assert_eq!((tile(200).labelled.label, tile(200).relapse), ("NOT POST-GOOD", Some(false)));
    assert_eq!((tile(199).labelled.label, tile(199).relapse), ("RELAPSE", Some(true)));
}

#[test]
fn a_tile_without_a_follow_up_fails_but_is_no_relapse() {
    let empty = with_after(|a| a.tiles[3].1 = Share::default());
    assert_eq!((empty.labelled.label, empty.relapse), ("NOT POST-GOOD", Some(false)));
}

#[test]
fn the_whole_interval_must_hit_above_four_fifths_at_under_half_the_all_miss_rate() {
    let hits = |h| with_after(|a| a.follow_up_hits = thousandths(h)).labelled.label;
    assert_eq!((hits(801), hits(800)), ("RESCUED", "NOT POST-GOOD"));
    let rate = |r: f64| with_after(|a| a.uncached_tokens_per_s = Some(r * 11_243.0)).labelled.label;
    assert_eq!((rate(0.4999), rate(0.5001)), ("RESCUED", "NOT POST-GOOD"));
    assert_eq!(with_after(|a| a.uncached_tokens_per_s = None).labelled.label, UNMEASURABLE);
}

#[test]
fn the_run_must_be_recovered_at_its_end() {
    assert_eq!(label(|_, l| l.outstanding_end = 19.9), "RESCUED");
    assert_eq!(label(|_, l| l.outstanding_end = 20.0), "NOT POST-GOOD");
    assert_eq!(label(|_, l| l.hits = thousandths(800)), "NOT POST-GOOD");
}

#[test]
fn a_control_is_stuck_below_a_fifth_unless_it_recovered_at_the_end() {
    let control = |hits, last: LastMeasures| {
        let control = ControlMeasures::with_hits(thousandths(hits));
        judge_control(&control, &last, &RescueTest::default(), &PairedThresholds::default()).label
    };
    let bad_end = LastMeasures { hits: thousandths(0), outstanding_end: 220.0, ..good_end() };
    assert_eq!(control(199, bad_end), "STUCK");
    assert_eq!(control(200, bad_end), "NOT STUCK");
    assert_eq!(control(199, good_end()), "NOT STUCK");
}

fn seed(multiple: f64, seed: u64, rescue: RescueLabel) -> RescueSeed {
    RescueSeed {
        multiple,
        seed,
        rescue: Some(rescue),
        control_stuck: Some(true),
        unpaired: Vec::new(),
        shed: 0,
    }
}

fn relapsed() -> RescueLabel {
    with_after(|a| a.tiles[0].1 = thousandths(100))
}

fn unreleased() -> RescueLabel {
    judged(|r, _| (r.released_s, r.after) = (None, None))
}

fn not_good() -> RescueLabel {
    with_after(|a| a.tiles[0].1 = thousandths(300))
}

/// Six seeds over two rates; those given replace the first ones of the first rate.
fn r1(first: Vec<RescueLabel>) -> Vec<RescueSeed> {
    let given = first.len() as u64;
    let mut seeds: Vec<_> = (0..).zip(first).map(|(s, label)| seed(1.35, s, label)).collect();
    seeds.extend((given..3).map(|s| seed(1.35, s, judged(|_, _| {}))));
    seeds.extend((0..3).map(|s| seed(1.65, s, judged(|_, _| {}))));
    seeds
}

fn word(seeds: &[RescueSeed], rule: &RescueTest) -> String {
    decide(seeds, rule).word
}

#[test]
fn a_test_passes_with_two_of_three_rescued_at_every_rate_and_every_control_stuck() {
    let rule = RescueTest::default();
    assert_eq!(word(&r1(vec![]), &rule), "PASS");
    assert_eq!(word(&r1(vec![not_good()]), &rule), "PASS");
    assert_eq!(word(&r1(vec![not_good(), not_good()]), &rule), "NOT MET");
    let mut seeds = r1(vec![]);
    seeds[0].control_stuck = Some(false);
    assert_eq!(word(&seeds, &rule), "NOT MET");
    seeds[0].control_stuck = None;
    let missing = decide(&seeds, &rule);
    assert_eq!(missing.word, "not decidable");
    assert_eq!(missing.set_aside, ["rate 1.35 seed 0: no usable BURST control"]);
}

#[test]
fn two_relapses_or_two_late_releases_refute_even_where_the_rates_pass() {
    let rule = RescueTest::default();
    // One at each rate: both rates still pass 2 of 3, the refutation outranks them.
    let spread = |bad: RescueLabel| {
        let mut seeds = r1(vec![bad.clone()]);
        seeds[3] = seed(1.65, 0, bad);
        seeds
    };
    assert_eq!(word(&r1(vec![relapsed()]), &rule), "PASS");
    assert_eq!(word(&spread(relapsed()), &rule), "REFUTED");
    assert_eq!(word(&spread(unreleased()), &rule), "REFUTED");
    let r4 = RescueTest { refuted_by_unreleased: None, ..rule };
    assert_eq!(word(&spread(unreleased()), &r4), "PASS");
}

#[test]
fn a_failed_session_withdraws_the_claim_that_nothing_was_shed_and_not_the_pass() {
    let mut seeds = r1(vec![]);
    seeds[4].shed = 1;
    let outcome = decide(&seeds, &RescueTest::default());
    assert_eq!(outcome.word, "PASS");
    assert!(outcome.notes[0].starts_with("the claim that nothing was shed is withdrawn"));
    let clean = decide(&r1(vec![]), &RescueTest::default());
    assert!(clean.notes[0].starts_with("no session"));
}

#[test]
fn an_unpaired_seed_is_set_aside_with_what_differs() {
    let mut seeds = r1(vec![]);
    seeds[0].unpaired = vec!["the rate".into()];
    let outcome = decide(&seeds, &RescueTest::default());
    assert_eq!(outcome.word, "not decidable");
    assert_eq!(outcome.set_aside, ["rate 1.35 seed 0: not a pair: the rate differ"]);
}

fn identity(plan: &str, base: &str) -> PairedIdentity {
    PairedIdentity {
        plan: PlanIdentity {
            file_sha256: Some(plan.into()),
            all_sha256: Some(plan.into()),
            base_sha256: Some(base.into()),
        },
        rate: (Some(1.35), Some(0.0715), Some(0.0966)),
        gpu: Some("A100".into()),
        burst_start_s: 1200.0,
    }
}

#[test]
fn pairing_asks_for_the_same_plan_rate_hardware_and_burst() {
    let (rescue, noburst) = (identity("p", "b"), identity("q", "b"));
    assert!(unpaired(&rescue, &identity("p", "b"), Some(&noburst)).is_empty());
    assert_eq!(unpaired(&rescue, &identity("x", "b"), None), ["the BURST plan"]);
    let other_base = identity("q", "c");
    assert_eq!(unpaired(&rescue, &rescue, Some(&other_base)), ["the NOBURST plan's base sessions"]);
    let other_gpu = PairedIdentity { gpu: Some("H200".into()), ..rescue.clone() };
    assert_eq!(unpaired(&rescue, &other_gpu, None), ["the hardware"]);
    let later = PairedIdentity { burst_start_s: 1300.0, ..rescue.clone() };
    assert_eq!(unpaired(&rescue, &later, None), ["the time of the burst"]);
    let mut unknown = rescue.clone();
    unknown.plan = PlanIdentity { file_sha256: None, all_sha256: None, base_sha256: None };
    assert_eq!(unpaired(&rescue, &unknown, None), ["the BURST plan (unknown)"]);
}

#[test]
fn the_mechanical_check_looks_at_the_gate_alone() {
    let failing = |change: &dyn Fn(&mut RescueMeasures)| -> Vec<&'static str> {
        let mut run = rescued_run();
        change(&mut run);
        let clauses = mechanics(&run, &RescueTest::default());
        clauses.into_iter().filter(|c| c.holds != Some(true)).map(|c| c.quantity).collect()
    };
    assert!(failing(&|_| {}).is_empty());
    assert_eq!(failing(&|r| r.engaged_s = Some(1810.1)), ["engage time off t_on"]);
    assert_eq!(failing(&|r| r.released_s = Some(4554.0)), ["release off the grid"]);
    assert_eq!(failing(&|r| r.released_s = Some(2390.0)), ["capped for"]);
    assert_eq!(
        failing(&|r| r.empty_before_release_s = Some(299.0)),
        ["queues empty before the release"]
    );
    assert_eq!(failing(&|r| r.request_errors = 1), ["request errors"]);
}

#[test]
fn recovered_is_first_seen_at_a_look_with_hits_and_little_outstanding_under_the_cap() {
    let looks: Vec<Rolled<Share>> = [(0, 100.0), (900, 110.0), (900, 120.0), (900, 130.0)]
        .map(|(hits, end_s)| Rolled { end_s, value: thousandths(hits) })
        .into();
    // 40 outstanding until 115 s: at the next look there are none. (Their mean over the last
    // 20 s would stay at 20 or above until 125 s.)
    let outstanding = StepFunction::from_changes(vec![(0.0, 40.0), (115.0, -40.0)]);
    let first = |capped: Span| {
        first_recovered_s(&looks, &outstanding, capped, 20.0, &PairedThresholds::default())
    };
    assert_eq!(first(Span::new(50.0, 200.0)), Some(120.0));
    assert_eq!(first(Span::new(120.0, 200.0)), Some(130.0));
    assert_eq!(first(Span::new(50.0, 115.0)), None);
}
