//! A registration: the decision rule of a test, filled in before its runs
//! (paper: Table 1, Table 6, App. E.5, E.11).
//!
//! A run is bound to a registration by the SHA-256 of the file's bytes, which
//! its `meta.json` carries; the file is hashed as it lies, never re-serialised.

pub(crate) mod filled;
pub mod inputs;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::limits;
use crate::setup::Cell;
use crate::setup::yaml::{self, ConfigError};

use super::registered::{Candidate, Role, Terms};

pub use super::test::Test;
pub use super::thresholds::PairedThresholds;
pub use filled::Filled;

/// A registration as `configs/registrations/<name>.yaml` states it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Registration {
    /// Its name; equals the file's stem.
    pub name: String,
    /// What its verdicts are worth.
    pub status: Status,
    /// Why it has that status, for readers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
    /// The cell it is for.
    pub cell: String,
    /// Further cells, for an analysis that looks at the runs of several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also_cells: Vec<String>,
    /// lambda_ref, the all-miss session rate the rule calls lambda_miss, sessions/s.
    pub lambda_ref_per_s: f64,
    /// The cell's measured all-miss prefill rate, uncached tokens/s; without it no
    /// clause on the token rate can be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub all_miss_tokens_per_s: Option<f64>,
    /// The rates under test, multiples of `lambda_ref_per_s`.
    pub rates: Vec<f64>,
    /// n_cap, the gate of the capped arms, sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cap: Option<u64>,
    /// The seeds under test; empty for any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seeds: Vec<u64>,
    /// The GPU its runs must have used, as `meta.json` names it, where that is part of the rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hardware: Option<String>,
    /// Registrations whose runs may serve as this test's controls, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub controls_of: Vec<String>,
    /// SHA-256 of files that this one restates: a run bound to one of them is judged by
    /// this registration, and not decisively, because the bytes are not those it was bound to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub restates_sha256: Vec<String>,
    /// The kind of test, with the kind's own thresholds.
    #[serde(default)]
    pub test: Test,
    /// The thresholds of a run's state, which every kind of test shares.
    #[serde(default)]
    pub rule: PairedThresholds,
    /// How it was filled, where a fill made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filled: Option<Filled>,
    /// Where each value comes from.
    #[serde(default)]
    pub sources: BTreeMap<String, String>,
}

/// What a registration asks of its runs, in sentences that carry its thresholds.
pub fn rule_in_words(registration: &Registration) -> String {
    registration.test.in_words(&registration.rule)
}

/// What a registration's verdicts are worth (App. E.11).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Status {
    /// Binds a test: its verdicts are decisive for the runs bound to it.
    Filled,
    /// Filled after the runs, or derived from another; never decisive.
    Exploratory,
    /// The fill could not place the test; it judges nothing.
    Incomplete,
}

impl Registration {
    /// Whether it states the same rule as another: rates, cap, calibration and thresholds.
    pub(crate) fn states_the_rule_of(&self, other: &Self) -> bool {
        let rule = |r: &Self| (r.lambda_ref_per_s, r.all_miss_tokens_per_s, r.cap, r.rule);
        rule(self) == rule(other) && self.rates == other.rates && self.test == other.test
    }

    /// Whether it is about runs of a cell.
    pub fn is_about(&self, cell: &str) -> bool {
        self.cell == cell || self.also_cells.iter().any(|also| also == cell)
    }

    /// What it says to a test of whatever kind.
    pub fn terms(&self) -> Terms<'_> {
        Terms {
            lambda_ref_per_s: self.lambda_ref_per_s,
            all_miss_tokens_per_s: self.all_miss_tokens_per_s,
            rates: &self.rates,
            hardware: self.hardware.as_deref(),
            rule: self.rule,
        }
    }

    /// What a run is to its test.
    pub fn role(&self, run: &Candidate<'_>) -> Role {
        if self.test.compares_with(run) {
            Role::Control
        } else if self.is_about(&run.meta.cell) {
            self.test.role(run)
        } else {
            Role::None
        }
    }
}

impl Status {
    /// The word used in files and outputs.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Filled => "FILLED",
            Self::Exploratory => "EXPLORATORY",
            Self::Incomplete => "INCOMPLETE",
        }
    }
}

/// A registration with the file it was read from.
#[derive(Debug, Clone, PartialEq)]
pub struct RegistrationFile {
    /// Where it lies.
    pub path: PathBuf,
    /// SHA-256 of its bytes: what binds a run to it.
    pub sha256: String,
    /// What it says.
    pub registration: Registration,
}

impl RegistrationFile {
    /// Reads, hashes and checks a registration.
    ///
    /// # Errors
    /// As [`yaml::from_bytes`], and when a value makes no sense.
    pub fn parse(path: &Path, bytes: &[u8]) -> Result<Self, ConfigError> {
        let registration: Registration = yaml::from_bytes(path, bytes)?;
        registration.check().map_err(|message| ConfigError::new(path, message))?;
        Ok(Self { path: path.into(), sha256: yaml::sha256(bytes), registration })
    }
}

/// What the published rule is called where it judges in a registration's place.
pub(crate) const PUBLISHED_RULE: &str = "the paper's published rule";

impl RegistrationFile {
    /// The paired test's published rule (Table 6, App. E.5) for a cell without a registration
    /// of it, with the cell's own calibration. No file states it and no run is bound to it:
    /// what it says is exploratory.
    pub fn published(cell: &Cell) -> Self {
        let sources = [
            ("lambda_ref_per_s", "the cell's calibration"),
            ("all_miss_tokens_per_s", "the cell's calibration"),
            ("rule", "Table 6, App. E.5"),
        ];
        Self {
            path: PathBuf::new(),
            sha256: String::new(),
            registration: Registration {
                name: PUBLISHED_RULE.into(),
                status: Status::Exploratory,
                because: Some(format!("no registration of the paired test for {}", cell.name)),
                cell: cell.name.clone(),
                also_cells: Vec::new(),
                lambda_ref_per_s: cell.lambda_ref_per_s,
                all_miss_tokens_per_s: cell.all_miss_tokens_per_s,
                rates: Vec::new(),
                cap: None,
                seeds: Vec::new(),
                hardware: None,
                controls_of: Vec::new(),
                restates_sha256: Vec::new(),
                test: Test::default(),
                rule: PairedThresholds::default(),
                filled: None,
                sources: sources.map(|(key, place)| (key.to_owned(), place.to_owned())).into(),
            },
        }
    }

    /// Whether no file states it: the published rule in a registration's place.
    pub fn is_published(&self) -> bool {
        self.sha256.is_empty()
    }

    /// The same with other thresholds: what if.
    #[must_use]
    pub(crate) fn with_rule(&self, rule: PairedThresholds) -> Self {
        let mut file = self.clone();
        file.registration.rule = rule;
        file
    }

    /// Whether this is a restatement of the file with that hash.
    pub(crate) fn restates(&self, sha256: &str) -> bool {
        self.registration.restates_sha256.iter().any(|s| s == sha256)
    }
}

impl Registration {
    /// Says what is wrong with the values, if anything.
    ///
    /// # Errors
    /// One sentence naming the field and what was expected.
    pub fn check(&self) -> Result<(), String> {
        let rule = &self.rule;
        let positive = [
            ("lambda_ref_per_s", self.lambda_ref_per_s),
            ("all_miss_tokens_per_s", self.all_miss_tokens_per_s.unwrap_or(1.0)),
            ("cap", self.cap.map_or(1.0, |cap| cap as f64)),
            ("rule.token_rate_tolerance", rule.token_rate_tolerance),
            ("rule.slope_factor", rule.slope_factor),
            ("rule.seeds_passing", rule.seeds_passing as f64),
        ];
        if let Some((name, x)) = positive.iter().find(|(_, x)| *x <= 0.0) {
            return Err(format!("{name}: expected a positive number, found {x}"));
        }
        let too_short = |(_, x): &(&str, f64)| *x < limits::STEP_S;
        if let Some((name, x)) = self.test.steps().into_iter().find(too_short) {
            return Err(format!("{name}: expected at least {} s, found {x:?}", limits::STEP_S));
        }
        let filled = self.status != Status::Incomplete;
        if filled && self.cap.is_none() && self.test.needs_cap() {
            return Err(format!("cap: a {} needs one", self.test.words()));
        }
        if filled && self.all_miss_tokens_per_s.is_none() && self.test.needs_all_miss_rate() {
            return Err(format!("all_miss_tokens_per_s: a {} needs it", self.test.words()));
        }
        if let Some(rate) = self.rates.iter().find(|r| **r <= 0.0) {
            return Err(format!("rates: expected positive multiples of lambda_ref, found {rate}"));
        }
        if let Some(twice) = inputs::first_twice(self.seeds.iter().copied()) {
            return Err(format!("seeds: {twice} is there twice"));
        }
        // Positive numbers are in the order of their bits.
        if let Some(twice) = inputs::first_twice(self.rates.iter().map(|r| r.to_bits())) {
            return Err(format!("rates: {} is there twice", f64::from_bits(twice)));
        }
        if rule.seeds_at_least < rule.seeds_passing {
            return Err("rule.seeds_at_least: expected at least seeds_passing".into());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(rest: &str) -> String {
        let text = format!(
            "{{name: x, status: EXPLORATORY, cell: c, lambda_ref_per_s: 1, all_miss_tokens_per_s: 9, \
             rates: [1.5], {rest}}}"
        );
        let file = RegistrationFile::parse(Path::new("x.yaml"), text.as_bytes()).unwrap();
        rule_in_words(&file.registration)
    }

    #[test]
    fn a_rule_says_its_own_thresholds_not_the_published_ones() {
        assert!(words("cap: 3").contains("within 15 % of the all-miss rate"));
        let own =
            words("cap: 3, rule: {token_rate_tolerance: 0.07, recovered_outstanding_below: 31}");
        assert!(own.contains("within 7 % of") && own.contains("fewer than 31 sessions"), "{own}");
        let dose = "test: {kind: endpoints, arm: burst, dose: burst-sessions, \
                    doses: [{dose: 40, expect: GOOD}, {dose: 50, expect: null}]}";
        let own = words(dose);
        assert!(own.contains("burst: 40 sessions leave GOOD, in 2 of 3 seeds"), "{own}");
    }
}
