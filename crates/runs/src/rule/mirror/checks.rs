//! The clauses of the mirror test: M1 to M4 where model F puts blackout, wave and lull, and
//! the secondary checks W5 to W8 and W10.

use std::collections::BTreeMap;

use crate::rule::clause::{Clause, Comparison};

use super::{MirrorMeasures, MirrorPrediction, MirrorTest};

/// M1 to M4. `burst_start_s`: when the burst starts, from which the wave is timed.
pub(super) fn primary(
    run: &MirrorMeasures,
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

/// W5, W7 and W8 of one run, as far as the frozen values are there.
pub(super) fn secondary(
    run: &MirrorMeasures,
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
pub(super) fn earlier_at_the_lower_rate(
    low: &BTreeMap<u64, f64>,
    high: &BTreeMap<u64, f64>,
) -> Vec<Clause> {
    let shift = |seed: &u64| high.get(seed).zip(low.get(seed)).map(|(h, l)| h - l);
    low.keys()
        .filter_map(shift)
        .map(|s| Clause::new("W6 wave earlier by", "s", Some(s), Comparison::Above(0.0)))
        .collect()
}
