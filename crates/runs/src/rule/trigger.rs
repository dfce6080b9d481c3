//! Does a trap outlive what caused it (D1, App. D)? Made after the outcome.

use serde::{Deserialize, Serialize};

use crate::measure::treatment::Dose;
use crate::measure::trigger::{TriggerMeasures, trigger};

use super::clause::{Clause, Comparison};
use super::outcome::{Group, Labelled, Outcome};
use super::registered::{
    Candidate, Case, Evidence, Judged, Measurable, MeasuringTest, RegisteredTest, Role,
};
use super::state::is_stuck;
use super::thresholds::PairedThresholds;

/// Whether a trap outlived what caused it (D1): the burst's sessions, or those
/// with a slowed tool call.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TriggerTest {
    /// What caused it.
    pub dose: Dose,
    /// A trap is looked for below this follow-up hit fraction over the window.
    pub stuck_follow_up_hit_below: f64,
}

impl Default for TriggerTest {
    fn default() -> Self {
        Self { dose: Dose::BurstSessions, stuck_follow_up_hit_below: 0.2 }
    }
}

impl RegisteredTest for TriggerTest {
    fn words(&self) -> &'static str {
        "trigger"
    }

    fn in_words(&self, _: &PairedThresholds) -> String {
        format!(
            "A run is stuck below a follow-up hit fraction of {} over its window. Its trap outlives its \
             trigger if every session of the trigger has left and no turn has hit since.",
            self.stuck_follow_up_hit_below
        )
    }

    fn of_other_tests(&self) -> bool {
        true
    }

    fn role(&self, run: &Candidate<'_>) -> Role {
        let triggered = match self.dose {
            Dose::ToolDelayS => run.treatment.slowed.is_some(),
            Dose::BurstSessions | Dose::StopS => run.treatment.burst_sessions > 0,
        };
        Role::subject(run.is_open() && triggered)
    }

    /// Over every run with a trigger.
    fn judge(&self, _: &Case<'_>, evidence: &[Evidence<'_>]) -> Judged {
        let judged = Judged::labelled(evidence, |e| {
            let stuck = is_stuck(e.measures, self.stuck_follow_up_hit_below);
            Some(judge(stuck, Self::found(e)))
        });
        let labels: Vec<Labelled> = judged.labels.iter().flatten().cloned().collect();
        judged.with(decide(&labels), Vec::new())
    }

    fn tables(&self) -> &'static [&'static str] {
        &["trigger"]
    }
}

impl MeasuringTest for TriggerTest {
    type Measures = TriggerMeasures;

    fn measure(&self, on: &Measurable<'_>) -> Option<TriggerMeasures> {
        trigger(on.run, self.dose)
    }
}

/// Labels a run: NOT STUCK, TRIGGER PRESENT, HITS AFTER or OUTLIVES. A trap outlives its
/// trigger if every session of the trigger left before the end and no turn completed
/// since then hit.
fn judge(stuck: Option<bool>, trigger: Option<&TriggerMeasures>) -> Labelled {
    let Some(trigger) = trigger else {
        return Labelled {
            because: Some("it has no trigger".into()),
            ..Labelled::new("NO TRIGGER", Vec::new())
        };
    };
    let left = Clause::new(
        "trigger sessions present at the end",
        "sessions",
        Some(trigger.present_at_end as f64),
        Comparison::AtMost(0.0),
    );
    let after = trigger.turns_after.map(|share| {
        // An unknown turn might have hit.
        let known = share.unknown == 0 || share.hits > 0;
        let holds = (known && share.total() > 0).then_some(share.hits == 0);
        Clause::new(
            "hits after the last trigger session left",
            "turns",
            Some(share.hits as f64),
            Comparison::AtMost(0.0),
        )
        .decided(holds)
    });
    match (stuck, left.holds, after) {
        (None, ..) => Labelled::unmeasurable("whether it is stuck cannot be told"),
        (Some(false), ..) => Labelled::new("NOT STUCK", Vec::new()),
        (_, Some(false), _) | (_, _, None) => Labelled::new("TRIGGER PRESENT", vec![left]),
        (_, _, Some(after)) => match after.holds {
            Some(true) => Labelled::new("OUTLIVES", vec![left, after]),
            Some(false) => Labelled::new("HITS AFTER", vec![left, after]),
            None => Labelled::unmeasurable("no turn after it, or its hits are unknown"),
        },
    }
}

/// Over all runs: in how many stuck runs the trap outlived its trigger.
fn decide(labels: &[Labelled]) -> Outcome {
    let count = |word: &str| labels.iter().filter(|l| l.label == word).count();
    let groups = ["OUTLIVES", "HITS AFTER", "TRIGGER PRESENT", "NOT STUCK"]
        .map(|word| Group::new(word, count(word).to_string(), "runs"))
        .to_vec();
    let gone = count("OUTLIVES") + count("HITS AFTER");
    let (word, because) = match (gone, count("HITS AFTER")) {
        (0, _) => ("not decidable", "in no stuck run had the trigger left".to_owned()),
        (_, 0) => ("OUTLIVES", format!("no hit in {gone} of {gone} runs whose trigger had left")),
        (_, hits) => {
            ("MIXED", format!("no hit in {} of {gone} runs whose trigger had left", gone - hits))
        }
    };
    Outcome::new(word, because, groups)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Share;

    fn label(present: u64, hits: u64, misses: u64, unknown: u64) -> &'static str {
        let trigger = TriggerMeasures {
            sessions: 60,
            present_at_end: present,
            all_at_end: 200,
            last_left_s: (present == 0).then_some(4719.0),
            before_end_s: (present == 0).then_some(3981.0),
            turns_after: (present == 0).then_some(Share { hits, misses, unknown }),
            last_hit_after_s: None,
        };
        judge(Some(true), Some(&trigger)).label
    }

    #[test]
    fn a_trap_outlives_a_trigger_that_left_if_nothing_hit_since() {
        assert_eq!(label(0, 0, 727, 0), "OUTLIVES");
        assert_eq!(label(0, 4, 5933, 0), "HITS AFTER");
        assert_eq!(label(1, 0, 0, 0), "TRIGGER PRESENT");
        assert_eq!(label(0, 0, 0, 0), "UNMEASURABLE");
        assert_eq!(label(0, 0, 10, 1), "UNMEASURABLE");
        assert_eq!(label(0, 1, 10, 1), "HITS AFTER");
    }

    #[test]
    fn only_stuck_runs_with_a_trigger_are_asked() {
        assert_eq!(judge(Some(true), None).label, "NO TRIGGER");
        let gone = TriggerMeasures {
            sessions: 1,
            present_at_end: 0,
            all_at_end: 0,
            last_left_s: Some(1.0),
            before_end_s: Some(1.0),
            turns_after: Some(Share { hits: 0, misses: 9, unknown: 0 }),
            last_hit_after_s: None,
        };
        assert_eq!(judge(Some(false), Some(&gone)).label, "NOT STUCK");
        assert_eq!(judge(None, Some(&gone)).label, "UNMEASURABLE");
    }

    #[test]
    fn the_count_is_over_runs_whose_trigger_had_left() {
        let labels = |words: &[&'static str]| -> Vec<Labelled> {
            words.iter().map(|w| Labelled::new(w, Vec::new())).collect()
        };
        assert_eq!(decide(&labels(&["OUTLIVES", "TRIGGER PRESENT"])).word, "OUTLIVES");
        assert_eq!(decide(&labels(&["OUTLIVES", "HITS AFTER"])).word, "MIXED");
        assert_eq!(decide(&labels(&["TRIGGER PRESENT"])).word, "not decidable");
    }
}
