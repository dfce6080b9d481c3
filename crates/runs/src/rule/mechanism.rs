//! The mechanism checks (a) to (d) of the vLLM test (App. E.5): gaps against the pool's
//! turnover, a full pool rewritten at the all-miss rate, an online detector, and an
//! engine-side latency rule. The frozen rule needs (a) to (c); (d) is reported.

use serde::{Deserialize, Serialize};

use crate::measure::alarm::{Alarm, first_alarm};
use crate::measure::rolling::{Rolled, follow_up_hits, mean_first_token_s};
use crate::measure::{Share, population};
use crate::setup::Arm;

use super::clause::{Clause, Comparison, all_hold};
use super::in_words;
use super::outcome::{Group, Labelled, Outcome, UNMEASURABLE};
use super::paired::of_an_arm;
use super::registered::{
    Candidate, Case, Evidence, Judged, Measurable, MeasuringTest, RegisteredTest, Role, placed,
};
use super::thresholds::PairedThresholds;
use super::vote::RateVerdict;

/// The mechanism checks (App. E.5).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MechanismTest {
    /// (a), good arms: median gap over R_M below this ...
    pub good_gap_below: f64,
    /// ... and follow-up hit fraction above this.
    pub good_hit_above: f64,
    /// (a), BURST: median gap over R_M above this ...
    pub burst_gap_above: f64,
    /// ... and follow-up hit fraction below this.
    pub burst_hit_below: f64,
    /// (b), BURST: mean KV usage at least this ...
    pub kv_usage_at_least: f64,
    /// ... and the uncached token rate within this of the all-miss rate.
    pub token_rate_tolerance: f64,
    /// (c): a follow-up hit fraction below this ...
    pub detector_hit_below: f64,
    /// ... over so many seconds is an alarm.
    pub detector_over_s: f64,
    /// (d): a mean time to first token above this ...
    pub engine_ttft_above_s: f64,
    /// ... over so many seconds is an alarm.
    pub engine_over_s: f64,
    /// How often both are looked at, s. Inferred: the printed alarms are multiples of 10 s.
    pub every_s: f64,
    /// (c), (d), BURST: the alarm comes within this of the burst, s.
    pub alarm_within_s: f64,
    /// (c), (d), good arms: no alarm after this time of the run, s.
    pub quiet_after_s: f64,
    /// Good-arm runs that may fail (a) and (c) together.
    pub failing_good_runs: u64,
}

impl Default for MechanismTest {
    fn default() -> Self {
        Self {
            good_gap_below: 0.05,
            good_hit_above: 0.95,
            burst_gap_above: 2.0,
            burst_hit_below: 0.05,
            kv_usage_at_least: 0.90,
            token_rate_tolerance: 0.15,
            detector_hit_below: 0.2,
            detector_over_s: 60.0,
            engine_ttft_above_s: 30.0,
            engine_over_s: 100.0,
            every_s: 10.0,
            alarm_within_s: 300.0,
            quiet_after_s: 600.0,
            failing_good_runs: 1,
        }
    }
}

/// What the test measures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MechanismMeasures {
    /// Largest share of the pool in use over the window.
    pub kv_usage: Option<f64>,
    /// When the detector on hits alarms, s.
    pub detector: Vec<f64>,
    /// When the engine-side one does, s; `None` where first tokens are unknown.
    pub engine: Option<Vec<f64>>,
    /// The first alarm of the detector on hits from the burst on.
    pub first_alarm: Option<Alarm>,
}

impl RegisteredTest for MechanismTest {
    fn words(&self) -> &'static str {
        "mechanism checks"
    }

    fn in_words(&self, _: &PairedThresholds) -> String {
        format!(
            "(a) in good arms the median gap is below {} turnover times, under BURST above {}; (b) \
             under BURST at least {} of the pool is in use and is rewritten within {} % of the \
             all-miss rate; (c) a follow-up hit fraction below {} over {} s alarms within {} s of the \
             burst, and in good arms never after {} s; {} good run may fail. (d), an alarm on the time \
             to the first token, is reported.",
            self.good_gap_below,
            self.burst_gap_above,
            self.kv_usage_at_least,
            in_words::percent(self.token_rate_tolerance),
            self.detector_hit_below,
            self.detector_over_s,
            self.alarm_within_s,
            self.quiet_after_s,
            self.failing_good_runs
        )
    }

    fn of_other_tests(&self) -> bool {
        true
    }

    fn steps(&self) -> Vec<(&'static str, f64)> {
        vec![
            ("test.every_s", self.every_s),
            ("test.detector_over_s", self.detector_over_s),
            ("test.engine_over_s", self.engine_over_s),
        ]
    }

    fn role(&self, run: &Candidate<'_>) -> Role {
        of_an_arm(run)
    }

    /// Over BURST and the good arms.
    fn judge(&self, case: &Case<'_>, evidence: &[Evidence<'_>]) -> Judged {
        let judged = Judged::labelled(evidence, |e| {
            let found = Self::found(e)?;
            Some(match MechanismRun::of(e, found, case) {
                Some(run) => judge(&run, self),
                None => Labelled::unmeasurable("it ended before its window did"),
            })
        });
        let (subjects, set_aside) = placed(evidence, Role::Subject, Evidence::place);
        let runs: Vec<(bool, Labelled)> = subjects
            .iter()
            .filter_map(|(i, e)| judged.labels[*i].clone().map(|label| (is_burst(e), label)))
            .collect();
        judged.with(decide(&runs, self), set_aside)
    }

    fn tables(&self) -> &'static [&'static str] {
        &["detector"]
    }
}

impl MeasuringTest for MechanismTest {
    type Measures = MechanismMeasures;

    fn measure(&self, on: &Measurable<'_>) -> Option<MechanismMeasures> {
        let run = on.run;
        let hits = follow_up_hits(run, 0.0, self.detector_over_s, self.every_s);
        let waits = mean_first_token_s(run, 0.0, self.engine_over_s, self.every_s);
        let known = run.turns.iter().any(|t| t.t_first_s.is_some());
        let held = |t: f64| run.meta.gate.map(|_| population::held_at_gate(run).at(t));
        let burst_s = on.protocol.paired.burst.start_s;
        Some(MechanismMeasures {
            kv_usage: on.measures.window.as_ref().and_then(|w| w.pool_occupancy),
            first_alarm: first_alarm(&hits, self.detector_hit_below, burst_s, held),
            detector: detector_alarms(&hits, self),
            engine: known.then(|| engine_alarms(&waits, self)),
        })
    }
}

fn is_burst(run: &Evidence<'_>) -> bool {
    run.meta.arm == Arm::Burst
}

/// What a run says about the mechanism.
#[derive(Debug, Clone, PartialEq)]
struct MechanismRun {
    /// Whether it is a BURST run; else it is a good arm.
    pub burst: bool,
    /// Median gap over R_M.
    pub gap_over_turnover: Option<f64>,
    /// Follow-up hits over the window.
    pub follow_up_hits: Share,
    /// Mean share of the pool in use over the window.
    pub kv_usage: Option<f64>,
    /// Uncached token rate over the all-miss rate.
    pub token_ratio: Option<f64>,
    /// When the detector alarmed, s.
    pub detector_s: Vec<f64>,
    /// When the engine rule alarmed, s; `None` where first tokens are unknown.
    pub engine_s: Option<Vec<f64>>,
    pub burst_start_s: f64,
}

impl MechanismRun {
    /// Of a run; `None` where it ended before its window did.
    fn of(run: &Evidence<'_>, found: &MechanismMeasures, case: &Case<'_>) -> Option<Self> {
        let window = run.measures.window.as_ref()?;
        let all_miss = case.registration.all_miss_tokens_per_s;
        let token_ratio = window.uncached_tokens_per_s.zip(all_miss).map(|(rate, all)| rate / all);
        Some(Self {
            burst: is_burst(run),
            gap_over_turnover: window.gap_over_turnover,
            follow_up_hits: window.follow_up_hits,
            kv_usage: found.kv_usage,
            token_ratio,
            detector_s: found.detector.clone(),
            engine_s: found.engine.clone(),
            burst_start_s: run.burst_start_s,
        })
    }
}

/// When the detector alarms: the ends of windows with follow-ups and too few hits
/// among them. A window that cannot be told is no alarm.
fn detector_alarms(windows: &[Rolled<Share>], rule: &MechanismTest) -> Vec<f64> {
    windows
        .iter()
        .filter(|w| w.value.is_below(rule.detector_hit_below) == Some(true))
        .map(|w| w.end_s)
        .collect()
}

fn engine_alarms(windows: &[Rolled<Option<f64>>], rule: &MechanismTest) -> Vec<f64> {
    windows
        .iter()
        .filter(|w| w.value.is_some_and(|ttft| ttft > rule.engine_ttft_above_s))
        .map(|w| w.end_s)
        .collect()
}

/// Each *mechanism clause* that a run is asked, (a) to (d) (App. E.5), by the letter of its check.
fn checks(run: &MechanismRun, rule: &MechanismTest) -> Vec<(char, Vec<Clause>)> {
    let (gap, hit) = if run.burst {
        (Comparison::Above(rule.burst_gap_above), Comparison::Below(rule.burst_hit_below))
    } else {
        (Comparison::Below(rule.good_gap_below), Comparison::Above(rule.good_hit_above))
    };
    let a = vec![
        Clause::new("(a) median gap / R_M", "", run.gap_over_turnover, gap),
        Clause::of_share("(a) follow-up hit fraction", &run.follow_up_hits, hit),
    ];
    let alarm = |quantity, times: Option<&[f64]>| alarm(quantity, times, run, rule);
    let mut checks = vec![
        ('a', a),
        ('c', vec![alarm("(c) detector's alarm", Some(&run.detector_s))]),
        ('d', vec![alarm("(d) engine rule's alarm", run.engine_s.as_deref())]),
    ];
    if run.burst {
        let tolerance = rule.token_rate_tolerance;
        let b = vec![
            Clause::new(
                "(b) mean KV usage",
                "",
                run.kv_usage,
                Comparison::AtLeast(rule.kv_usage_at_least),
            ),
            Clause::new(
                "(b) uncached token rate / all-miss rate",
                "",
                run.token_ratio,
                Comparison::Within(1.0 - tolerance, 1.0 + tolerance),
            ),
        ];
        checks.insert(1, ('b', b));
    }
    checks
}

/// In BURST the first alarm from the burst on comes in time; in a good arm the last
/// alarm of the run is early enough.
fn alarm(
    quantity: &'static str,
    times: Option<&[f64]>,
    run: &MechanismRun,
    rule: &MechanismTest,
) -> Clause {
    if run.burst {
        let first = times
            .and_then(|t| t.iter().copied().find(|t| *t >= run.burst_start_s))
            .map(|t| t - run.burst_start_s);
        let needs = Comparison::AtMost(rule.alarm_within_s);
        let holds = times.map(|_| first.is_some_and(|t| needs.holds(t)));
        Clause::new(quantity, "s after the burst", first, needs).decided(holds)
    } else {
        let last = times.and_then(|t| t.last().copied());
        let needs = Comparison::AtMost(rule.quiet_after_s);
        let holds = times.map(|_| last.is_none_or(|t| needs.holds(t)));
        Clause::new(quantity, "s", last, needs).decided(holds)
    }
}

/// A run's label: the checks that failed, or HELD.
fn judge(run: &MechanismRun, rule: &MechanismTest) -> Labelled {
    let checks = checks(run, rule);
    let holds = |letter: char| {
        checks.iter().find(|(l, _)| *l == letter).and_then(|(_, clauses)| all_hold(clauses))
    };
    let needed = if run.burst { ['b', 'c'] } else { ['a', 'c'] };
    let verdicts = needed.map(holds);
    let label = if verdicts.contains(&Some(false)) {
        "FAILED"
    } else if verdicts.contains(&None) {
        UNMEASURABLE
    } else {
        "HELD"
    };
    let failed: Vec<String> = checks
        .iter()
        .filter(|(_, clauses)| all_hold(clauses) == Some(false))
        .map(|(letter, _)| format!("({letter})"))
        .collect();
    Labelled {
        because: (!failed.is_empty()).then(|| format!("{} failed", failed.join(" and "))),
        ..Labelled::new(label, checks.into_iter().flat_map(|(_, clauses)| clauses).collect())
    }
}

/// The frozen rule over all runs: HELD, NOT MET or not decidable.
fn decide(runs: &[(bool, Labelled)], rule: &MechanismTest) -> Outcome {
    let of = |burst: bool, label: &str| {
        runs.iter().filter(|(b, l)| *b == burst && l.label == label).count() as u64
    };
    let count = |burst: bool| runs.iter().filter(|(b, _)| *b == burst).count() as u64;
    let group = |burst: bool, name: &str, what: &str| {
        Group::new(name, format!("{} of {}", of(burst, "HELD"), count(burst)), what)
    };
    let groups = vec![
        group(true, "BURST", "(b) and (c) held"),
        group(false, "good arms", "(a) and (c) held"),
    ];
    let unknown = of(true, UNMEASURABLE) + of(false, UNMEASURABLE);
    let (burst_failed, good_failed) = (of(true, "FAILED"), of(false, "FAILED"));
    let (word, because) = if burst_failed > 0 || good_failed > rule.failing_good_runs {
        ("NOT MET", format!("{burst_failed} BURST and {good_failed} good runs failed"))
    } else if count(true) == 0 || count(false) == 0 || unknown > 0 {
        (
            RateVerdict::NotDecidable.words(),
            format!("{unknown} runs cannot be told, or an arm is missing"),
        )
    } else {
        ("HELD", format!("{good_failed} good runs failed, {} allowed", rule.failing_good_runs))
    };
    Outcome::new(word, because, groups)
}

#[cfg(test)]
#[path = "mechanism/tests.rs"]
mod tests;
