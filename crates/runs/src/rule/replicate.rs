//! Replicates of from-empty runs: do they come out as their original did (REPLICATE-EDGE,
//! sec 7, Table 12)?

use serde::{Deserialize, Serialize};

use super::in_words;
use super::outcome::{Group, Outcome};
use super::registered::{
    Candidate, Case, Evidence, Judged, Measurable, MeasuringTest, RegisteredTest, Role,
};
use super::stability::{self, QueueFromEmpty, Stability, stable};
use super::thresholds::PairedThresholds;
use super::vote::{Quorum, tally};

/// Replicates of from-empty runs (REPLICATE-EDGE, sec 7, Table 12).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReplicateTest {
    /// When a run is stable.
    #[serde(default)]
    pub stability: Stability,
    /// The plans and how their originals came out.
    pub originals: Vec<Original>,
    /// How many of a plan's replicates must come out as the original.
    pub replicates: Quorum,
}

/// How an original from-empty run came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Original {
    /// Seed of its plan.
    pub seed: u64,
    /// Whether it was stable.
    pub stable: bool,
}

impl RegisteredTest for ReplicateTest {
    fn words(&self) -> &'static str {
        "edge replicates"
    }

    fn in_words(&self, _: &PairedThresholds) -> String {
        format!(
            "{} replicates of each of {} plans from an empty engine come out as the original did; \
             stable is a queue below {} requests at the end that rises by at most {}.",
            in_words::of(self.replicates),
            self.originals.len(),
            self.stability.final_queue_below,
            self.stability.rise_at_most
        )
    }

    fn role(&self, run: &Candidate<'_>) -> Role {
        Role::subject(run.is_from_empty())
    }

    fn judge(&self, _: &Case<'_>, evidence: &[Evidence<'_>]) -> Judged {
        let judged = Judged::labelled(evidence, |e| {
            Some(stability::label(Self::found(e)?, &self.stability))
        });
        let votes = |original: &Original| {
            let of_plan = evidence.iter().zip(&judged.labels);
            let of_plan = of_plan.filter(|(e, _)| e.counts && e.meta.seed == original.seed);
            let votes = of_plan.map(|(_, label)| stable(label).map(|s| s == original.stable));
            (original.seed, votes.collect())
        };
        let plans: Vec<(u64, Vec<Option<bool>>)> = self.originals.iter().map(votes).collect();
        judged.with(decide(&plans, self.replicates), Vec::new())
    }
}

impl MeasuringTest for ReplicateTest {
    type Measures = QueueFromEmpty;

    fn measure(&self, run: &Measurable<'_>) -> Option<QueueFromEmpty> {
        Some(QueueFromEmpty::of(run))
    }
}

/// The outcome for replicates of one plan each: does every plan's majority come out as
/// its original did? `votes` is per plan: seed, whether each replicate agreed.
fn decide(plans: &[(u64, Vec<Option<bool>>)], quorum: Quorum) -> Outcome {
    let tallies: Vec<_> =
        plans.iter().map(|(seed, votes)| (seed, tally(votes.iter().copied(), quorum))).collect();
    let groups = tallies
        .iter()
        .map(|(seed, t)| {
            let because = format!("as the original in {} of {} replicates", t.met, t.judged);
            Group::new(format!("plan of seed {seed}"), t.verdict.words(), because)
        })
        .collect();
    let verdicts: Vec<_> = tallies.iter().map(|t| t.1.verdict).collect();
    let mut outcome = Outcome::of_all("REPRODUCIBLE", groups, &verdicts);
    if outcome.word == "NOT MET" {
        outcome.word = "NOT REPRODUCIBLE".into();
    }
    outcome
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replicates_reproduce_when_every_plan_comes_out_as_its_original() {
        let all = Quorum { needed: 3, of: 3 };
        let word = |a: [bool; 3], b: [bool; 3]| {
            let votes = |v: [bool; 3]| v.map(Some).to_vec();
            decide(&[(0, votes(a)), (4, votes(b))], all).word
        };
        assert_eq!(word([true; 3], [true; 3]), "REPRODUCIBLE");
        assert_eq!(word([true; 3], [true, true, false]), "NOT REPRODUCIBLE");
        assert_eq!(decide(&[(0, vec![Some(true); 2])], all).word, "not decidable");
    }
}
