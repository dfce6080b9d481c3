//! The thresholds of a run's state and of the paired test (Table 6, App. B, App. E.5), each
//! of which can be set by its name.

use serde::{Deserialize, Serialize};

use super::vote::Quorum;

/// Thresholds of the paired test; the published ones where a file states none (Table 6).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PairedThresholds {
    /// TRAPPED: uncached token rate over the all-miss rate within 1 +- this.
    pub token_rate_tolerance: f64,
    /// TRAPPED: backlog slope above this times (lambda - lambda_ref).
    pub slope_factor: f64,
    /// RECOVERED: hit fraction above this.
    pub recovered_hit_above: f64,
    /// RECOVERED: outstanding below this, sessions.
    pub recovered_outstanding_below: f64,
    /// Stuck, for model F: follow-up hit fraction below this (App. B).
    pub stuck_follow_up_hit_below: f64,
    /// A rate passes in at least this many seeds ...
    pub seeds_passing: u64,
    /// ... of so many, and in the same share of more.
    pub seeds_at_least: u64,
}

impl Default for PairedThresholds {
    fn default() -> Self {
        Self {
            token_rate_tolerance: 0.15,
            slope_factor: 0.5,
            recovered_hit_above: 0.8,
            recovered_outstanding_below: 20.0,
            stuck_follow_up_hit_below: 0.2,
            seeds_passing: 2,
            seeds_at_least: 3,
        }
    }
}

impl PairedThresholds {
    /// How many seeds a rate needs to pass.
    pub(crate) const fn quorum(&self) -> Quorum {
        Quorum { needed: self.seeds_passing, of: self.seeds_at_least }
    }

    /// Their names, as a registration's file spells them.
    const NAMES: [&'static str; 7] = [
        "token_rate_tolerance",
        "slope_factor",
        "recovered_hit_above",
        "recovered_outstanding_below",
        "stuck_follow_up_hit_below",
        "seeds_passing",
        "seeds_at_least",
    ];

    /// Sets one of them by its name.
    ///
    /// # Errors
    /// There is none of that name, or the value is no threshold, in words.
    pub fn set(&mut self, name: &str, value: f64) -> Result<(), String> {
        let positive = |value: f64| match value {
            value if value > 0.0 && value.is_finite() => Ok(value),
            _ => Err(format!("{name}: expected a positive number, found {value}")),
        };
        let share = |value: f64| match value {
            value if (0.0..=1.0).contains(&value) => Ok(value),
            _ => Err(format!("{name}: expected a share from 0 to 1, found {value}")),
        };
        let seeds = |value: f64| match value {
            value if value >= 1.0 && value.fract() == 0.0 => Ok(value as u64),
            _ => Err(format!("{name}: expected a whole number of seeds, found {value}")),
        };
        match name {
            "token_rate_tolerance" => self.token_rate_tolerance = positive(value)?,
            "slope_factor" => self.slope_factor = positive(value)?,
            "recovered_hit_above" => self.recovered_hit_above = share(value)?,
            "recovered_outstanding_below" => self.recovered_outstanding_below = positive(value)?,
            "stuck_follow_up_hit_below" => self.stuck_follow_up_hit_below = share(value)?,
            "seeds_passing" => self.seeds_passing = seeds(value)?,
            "seeds_at_least" => self.seeds_at_least = seeds(value)?,
            _ => return Err(unknown(name)),
        }
        Ok(())
    }
}

/// What is said of a name that there is not: all there are, and the one that was meant.
fn unknown(name: &str) -> String {
    let meant = crate::nearest::nearest(name, PairedThresholds::NAMES)
        .map_or(String::new(), |meant| format!("; did you mean {meant}?"));
    format!("no threshold {name}: there are {}{meant}", PairedThresholds::NAMES.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_threshold_is_set_by_its_name_and_no_other() {
        let published = serde_json::to_value(PairedThresholds::default()).unwrap();
        let names: Vec<&String> = published.as_object().unwrap().keys().collect();
        assert_eq!(names.len(), PairedThresholds::NAMES.len());
        for name in names {
            let mut rule = PairedThresholds::default();
            rule.set(name, 1.0).unwrap();
            let set = serde_json::to_value(rule).unwrap();
            assert_eq!(set[name].as_f64(), Some(1.0), "{name}");
            for other in PairedThresholds::NAMES.into_iter().filter(|other| other != name) {
                assert_eq!(set[other], published[other], "{name} sets {other}");
            }
        }
    }

    #[test]
    fn an_unknown_name_lists_the_known_ones_and_suggests_the_nearest() {
        let error = PairedThresholds::default().set("slop_factor", 1.0).unwrap_err();
        assert!(error.starts_with("no threshold slop_factor: there are token_rate_"), "{error}");
        assert!(error.ends_with("did you mean slope_factor?"), "{error}");
        let error = PairedThresholds::default().set("zzz", 1.0).unwrap_err();
        assert!(!error.contains("did you mean"), "{error}");
    }

    #[test]
    fn a_value_that_is_no_threshold_is_refused_and_changes_nothing() {
        for (name, value) in [
            ("slope_factor", 0.0),
            ("slope_factor", f64::NAN),
            ("recovered_hit_above", 80.0),
            ("seeds_passing", 1.5),
            ("recovered_outstanding_below", f64::INFINITY),
        ] {
            let mut rule = PairedThresholds::default();
            let error = rule.set(name, value).unwrap_err();
            assert!(error.starts_with(&format!("{name}: expected")), "{error}");
            assert_eq!(rule, PairedThresholds::default());
        }
    }
}
