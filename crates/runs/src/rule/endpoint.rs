//! STUCK or GOOD over the evaluation window, and the tests that ask for one of them
//! per dose: BASIN-1, BASIN-2, TOOLSLOW, SHED (App. E.6).

use std::collections::BTreeMap;

use crate::measure::RunMeasures;
use crate::setup::PairedThresholds;
use crate::setup::registration::test::{EndpointTest, Endpoints, Expected, Quorum};

use super::clause::{Clause, Comparison, all_hold};
use super::outcome::{Group, Labelled, Outcome, UNMEASURABLE};
use super::pairing::RateVerdict;
use super::state::{Load, recovered};
use super::vote::tally;

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Endpoint {
    /// Almost no hits.
    Stuck,
    /// Recovered, or hitting with a flat backlog.
    Good,
    /// Neither.
    Neither,
}

impl Endpoint {
    /// The rule's word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Stuck => "STUCK",
            Self::Good => "GOOD",
            Self::Neither => "NEITHER",
        }
    }

    /// The endpoint of a label; `None` where the run cannot say.
    pub fn of(labelled: &Labelled) -> Option<Self> {
        [Self::Stuck, Self::Good, Self::Neither].into_iter().find(|e| e.word() == labelled.label)
    }

    /// Whether it is what was expected.
    pub fn is(self, expected: Expected) -> bool {
        match expected {
            Expected::Stuck => self == Self::Stuck,
            Expected::Good => self == Self::Good,
        }
    }
}

/// Labels a run STUCK, GOOD or NEITHER. STUCK goes by the hit fraction of all turns,
/// as App. E.6 has it.
pub fn judge(
    measures: &RunMeasures,
    load: Load,
    rule: &Endpoints,
    paired: &PairedThresholds,
) -> Labelled {
    let (Some(window), Some(last)) = (&measures.window, &measures.last) else {
        let (start, end) = measures.window_span.into();
        return Labelled::unmeasurable(format!(
            "it ended before its window [{start}, {end}) s did"
        ));
    };
    let hit = |needs| Clause::of_share("hit fraction", &window.hits, needs);
    let stuck = vec![hit(Comparison::Below(rule.stuck_hit_below))];
    let back = recovered(last, paired);
    let line = rule.good_slope_factor * (load.lambda_per_s - load.lambda_ref_per_s);
    let flat = vec![
        hit(Comparison::Above(rule.good_hit_above)),
        Clause::new(
            "backlog slope",
            "sessions/s",
            window.backlog_slope_per_s,
            Comparison::AtMost(line),
        ),
    ];
    match (all_hold(&stuck), all_hold(&back), all_hold(&flat)) {
        (Some(true), ..) => Labelled::new(Endpoint::Stuck.word(), stuck),
        (Some(false), Some(true), _) => Labelled::new(Endpoint::Good.word(), back),
        (Some(false), _, Some(true)) => Labelled::new(Endpoint::Good.word(), flat),
        (Some(false), Some(false), Some(false)) => {
            Labelled::new(Endpoint::Neither.word(), [stuck, back, flat].concat())
        }
        _ => Labelled {
            because: Some("its hits or its slope are unknown".into()),
            ..Labelled::new(UNMEASURABLE, [stuck, back, flat].concat())
        },
    }
}

/// One run of a dose test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DoseRun {
    /// Its dose.
    pub dose: f64,
    /// The seed of its plan.
    pub seed: u64,
    /// How it ended; `None` where it cannot say.
    pub endpoint: Option<Endpoint>,
    /// Whether it is TRAPPED by the slope rule; `None` where it cannot say.
    pub trapped: Option<bool>,
}

/// The outcome of a dose test. `controls`: whether each seed's control is STUCK, where
/// the test asks for one. A seed whose control is missing or is not stuck has no vote.
pub fn decide(
    runs: &[DoseRun],
    controls: &BTreeMap<u64, Option<bool>>,
    test: &EndpointTest,
) -> Outcome {
    let unit = test.dose.words();
    let mut groups = Vec::new();
    let mut verdicts = Vec::new();
    let mut set_aside = Vec::new();
    for dose in &test.doses {
        let name = format!("{} {} {}", unit.0, dose.dose, unit.1);
        let at_dose: Vec<&DoseRun> = runs.iter().filter(|r| r.dose == dose.dose).collect();
        let Some(expected) = dose.expect else {
            groups.push(shown(name, &at_dose));
            continue;
        };
        let vote = |run: &DoseRun| {
            let ended = run.endpoint?.is(expected);
            if dose.trapped && ended { run.trapped } else { Some(ended) }
        };
        let mut votes = Vec::new();
        for run in at_dose {
            match controls.get(&run.seed) {
                _ if test.stuck_control.is_none() => votes.push(vote(run)),
                Some(Some(true)) => votes.push(vote(run)),
                Some(Some(false)) => {
                    set_aside.push(format!("{name}, seed {}: its control is not STUCK", run.seed));
                }
                _ => set_aside.push(format!("{name}, seed {}: no usable control", run.seed)),
            }
        }
        let counted = tally(votes, test.seeds);
        let state = if expected == Expected::Stuck { "STUCK" } else { "GOOD" };
        let what = if dose.trapped { format!("{state} and TRAPPED") } else { state.to_owned() };
        groups.push(Group::counted(name, &what, counted));
        verdicts.push(counted.verdict);
    }
    // The doses the rule does not use are shown, and do not decide.
    let used: Vec<Group> = groups.iter().filter(|g| g.verdict != NOT_USED).cloned().collect();
    let mut outcome = Outcome::of_all(&test.held, used, &verdicts);
    outcome.groups = groups;
    outcome.set_aside = set_aside;
    outcome
}

const NOT_USED: &str = "not used by the rule";

fn shown(name: String, runs: &[&DoseRun]) -> Group {
    let words: Vec<String> = runs
        .iter()
        .map(|r| format!("seed {} {}", r.seed, r.endpoint.map_or(UNMEASURABLE, Endpoint::word)))
        .collect();
    Group { name, verdict: NOT_USED.into(), because: words.join(", ") }
}

/// TRAPS, NO-TRAP or MIXED over the seeds of one treatment (App. C).
pub fn three_way(endpoints: &[Option<Endpoint>], quorum: Quorum) -> Outcome {
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
#[path = "endpoint/tests.rs"]
mod tests;
