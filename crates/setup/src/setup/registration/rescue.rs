//! Thresholds of the rescue tests R1 and R4 (App. E.7).

use serde::{Deserialize, Serialize};

use super::test::Quorum;

/// A cap engaged inside the trap, released, and what must hold after it.
///
/// The cap and the rates are the registration's; the defaults are R1's.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RescueTest {
    /// t_on: when the gate starts to bind, s.
    pub engage_s: f64,
    /// VALID: over so many seconds before t_on ...
    pub valid_over_s: f64,
    /// ... the follow-up hit fraction is below this ...
    pub valid_hit_below: f64,
    /// ... and more than this is outstanding at t_on, sessions.
    pub valid_outstanding_above: f64,
    /// RELEASED: by this time of the run, s.
    pub released_by_s: f64,
    /// POST-GOOD is judged from so long after the release, s.
    pub settle_s: f64,
    /// Length of a tile, s.
    pub tile_s: f64,
    /// POST-GOOD: every tile's follow-up hit fraction is at least this ...
    pub tile_hit_at_least: f64,
    /// ... the interval's is above this ...
    pub interval_hit_above: f64,
    /// ... and its uncached token rate is below this times the all-miss rate.
    pub token_rate_below: f64,
    /// RELAPSE: a tile's follow-up hit fraction is below this.
    pub relapse_hit_below: f64,
    /// A control is STUCK if its follow-up hit fraction from t_on on is below this.
    pub control_hit_below: f64,
    /// Rescued seeds that a rate needs to pass.
    pub seeds: Quorum,
    /// Relapses that refute the test.
    pub refuted_by_relapses: u64,
    /// Runs not released in time that refute it; none for R4.
    pub refuted_by_unreleased: Option<u64>,
    /// Mechanics: the gate engages within this of t_on, s ...
    pub engage_within_s: f64,
    /// ... is released no sooner than this after it, s ...
    pub capped_at_least_s: f64,
    /// ... on a grid of this, counted from t_on, s ...
    pub tick_s: f64,
    /// ... after both queues have been empty for this, s.
    pub hold_s: f64,
}

impl Default for RescueTest {
    fn default() -> Self {
        Self {
            engage_s: 1800.0,
            valid_over_s: 300.0,
            valid_hit_below: 0.2,
            valid_outstanding_above: 50.0,
            released_by_s: 7200.0,
            settle_s: 300.0,
            tile_s: 300.0,
            tile_hit_at_least: 0.5,
            interval_hit_above: 0.8,
            token_rate_below: 0.5,
            relapse_hit_below: 0.2,
            control_hit_below: 0.2,
            seeds: Quorum::TWO_OF_THREE,
            refuted_by_relapses: 2,
            refuted_by_unreleased: Some(2),
            engage_within_s: 10.0,
            capped_at_least_s: 600.0,
            tick_s: 10.0,
            hold_s: 300.0,
        }
    }
}
