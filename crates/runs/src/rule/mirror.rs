//! The mirror test: a step-capped workload must show a blackout, a wave and a lull
//! where model F puts them (M1 to M4, App. C), with secondary checks W5 to W10.

use std::collections::BTreeMap;

use crate::setup::registration::trap::{MirrorPrediction, MirrorTest};

use super::clause::{Clause, Comparison, all_hold};
use super::outcome::{Group, Labelled, Outcome, UNMEASURABLE};
use super::pairing::RateVerdict;
use super::vote::tally;

/// What a run of the mirror test did.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MirrorRun {
    /// Whether it is stuck; `None` when it cannot say.
    pub stuck: Option<bool>,
    /// Completions over the blackout, in lambda_ref.
    pub blackout: f64,
    /// Median completion time of the burst's sessions, s; `None` if it did not come.
    pub wave_s: Option<f64>,
    /// Completions over the lull, in lambda_ref.
    pub lull: f64,
    /// Backlog slope over M4's window, sessions/s.
    pub slope_per_s: Option<f64>,
    /// Base arrivals of the plan over M4's window per second.
    pub plan_rate_per_s: f64,
    /// Mean prompt over the evaluation window, tokens.
    pub mean_prompt_tokens: Option<f64>,
}

/// M1 to M4. `burst_start_s`: when the burst starts, from which the wave is timed.
pub fn primary(
    run: &MirrorRun,
    frozen: &MirrorPrediction,
    lambda_ref_per_s: f64,
    burst_start_s: f64,
    rule: &MirrorTest,
) -> Vec<Clause> {
    let wave_error = run.wave_s.map(|wave| (wave - frozen.wave_s).abs());
    let allowed = rule.wave_tolerance * (frozen.wave_s - burst_start_s);
    let quasi_static = run.plan_rate_per_s - rule.lambda_miss * lambda_ref_per_s;
    let error = |from: f64| run.slope_per_s.map(|s| (s - from).abs());
    // Closer to model F: the quasi-static error exceeds model F's.
    let to_model = error(frozen.slope_per_s).unwrap_or(0.0);
    vec![
        Clause::new(
            "M1 completions in the blackout",
            "lambda_ref",
            Some(run.blackout),
            Comparison::AtMost(rule.blackout_at_most),
        ),
        // A wave that did not come is not within any time of model F's.
        Clause::new("M2 wave off model F's", "s", wave_error, Comparison::AtMost(allowed))
            .decided(Some(wave_error.is_some_and(|e| e <= allowed))),
        Clause::new(
            "M3 completions in the lull",
            "lambda_ref",
            Some(run.lull),
            Comparison::AtMost(rule.lull_at_most),
        ),
        Clause::new(
            "M4 slope off the quasi-static one",
            "sessions/s",
            error(quasi_static),
            Comparison::Above(to_model),
        ),
    ]
}

/// The call on a seed: NOT-TRAPPED, RENEWAL, CURVE or MIXED.
///
/// A run that is not stuck is NOT-TRAPPED before anything else is asked: in the good
/// state it completes what arrives, which would read as CURVE and leave NO-TRAP empty.
pub fn judge(
    run: &MirrorRun,
    frozen: &MirrorPrediction,
    lambda_ref_per_s: f64,
    burst_start_s: f64,
    rule: &MirrorTest,
) -> Labelled {
    let checks = primary(run, frozen, lambda_ref_per_s, burst_start_s, rule);
    let least = run.blackout.min(run.lull);
    let curve = Clause::new(
        "completions in both windows",
        "lambda_ref",
        Some(least),
        Comparison::AtLeast(rule.curve_at_least),
    );
    match (run.stuck, all_hold(&checks)) {
        (None, _) => Labelled::unmeasurable("whether it is stuck cannot be told"),
        (Some(false), _) => Labelled {
            because: Some("it is not stuck over its window".into()),
            ..Labelled::new("NOT-TRAPPED", Vec::new())
        },
        (Some(true), Some(true)) => Labelled::new("RENEWAL", checks),
        (Some(true), _) if curve.holds == Some(true) => Labelled::new("CURVE", vec![curve]),
        (Some(true), Some(false)) => Labelled::new("MIXED", checks),
        (Some(true), None) => Labelled {
            because: Some("its backlog slope is unknown".into()),
            ..Labelled::new(UNMEASURABLE, checks)
        },
    }
}

/// W5, W7 and W8 of one run, as far as the frozen values are there.
pub fn secondary(
    run: &MirrorRun,
    frozen: &MirrorPrediction,
    burst_start_s: f64,
    rule: &MirrorTest,
) -> Vec<Clause> {
    let elapsed = rule.calibrated_factor * (frozen.wave_s - burst_start_s);
    let off = run.wave_s.map(|wave| (wave - burst_start_s - elapsed).abs());
    let mut clauses = vec![Clause::new(
        "W5 wave off the calibrated time",
        "s",
        off,
        Comparison::AtMost(rule.calibrated_tolerance * elapsed),
    )];
    if let Some(prompt) = frozen.mean_prompt_tokens {
        let off = run.mean_prompt_tokens.map(|p| (p / prompt - 1.0).abs());
        clauses.push(Clause::new(
            "W7 mean prompt off model F's",
            "",
            off,
            Comparison::AtMost(rule.prompt_tolerance),
        ));
    }
    if let Some(lull) = frozen.lull {
        clauses.push(Clause::new(
            "W8 late completions off model F's",
            "lambda_ref",
            Some((run.lull - lull).abs()),
            Comparison::AtMost(rule.completions_tolerance),
        ));
    }
    if let Some(capacity) = rule.measured_lambda_miss {
        clauses.push(Clause::new(
            "W10 late completions below the measured all-miss rate",
            "lambda_ref",
            Some(run.lull),
            Comparison::Below(capacity),
        ));
    }
    clauses
}

/// W6: whether the wave is earlier at the lower rate in every seed that has both.
pub fn earlier_at_the_lower_rate(
    low: &BTreeMap<u64, f64>,
    high: &BTreeMap<u64, f64>,
) -> Vec<Clause> {
    let shift = |seed: &u64| high.get(seed).zip(low.get(seed)).map(|(h, l)| h - l);
    low.keys()
        .filter_map(shift)
        .map(|s| Clause::new("W6 wave earlier by", "s", Some(s), Comparison::Above(0.0)))
        .collect()
}

/// The verdict on one rate: PASS, FAIL, NO-TRAP, MIXED or not decidable.
pub fn decide_rate(rate: f64, calls: &[&Labelled], rule: &MirrorTest) -> (Group, RateVerdict) {
    let count = |word: &str| {
        tally(calls.iter().map(|c| (c.label != UNMEASURABLE).then(|| c.label == word)), rule.seeds)
    };
    let renewal = count("RENEWAL");
    let (curve, untrapped) = (count("CURVE"), count("NOT-TRAPPED"));
    let (verdict, outcome) = if renewal.verdict == RateVerdict::NotDecidable {
        (RateVerdict::NotDecidable.words(), RateVerdict::NotDecidable)
    } else if renewal.verdict == RateVerdict::Pass {
        ("PASS", RateVerdict::Pass)
    } else if curve.verdict == RateVerdict::Pass {
        ("FAIL", RateVerdict::Fail)
    } else if untrapped.verdict == RateVerdict::Pass {
        ("NO-TRAP", RateVerdict::NotDecidable)
    } else {
        ("MIXED", RateVerdict::Fail)
    };
    let role = if (rate - rule.decisive).abs() < 1e-6 { "decisive cell" } else { "secondary cell" };
    let because = format!(
        "{role}; RENEWAL in {}, CURVE in {}, NOT-TRAPPED in {} of {} seeds",
        renewal.met, curve.met, untrapped.met, renewal.judged
    );
    (Group { name: format!("rate {rate:.2}"), verdict: verdict.into(), because }, outcome)
}

/// The outcome: the decisive rate's verdict.
pub fn decide(rates: Vec<(f64, Group)>, rule: &MirrorTest) -> Outcome {
    let decisive = rates.iter().find(|(rate, _)| (rate - rule.decisive).abs() < 1e-6);
    let (word, because) = match decisive {
        Some((_, group)) => (group.verdict.clone(), group.because.clone()),
        None => (
            RateVerdict::NotDecidable.words().to_owned(),
            format!("no run at the decisive rate {:.2}", rule.decisive),
        ),
    };
    Outcome::new(word, because, rates.into_iter().map(|r| r.1).collect())
}

#[cfg(test)]
#[path = "mirror/tests.rs"]
mod tests;
