//! Arrivals cut inside the trap: is model F's slope the closest to the measured one
//! (CUT-A, CUT-B; App. C)?

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::measure::{population, span};
use crate::setup::{Arm, Span};

use super::clause::{Clause, Comparison};
use super::endpoint::Endpoints;
use super::in_words;
use super::outcome::{Group, Labelled, Outcome, UNMEASURABLE};
use super::registered::{
    Candidate, Case, Evidence, Judged, Measurable, MeasuringTest, RegisteredTest, Role, placed,
};
use super::thresholds::PairedThresholds;
use super::vote::{Quorum, RateVerdict, tally};

/// Arrivals cut inside the trap.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CutTest {
    /// When arrivals are cut, s.
    #[serde(default = "cut_from_s")]
    pub from_s: f64,
    /// S is the backlog slope over this.
    #[serde(default = "cut_slope_window")]
    pub slope_window_s: Span,
    /// The arms.
    pub arms: Vec<CutArm>,
    /// When a run is still stuck.
    #[serde(default)]
    pub endpoints: Endpoints,
    /// Seeds for each of the rule's conditions.
    #[serde(default)]
    pub seeds: Quorum,
    /// Model F's slope and the trapped throughput of the uncut control, per arm and seed.
    pub predictions: Vec<CutPrediction>,
}

fn cut_from_s() -> f64 {
    2400.0
}

fn cut_slope_window() -> Span {
    Span::new(3000.0, 8700.0)
}

/// One arm of a cut test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CutArm {
    /// Its name.
    pub name: String,
    /// The rate arrivals are cut to, multiples of lambda_ref.
    pub multiple: f64,
    /// Whether the quasi-static reading is a comparator.
    pub quasi_static: bool,
    /// The sign the slope must have ...
    pub sign: Sign,
    /// ... over this.
    pub sign_window_s: Span,
}

/// A sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sign {
    /// Above 0.
    Positive,
    /// Below 0.
    Negative,
}

/// What was frozen for one run of a cut test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CutPrediction {
    /// The arm's name.
    pub arm: String,
    /// The seed.
    pub seed: u64,
    /// Model F's slope over the slope window, sessions/s.
    pub model_f_slope_per_s: f64,
    /// D_trap of the same seed's uncut control, sessions/s.
    pub d_trap_per_s: f64,
}

/// What the test measures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CutMeasures {
    /// Backlog slope over the test's slope window, sessions/s.
    pub slope_per_s: Option<f64>,
    /// The same over the sign window of each of the test's arms.
    pub sign_slopes: Vec<Option<f64>>,
    /// Base arrivals of the plan over the slope window, sessions/s.
    pub plan_rate_per_s: f64,
}

impl RegisteredTest for CutTest {
    fn words(&self) -> &'static str {
        "arrival cut"
    }

    fn in_words(&self, _: &PairedThresholds) -> String {
        let arms: Vec<String> =
            self.arms.iter().map(|arm| format!("{} to {}", arm.name, arm.multiple)).collect();
        format!(
            "Arrivals are cut at {} s inside the trap ({}, in lambda_ref): the run stays stuck, \
                 its backlog slope over {} has the sign that model F gives it, and model F's slope \
                 is closer to it than the others', in {} seeds.",
            self.from_s,
            arms.join(", "),
            in_words::span(self.slope_window_s),
            in_words::of(self.seeds)
        )
    }

    fn role(&self, run: &Candidate<'_>) -> Role {
        Role::subject(*run.arm() == Arm::Cut)
    }

    /// The arm by the rate that a run's plan has after the cut, the favoured reading per seed.
    fn judge(&self, case: &Case<'_>, evidence: &[Evidence<'_>]) -> Judged {
        let label = |e: &Evidence<'_>| self.label(e, case);
        let judged = Judged::labelled(evidence, |e| {
            Some(label(e).map_or_else(
                || Labelled::unmeasurable("nothing was frozen for its arm and seed"),
                |l| l.labelled,
            ))
        });
        let arm_of = |e: &Evidence<'_>| self.arm_of(e, case);
        let (subjects, set_aside) = placed(evidence, Role::Subject, |e| {
            let name = arm_of(e).map_or("no arm", |i| self.arms[i].name.as_str());
            format!("{name} seed {}", e.meta.seed)
        });
        let arms: Vec<_> = (0..self.arms.len())
            .map(|i| {
                let own = subjects.iter().filter(|(_, e)| arm_of(e) == Some(i));
                let seeds = own.filter_map(|(_, e)| label(e).map(|l| (e.meta.seed, l))).collect();
                decide_arm(&self.arms[i], &seeds, self.seeds)
            })
            .collect();
        judged.with(decide(&arms), set_aside)
    }

    fn tables(&self) -> &'static [&'static str] {
        &["cut"]
    }
}

impl MeasuringTest for CutTest {
    type Measures = CutMeasures;

    fn measure(&self, on: &Measurable<'_>) -> Option<CutMeasures> {
        let backlog = population::in_system(on.run);
        let bin_s = on.protocol.bins.backlog_s;
        let slope = |window: Span| match on.reached(window.end_s) {
            true => span::backlog_slope_per_s(&backlog, window, bin_s),
            false => None,
        };
        Some(CutMeasures {
            slope_per_s: slope(self.slope_window_s),
            sign_slopes: self.arms.iter().map(|a| slope(a.sign_window_s)).collect(),
            plan_rate_per_s: span::base_arrivals_per_s(on.run, self.slope_window_s),
        })
    }
}

impl CutTest {
    /// The arm whose rate is nearest to a run's after the cut.
    fn arm_of(&self, run: &Evidence<'_>, case: &Case<'_>) -> Option<usize> {
        let rate = CutTest::found(run)?.plan_rate_per_s / case.registration.lambda_ref_per_s;
        let off = |i: &usize| (self.arms[*i].multiple - rate).abs();
        (0..self.arms.len()).min_by(|a, b| off(a).total_cmp(&off(b)))
    }

    /// A run under the rule; `None` where nothing was frozen for it.
    fn label(&self, run: &Evidence<'_>, case: &Case<'_>) -> Option<CutLabel> {
        let found = CutTest::found(run)?;
        let arm = self.arm_of(run, case)?;
        let of_run = |p: &&CutPrediction| p.arm == self.arms[arm].name && p.seed == run.meta.seed;
        let frozen = self.predictions.iter().find(of_run)?;
        let run = CutRun {
            slope_per_s: found.slope_per_s,
            sign_slope_per_s: found.sign_slopes[arm],
            stuck: self.endpoints.is_stuck(run, case),
            plan_rate_per_s: found.plan_rate_per_s,
            model_f_slope_per_s: frozen.model_f_slope_per_s,
            d_trap_per_s: frozen.d_trap_per_s,
            lambda_ref_per_s: case.registration.lambda_ref_per_s,
        };
        Some(judge(&run, &self.arms[arm]))
    }
}

/// What a cut run and its frozen values say.
#[derive(Debug, Clone, Copy, PartialEq)]
struct CutRun {
    /// S: backlog slope over the slope window, sessions/s.
    pub slope_per_s: Option<f64>,
    /// Backlog slope over the arm's sign window, sessions/s.
    pub sign_slope_per_s: Option<f64>,
    /// Whether the run stayed stuck; `None` when it cannot say.
    pub stuck: Option<bool>,
    /// lambda'_plan: base arrivals of its plan over the slope window per second.
    pub plan_rate_per_s: f64,
    /// Model F's frozen slope, sessions/s.
    pub model_f_slope_per_s: f64,
    /// D_trap of the same seed's uncut control, sessions/s.
    pub d_trap_per_s: f64,
    pub lambda_ref_per_s: f64,
}

/// A cut run under the rule.
#[derive(Debug, Clone, PartialEq)]
struct CutLabel {
    /// MODEL F, NAIVE, QUASI-STATIC, LEFT THE TRAP or UNMEASURABLE.
    pub labelled: Labelled,
    /// Whether the slope over the sign window has the arm's sign.
    pub sign: Option<bool>,
}

/// The favoured reading of a run: the one whose slope is closest to the measured one.
/// Model F is favoured only if strictly closest; a run that left the trap favours none.
fn judge(run: &CutRun, arm: &CutArm) -> CutLabel {
    let sign = run.sign_slope_per_s.map(|s| match arm.sign {
        Sign::Positive => s > 0.0,
        Sign::Negative => s < 0.0,
    });
    let labelled = match (run.slope_per_s, run.stuck) {
        (None, _) | (_, None) => Labelled::unmeasurable("its slope or its hits are unknown"),
        (_, Some(false)) => Labelled {
            because: Some("it is not stuck over its window".into()),
            ..Labelled::new("LEFT THE TRAP", Vec::new())
        },
        (Some(slope), Some(true)) => favoured(slope, run, arm),
    };
    CutLabel { labelled, sign }
}

fn favoured(slope: f64, run: &CutRun, arm: &CutArm) -> Labelled {
    let model_error = (slope - run.model_f_slope_per_s).abs();
    let mut comparators =
        vec![("NAIVE", "error of lambda' - D_trap", run.plan_rate_per_s - run.d_trap_per_s)];
    if arm.quasi_static {
        comparators.push((
            "QUASI-STATIC",
            "error of lambda' - lambda_ref",
            run.plan_rate_per_s - run.lambda_ref_per_s,
        ));
    }
    // Each clause: the comparator misses the slope by more than model F does.
    let clauses: Vec<Clause> = comparators
        .iter()
        .map(|(_, quantity, reading)| {
            let error = (slope - reading).abs();
            Clause::new(quantity, "sessions/s", Some(error), Comparison::Above(model_error))
        })
        .collect();
    let closest = comparators
        .iter()
        .zip(&clauses)
        .filter(|(_, clause)| clause.holds == Some(false))
        .min_by(|a, b| a.1.measured.unwrap_or(0.0).total_cmp(&b.1.measured.unwrap_or(0.0)))
        .map(|((word, ..), _)| *word);
    Labelled::new(closest.unwrap_or("MODEL F"), clauses)
}

/// The verdict on one arm: PASS, FAIL, MIXED or not decidable.
fn decide_arm(
    arm: &CutArm,
    seeds: &BTreeMap<u64, CutLabel>,
    quorum: Quorum,
) -> (Group, RateVerdict) {
    let known = |label: &CutLabel| label.labelled.label != UNMEASURABLE;
    let favours = |label: &CutLabel| known(label).then(|| label.labelled.label == "MODEL F");
    let against = |label: &CutLabel| known(label).then(|| label.labelled.label != "MODEL F");
    let theory = tally(seeds.values().map(favours), quorum);
    let other = tally(seeds.values().map(against), quorum);
    let sign = tally(seeds.values().map(|l| l.sign.filter(|_| known(l))), quorum);
    let (verdict, rate) = match (theory.verdict, sign.verdict, other.verdict) {
        (RateVerdict::Pass, RateVerdict::Pass, _) => ("PASS", RateVerdict::Pass),
        (_, _, RateVerdict::Pass) => ("FAIL", RateVerdict::Fail),
        (RateVerdict::NotDecidable, ..) | (_, RateVerdict::NotDecidable, _) => {
            (RateVerdict::NotDecidable.words(), RateVerdict::NotDecidable)
        }
        _ => ("MIXED", RateVerdict::Fail),
    };
    let because = format!(
        "model F closest in {} of {} seeds, the slope's sign as asked in {} of {}",
        theory.met, theory.judged, sign.met, sign.judged
    );
    (Group::new(&arm.name, verdict, because), rate)
}

/// The outcome over the arms.
fn decide(arms: &[(Group, RateVerdict)]) -> Outcome {
    let verdicts: Vec<_> = arms.iter().map(|a| a.1).collect();
    Outcome::of_all("PASS", arms.iter().map(|a| a.0.clone()).collect(), &verdicts)
}

#[cfg(test)]
#[path = "cut/tests.rs"]
mod tests;
