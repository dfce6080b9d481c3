//! How much goodput a run loses against its same-seed NOBURST run (D2, App. D). Made
//! after the outcome; an upper bound on each goodput, since the condition on the time
//! between tokens is left out.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::measure::goodput::{SessionTime, UnloadedTurns, served_in_time, session_times};
use crate::setup::{Arm, Span};

use super::outcome::{Group, Labelled, Outcome};
use super::registered::{
    Candidate, Case, Evidence, Judged, Measurable, MeasuringTest, RegisteredTest, Role, placed,
};
use super::thresholds::PairedThresholds;

/// Sessions served in time (D2): Lu et al.'s goodput without their second
/// condition on the time between tokens, which the runs do not record.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GoodputTest {
    /// A session is served in time if it took at most this times the unloaded time.
    pub slowdown_at_most: f64,
    /// Factor on the unloaded latencies, to see how much the reference matters.
    pub reference_factor: f64,
    /// How long after the burst the first span of arrivals reaches, s.
    pub after_burst_s: f64,
}

impl Default for GoodputTest {
    fn default() -> Self {
        Self { slowdown_at_most: 4.0, reference_factor: 1.0, after_burst_s: 3600.0 }
    }
}

/// What the test measures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GoodputMeasures {
    /// The base sessions and how long they took.
    pub sessions: Vec<SessionTime>,
    /// Least latency by turn number.
    pub unloaded: UnloadedTurns,
}

impl RegisteredTest for GoodputTest {
    fn words(&self) -> &'static str {
        "goodput"
    }

    fn in_words(&self, _: &PairedThresholds) -> String {
        format!(
            "The share of sessions that took at most {} times their unloaded time, against the NOBURST \
             run of the same seed: over {} s after the burst, and over the window.",
            self.slowdown_at_most, self.after_burst_s
        )
    }

    fn of_other_tests(&self) -> bool {
        true
    }

    fn role(&self, run: &Candidate<'_>) -> Role {
        match run.arm() {
            Arm::NoBurst => Role::Control,
            _ => Role::subject(run.is_open()),
        }
    }

    /// Each run against its same-seed NOBURST run, over the hour after the burst and the
    /// evaluation window.
    fn judge(&self, case: &Case<'_>, evidence: &[Evidence<'_>]) -> Judged {
        let paired = &case.protocol.paired;
        let start = paired.burst.start_s;
        let spans = [
            ("loss of goodput after the burst", Span::new(start, start + self.after_burst_s)),
            ("loss of goodput in the window", paired.window_s),
        ];
        let in_cell = |e: &Evidence<'_>| format!("{} {}", e.meta.cell, e.place());
        let (controls, set_aside) = placed(evidence, Role::Control, in_cell);
        let servers = unloaded_servers(&controls);
        let good = |e: &Evidence<'_>, span: Span| {
            let (server, found) = (servers.get(e.meta.cell.as_str())?, GoodputTest::found(e)?);
            let (slowdown, factor) = (self.slowdown_at_most, self.reference_factor);
            let (good, arrived) = served_in_time(&found.sessions, server, span, slowdown, factor);
            Some(Goodput { good, arrived })
        };
        let losses = |e: &Evidence<'_>| -> Option<[Option<f64>; 2]> {
            let of = |run: &Evidence<'_>| (run.meta.cell.clone(), run.meta.seed, run.meta.rate);
            let (_, control) = controls.iter().find(|(_, c)| of(c) == of(e))?;
            let lost = |span: Span| loss(good(e, span)?, good(control, span)?);
            Some(spans.map(|(_, span)| lost(span)))
        };
        let mut judged = Judged::labelled(evidence, |e| {
            let label = |lost: Option<[_; 2]>| match lost {
                None => Labelled::unmeasurable("no NOBURST run of its rate and seed"),
                Some(lost) => Labelled {
                    because: Some(in_words(&spans, &lost)),
                    ..Labelled::new("MEASURED", Vec::new())
                },
            };
            (e.role != Role::Control).then(|| label(losses(e)))
        });
        let mut subjects = Vec::new();
        for (i, run) in evidence.iter().enumerate().filter(|(_, e)| e.is_subject()) {
            if let Some(lost) = losses(run) {
                judged.goodput_lost[i] = lost;
                subjects.push((run.meta.arm.word(), lost));
            }
        }
        let because = "goodput lost against NOBURST of the same seed; made after the outcome";
        let outcome = Outcome::new("MEASURED", because, ranges(&spans, &subjects));
        judged.with(outcome, set_aside)
    }

    fn tables(&self) -> &'static [&'static str] {
        &["goodput"]
    }
}

impl MeasuringTest for GoodputTest {
    type Measures = GoodputMeasures;

    fn measure(&self, on: &Measurable<'_>) -> Option<GoodputMeasures> {
        let (sessions, unloaded) = (session_times(on.run), UnloadedTurns::of(on.run));
        Some(GoodputMeasures { sessions, unloaded })
    }
}

/// One unloaded server per cell from all its good runs, as the paper builds it.
fn unloaded_servers<'a>(controls: &[(usize, &Evidence<'a>)]) -> BTreeMap<&'a str, UnloadedTurns> {
    let mut servers: BTreeMap<&str, UnloadedTurns> = BTreeMap::new();
    for (_, control) in controls {
        if let Some(found) = GoodputTest::found(control) {
            let server = servers.entry(&control.meta.cell).or_default();
            *server = std::mem::take(server).with(&found.unloaded);
        }
    }
    servers
}

fn percent(share: Option<f64>) -> String {
    share.map_or("unknown".to_owned(), |x| format!("{:.1} %", 100.0 * x))
}

fn in_words(spans: &[(&'static str, Span)], lost: &[Option<f64>]) -> String {
    let parts: Vec<String> =
        spans.iter().zip(lost).map(|((name, _), x)| format!("{name} {}", percent(*x))).collect();
    parts.join(", ")
}

/// Per span and arm, the least and the largest loss.
fn ranges(spans: &[(&'static str, Span)], runs: &[(&str, [Option<f64>; 2])]) -> Vec<Group> {
    let arms: BTreeSet<&str> = runs.iter().map(|(arm, _)| *arm).collect();
    let mut groups = Vec::new();
    for (i, (name, _)) in spans.iter().enumerate() {
        for arm in &arms {
            let lost: Vec<f64> =
                runs.iter().filter(|(a, _)| a == arm).filter_map(|(_, lost)| lost[i]).collect();
            let least = lost.iter().copied().min_by(f64::total_cmp);
            let most = lost.iter().copied().max_by(f64::total_cmp);
            groups.push(Group::new(
                format!("{arm}, {name}"),
                format!("{} to {}", percent(least), percent(most)),
                format!("{} runs", lost.len()),
            ));
        }
    }
    groups
}

/// Sessions served in time of those that arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Goodput {
    /// Served in time.
    good: u64,
    arrived: u64,
}

/// The share of the control's goodput that the run loses; negative for a gain, `None`
/// where the control had none.
///
/// Both are of the same arrivals, so the counts compare as rates.
fn loss(run: Goodput, control: Goodput) -> Option<f64> {
    (control.good > 0).then(|| 1.0 - run.good as f64 / control.good as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_serves_none_in_time_loses_all() {
        let control = Goodput { good: 250, arrived: 300 };
        assert_eq!(loss(Goodput { good: 0, arrived: 300 }, control), Some(1.0));
        assert_eq!(loss(control, control), Some(0.0));
        assert_eq!(loss(Goodput { good: 275, arrived: 300 }, control), Some(-0.10000000000000009));
        assert_eq!(loss(control, Goodput { good: 0, arrived: 300 }), None);
    }
}
