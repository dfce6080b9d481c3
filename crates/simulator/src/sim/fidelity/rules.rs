//! The rules that the rows go by: those of the registered tests.

use serde::{Deserialize, Serialize};

use crate::rule::endpoint::Endpoints;
use crate::rule::registration::PairedThresholds;
use crate::rule::rescue::RescueTest;
use crate::rule::stability::Stability;

/// What counts as RECOVERED, STUCK, GOOD, stable, rescued: the published thresholds where a
/// file states none.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    /// RECOVERED (Table 6).
    #[serde(default)]
    pub paired: PairedThresholds,
    /// STUCK and GOOD (App. E.6).
    #[serde(default)]
    pub endpoints: Endpoints,
    /// Stable from empty (App. E.3).
    #[serde(default)]
    pub stability: Stability,
    /// RESCUED (App. E.7); when the cap engages is the arm's.
    #[serde(default)]
    pub rescue: RescueTest,
    /// The all-miss rate that its token rates are held against, uncached prompt tokens/s.
    pub all_miss_tokens_per_s: f64,
}
