//! Settings of the analyses made after the outcome: D1, D2 and D5 (App. D).

use serde::{Deserialize, Serialize};

use super::test::Dose;

/// Whether a trap ever ended by itself (D5).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PersistenceTest {
    /// Length of the rolling window, s.
    pub window_s: f64,
    /// By how much it moves, s. Not printed; the shorter the step, the stricter.
    pub step_s: f64,
    /// A trap starts at the first window after the trigger with a follow-up hit
    /// fraction of at most this.
    pub onset_hit_at_most: f64,
    /// It has ended once a later window has at least this.
    pub escape_hit_at_least: f64,
    /// One-sided confidence of the bound on the escape probability.
    pub confidence: f64,
}

impl Default for PersistenceTest {
    fn default() -> Self {
        Self {
            window_s: 300.0,
            step_s: 10.0,
            onset_hit_at_most: 0.2,
            escape_hit_at_least: 0.5,
            confidence: 0.95,
        }
    }
}

/// Whether a trap outlived what caused it (D1): the burst's sessions, or those
/// with a slowed tool call.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TriggerTest {
    /// What caused it.
    pub dose: Dose,
    /// A trap is looked for below this follow-up hit fraction over the window.
    pub stuck_follow_up_hit_below: f64,
}

impl Default for TriggerTest {
    fn default() -> Self {
        Self { dose: Dose::BurstSessions, stuck_follow_up_hit_below: 0.2 }
    }
}

/// Sessions served in time (D2): Lu et al.'s goodput without their second
/// condition on the time between tokens, which the runs do not record.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GoodputTest {
    /// A session is served in time if it took at most this times the unloaded time.
    pub slowdown_at_most: f64,
    /// Factor on the unloaded latencies, to see how much the reference matters.
    pub reference_factor: f64,
    /// How long after the burst the first span of arrivals reaches, s.
    pub after_burst_s: f64,
}

impl Default for GoodputTest {
    fn default() -> Self {
        Self { slowdown_at_most: 4.0, reference_factor: 1.0, after_burst_s: 3600.0 }
    }
}
