//! Runs from an empty engine: is one stable (E0b, App. E.3)? The edge test and its replicates
//! ask it of every run.

use serde::{Deserialize, Serialize};

use crate::measure::queue::{self, QueueMeasures};
use crate::measure::span;
use crate::setup::Span;

use super::clause::{Clause, Comparison, all_hold};
use super::outcome::{Labelled, UNMEASURABLE};
use super::registered::Measurable;

/// When a from-empty run is stable (App. E.3). The rise is fitted over the protocol's
/// from-empty window (its last 1500 s); the queue at the end is the mean over the last
/// bin of that window as wide as a hit bin (100 s; inferred: the printed final queues
/// are not whole numbers, so they are means).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Stability {
    /// The queue at the end stays below this, requests.
    pub final_queue_below: f64,
    /// The fitted rise of the queue over the window is at most this, requests.
    pub rise_at_most: f64,
}

impl Default for Stability {
    fn default() -> Self {
        Self { final_queue_below: 50.0, rise_at_most: 10.0 }
    }
}

/// What is measured on a run from empty.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct QueueFromEmpty {
    /// Its queue; `None` if it is unknown.
    pub queue: Option<QueueMeasures>,
    /// The base arrivals over the whole run, in lambda_ref.
    pub realized: f64,
}

impl QueueFromEmpty {
    pub(super) fn of(on: &Measurable<'_>) -> Self {
        let whole = Span::new(0.0, on.run.meta.duration_s);
        Self {
            queue: queue::queue(on.run, on.protocol),
            realized: span::base_arrivals_per_s(on.run, whole) / on.registration.lambda_ref_per_s,
        }
    }
}

/// The label of a run under either of the tests.
pub(super) fn label(found: &QueueFromEmpty, rule: &Stability) -> Labelled {
    let queue = found.queue;
    let labelled = judge(queue.as_ref(), rule);
    // Which queue was read matters to a reader: the two are not the same.
    let source = queue.map(|q| q.source.words().to_owned());
    Labelled { because: labelled.because.clone().or(source), ..labelled }
}

/// Whether a label says stable; `None` where it cannot say.
pub(super) fn stable(label: &Option<Labelled>) -> Option<bool> {
    match label.as_ref()?.label {
        "STABLE" => Some(true),
        "UNSTABLE" => Some(false),
        _ => None,
    }
}

/// A run's label: STABLE if its queue is short at the end and did not rise.
pub fn judge(queue: Option<&QueueMeasures>, rule: &Stability) -> Labelled {
    let Some(queue) = queue else {
        return Labelled::unmeasurable("it is shorter than asked, or its queue is unknown");
    };
    let clauses = clauses(queue, rule);
    match all_hold(&clauses) {
        Some(true) => Labelled::new("STABLE", clauses),
        Some(false) => Labelled::new("UNSTABLE", clauses),
        None => Labelled {
            because: Some("too few samples to fit".into()),
            ..Labelled::new(UNMEASURABLE, clauses)
        },
    }
}

fn clauses(queue: &QueueMeasures, rule: &Stability) -> Vec<Clause> {
    vec![
        Clause::new(
            "final queue",
            "requests",
            Some(queue.final_mean),
            Comparison::Below(rule.final_queue_below),
        ),
        Clause::new(
            "fitted rise of the queue",
            "requests",
            queue.rise,
            Comparison::AtMost(rule.rise_at_most),
        ),
    ]
}

/// Whether a run is stable; `None` where that cannot be told.
pub fn is_stable(queue: Option<&QueueMeasures>, rule: &Stability) -> Option<bool> {
    all_hold(&clauses(queue?, rule))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::queue::QueueSource;

    fn label(final_mean: f64, rise: Option<f64>) -> &'static str {
        let queue = QueueMeasures { source: QueueSource::Engine, final_mean, rise, max: 200.0 };
        judge(Some(&queue), &Stability::default()).label
    }

    #[test]
    fn a_run_is_stable_with_a_final_queue_below_50_and_a_rise_of_at_most_10() {
        assert_eq!(label(49.9, Some(10.0)), "STABLE");
        assert_eq!(label(50.0, Some(10.0)), "UNSTABLE");
        assert_eq!(label(49.9, Some(10.1)), "UNSTABLE");
        assert_eq!(label(10.0, None), "UNMEASURABLE");
        assert_eq!(label(60.0, None), "UNSTABLE");
        assert_eq!(judge(None, &Stability::default()).label, "UNMEASURABLE");
    }
}
