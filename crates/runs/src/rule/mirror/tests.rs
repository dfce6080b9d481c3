//! M1 to M4 and the secondary checks from both sides, and the published six runs.

use super::*;

const LAMBDA_REF: f64 = 0.071534;
const BURST_S: f64 = 1200.0;

fn rule() -> MirrorTest {
    MirrorTest {
        blackout_s: Span::new(2400.0, 3600.0),
        blackout_at_most: 0.30,
        wave_tolerance: 0.15,
        lull_s: Span::new(6600.0, 8700.0),
        lull_at_most: 0.85,
        slope_window_s: Span::new(6000.0, 8700.0),
        curve_at_least: 0.85,
        lambda_miss: 1.046,
        endpoints: Endpoints::default(),
        seeds: Quorum::TWO_OF_THREE,
        decisive: 1.65,
        calibrated_factor: 0.9223,
        calibrated_tolerance: 0.05,
        prompt_tolerance: 0.05,
        completions_tolerance: 0.25,
        measured_lambda_miss: Some(1.062),
        predictions: Vec::new(),
    }
}

fn frozen(rate: f64, seed: u64, wave_s: f64, lull: f64, slope_per_s: f64) -> MirrorPrediction {
    MirrorPrediction {
        rate,
        seed,
        wave_s,
        slope_per_s,
        lull: Some(lull),
        mean_prompt_tokens: Some(10_000.0),
        plan_sha256: None,
    }
}

fn run(blackout: f64, wave_s: f64, lull: f64, slope: f64, quasi_static: f64) -> MirrorMeasures {
    MirrorMeasures {
        blackout,
        wave_s: Some(wave_s),
        lull,
        slope_per_s: Some(slope),
        plan_rate_per_s: quasi_static + 1.046 * LAMBDA_REF,
        mean_prompt_tokens: Some(10_200.0),
    }
}

/// The six published runs with what was frozen for them (App. C).
fn published() -> Vec<(MirrorMeasures, MirrorPrediction)> {
    vec![
        (run(0.070, 4996.0, 0.592, 0.0767, 0.0478), frozen(1.65, 0, 5195.0, 0.546, 0.0789)),
        (run(0.058, 4945.0, 0.606, 0.0837, 0.0441), frozen(1.65, 1, 5135.0, 0.599, 0.0857)),
        (run(0.093, 5089.0, 0.499, 0.0935, 0.0518), frozen(1.65, 2, 5157.0, 0.486, 0.0930)),
        (run(0.105, 4759.0, 0.619, 0.0557, 0.0274), frozen(1.35, 0, 4883.0, 0.599, 0.0565)),
        (run(0.093, 4673.0, 0.739, 0.0504, 0.0192), frozen(1.35, 1, 4802.0, 0.686, 0.0534)),
        (run(0.163, 4576.0, 0.845, 0.0496, 0.0278), frozen(1.35, 2, 4870.0, 0.726, 0.0603)),
    ]
}

fn call(run: &MirrorMeasures, frozen: &MirrorPrediction) -> Labelled {
    judge(Some(true), run, frozen, LAMBDA_REF, BURST_S, &rule())
}

#[test]
fn the_published_runs_are_all_renewal_and_both_rates_pass() {
    let calls: Vec<Labelled> = published().iter().map(|(r, f)| call(r, f)).collect();
    assert!(calls.iter().all(|c| c.label == "RENEWAL"));
    let rates: Vec<_> = [(1.65, 0..3), (1.35, 3..6)]
        .into_iter()
        .map(|(rate, of)| (rate, decide_rate(rate, &calls[of].iter().collect::<Vec<_>>(), &rule())))
        .collect();
    assert!(rates.iter().all(|(_, g)| g.verdict == "PASS"), "{rates:?}");
    assert_eq!(decide(rates, &rule()).word, "PASS");
}

fn changed(change: impl FnOnce(&mut MirrorMeasures)) -> &'static str {
    let (mut run, frozen) = published().remove(0);
    change(&mut run);
    call(&run, &frozen).label
}

#[test]
fn each_of_m1_to_m4_turns_a_seed_from_both_sides() {
    assert_eq!(
        (changed(|r| r.blackout = 0.30), changed(|r| r.blackout = 0.301)),
        ("RENEWAL", "MIXED")
    );
    // 0.15 (5195 - 1200) = 599.25 s
    let wave = |w| changed(|r| r.wave_s = Some(w));
    assert_eq!((wave(5195.0 + 599.0), wave(5195.0 + 599.5)), ("RENEWAL", "MIXED"));
    assert_eq!((wave(5195.0 - 599.0), wave(5195.0 - 599.5)), ("RENEWAL", "MIXED"));
    assert_eq!(changed(|r| r.wave_s = None), "MIXED");
    assert_eq!((changed(|r| r.lull = 0.85), changed(|r| r.lull = 0.851)), ("RENEWAL", "MIXED"));
    // Halfway between 0.0478 and 0.0789 is 0.06335.
    let slope = |s| changed(|r| r.slope_per_s = Some(s));
    assert_eq!((slope(0.0634), slope(0.0633)), ("RENEWAL", "MIXED"));
    assert_eq!(changed(|r| r.slope_per_s = None), UNMEASURABLE);
}

#[test]
fn m1_and_m3_are_the_published_ceilings_in_completions() {
    let ceiling = |lambda: f64, window: Span| lambda * LAMBDA_REF * window.length_s();
    assert!((ceiling(0.30, rule().blackout_s) - 25.75).abs() < 0.005);
    assert!((ceiling(0.85, rule().lull_s) - 127.7).abs() < 0.05);
}

#[test]
fn a_stuck_run_that_keeps_completing_is_curve_and_an_unstuck_one_not_trapped() {
    let flat = |least: f64| changed(|r| (r.blackout, r.lull) = (least, 1.1));
    assert_eq!((flat(0.85), flat(0.849)), ("CURVE", "MIXED"));
    let (found, frozen) = published().remove(0);
    let full = MirrorMeasures { blackout: 1.0, lull: 1.0, ..found };
    let with = |stuck, run| judge(stuck, run, &frozen, LAMBDA_REF, BURST_S, &rule()).label;
    assert_eq!(with(Some(false), &full), "NOT-TRAPPED");
    assert_eq!(with(None, &found), UNMEASURABLE);
}

#[test]
fn a_rate_passes_fails_or_is_untested_with_two_of_three() {
    let verdict = |words: [&'static str; 3]| {
        let calls: Vec<_> = words.iter().map(|w| Labelled::new(w, Vec::new())).collect();
        decide_rate(1.65, &calls.iter().collect::<Vec<_>>(), &rule()).verdict
    };
    assert_eq!(verdict(["RENEWAL", "RENEWAL", "CURVE"]), "PASS");
    assert_eq!(verdict(["RENEWAL", "CURVE", "CURVE"]), "FAIL");
    assert_eq!(verdict(["RENEWAL", "NOT-TRAPPED", "NOT-TRAPPED"]), "NO-TRAP");
    assert_eq!(verdict(["RENEWAL", "CURVE", "NOT-TRAPPED"]), "MIXED");
    assert_eq!(verdict(["RENEWAL", "RENEWAL", UNMEASURABLE]), "not decidable");
}

#[test]
fn w5_holds_in_the_five_published_runs_that_it_held_in() {
    let w5: Vec<Option<bool>> =
        published().iter().map(|(r, f)| secondary(r, f, BURST_S, &rule())[0].holds).collect();
    let expected = [true, true, false, true, true, true].map(Some);
    assert_eq!(w5, expected);
}

#[test]
fn w7_w8_and_w10_are_judged_from_both_sides() {
    let (run, frozen) = published().remove(0);
    let holds = |run: MirrorMeasures| -> Vec<Option<bool>> {
        secondary(&run, &frozen, BURST_S, &rule())[1..].iter().map(|c| c.holds).collect()
    };
    let yes = Some(true);
    assert_eq!(holds(run), [yes, yes, yes]);
    let far = |tokens| holds(MirrorMeasures { mean_prompt_tokens: Some(tokens), ..run })[0];
    assert_eq!((far(10_499.0), far(10_501.0), far(9_499.0)), (yes, Some(false), Some(false)));
    let late = |lull| holds(MirrorMeasures { lull, ..run });
    assert_eq!(late(0.546 + 0.249)[1], yes);
    assert_eq!(late(0.546 + 0.251)[1], Some(false));
    assert_eq!((late(1.061)[2], late(1.062)[2]), (yes, Some(false)));
}

#[test]
fn w6_asks_for_an_earlier_wave_at_the_lower_rate_in_each_seed() {
    let waves = |of: std::ops::Range<usize>| -> BTreeMap<u64, f64> {
        published()[of].iter().map(|(r, f)| (f.seed, r.wave_s.unwrap())).collect()
    };
    let shifts = earlier_at_the_lower_rate(&waves(3..6), &waves(0..3));
    let measured: Vec<_> = shifts.iter().filter_map(|c| c.measured).collect();
    // Published: 237, 271 and 513 s (from unrounded waves).
    assert_eq!(measured, [237.0, 272.0, 513.0]);
    assert!(shifts.iter().all(|c| c.holds == Some(true)));
    let same = earlier_at_the_lower_rate(&[(0, 5.0)].into(), &[(0, 5.0)].into());
    assert_eq!(same[0].holds, Some(false));
}
