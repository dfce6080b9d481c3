//! How close ours has to come to a published number to count as the same. Data with a
//! reason each (`analysis/numbers/tolerances.yaml`); a status is never set by hand.

use std::path::Path;

use serde::Deserialize;

use crate::setup::ConfigError;

use super::published::{Form, Kind};

/// The tolerances, in the order they are tried.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tolerances {
    /// For values of models and settings: the published digits.
    pub exact: Exact,
    /// For what was measured on runs: the first that fits.
    pub runs: Vec<Tolerance>,
}

/// The tolerance of values that depend on no run.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exact {
    /// In units of the last printed digit.
    pub units_of_last_digit: f64,
    /// Why.
    pub because: String,
}

/// A tolerance for what was measured on runs.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tolerance {
    /// Only for numbers of these kinds; for all, if there are none.
    #[serde(default)]
    pub kinds: Vec<Kind>,
    /// Only for numbers of these forms; for all, if there are none.
    #[serde(default)]
    pub forms: Vec<Form>,
    /// Only for numbers of these units; for all, if there are none.
    #[serde(default)]
    pub units: Vec<String>,
    /// Largest distance, in the number's unit.
    #[serde(default)]
    pub absolute: Option<f64>,
    /// Largest distance as a share of the published value.
    #[serde(default)]
    pub relative: Option<f64>,
    /// For counts of a number, the largest distance of the two shares.
    #[serde(default)]
    pub share: Option<f64>,
    /// Why.
    pub because: String,
}

impl Tolerances {
    /// Reads the file.
    ///
    /// # Errors
    /// As [`crate::configs::yaml`]; a tolerance without a width; one that is left out by those before.
    pub fn load(path: &Path) -> Result<Self, ConfigError> {
        let file: Self = crate::configs::yaml(path)?;
        if file.exact.units_of_last_digit <= 0.0 {
            let message = "exact.units_of_last_digit: expected a number above 0";
            return Err(ConfigError::new(path, message));
        }
        for (i, tolerance) in file.runs.iter().enumerate() {
            let widths = [tolerance.absolute, tolerance.relative, tolerance.share];
            let wrong = widths.iter().flatten().any(|width| *width < 0.0);
            if wrong || [tolerance.relative, tolerance.share].iter().flatten().any(|s| *s > 1.0) {
                let message = format!("runs[{i}]: a width is not negative, a share at most 1");
                return Err(ConfigError::new(path, message));
            }
            if tolerance.absolute.is_none()
                && tolerance.relative.is_none()
                && tolerance.share.is_none()
            {
                let message = format!("runs[{i}]: expected absolute, relative or share");
                return Err(ConfigError::new(path, message));
            }
        }
        let last = file.runs.last();
        let for_all =
            |t: &Tolerance| t.kinds.is_empty() && t.forms.is_empty() && t.units.is_empty();
        if !last.is_some_and(for_all) {
            return Err(ConfigError::new(path, "runs: the last one has to fit every number"));
        }
        Ok(file)
    }

    /// The first tolerance that fits; the last one fits all.
    pub fn for_runs(&self, kind: Kind, form: Form, unit: &str) -> &Tolerance {
        let fits = |t: &&Tolerance| {
            (t.kinds.is_empty() || t.kinds.contains(&kind))
                && (t.forms.is_empty() || t.forms.contains(&form))
                && (t.units.is_empty() || t.units.iter().any(|u| u == unit))
        };
        self.runs.iter().find(fits).unwrap_or(&self.runs[self.runs.len() - 1])
    }
}

/// How far ours may be off at one published value: no farther than the value itself, so that
/// its sign is asked for, and half a unit of its last digit at least.
pub fn width(tolerance: &Tolerance, published: f64, half_digit: f64) -> f64 {
    let relative = tolerance.relative.map_or(0.0, |share| share * published.abs());
    let widest = if published == 0.0 { f64::INFINITY } else { published.abs() };
    tolerance.absolute.unwrap_or(0.0).max(relative).min(widest).max(half_digit)
}

/// Half a unit of the last printed digit; of the last one that is not 0 where the number is
/// printed with "about".
pub fn half_digit(published: f64, digits: usize, approx: bool) -> f64 {
    let mut unit = libm::pow(10.0, -(digits as f64));
    if approx && published != 0.0 {
        while (published / (10.0 * unit)).round() * 10.0 * unit == published {
            unit *= 10.0;
        }
    }
    0.5 * unit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn about_is_half_a_unit_of_the_last_digit_that_is_not_0() {
        assert_eq!(half_digit(11100.0, 0, true), 50.0);
        assert_eq!(half_digit(11100.0, 0, false), 0.5);
        assert_eq!(half_digit(0.932, 3, true), 0.0005);
        assert_eq!(half_digit(16.0, 0, true), 0.5);
    }
}
