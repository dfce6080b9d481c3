//! The mirror test: a step-capped workload must show a blackout, a wave and a lull
//! where model F puts them (M1 to M4, App. C), with secondary checks W5 to W10.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::measure::{population, span};
use crate::setup::Span;

use super::clause::{Clause, Comparison, all_hold};
use super::endpoint::Endpoints;
use super::in_words;
use super::outcome::{Group, Labelled, Outcome, UNMEASURABLE};
use super::registered::{
    Candidate, Case, Evidence, Judged, Measurable, MeasuringTest, RegisteredTest, Role, placed,
};
use super::thresholds::PairedThresholds;
use super::vote::{Quorum, RateVerdict, tally};

mod checks;

use checks::{earlier_at_the_lower_rate, primary, secondary};

/// The mirror test's rule and secondary checks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MirrorTest {
    /// M1's window: the blackout.
    #[serde(default = "blackout")]
    pub blackout_s: Span,
    /// M1: completions in it at most this, in lambda_ref.
    #[serde(default = "m1")]
    pub blackout_at_most: f64,
    /// M2: the wave within this times model F's elapsed time.
    #[serde(default = "m2")]
    pub wave_tolerance: f64,
    /// M3's window: the lull.
    #[serde(default = "lull")]
    pub lull_s: Span,
    /// M3: completions in it at most this, in lambda_ref.
    #[serde(default = "m3")]
    pub lull_at_most: f64,
    /// M4's window.
    #[serde(default = "slope_window")]
    pub slope_window_s: Span,
    /// CURVE: completions in both windows at least this, in lambda_ref.
    #[serde(default = "m3")]
    pub curve_at_least: f64,
    /// Model F's all-miss rate for the workload, in lambda_ref: the quasi-static
    /// reading of M4 subtracts it from the plan's rate.
    pub lambda_miss: f64,
    /// When a run is stuck.
    #[serde(default)]
    pub endpoints: Endpoints,
    /// Seeds for a cell's verdict.
    #[serde(default)]
    pub seeds: Quorum,
    /// The rate whose verdict decides; the others are secondary.
    pub decisive: f64,
    /// W5: factor on model F's elapsed time.
    #[serde(default = "w5_factor")]
    pub calibrated_factor: f64,
    /// W5: the wave within this times the calibrated elapsed time.
    #[serde(default = "w5")]
    pub calibrated_tolerance: f64,
    /// W7: mean prompt within this share of model F's.
    #[serde(default = "w5")]
    pub prompt_tolerance: f64,
    /// W8: late completions within this of model F's, in lambda_ref.
    #[serde(default = "w8")]
    pub completions_tolerance: f64,
    /// W10: the measured all-miss rate of the workload, in lambda_ref, if known.
    #[serde(default)]
    pub measured_lambda_miss: Option<f64>,
    /// Model F's values per rate and seed.
    pub predictions: Vec<MirrorPrediction>,
}

fn blackout() -> Span {
    Span::new(2400.0, 3600.0)
}
fn lull() -> Span {
    Span::new(6600.0, 8700.0)
}
fn slope_window() -> Span {
    Span::new(6000.0, 8700.0)
}
fn m1() -> f64 {
    0.30
}
fn m2() -> f64 {
    0.15
}
fn m3() -> f64 {
    0.85
}
fn w5_factor() -> f64 {
    0.9223
}
fn w5() -> f64 {
    0.05
}
fn w8() -> f64 {
    0.25
}

/// What was frozen for one run of the mirror test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MirrorPrediction {
    /// Rate, a multiple of lambda_ref.
    pub rate: f64,
    /// The seed.
    pub seed: u64,
    /// F: median completion time of the burst's sessions, s.
    pub wave_s: f64,
    /// Backlog slope over M4's window, sessions/s.
    pub slope_per_s: f64,
    /// Completions over M3's window, in lambda_ref; W8 is not judged without it.
    #[serde(default)]
    pub lull: Option<f64>,
    /// Mean prompt over the evaluation window, tokens; W7 is not judged without it.
    #[serde(default)]
    pub mean_prompt_tokens: Option<f64>,
    /// SHA-256 of the plan it was computed from; a run of another plan does not count.
    #[serde(default)]
    pub plan_sha256: Option<String>,
}

/// What the test measures.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct MirrorMeasures {
    /// Completions over the blackout, in lambda_ref.
    pub blackout: f64,
    /// Completions over the lull, in lambda_ref.
    pub lull: f64,
    /// Median completion time of the burst's sessions, s.
    pub wave_s: Option<f64>,
    /// Backlog slope over the test's slope window, sessions/s.
    pub slope_per_s: Option<f64>,
    /// Base arrivals of the plan over it, sessions/s.
    pub plan_rate_per_s: f64,
    /// Mean prompt over the evaluation window, tokens.
    pub mean_prompt_tokens: Option<f64>,
}

impl RegisteredTest for MirrorTest {
    fn words(&self) -> &'static str {
        "mirror"
    }

    fn in_words(&self, _: &PairedThresholds) -> String {
        format!(
            "The step-capped workload shows what model F says: a blackout over {} (completions at \
             most {} lambda_ref), a wave within {} % of its time, a lull over {} (at most {}), and a \
             backlog slope over {} closer to model F's than to the quasi-static one; in {} seeds \
             at rate {}.",
            in_words::span(self.blackout_s),
            self.blackout_at_most,
            in_words::percent(self.wave_tolerance),
            in_words::span(self.lull_s),
            self.lull_at_most,
            in_words::span(self.slope_window_s),
            in_words::of(self.seeds),
            self.decisive
        )
    }

    fn role(&self, run: &Candidate<'_>) -> Role {
        run.burst_or_control()
    }

    /// A call per seed, a verdict per rate; the decisive rate's is the test's.
    fn judge(&self, case: &Case<'_>, evidence: &[Evidence<'_>]) -> Judged {
        let mut judged = Judged::labelled(evidence, |e| self.label(e, case));
        for (i, e) in evidence.iter().enumerate().filter(|(_, e)| e.role == Role::Subject) {
            if let (Some(run), Some(frozen)) = (MirrorTest::found(e), self.frozen(e)) {
                judged.secondary[i] = secondary(run, frozen, e.burst_start_s, self);
            }
        }
        let (subjects, set_aside) = placed(evidence, Role::Subject, Evidence::place);
        let mut rates: BTreeMap<u64, Vec<(usize, &Evidence<'_>)>> = BTreeMap::new();
        for (i, e) in subjects {
            rates.entry(e.rate_and_seed().0).or_default().push((i, e));
        }
        let groups = rates
            .values()
            .map(|runs| {
                let labels = runs.iter().filter_map(|(i, _)| judged.labels[*i].as_ref());
                let rate = runs[0].1.multiple();
                (rate, decide_rate(rate, &labels.collect::<Vec<_>>(), self))
            })
            .collect();
        let mut outcome = decide(groups, self);
        outcome.notes = notes(&rates, evidence, &judged);
        judged.with(outcome, set_aside)
    }

    fn tables(&self) -> &'static [&'static str] {
        &["mirror"]
    }
}

impl MeasuringTest for MirrorTest {
    type Measures = MirrorMeasures;

    fn measure(&self, on: &Measurable<'_>) -> Option<MirrorMeasures> {
        let done = |window: Span| {
            span::completions(on.run, window) as f64
                / window.length_s()
                / on.registration.lambda_ref_per_s
        };
        let slope = || {
            let backlog = population::in_system(on.run);
            span::backlog_slope_per_s(&backlog, self.slope_window_s, on.protocol.bins.backlog_s)
        };
        let window = on.measures.window.as_ref();
        Some(MirrorMeasures {
            blackout: done(self.blackout_s),
            lull: done(self.lull_s),
            wave_s: span::burst_wave_s(on.run),
            slope_per_s: on.reached(self.slope_window_s.end_s).then(slope).flatten(),
            plan_rate_per_s: span::base_arrivals_per_s(on.run, self.slope_window_s),
            mean_prompt_tokens: window.and_then(|w| w.mean_prompt_tokens),
        })
    }
}

impl MirrorTest {
    fn frozen(&self, run: &Evidence<'_>) -> Option<&MirrorPrediction> {
        let of_run = |p: &&MirrorPrediction| {
            (p.rate - run.multiple()).abs() < 1e-6 && p.seed == run.meta.seed
        };
        self.predictions.iter().find(of_run)
    }

    fn label(&self, run: &Evidence<'_>, case: &Case<'_>) -> Option<Labelled> {
        if run.role == Role::Control {
            return self.endpoints.label(run, case);
        }
        let frozen = self.frozen(run);
        // A run of another plan than the frozen one was not predicted.
        let asked = frozen.and_then(|p| p.plan_sha256.as_ref());
        if asked.is_some_and(|asked| run.meta.plan_sha256.as_ref() != Some(asked)) {
            return Some(Labelled::unmeasurable("its plan is not the one that was frozen"));
        }
        let Some((found, frozen)) = MirrorTest::found(run).zip(frozen) else {
            return Some(Labelled::unmeasurable("nothing was frozen for its rate and seed"));
        };
        let stuck = self.endpoints.is_stuck(run, case);
        let lambda_ref = case.registration.lambda_ref_per_s;
        Some(judge(stuck, found, frozen, lambda_ref, run.burst_start_s, self))
    }
}

/// W6 over the lowest and the highest rate, and W9 over the NOBURST controls.
fn notes(
    rates: &BTreeMap<u64, Vec<(usize, &Evidence<'_>)>>,
    evidence: &[Evidence<'_>],
    judged: &Judged,
) -> Vec<String> {
    let waves = |runs: &Vec<(usize, &Evidence<'_>)>| -> BTreeMap<u64, f64> {
        let wave = |e: &Evidence<'_>| Some((e.meta.seed, MirrorTest::found(e)?.wave_s?));
        runs.iter().filter_map(|(_, e)| wave(e)).collect()
    };
    let mut notes = Vec::new();
    if let (Some(low), Some(high)) = (rates.values().next(), rates.values().next_back())
        && rates.len() > 1
    {
        let shifts = earlier_at_the_lower_rate(&waves(low), &waves(high));
        let held = shifts.iter().filter(|c| c.holds == Some(true)).count();
        let by: Vec<String> =
            shifts.iter().filter_map(|c| c.measured.map(|s| format!("{s:.0}"))).collect();
        notes.push(format!("W6 held in {held} of {} seeds, by {} s", shifts.len(), by.join(", ")));
    }
    let controls: Vec<_> = evidence
        .iter()
        .zip(&judged.labels)
        .filter(|(e, _)| e.counts && e.role == Role::Control)
        .collect();
    let good =
        controls.iter().filter(|(_, l)| l.as_ref().is_some_and(|l| l.label == "GOOD")).count();
    notes.push(format!("W9: {good} of {} NOBURST controls are good", controls.len()));
    notes
}

/// The call on a seed: NOT-TRAPPED, RENEWAL, CURVE or MIXED.
///
/// A run that is not stuck is NOT-TRAPPED before anything else is asked: in the good
/// state it completes what arrives, which would read as CURVE and leave NO-TRAP empty.
fn judge(
    stuck: Option<bool>,
    run: &MirrorMeasures,
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
    match (stuck, all_hold(&checks)) {
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

/// The verdict on one rate: PASS, FAIL, NO-TRAP, MIXED or not decidable.
fn decide_rate(rate: f64, calls: &[&Labelled], rule: &MirrorTest) -> Group {
    let count = |word: &str| {
        tally(calls.iter().map(|c| (c.label != UNMEASURABLE).then(|| c.label == word)), rule.seeds)
    };
    let renewal = count("RENEWAL");
    let (curve, untrapped) = (count("CURVE"), count("NOT-TRAPPED"));
    let verdict = match (renewal.verdict, curve.verdict, untrapped.verdict) {
        (RateVerdict::NotDecidable, ..) => RateVerdict::NotDecidable.words(),
        (RateVerdict::Pass, ..) => "PASS",
        (_, RateVerdict::Pass, _) => "FAIL",
        (.., RateVerdict::Pass) => "NO-TRAP",
        _ => "MIXED",
    };
    let role = if (rate - rule.decisive).abs() < 1e-6 { "decisive cell" } else { "secondary cell" };
    let because = format!(
        "{role}; RENEWAL in {}, CURVE in {}, NOT-TRAPPED in {} of {} seeds",
        renewal.met, curve.met, untrapped.met, renewal.judged
    );
    Group::of_rate(rate, verdict, because)
}

/// The outcome: the decisive rate's verdict.
fn decide(rates: Vec<(f64, Group)>, rule: &MirrorTest) -> Outcome {
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
