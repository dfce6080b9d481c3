//! What a fill writes into a registration beside its rule: where the rates and the
//! cap come from, what is expected, and what would end the test (App. E.11).

use serde::{Deserialize, Serialize};

/// The record of a fill.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Filled {
    /// The window of metastability, multiples of lambda_ref.
    pub window: (f64, f64),
    /// What sets its upper edge.
    pub upper_edge: UpperEdge,
    /// The open interval that must hold every rate, multiples of lambda_ref.
    pub margin_band: (f64, f64),
    /// The rates the formula gives, inside the band or not, multiples of lambda_ref.
    pub rates_by_formula: Vec<f64>,
    /// mu*, the peak of the closed curve, and where it is, if a curve was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak: Option<Peak>,
    /// Whether another cap would do nearly as well.
    #[serde(default)]
    pub cap_ambiguous: bool,
    /// The predicted drain per rate.
    #[serde(default)]
    pub drains: Vec<Drain>,
    /// The largest multiple at which the predicted drain fits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drain_fits_up_to: Option<f64>,
    /// Backlog slope above which a run is TRAPPED, per rate, sessions/s.
    #[serde(default)]
    pub slope_thresholds_per_s: Vec<f64>,
    /// What is expected where.
    pub predictions: Vec<String>,
    /// What ends the test.
    pub kill_conditions: Vec<String>,
    /// What a reader should know.
    #[serde(default)]
    pub warnings: Vec<String>,
}

/// What sets a window's upper edge (Eq. (3)).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UpperEdge {
    /// The largest multiple that stayed stable from empty.
    FromEmpty,
    /// The peak of the closed curve.
    Peak,
}

/// The peak of a closed curve.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Peak {
    /// n*, sessions.
    pub sessions: u64,
    /// mu*, sessions/s.
    pub mu_per_s: f64,
    /// mu at the cap, sessions/s.
    pub mu_at_cap_per_s: f64,
}

/// How long the cap is predicted to need for the burst at one rate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Drain {
    /// The rate, a multiple of lambda_ref.
    pub rate: f64,
    /// b / (mu(cap) - lambda), s; `null` if the cap does not serve the load.
    #[serde(default)]
    pub predicted_s: Option<f64>,
    /// Whether it fits into the share of the run that the rule allows.
    pub fits: bool,
}
