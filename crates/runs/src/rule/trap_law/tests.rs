//! Each score from both sides, and when a group is refuted.

use super::*;

/// Near SGLang 300k at 1.35 lambda_ref (Table 3).
const RUN: TrappedRun = TrappedRun {
    prompt_tokens: (Some(9324.0), 9324.0),
    gap_slope: (Some(0.0132), 0.0132),
    completions_per_s: (0.081, 0.081),
    backlog_slope_per_s: (Some(0.0157), 0.0157),
    realized_per_s: 0.0967,
    lambda_ref_per_s: 0.071534,
    slope_threshold_per_s: 0.0125,
};

fn failing(run: TrappedRun) -> Vec<&'static str> {
    let labelled = judge(&run, &TrapLawTest::default());
    let missed: Vec<_> =
        labelled.clauses.iter().filter(|c| c.holds != Some(true)).map(|c| c.quantity).collect();
    assert_eq!(labelled.label == "HELD", missed.is_empty());
    missed
}

#[test]
fn a_run_on_the_law_holds_every_score() {
    assert!(failing(RUN).is_empty());
}

#[test]
fn composition_holds_within_eight_percent_per_run() {
    let with =
        |factor: f64| failing(TrappedRun { prompt_tokens: (Some(9324.0 * factor), 9324.0), ..RUN });
    assert!(with(1.0799).is_empty() && with(0.9201).is_empty());
    assert_eq!(with(1.0801), ["S1 mean prompt off the tilted mix"]);
    assert_eq!(with(0.9199), ["S1 mean prompt off the tilted mix"]);
}

#[test]
fn completions_above_lambda_ref_are_asked_at_high_load_only() {
    let at = |load: f64, completions: f64| {
        let run = TrappedRun {
            realized_per_s: load * 0.071534,
            completions_per_s: (completions * 0.071534, 0.081),
            ..RUN
        };
        failing(run).contains(&"S3 completions over lambda_ref")
    };
    assert!(!at(1.1, 1.001) && at(1.1, 1.0) && !at(1.099, 0.9));
}

#[test]
fn the_plug_in_must_be_close_and_on_the_measured_side() {
    // plug-in = 0.0967 - 0.081 = 0.0157, threshold 0.0125.
    let slope = |s| failing(TrappedRun { backlog_slope_per_s: (Some(s), 0.0157), ..RUN });
    assert!(slope(0.0256).is_empty());
    assert_eq!(slope(0.0258), ["S5 slope off the plug-in"]);
    assert_eq!(slope(0.0125), ["S5 plug-in on the measured side of the threshold"]);
    assert!(slope(0.01251).is_empty());
}

fn group(change: impl Fn(&mut TrappedRun), runs: usize) -> (Group, RateVerdict) {
    let mut run = RUN;
    change(&mut run);
    decide_group("1.35", &vec![run; runs], &TrapLawTest::default())
}

#[test]
fn pooled_composition_within_five_percent_and_gap_slope_within_its_band_or_refuted() {
    let verdict = |change: &dyn Fn(&mut TrappedRun)| group(change, 2).1;
    assert_eq!(verdict(&|_| {}), RateVerdict::Pass);
    assert_eq!(verdict(&|r| r.prompt_tokens.0 = Some(9324.0 * 1.0499)), RateVerdict::Pass);
    assert_eq!(verdict(&|r| r.prompt_tokens.0 = Some(9324.0 * 1.0501)), RateVerdict::Fail);
    for (ratio, expected) in [
        (0.5999, RateVerdict::Fail),
        (0.6001, RateVerdict::Pass),
        (1.3999, RateVerdict::Pass),
        (1.4001, RateVerdict::Fail),
    ] {
        assert_eq!(verdict(&|r| r.gap_slope.0 = Some(0.0132 * ratio)), expected, "{ratio}");
    }
    assert_eq!(verdict(&|r| r.gap_slope.0 = None), RateVerdict::NotDecidable);
}

#[test]
fn s3_and_s4_are_reported_and_do_not_refute() {
    let (found, verdict) = group(
        |r| {
            r.completions_per_s.0 = 0.081 * 1.151;
            r.backlog_slope_per_s.0 = Some(0.0157 * 1.351);
        },
        2,
    );
    assert_eq!(verdict, RateVerdict::Pass);
    assert!(found.because.contains("S3 fails") && found.because.contains("S4 fails"));
    let (found, _) = group(
        |r| {
            r.completions_per_s.0 = 0.081 * 1.149;
            r.backlog_slope_per_s.0 = Some(0.0157 * 0.651);
        },
        2,
    );
    assert!(found.because.contains("S3 holds") && found.because.contains("S4 holds"));
}

#[test]
fn one_trapped_run_is_no_group_and_refutes_nothing() {
    let (found, verdict) = group(|r| r.prompt_tokens.0 = Some(1.0), 1);
    assert_eq!(verdict, RateVerdict::NotDecidable);
    assert_eq!(decide(&[(found, verdict)]).word, "not decidable");
    let (found, verdict) = group(|r| r.prompt_tokens.0 = Some(1.0), 2);
    assert_eq!(decide(&[(found, verdict)]).word, "REFUTED");
    let (found, verdict) = group(|_| {}, 2);
    assert_eq!(decide(&[(found, verdict)]).word, "NOT REFUTED");
}
