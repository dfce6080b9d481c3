//! What a registration is filled from: a cell's calibration, as measured or as printed
//! (App. E.5, E.11).

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::setup::yaml::{self, ConfigError};

/// The inputs of a fill, from run directories or from a small YAML file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FillInputs {
    /// The cell.
    pub cell: String,
    /// The GPU, as runs name it; bound into the registration where stated.
    #[serde(default)]
    pub hardware: Option<String>,
    /// lambda_ref, sessions/s; else the mean of `cache_off`.
    #[serde(default)]
    pub lambda_ref_per_s: Option<f64>,
    /// The all-miss prefill rate, tokens/s; else the mean of `cache_off`.
    #[serde(default)]
    pub all_miss_tokens_per_s: Option<f64>,
    /// Cache-off runs of one population, a row per seed (E0a).
    #[serde(default)]
    pub cache_off: Vec<CacheOff>,
    /// The closed curve.
    #[serde(default)]
    pub curve: Vec<CurvePoint>,
    /// mu* over lambda_ref, where a curve is not at hand; the cap then has no source.
    #[serde(default)]
    pub peak_ratio: Option<f64>,
    /// The from-empty bracket.
    pub edge: EdgeBracket,
    /// The seeds to register.
    #[serde(default)]
    pub seeds: Vec<u64>,
    /// SHA-256 of a file that the fill restates, if any.
    #[serde(default)]
    pub restates_sha256: Vec<String>,
    /// Where each value comes from.
    #[serde(default)]
    pub sources: BTreeMap<String, String>,
}

/// One cache-off run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CacheOff {
    /// Turns per second over E[T], sessions/s.
    pub turns_based_per_s: f64,
    /// Uncached prompt tokens per second.
    pub tokens_per_s: f64,
}

/// One point of a closed curve.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CurvePoint {
    /// Sessions.
    pub n: u64,
    /// mu(n) in completed sessions/s; `null` where it was run and is not known.
    pub mu_per_s: Option<f64>,
}

/// A from-empty bracket, multiples of lambda_ref.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EdgeBracket {
    /// The largest all-stable multiple; `null` if none was.
    pub largest_stable: Option<f64>,
    /// The first unstable one; `null` if none was.
    #[serde(default)]
    pub first_unstable: Option<f64>,
    /// Whether no stable rate lies above an unstable one.
    #[serde(default = "yes")]
    pub monotone: bool,
}

fn yes() -> bool {
    true
}

/// The formulas' constants, in their published values by default.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FillThresholds {
    /// Where in the window the rates lie.
    pub fractions: Vec<f64>,
    /// What they are rounded to, multiples of lambda_ref.
    pub round_to: f64,
    /// A rate lies strictly above this times the window's lower edge ...
    pub above_lower: f64,
    /// ... and strictly below this times its upper edge.
    pub below_upper: f64,
    /// The cap is the smallest population with this share of mu*.
    pub cap_share: f64,
    /// Another population this close to mu*, as a share, makes the cap ambiguous.
    /// Inferred: the paper flags 0.35 % and 0.5 % and prints no bound.
    pub ambiguous_share: f64,
    /// Share of the time after the burst that the drain may take.
    pub drain_share: f64,
}

impl Default for FillThresholds {
    fn default() -> Self {
        Self {
            fractions: vec![1.0 / 3.0, 2.0 / 3.0],
            round_to: 0.05,
            above_lower: 1.1,
            below_upper: 0.9,
            cap_share: 0.95,
            ambiguous_share: 0.01,
            drain_share: 0.8,
        }
    }
}

/// The smallest value that is there more than once.
pub(super) fn first_twice<T: Ord>(values: impl IntoIterator<Item = T>) -> Option<T> {
    let mut sorted: Vec<T> = values.into_iter().collect();
    sorted.sort_unstable();
    let twice = sorted.windows(2).position(|pair| pair[0] == pair[1])?;
    sorted.into_iter().nth(twice)
}

impl FillInputs {
    /// Reads and checks an inputs file.
    ///
    /// # Errors
    /// As [`yaml::from_bytes`], and when a value makes no sense.
    pub fn parse(path: &Path, bytes: &[u8]) -> Result<Self, ConfigError> {
        let inputs: Self = yaml::from_bytes(path, bytes)?;
        inputs.check().map_err(|message| ConfigError::new(path, message))?;
        Ok(inputs)
    }

    fn check(&self) -> Result<(), String> {
        let positive = self
            .curve
            .iter()
            .filter_map(|p| p.mu_per_s)
            .chain(self.lambda_ref_per_s)
            .chain(self.all_miss_tokens_per_s)
            .chain(self.peak_ratio)
            .chain(self.cache_off.iter().flat_map(|c| [c.turns_based_per_s, c.tokens_per_s]))
            .chain(self.edge.largest_stable)
            .chain(self.edge.first_unstable);
        if let Some(x) = positive.into_iter().find(|x| *x <= 0.0) {
            return Err(format!("expected positive rates, found {x}"));
        }
        if let Some(twice) = first_twice(self.curve.iter().map(|p| p.n)) {
            return Err(format!("curve: n = {twice} is there twice"));
        }
        if let Some(twice) = first_twice(self.seeds.iter().copied()) {
            return Err(format!("seeds: {twice} is there twice"));
        }
        if self.edge.monotone
            && let (Some(stable), Some(unstable)) =
                (self.edge.largest_stable, self.edge.first_unstable)
            && stable >= unstable
        {
            return Err(format!(
                "edge: largest_stable {stable} is not below first_unstable {unstable} \
                 (say monotone: false where a stable rate lies above an unstable one)"
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(edge: &str, seeds: &str) -> Result<(), String> {
        let text = format!("cell: c\nlambda_ref_per_s: 0.1\nedge: {edge}\nseeds: {seeds}\n");
        yaml::parse::<FillInputs>(Path::new("x.yaml"), &text).unwrap().check()
    }

    #[test]
    fn a_seed_that_is_there_twice_is_named() {
        let edge = "{largest_stable: 2.0, first_unstable: 2.5}";
        assert_eq!(check(edge, "[0, 1, 2]"), Ok(()));
        assert_eq!(check(edge, "[0, 0, 0]").unwrap_err(), "seeds: 0 is there twice");
        assert_eq!(check(edge, "[3, 1, 3]").unwrap_err(), "seeds: 3 is there twice");
    }

    #[test]
    fn a_stable_rate_above_an_unstable_one_must_be_said_to_be_there() {
        let edge = "{largest_stable: 3.0, first_unstable: 2.5";
        let why = check(&format!("{edge}}}"), "[0]").unwrap_err();
        assert!(why.starts_with("edge: largest_stable 3 is not below first_unstable 2.5"), "{why}");
        assert_eq!(check(&format!("{edge}, monotone: false}}"), "[0]"), Ok(()));
        let equal = check("{largest_stable: 2.5, first_unstable: 2.5}", "[0]");
        assert!(equal.unwrap_err().contains("is not below"));
    }
}
