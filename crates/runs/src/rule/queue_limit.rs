//! Longest prefix first without its queue limit: does it collapse where the stock order
//! did (LPM-INF, App. E.8)? Exploratory.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::measure::queue::longest_queue;
use crate::setup::Arm;

use super::clause::{Clause, Comparison};
use super::outcome::{Group, Labelled, Outcome};
use super::registered::{
    Candidate, Case, Evidence, Judged, Measurable, MeasuringTest, RegisteredTest, Role, placed,
};
use super::thresholds::PairedThresholds;
use super::vote::RateVerdict;

/// LPM-INF (App. E.8).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueueLimitTest {
    /// The cell with the stock order, whose same-seed BURST runs are the controls.
    pub stock_cell: String,
    /// Requests waiting beyond which the stock order falls back (128): a seed
    /// whose queue never exceeds it says nothing.
    pub queue_limit: u64,
    /// A run has collapsed if its token hit fraction over the window is below
    /// this. Not printed: a registration has to choose it.
    pub collapsed_token_hit_below: f64,
    /// Informative seeds that are needed for a reading.
    pub informative_seeds: u64,
}

/// What the test measures.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct QueueLimitMeasures {
    /// The longest queue, requests; `None` when unknown.
    pub queue_max: Option<f64>,
    /// Share of the window's prompt tokens served from the cache; `None` when unknown.
    pub token_hit: Option<f64>,
}

impl RegisteredTest for QueueLimitTest {
    fn words(&self) -> &'static str {
        "queue limit"
    }

    fn in_words(&self, _: &PairedThresholds) -> String {
        format!(
            "BURST runs without the queue limit of {} requests against those of {} with it: does the \
             token hit fraction fall below {} in one and not in the other? {} informative seeds are \
             needed.",
            self.queue_limit,
            self.stock_cell,
            self.collapsed_token_hit_below,
            self.informative_seeds
        )
    }

    fn role(&self, run: &Candidate<'_>) -> Role {
        Role::subject(*run.arm() == Arm::Burst)
    }

    fn compares_with(&self, run: &Candidate<'_>) -> bool {
        run.meta.cell == self.stock_cell && *run.arm() == Arm::Burst
    }

    /// Each seed against the stock order's run.
    fn judge(&self, _: &Case<'_>, evidence: &[Evidence<'_>]) -> Judged {
        let (subjects, mut set_aside) = placed(evidence, Role::Subject, Evidence::place);
        let (controls, doubles) = placed(evidence, Role::Control, Evidence::place);
        set_aside.extend(doubles);
        let collapsed = |e: &Evidence<'_>| {
            QueueLimitTest::found(e)
                .and_then(|f| f.token_hit)
                .map(|h| h < self.collapsed_token_hit_below)
        };
        let stock: BTreeMap<String, Option<bool>> =
            controls.iter().map(|(_, e)| (e.place(), collapsed(e))).collect();
        let judged = Judged::labelled(evidence, |e| {
            let stock_collapsed = stock.get(&e.place()).copied().flatten();
            QueueLimitTest::found(e)
                .filter(|_| e.role == Role::Subject)
                .map(|f| judge(f, stock_collapsed, self))
        });
        let runs: Vec<(u64, Labelled)> = subjects
            .iter()
            .filter_map(|(i, e)| judged.labels[*i].clone().map(|l| (e.meta.seed, l)))
            .collect();
        judged.with(decide(&runs, self), set_aside)
    }
}

impl MeasuringTest for QueueLimitTest {
    type Measures = QueueLimitMeasures;

    fn measure(&self, on: &Measurable<'_>) -> Option<QueueLimitMeasures> {
        let window = on.measures.window.as_ref();
        Some(QueueLimitMeasures {
            queue_max: longest_queue(on.run),
            token_hit: window.and_then(|w| w.token_hit_fraction),
        })
    }
}

/// Labels a run: NOT INFORMATIVE where the limit never acted or the stock order did not
/// collapse, else COLLAPSED or NO COLLAPSE. `stock_collapsed`: whether the stock order did on
/// this seed; `None` without such a run.
fn judge(
    run: &QueueLimitMeasures,
    stock_collapsed: Option<bool>,
    rule: &QueueLimitTest,
) -> Labelled {
    let acted = Clause::new(
        "longest queue",
        "requests",
        run.queue_max,
        Comparison::Above(rule.queue_limit as f64),
    );
    let hit = Clause::new(
        "token hit fraction",
        "",
        run.token_hit,
        Comparison::Below(rule.collapsed_token_hit_below),
    );
    match (acted.holds, stock_collapsed, hit.holds) {
        (Some(false), ..) => Labelled::new("NOT INFORMATIVE", vec![acted]),
        (_, Some(false), _) => Labelled {
            because: Some("the stock order did not collapse on this seed".into()),
            ..Labelled::new("NOT INFORMATIVE", Vec::new())
        },
        (None, ..) => Labelled::unmeasurable("its queue is unknown"),
        (_, None, _) => Labelled::unmeasurable("no run of the stock order on this seed"),
        (_, _, None) => Labelled::unmeasurable("its cached tokens are unknown"),
        (_, _, Some(true)) => Labelled::new("COLLAPSED", vec![hit]),
        (_, _, Some(false)) => Labelled::new("NO COLLAPSE", vec![hit]),
    }
}

/// The reading over the informative seeds.
fn decide(runs: &[(u64, Labelled)], rule: &QueueLimitTest) -> Outcome {
    let groups = runs
        .iter()
        .map(|(seed, l)| {
            Group::new(format!("seed {seed}"), l.label, l.because.clone().unwrap_or_default())
        })
        .collect();
    let count = |word| runs.iter().filter(|(_, l)| l.label == word).count() as u64;
    let (kept, collapsed) = (count("NO COLLAPSE"), count("COLLAPSED"));
    let (word, because) = if kept + collapsed < rule.informative_seeds {
        (RateVerdict::NotDecidable.words(), format!("{} informative seeds", kept + collapsed))
    } else if collapsed == 0 {
        (
            "CONSISTENT",
            format!(
                "no collapse on {kept} informative seeds: consistent with the limit causing it"
            ),
        )
    } else {
        (
            "NOT CONSISTENT",
            format!("collapsed on {collapsed} of {} informative seeds", kept + collapsed),
        )
    };
    Outcome::new(word, because, groups)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule() -> QueueLimitTest {
        QueueLimitTest {
            stock_cell: "sglang-lpm".into(),
            queue_limit: 128,
            collapsed_token_hit_below: 0.05,
            informative_seeds: 2,
        }
    }

    fn run(queue_max: f64, token_hit: f64, stock: bool) -> Labelled {
        let run = QueueLimitMeasures { queue_max: Some(queue_max), token_hit: Some(token_hit) };
        judge(&run, Some(stock), &rule())
    }

    #[test]
    fn a_seed_whose_queue_never_exceeds_the_limit_does_not_enter() {
        assert_eq!(run(128.0, 0.0, true).label, "NOT INFORMATIVE");
        assert_eq!(run(129.0, 0.0, true).label, "COLLAPSED");
        assert_eq!(run(165.0, 0.59, false).label, "NOT INFORMATIVE");
    }

    #[test]
    fn collapse_is_judged_on_the_token_hit_fraction_from_both_sides() {
        assert_eq!(run(165.0, 0.0499, true).label, "COLLAPSED");
        assert_eq!(run(165.0, 0.05, true).label, "NO COLLAPSE");
    }

    #[test]
    fn the_published_runs_are_consistent_on_their_two_informative_seeds() {
        let runs =
            [(0, run(165.0, 0.59, true)), (1, run(184.0, 0.42, true)), (2, run(120.0, 0.82, true))];
        assert_eq!(decide(&runs, &rule()).word, "CONSISTENT");
        let collapsed = [(0, run(165.0, 0.59, true)), (1, run(184.0, 0.0, true))];
        assert_eq!(decide(&collapsed, &rule()).word, "NOT CONSISTENT");
        assert_eq!(decide(&runs[1..], &rule()).word, "not decidable");
    }
}
