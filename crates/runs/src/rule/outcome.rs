//! What a rule says: a label per run, a verdict per group of runs, a word for the test.

use super::clause::{Clause, deciding};
use super::state::State;
use super::vote::{RateVerdict, Tally};

/// A run's label and the clauses that led to it.
#[derive(Debug, Clone, PartialEq)]
pub struct Labelled {
    /// The rule's word.
    pub label: &'static str,
    /// The clauses that decided, those that hold and those that do not.
    pub clauses: Vec<Clause>,
    /// Why it has no other label, where no clause says so.
    pub because: Option<String>,
}

/// The label of a run that cannot say.
pub const UNMEASURABLE: &str = "UNMEASURABLE";

impl Labelled {
    /// A label with its clauses.
    pub const fn new(label: &'static str, clauses: Vec<Clause>) -> Self {
        Self { label, clauses, because: None }
    }

    /// A run that cannot say, and why.
    pub fn unmeasurable(because: impl Into<String>) -> Self {
        Self { label: UNMEASURABLE, clauses: Vec::new(), because: Some(because.into()) }
    }

    /// The clause that decided.
    pub fn deciding(&self) -> Option<&Clause> {
        deciding(&self.clauses)
    }
}

/// The verdict on a group of runs: a rate, a dose, an arm.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// What the group is.
    pub name: String,
    /// Its rate, a multiple of lambda_ref, where the group is one.
    pub rate: Option<f64>,
    /// How it came out.
    pub verdict: String,
    /// What was asked of it, with the count.
    pub because: String,
}

impl Group {
    /// A group of whatever kind.
    pub fn new(
        name: impl Into<String>,
        verdict: impl Into<String>,
        because: impl Into<String>,
    ) -> Self {
        Self { name: name.into(), rate: None, verdict: verdict.into(), because: because.into() }
    }

    /// The runs of a rate, a multiple of lambda_ref.
    pub(crate) fn of_rate(rate: f64, verdict: &str, because: String) -> Self {
        Self { rate: Some(rate), ..Self::new(format!("rate {rate:.2}"), verdict, because) }
    }

    /// A group that was counted.
    pub fn counted(name: impl Into<String>, what: &str, tally: Tally) -> Self {
        let because = format!("{what} in {} of {} seeds", tally.met, tally.judged);
        Self::new(name, tally.verdict.words(), because)
    }
}

/// The outcome of a test.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The rule's word for it.
    pub word: String,
    /// Why, in a sentence.
    pub because: String,
    /// The groups it was made from.
    pub groups: Vec<Group>,
    /// What could not be used, and why.
    pub set_aside: Vec<String>,
    /// What else the rule reports: secondary checks, withheld claims.
    pub notes: Vec<String>,
}

impl Outcome {
    /// An outcome with its reason.
    pub fn new(word: impl Into<String>, because: impl Into<String>, groups: Vec<Group>) -> Self {
        Self {
            word: word.into(),
            because: because.into(),
            groups,
            set_aside: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// The outcome of a test all of whose groups must pass.
    pub fn of_all(held: &str, groups: Vec<Group>, verdicts: &[RateVerdict]) -> Self {
        let named = |verdict: RateVerdict| -> String {
            let names: Vec<_> = groups
                .iter()
                .zip(verdicts)
                .filter(|(_, v)| **v == verdict)
                .map(|(g, _)| g.name.as_str())
                .collect();
            names.join(", ")
        };
        let (word, because) = if verdicts.is_empty() {
            (RateVerdict::NotDecidable.words(), "it has no run".to_owned())
        } else if verdicts.contains(&RateVerdict::Fail) {
            ("NOT MET", format!("the rule fails at {}", named(RateVerdict::Fail)))
        } else if verdicts.contains(&RateVerdict::NotDecidable) {
            let open = named(RateVerdict::NotDecidable);
            (RateVerdict::NotDecidable.words(), format!("too few seeds at {open}"))
        } else {
            (held, "the rule holds everywhere".to_owned())
        };
        Self::new(word, because, groups)
    }
}

/// One seed of one rate of the paired test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeedOutcome {
    /// The seed.
    pub seed: u64,
    /// The arms' states, in the order of [`super::paired::ARMS`]; `None` where there is no usable run.
    pub states: [Option<State>; 3],
    /// Whether all three arms met their condition; `None` when one is missing or
    /// cannot be measured.
    pub met: Option<bool>,
}

/// The verdict on one rate of the paired test.
#[derive(Debug, Clone, PartialEq)]
pub struct PairedVerdict {
    /// The rate, a multiple of lambda_ref.
    pub multiple: f64,
    /// Seeds, in order.
    pub seeds: Vec<SeedOutcome>,
    /// How it came out.
    pub verdict: RateVerdict,
    /// Seeds in which all conditions were met.
    pub met: u64,
    /// Seeds that could be judged.
    pub judged: u64,
    /// Runs that could not be used, and why.
    pub set_aside: Vec<String>,
}
