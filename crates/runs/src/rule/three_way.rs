//! One treatment, called TRAPS, NO-TRAP or MIXED (TOOLSLOW-W, TOOLSLOW-D15; App. C).

use serde::{Deserialize, Serialize};

use crate::measure::treatment::Dose;
use crate::setup::{Arm, Span};

use super::endpoint::{Endpoint, Endpoints};
use super::in_words;
use super::outcome::{Group, Outcome};
use super::registered::{Candidate, Case, Evidence, Judged, RegisteredTest, Role, placed};
use super::thresholds::PairedThresholds;
use super::vote::{Quorum, RateVerdict, tally};

/// TRAPS, NO-TRAP or MIXED (App. C).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ThreeWayTest {
    /// The arm of its runs, as in `meta.json`.
    pub arm: Arm,
    /// What is done to them.
    pub dose: Dose,
    /// How much of it.
    pub amount: f64,
    /// When it lasts, for a slowdown; runs slowed at other times are other tests'.
    #[serde(default)]
    pub during_s: Option<Span>,
    /// When a run is STUCK or GOOD.
    #[serde(default)]
    pub endpoints: Endpoints,
    /// Seeds for TRAPS, and for NO-TRAP.
    #[serde(default)]
    pub seeds: Quorum,
}

impl RegisteredTest for ThreeWayTest {
    fn words(&self) -> &'static str {
        "three-way endpoints"
    }

    fn in_words(&self, _: &PairedThresholds) -> String {
        let (what, unit) = self.dose.words();
        format!(
            "Of the arm {}, {what} {} {unit}: TRAPS if {} seeds are STUCK, NO-TRAP if {} are \
                 GOOD, else MIXED. {}",
            self.arm,
            self.amount,
            in_words::of(self.seeds),
            in_words::of(self.seeds),
            in_words::endpoints(&self.endpoints)
        )
    }

    fn role(&self, run: &Candidate<'_>) -> Role {
        Role::subject(
            *run.arm() == self.arm
                && run.treatment.is(self.dose, self.amount)
                && self.during_s.is_none_or(|during| run.treatment.slowed_during(during)),
        )
    }

    fn judge(&self, case: &Case<'_>, evidence: &[Evidence<'_>]) -> Judged {
        let judged = Judged::labelled(evidence, |e| self.endpoints.label(e, case));
        let (subjects, set_aside) = placed(evidence, Role::Subject, Evidence::place);
        let end = |i: usize| judged.labels[i].as_ref().and_then(Endpoint::of);
        let ends: Vec<_> = subjects.iter().map(|(i, _)| end(*i)).collect();
        judged.with(decide(&ends, self.seeds), set_aside)
    }

    fn tables(&self) -> &'static [&'static str] {
        &["trap_scores"]
    }
}

/// TRAPS, NO-TRAP or MIXED over the seeds of one treatment (App. C).
fn decide(endpoints: &[Option<Endpoint>], quorum: Quorum) -> Outcome {
    let count = |what: Endpoint| tally(endpoints.iter().map(|e| e.map(|e| e == what)), quorum);
    let (stuck, good) = (count(Endpoint::Stuck), count(Endpoint::Good));
    let groups =
        vec![Group::counted("TRAPS", "STUCK", stuck), Group::counted("NO-TRAP", "GOOD", good)];
    let (word, because) = match (stuck.verdict, good.verdict) {
        (RateVerdict::NotDecidable, _) => (RateVerdict::NotDecidable.words(), "too few seeds"),
        (RateVerdict::Pass, _) => ("TRAPS", "enough runs are stuck"),
        (_, RateVerdict::Pass) => ("NO-TRAP", "enough runs are good"),
        _ => ("MIXED", "neither enough stuck nor enough good runs"),
    };
    Outcome::new(word, because, groups)
}

#[cfg(test)]
mod tests {
    use super::*;
    use Endpoint::{Good, Neither, Stuck};

    #[test]
    fn a_three_way_verdict_names_what_two_of_three_did() {
        let word = |e: [Endpoint; 3]| decide(&e.map(Some), Quorum::TWO_OF_THREE).word;
        // TOOLSLOW-W and TOOLSLOW-D15 as published.
        assert_eq!(word([Stuck; 3]), "TRAPS");
        assert_eq!(word([Stuck, Good, Good]), "NO-TRAP");
        assert_eq!(word([Stuck, Stuck, Good]), "TRAPS");
        assert_eq!(word([Stuck, Good, Neither]), "MIXED");
        let open = decide(&[Some(Stuck), Some(Stuck), None], Quorum::TWO_OF_THREE);
        assert_eq!(open.word, "not decidable");
    }
}
