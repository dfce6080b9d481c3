//! Scores of the trap law on runs it had not seen (S1 to S5, App. C).
//!
//! Pooled scores compare the mean of what the runs of a group did with the mean of what
//! was predicted for them. The law's application to a group is refuted if pooled S1 or
//! S2 fails in a group of at least so many trapped runs; the other scores are reported.

use crate::setup::registration::trap::TrapLawTest;

use super::clause::{Clause, Comparison, all_hold};
use super::outcome::{Group, Labelled, Outcome};
use super::pairing::RateVerdict;

/// A trapped run and what model F says of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrappedRun {
    /// Mean prompt over the window, tokens, and the tilted mix's.
    pub prompt_tokens: (Option<f64>, f64),
    /// Gap slope, and gamma.
    pub gap_slope: (Option<f64>, f64),
    /// Completions, and D, sessions/s.
    pub completions_per_s: (f64, f64),
    /// Backlog slope, and alpha, sessions/s.
    pub backlog_slope_per_s: (Option<f64>, f64),
    /// Base arrivals over the window, sessions/s.
    pub realized_per_s: f64,
    /// lambda_ref, sessions/s.
    pub lambda_ref_per_s: f64,
    /// The registered threshold on the backlog slope, sessions/s.
    pub slope_threshold_per_s: f64,
}

impl TrappedRun {
    /// S5's plug-in: realized arrivals less model F's completions, sessions/s.
    pub fn plug_in_per_s(&self) -> f64 {
        self.realized_per_s - self.completions_per_s.1
    }
}

/// The scores of one run: S1, S3 where the load is high enough, and both parts of S5.
pub fn judge(run: &TrappedRun, rule: &TrapLawTest) -> Labelled {
    let composition = run.prompt_tokens.0.map(|p| (p / run.prompt_tokens.1 - 1.0).abs());
    let mut clauses = vec![Clause::new(
        "S1 mean prompt off the tilted mix",
        "",
        composition,
        Comparison::AtMost(rule.composition_per_run),
    )];
    if run.realized_per_s >= rule.load_at_least * run.lambda_ref_per_s {
        clauses.push(Clause::new(
            "S3 completions over lambda_ref",
            "",
            Some(run.completions_per_s.0 / run.lambda_ref_per_s),
            Comparison::Above(1.0),
        ));
    }
    let slope = run.backlog_slope_per_s.0;
    let plug_in = run.plug_in_per_s();
    let line = run.slope_threshold_per_s;
    // The product of the two distances from the line is positive on one side of it.
    let same_side = slope.map(|s| (s > line) == (plug_in > line));
    clauses.push(
        Clause::new(
            "S5 plug-in on the measured side of the threshold",
            "sessions/s",
            Some(plug_in),
            if slope.is_some_and(|s| s > line) {
                Comparison::Above(line)
            } else {
                Comparison::AtMost(line)
            },
        )
        .decided(same_side),
    );
    clauses.push(Clause::new(
        "S5 slope off the plug-in",
        "sessions/s",
        slope.map(|s| (s - plug_in).abs()),
        Comparison::AtMost(rule.plug_in_within_per_s),
    ));
    let label = match all_hold(&clauses) {
        Some(true) => "HELD",
        Some(false) => "MISSED",
        None => super::outcome::UNMEASURABLE,
    };
    Labelled::new(label, clauses)
}

/// The pooled scores of a group of runs: S1 to S4.
pub fn pooled(runs: &[TrappedRun], rule: &TrapLawTest) -> Vec<Clause> {
    let ratio = |of: &dyn Fn(&TrappedRun) -> (Option<f64>, f64)| -> Option<f64> {
        let measured: Option<f64> = runs.iter().map(|r| of(r).0).sum();
        let predicted: f64 = runs.iter().map(|r| of(r).1).sum();
        measured.filter(|_| !runs.is_empty()).map(|m| m / predicted)
    };
    let off = |ratio: Option<f64>| ratio.map(|r| (r - 1.0).abs());
    vec![
        Clause::new(
            "S1 pooled mean prompt off the tilted mix",
            "",
            off(ratio(&|r| r.prompt_tokens)),
            Comparison::AtMost(rule.composition_pooled),
        ),
        Clause::new(
            "S2 pooled gap slope / gamma",
            "",
            ratio(&|r| r.gap_slope),
            Comparison::Within(rule.gap_at_least, rule.gap_at_most),
        ),
        Clause::new(
            "S3 pooled completions off D",
            "",
            off(ratio(&|r| (Some(r.completions_per_s.0), r.completions_per_s.1))),
            Comparison::AtMost(rule.completions_pooled),
        ),
        Clause::new(
            "S4 pooled backlog slope off alpha",
            "",
            off(ratio(&|r| r.backlog_slope_per_s)),
            Comparison::AtMost(rule.slope_pooled),
        ),
    ]
}

/// The verdict on one group (a cell and load).
pub fn decide_group(name: &str, runs: &[TrappedRun], rule: &TrapLawTest) -> (Group, RateVerdict) {
    let scores = pooled(runs, rule);
    let words: Vec<String> = scores
        .iter()
        .map(|c| {
            let verdict = match c.holds {
                Some(true) => "holds",
                Some(false) => "fails",
                None => "unknown",
            };
            let value = c.measured.map_or(String::new(), |x| format!(" ({x:.3})"));
            format!("{} {verdict}{value}", &c.quantity[..2])
        })
        .collect();
    let because = format!("{} trapped runs; pooled {}", runs.len(), words.join(", "));
    let (verdict, rate) = if (runs.len() as u64) < rule.group_at_least {
        ("refutation rule does not apply", RateVerdict::NotDecidable)
    } else {
        match all_hold(&scores[..2]) {
            Some(true) => ("NOT REFUTED", RateVerdict::Pass),
            Some(false) => ("REFUTED", RateVerdict::Fail),
            None => (RateVerdict::NotDecidable.words(), RateVerdict::NotDecidable),
        }
    };
    (Group { name: name.into(), verdict: verdict.into(), because }, rate)
}

/// The outcome over groups: refuted if any group is; not decidable if none could be scored.
pub fn decide(groups: &[(Group, RateVerdict)]) -> Outcome {
    let with = |verdict| groups.iter().filter(move |g| g.1 == verdict).map(|g| g.0.name.clone());
    let refuted: Vec<String> = with(RateVerdict::Fail).collect();
    let scored = with(RateVerdict::Pass).count();
    let (word, because) = if !refuted.is_empty() {
        ("REFUTED", format!("pooled S1 or S2 fails at {}", refuted.join(", ")))
    } else if scored == 0 {
        (RateVerdict::NotDecidable.words(), "no group is large enough to be scored".to_owned())
    } else {
        ("NOT REFUTED", "pooled S1 and S2 hold wherever the rule applies".to_owned())
    };
    Outcome::new(word, because, groups.iter().map(|g| g.0.clone()).collect())
}

#[cfg(test)]
mod tests {
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
        let with = |factor: f64| {
            failing(TrappedRun { prompt_tokens: (Some(9324.0 * factor), 9324.0), ..RUN })
        };
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
}
