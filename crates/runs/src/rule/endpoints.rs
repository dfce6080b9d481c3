//! Doses of one treatment, each with the state that it is expected to leave: BASIN-1, BASIN-2,
//! TOOLSLOW, SHED (App. E.6).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::measure::treatment::Dose;
use crate::setup::{Arm, Span};

use super::endpoint::{Endpoint, Endpoints};
use super::in_words;
use super::outcome::{Group, Outcome, UNMEASURABLE};
use super::registered::{Candidate, Case, Evidence, Judged, RegisteredTest, Role, placed};
use super::state::State;
use super::thresholds::PairedThresholds;
use super::vote::{Quorum, tally};

/// Doses and the state each must leave (App. E.6).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EndpointTest {
    /// The arm of its runs, as in `meta.json`.
    pub arm: Arm,
    /// What varies.
    pub dose: Dose,
    /// When a slowdown lasts; runs slowed at other times are other tests'.
    #[serde(default)]
    pub during_s: Option<Span>,
    /// The doses.
    pub doses: Vec<ExpectedDose>,
    /// The arm whose same-seed run must be STUCK for a seed to count (SHED), if any.
    #[serde(default)]
    pub stuck_control: Option<Arm>,
    /// When a run is STUCK or GOOD.
    #[serde(default)]
    pub endpoints: Endpoints,
    /// Seeds that must be in the expected state at each dose.
    #[serde(default)]
    pub seeds: Quorum,
    /// The word for a test whose rule holds (BASIN-2: BRACKETED).
    #[serde(default = "pass")]
    pub held: String,
}

fn pass() -> String {
    "PASS".into()
}

/// One dose.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedDose {
    /// How much.
    pub dose: f64,
    /// The state it must leave; `null` for a dose the rule does not use.
    #[serde(default)]
    pub expect: Option<Expected>,
    /// Whether a stuck run must also be TRAPPED by the slope rule (BASIN-1).
    #[serde(default)]
    pub trapped: bool,
}

/// A state a run can end in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Expected {
    /// Stuck.
    Stuck,
    /// Good.
    Good,
}

impl Expected {
    /// Whether a run ended as expected.
    fn is(self, endpoint: Endpoint) -> bool {
        match self {
            Self::Stuck => endpoint == Endpoint::Stuck,
            Self::Good => endpoint == Endpoint::Good,
        }
    }
}

impl RegisteredTest for EndpointTest {
    fn words(&self) -> &'static str {
        "endpoints"
    }

    fn in_words(&self, _: &PairedThresholds) -> String {
        let (what, unit) = self.dose.words();
        let doses: Vec<String> = self
            .doses
            .iter()
            .filter_map(|dose| {
                let expected = serde_json::to_value(dose.expect?).ok()?;
                Some(format!("{} {unit} leave {}", dose.dose, expected.as_str()?))
            })
            .collect();
        format!(
            "Of the arm {}, {what}: {}, in {} seeds each. {}",
            self.arm,
            doses.join(", "),
            in_words::of(self.seeds),
            in_words::endpoints(&self.endpoints)
        )
    }

    fn role(&self, run: &Candidate<'_>) -> Role {
        let given = *run.arm() == self.arm
            && self.during_s.is_none_or(|during| run.treatment.slowed_during(during))
            && self.doses.iter().any(|d| run.treatment.is(self.dose, d.dose));
        if given {
            Role::Subject
        } else if self.stuck_control.as_ref() == Some(run.arm()) && run.has_full_burst() {
            Role::Control
        } else {
            Role::None
        }
    }

    fn judge(&self, case: &Case<'_>, evidence: &[Evidence<'_>]) -> Judged {
        let judged = Judged::labelled(evidence, |e| self.endpoints.label(e, case));
        let dose = |e: &Evidence<'_>| {
            let mut doses = self.doses.iter().map(|d| d.dose);
            doses.find(|d| e.treatment.is(self.dose, *d)).unwrap_or(f64::NAN)
        };
        let (subjects, mut set_aside) = placed(evidence, Role::Subject, |e| {
            let (what, unit) = self.dose.words();
            format!("{}, {what} {} {unit}", e.place(), dose(e))
        });
        let (controls, doubles) = placed(evidence, Role::Control, Evidence::place);
        set_aside.extend(doubles);
        let ended = |i: usize| judged.labels[i].as_ref().and_then(Endpoint::of);
        let runs: Vec<DoseRun> = subjects
            .iter()
            .map(|(i, e)| DoseRun {
                dose: dose(e),
                seed: e.meta.seed,
                endpoint: ended(*i),
                trapped: e.state.and_then(|s| match s.state {
                    State::Unmeasurable => None,
                    state => Some(state == State::Trapped),
                }),
            })
            .collect();
        let controls: BTreeMap<u64, Option<bool>> = controls
            .iter()
            .map(|(i, e)| (e.meta.seed, ended(*i).map(|end| end == Endpoint::Stuck)))
            .collect();
        let outcome = decide(&runs, &controls, self);
        judged.with(outcome, set_aside)
    }

    fn tables(&self) -> &'static [&'static str] {
        &["doses"]
    }
}

/// One run of a dose test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct DoseRun {
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
fn decide(
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
            let ended = expected.is(run.endpoint?);
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
    Group::new(name, NOT_USED, words.join(", "))
}

#[cfg(test)]
#[path = "endpoints/tests.rs"]
mod tests;
