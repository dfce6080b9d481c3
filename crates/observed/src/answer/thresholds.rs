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
    /// So many follow-ups of one kind show what they have in common; fewer may be chance.
    pub follow_ups: u64,
    /// The share of follow-ups that find one and the same number of tokens, where the client
    /// breaks its prompt there.
    pub same_share: f64,
    /// Misses from less than this share of the pool on are another pool's.
    pub binding_share: f64,
    /// The share of its most sessions that a closed population holds throughout.
    pub closed_share: f64,
    /// A first token is slow from so many medians on ...
    pub slow_times: f64,
    /// ... where no more than this share of the requests is.
    pub slow_share: f64,
    /// The share of all waiting from which on those few are the answer.
    pub waiting_share: f64,
    /// The share of waiting requests that wait for another reason than room, from which on room
    /// is not what is lacking.
    pub deferred_share: f64,
    /// A usage gauge below this share needs a word where reuse is missed.
    pub full_usage: f64,
    /// The share of requests that no counter has, from which on it is told.
    pub lost_share: f64,
    /// A first token in less than this share of an earlier one's time hints at reuse.
    pub hint_share: f64,
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
            follow_ups: 3,
            same_share: 0.8,
            binding_share: 0.5,
            closed_share: 0.8,
            slow_times: 10.0,
            slow_share: 0.2,
            waiting_share: 0.5,
            deferred_share: 0.5,
            full_usage: 0.9,
            lost_share: 0.01,
            hint_share: 0.1,
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
            ("same_share", self.same_share),
            ("binding_share", self.binding_share),
            ("closed_share", self.closed_share),
            ("slow_share", self.slow_share),
            ("waiting_share", self.waiting_share),
            ("deferred_share", self.deferred_share),
            ("full_usage", self.full_usage),
            ("lost_share", self.lost_share),
            ("hint_share", self.hint_share),
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
            ("follow_ups", self.follow_ups as f64),
            ("slow_times", self.slow_times),
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
        assert_eq!(stated.count(), 20);
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
