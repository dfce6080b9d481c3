//! What counts as a hit, stuck, good, stable, rescued.

use serde::{Deserialize, Serialize};

/// Thresholds of the paper's rules that the rows use.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Thresholds {
    /// STUCK: a hit fraction below this (App. E.6).
    pub stuck_hit: f64,
    /// RECOVERED: a hit fraction above this over the last part (Table 6).
    pub recovered_hit: f64,
    /// RECOVERED: a mean outstanding below this (Table 6).
    pub recovered_outstanding: f64,
    /// The last part, seconds (Table 6).
    pub last_s: f64,
    /// Bins of the backlog slope, seconds (Table 6).
    pub slope_bin_s: f64,
    /// Stable from empty: a final queue below this (App. E.3).
    pub stable_queue: f64,
    /// Stable from empty: a fitted rise over the window of at most this (App. E.3).
    pub stable_rise: f64,
    /// The final queue is a mean over this long (not printed; inferred).
    pub final_queue_s: f64,
    /// The rescue rule (App. E.7).
    pub rescue: RescueThresholds,
}

/// Thresholds of VALID, RELEASED and POST-GOOD (App. E.7).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RescueThresholds {
    /// VALID: follow-up hits below this before the cap.
    pub before_hit: f64,
    /// VALID: how long before.
    pub before_s: f64,
    /// VALID: more outstanding than this at t_on.
    pub outstanding: f64,
    /// RELEASED by.
    pub release_by_s: f64,
    /// POST-GOOD starts this long after release.
    pub settle_s: f64,
    /// POST-GOOD: length of a tile.
    pub tile_s: f64,
    /// POST-GOOD: follow-up hits of every tile at least this.
    pub tile_hit: f64,
    /// POST-GOOD: follow-up hits of the whole interval above this.
    pub interval_hit: f64,
    /// POST-GOOD: uncached token rate below this share of the reference.
    pub token_share: f64,
    /// The reference, uncached prompt tokens/s.
    pub token_reference_per_s: f64,
}
