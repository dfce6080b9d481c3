//! How published and ours are compared, as far as it is a choice: `comparison.yaml`.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use crate::setup::ConfigError;

/// Where it lies.
pub const COMPARISON: &str = "analysis/numbers/comparison.yaml";

/// What is chosen about comparisons.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ComparisonRules {
    /// When an interval says nothing.
    pub uninformative: Uninformative,
    /// When a difference may be chance.
    pub chance: Chance,
    /// Words of the paper's tables and ours for the same.
    #[serde(default)]
    pub words: BTreeMap<String, String>,
    /// Units of fields of tables, by the last step of their path.
    #[serde(default)]
    pub units: BTreeMap<String, String>,
}

/// When an interval says nothing.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Uninformative {
    /// If it is wider than this share of the published value; of outcomes in words, if more
    /// than this share of the draws came out otherwise.
    pub wider_than: f64,
    /// Why this share.
    pub because: String,
}

/// When a difference may be chance: it lies just outside.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chance {
    /// No farther outside than this share of the interval's width.
    pub within_widths: f64,
    /// Why this share.
    pub because: String,
}

#[cfg(test)]
impl ComparisonRules {
    /// What the tests of a comparison compare by.
    pub(super) fn of_tests() -> Self {
        Self {
            uninformative: Uninformative { wider_than: 0.8, because: "x".into() },
            chance: Chance { within_widths: 0.25, because: "x".into() },
            words: [].into(),
            units: [].into(),
        }
    }
}

impl ComparisonRules {
    /// Reads the file.
    ///
    /// # Errors
    /// As [`crate::configs::yaml`]; a share that is none.
    pub fn load(path: &Path) -> Result<Self, ConfigError> {
        let file: Self = crate::configs::yaml(path)?;
        let share = file.uninformative.wider_than;
        if !(share > 0.0 && share < 1.0) {
            let message = format!("uninformative.wider_than: expected 0 to 1, found {share}");
            return Err(ConfigError::new(path, message));
        }
        let within = file.chance.within_widths;
        if !(within > 0.0 && within < 1.0) {
            let message = format!("chance.within_widths: expected 0 to 1, found {within}");
            return Err(ConfigError::new(path, message));
        }
        Ok(file)
    }

    /// A word of the paper as ours is written, to be compared.
    pub fn plain(&self, word: &str) -> String {
        let word = self.words.get(word).map_or(word, String::as_str);
        word.to_lowercase().replace(['_', '-'], " ")
    }
}
