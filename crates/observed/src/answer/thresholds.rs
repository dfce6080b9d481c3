//! The thresholds of an answer.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::rule::registration::PairedThresholds;
use crate::setup::{ConfigError, yaml};

/// Thresholds of an answer. The published rule's where it has them; the others are ours, and
/// `configs/diagnose.yaml` says why each is what it is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Thresholds {
    /// Almost all is missed below this share of what could be found (App. B).
    pub missed_below: f64,
    /// What could be found is found above this share of it (Table 6).
    pub found_above: f64,
    /// A stretch is sustained from this long on, s, or if it is all there is.
    pub sustained_s: f64,
    /// Below this share of prompt tokens there was nothing to reuse.
    pub reusable_share: f64,
    /// A hit fraction from which on a source itself shows that reuse is there.
    pub reuse_shown: f64,
    /// A backlog grew if it rose by so many requests ...
    pub rise_requests: f64,
    /// ... and so many times the scatter about the line.
    pub rise_over_scatter: f64,
    /// Requests wait if this many do on average.
    pub waiting: f64,
    /// Turns per session, or latencies per window, below which growth cannot be judged.
    pub turns_per_session: f64,
}

impl Default for Thresholds {
    fn default() -> Self {
        let published = PairedThresholds::default();
        Self {
            missed_below: published.stuck_follow_up_hit_below,
            found_above: published.recovered_hit_above,
            sustained_s: 120.0,
            reusable_share: 0.2,
            reuse_shown: 0.5,
            rise_requests: 3.0,
            rise_over_scatter: 2.0,
            waiting: 1.0,
            turns_per_session: 4.0,
        }
    }
}

impl Thresholds {
    /// Reads and checks the bytes of a YAML file; what it does not state is the default.
    ///
    /// # Errors
    /// What is no such file, a share outside 0 to 1, and a number that is not positive.
    pub fn parse(path: &Path, bytes: &[u8]) -> Result<Self, ConfigError> {
        let rule: Self = yaml::from_bytes(path, bytes)?;
        rule.check().map_err(|message| ConfigError::new(path, message))?;
        Ok(rule)
    }

    fn check(&self) -> Result<(), String> {
        let shares = [
            ("missed_below", self.missed_below),
            ("found_above", self.found_above),
            ("reusable_share", self.reusable_share),
            ("reuse_shown", self.reuse_shown),
        ];
        if let Some((name, x)) = shares.into_iter().find(|(_, x)| !(*x > 0.0 && *x <= 1.0)) {
            return Err(format!("{name}: expected a share above 0 and up to 1, found {x}"));
        }
        let positive = [
            ("sustained_s", self.sustained_s),
            ("rise_requests", self.rise_requests),
            ("rise_over_scatter", self.rise_over_scatter),
            ("waiting", self.waiting),
            ("turns_per_session", self.turns_per_session),
        ];
        if let Some((name, x)) = positive.into_iter().find(|(_, x)| !(*x > 0.0 && x.is_finite())) {
            return Err(format!("{name}: expected a positive number, found {x}"));
        }
        if self.missed_below >= self.found_above {
            return Err(format!(
                "missed_below: expected less than found_above ({}), found {}",
                self.found_above, self.missed_below
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Thresholds, String> {
        Thresholds::parse(Path::new("t.yaml"), text.as_bytes()).map_err(|e| e.to_string())
    }

    #[test]
    fn what_a_file_does_not_state_is_the_default() {
        let rule = parse("sustained_s: 30\n").unwrap();
        assert_eq!(rule, Thresholds { sustained_s: 30.0, ..Thresholds::default() });
    }

    #[test]
    fn the_committed_file_states_what_is_built_in() {
        let text =
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../configs/diagnose.yaml"));
        assert_eq!(parse(text).unwrap(), Thresholds::default());
        let stated = text.lines().filter(|line| line.contains(": ") && !line.starts_with('#'));
        assert_eq!(stated.count(), 9);
    }

    #[test]
    fn what_is_no_threshold_is_refused_by_its_name() {
        for (text, says) in [
            ("waiting: 0\n", "waiting: expected a positive number"),
            ("found_above: 80\n", "found_above: expected a share"),
            ("missed_below: 0.9\n", "missed_below: expected less than found_above (0.8)"),
            ("sustaned_s: 3\n", "did you mean"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(says), "{error}");
        }
    }
}
