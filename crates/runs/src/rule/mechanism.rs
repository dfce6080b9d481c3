//! The mechanism checks (a) to (d) of the vLLM test (App. E.5): gaps against the pool's
//! turnover, a full pool rewritten at the all-miss rate, an online detector, and an
//! engine-side latency rule. The frozen rule needs (a) to (c); (d) is reported.

use crate::measure::rolling::Rolled;
use crate::measure::{Share, WindowMeasures};
use crate::setup::registration::test::MechanismTest;

use super::clause::{Clause, Comparison, all_hold};
use super::outcome::{Group, Labelled, Outcome, UNMEASURABLE};
use super::pairing::RateVerdict;

/// What a run says about the mechanism.
#[derive(Debug, Clone, PartialEq)]
pub struct MechanismRun {
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
    /// When the burst started, s.
    pub burst_start_s: f64,
}

impl MechanismRun {
    /// From a window and the alarms.
    pub fn of(
        burst: bool,
        window: &WindowMeasures,
        kv_usage: Option<f64>,
        all_miss_tokens_per_s: Option<f64>,
        alarms: (Vec<f64>, Option<Vec<f64>>),
        burst_start_s: f64,
    ) -> Self {
        Self {
            burst,
            gap_over_turnover: window.gap_over_turnover,
            follow_up_hits: window.follow_up_hits,
            kv_usage,
            token_ratio: window
                .uncached_tokens_per_s
                .zip(all_miss_tokens_per_s)
                .map(|(rate, all)| rate / all),
            detector_s: alarms.0,
            engine_s: alarms.1,
            burst_start_s,
        }
    }
}

/// When the detector alarms: the ends of windows with follow-ups and too few hits
/// among them. A window that cannot be told is no alarm.
pub fn detector_alarms(windows: &[Rolled<Share>], rule: &MechanismTest) -> Vec<f64> {
    windows
        .iter()
        .filter(|w| w.value.is_below(rule.detector_hit_below) == Some(true))
        .map(|w| w.end_s)
        .collect()
}

/// When the engine rule alarms.
pub fn engine_alarms(windows: &[Rolled<Option<f64>>], rule: &MechanismTest) -> Vec<f64> {
    windows
        .iter()
        .filter(|w| w.value.is_some_and(|ttft| ttft > rule.engine_ttft_above_s))
        .map(|w| w.end_s)
        .collect()
}

/// Each *mechanism clause* that a run is asked, (a) to (d) (App. E.5), by the letter of its check.
pub fn checks(run: &MechanismRun, rule: &MechanismTest) -> Vec<(char, Vec<Clause>)> {
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
pub fn judge(run: &MechanismRun, rule: &MechanismTest) -> Labelled {
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
pub fn decide(runs: &[(bool, Labelled)], rule: &MechanismTest) -> Outcome {
    let of = |burst: bool, label: &str| {
        runs.iter().filter(|(b, l)| *b == burst && l.label == label).count() as u64
    };
    let count = |burst: bool| runs.iter().filter(|(b, _)| *b == burst).count() as u64;
    let group = |burst: bool, name: &str, what: &str| Group {
        name: name.into(),
        verdict: format!("{} of {}", of(burst, "HELD"), count(burst)),
        because: what.into(),
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
