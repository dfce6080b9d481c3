//! The favoured reading from both sides, and CUT-A as published.

use super::*;
use crate::setup::Span;

fn arm(quasi_static: bool, sign: Sign) -> CutArm {
    CutArm {
        name: if quasi_static { "CUT-A" } else { "CUT-B" }.into(),
        multiple: 1.15,
        quasi_static,
        sign,
        sign_window_s: Span::new(5700.0, 8700.0),
    }
}

/// CUT-A as published: S, S late, naive and quasi-static slopes, model F's slope.
const CUT_A: [(f64, f64, f64, f64, f64); 3] = [
    (0.0040, 0.0071, -0.0094, 0.0146, 0.0039),
    (-0.0022, -0.0027, -0.0204, 0.0086, -0.0026),
    (0.0029, 0.0131, -0.0099, 0.0132, 0.0028),
];

fn run(slope: f64, late: f64, naive: f64, quasi: f64, model: f64) -> CutRun {
    let lambda_ref_per_s = 0.071534;
    let plan_rate_per_s = quasi + lambda_ref_per_s;
    CutRun {
        slope_per_s: Some(slope),
        sign_slope_per_s: Some(late),
        stuck: Some(true),
        plan_rate_per_s,
        model_f_slope_per_s: model,
        d_trap_per_s: plan_rate_per_s - naive,
        lambda_ref_per_s,
    }
}

fn verdict(arm: &CutArm, runs: &[CutRun]) -> String {
    let seeds = (0..).zip(runs).map(|(s, r)| (s, judge(r, arm))).collect();
    decide_arm(arm, &seeds, Quorum::TWO_OF_THREE).0.verdict
}

fn published_a() -> Vec<CutRun> {
    CUT_A.iter().map(|(s, l, n, q, m)| run(*s, *l, *n, *q, *m)).collect()
}

#[test]
fn cut_a_passes_as_published_with_all_seeds_for_model_f_and_two_signs() {
    let arm = arm(true, Sign::Positive);
    let labels: Vec<_> = published_a().iter().map(|r| judge(r, &arm)).collect();
    assert!(labels.iter().all(|l| l.labelled.label == "MODEL F"));
    assert_eq!([0, 1, 2].map(|i| labels[i].sign), [Some(true), Some(false), Some(true)]);
    assert_eq!(verdict(&arm, &published_a()), "PASS");
}

#[test]
fn cut_b_compares_with_the_naive_reading_only() {
    let slow = run(-0.0085, -0.0085, -0.033, -0.00886, -0.0095);
    assert_eq!(judge(&slow, &arm(false, Sign::Negative)).labelled.label, "MODEL F");
    // The same run with the quasi-static reading as a comparator favours that.
    assert_eq!(judge(&slow, &arm(true, Sign::Negative)).labelled.label, "QUASI-STATIC");
}

#[test]
fn model_f_has_to_be_strictly_the_closest() {
    // Halves are exact: both readings miss by the same amount.
    let tie = CutRun {
        slope_per_s: Some(0.0),
        sign_slope_per_s: Some(1.0),
        stuck: Some(true),
        plan_rate_per_s: 0.5,
        model_f_slope_per_s: -0.25,
        d_trap_per_s: 0.25,
        lambda_ref_per_s: 2.0,
    };
    let a = arm(true, Sign::Positive);
    assert_eq!(judge(&tie, &a).labelled.label, "NAIVE");
    let nearer = CutRun { model_f_slope_per_s: -0.249, ..tie };
    assert_eq!(judge(&nearer, &a).labelled.label, "MODEL F");
}

#[test]
fn two_signs_are_needed_and_two_runs_that_leave_the_trap_fail_the_arm() {
    let arm = arm(true, Sign::Positive);
    let mut runs = published_a();
    runs[0].sign_slope_per_s = Some(0.0);
    assert_eq!(verdict(&arm, &runs), "MIXED");
    let mut runs = published_a();
    runs[0].stuck = Some(false);
    assert_eq!(judge(&runs[0], &arm).labelled.label, "LEFT THE TRAP");
    assert_eq!(verdict(&arm, &runs), "PASS");
    runs[2].stuck = Some(false);
    assert_eq!(verdict(&arm, &runs), "FAIL");
}

#[test]
fn a_comparator_favoured_in_two_seeds_fails_the_arm() {
    let arm = arm(true, Sign::Positive);
    let mut runs = published_a();
    runs[0].model_f_slope_per_s = 1.0;
    runs[1].model_f_slope_per_s = 1.0;
    assert_eq!(verdict(&arm, &runs), "FAIL");
}

#[test]
fn two_seeds_decide_nothing() {
    let arm = arm(true, Sign::Positive);
    assert_eq!(verdict(&arm, &published_a()[..2]), "not decidable");
    let mut runs = published_a();
    runs[2].slope_per_s = None;
    assert_eq!(verdict(&arm, &runs), "not decidable");
}
