//! Thresholds of the tests of the trap law: CUT, MIRROR and the scores S1 to S5
//! (App. C), with the model values frozen beside them.

use serde::{Deserialize, Serialize};

use super::super::arm::Arm;
use super::super::protocol::Span;
use super::test::{Endpoints, Quorum};

/// Arrivals cut inside the trap.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CutTest {
    /// When arrivals are cut, s.
    #[serde(default = "cut_from_s")]
    pub from_s: f64,
    /// S is the backlog slope over this.
    #[serde(default = "cut_slope_window")]
    pub slope_window_s: Span,
    /// The arms.
    pub arms: Vec<CutArm>,
    /// When a run is still stuck.
    #[serde(default)]
    pub endpoints: Endpoints,
    /// Seeds for each of the rule's conditions.
    #[serde(default)]
    pub seeds: Quorum,
    /// Model F's slope and the trapped throughput of the uncut control, per arm and seed.
    pub predictions: Vec<CutPrediction>,
}

fn cut_from_s() -> f64 {
    2400.0
}

fn cut_slope_window() -> Span {
    Span::new(3000.0, 8700.0)
}

/// One arm of a cut test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CutArm {
    /// Its name.
    pub name: String,
    /// The rate arrivals are cut to, multiples of lambda_ref.
    pub multiple: f64,
    /// Whether the quasi-static reading is a comparator.
    pub quasi_static: bool,
    /// The sign the slope must have ...
    pub sign: Sign,
    /// ... over this.
    pub sign_window_s: Span,
}

/// A sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sign {
    /// Above 0.
    Positive,
    /// Below 0.
    Negative,
}

/// What was frozen for one run of a cut test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CutPrediction {
    /// The arm's name.
    pub arm: String,
    /// The seed.
    pub seed: u64,
    /// Model F's slope over the slope window, sessions/s.
    pub model_f_slope_per_s: f64,
    /// D_trap of the same seed's uncut control, sessions/s.
    pub d_trap_per_s: f64,
}

/// The mirror test's rule and secondary checks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MirrorTest {
    /// M1's window: the blackout.
    #[serde(default = "blackout")]
    pub blackout_s: Span,
    /// M1: completions in it at most this, in lambda_ref.
    #[serde(default = "m1")]
    pub blackout_at_most: f64,
    /// M2: the wave within this times model F's elapsed time.
    #[serde(default = "m2")]
    pub wave_tolerance: f64,
    /// M3's window: the lull.
    #[serde(default = "lull")]
    pub lull_s: Span,
    /// M3: completions in it at most this, in lambda_ref.
    #[serde(default = "m3")]
    pub lull_at_most: f64,
    /// M4's window.
    #[serde(default = "slope_window")]
    pub slope_window_s: Span,
    /// CURVE: completions in both windows at least this, in lambda_ref.
    #[serde(default = "m3")]
    pub curve_at_least: f64,
    /// Model F's all-miss rate for the workload, in lambda_ref: the quasi-static
    /// reading of M4 subtracts it from the plan's rate.
    pub lambda_miss: f64,
    /// When a run is stuck.
    #[serde(default)]
    pub endpoints: Endpoints,
    /// Seeds for a cell's verdict.
    #[serde(default)]
    pub seeds: Quorum,
    /// The rate whose verdict decides; the others are secondary.
    pub decisive: f64,
    /// W5: factor on model F's elapsed time.
    #[serde(default = "w5_factor")]
    pub calibrated_factor: f64,
    /// W5: the wave within this times the calibrated elapsed time.
    #[serde(default = "w5")]
    pub calibrated_tolerance: f64,
    /// W7: mean prompt within this share of model F's.
    #[serde(default = "w5")]
    pub prompt_tolerance: f64,
    /// W8: late completions within this of model F's, in lambda_ref.
    #[serde(default = "w8")]
    pub completions_tolerance: f64,
    /// W10: the measured all-miss rate of the workload, in lambda_ref, if known.
    #[serde(default)]
    pub measured_lambda_miss: Option<f64>,
    /// Model F's values per rate and seed.
    pub predictions: Vec<MirrorPrediction>,
}

fn blackout() -> Span {
    Span::new(2400.0, 3600.0)
}
fn lull() -> Span {
    Span::new(6600.0, 8700.0)
}
fn slope_window() -> Span {
    Span::new(6000.0, 8700.0)
}
fn m1() -> f64 {
    0.30
}
fn m2() -> f64 {
    0.15
}
fn m3() -> f64 {
    0.85
}
fn w5_factor() -> f64 {
    0.9223
}
fn w5() -> f64 {
    0.05
}
fn w8() -> f64 {
    0.25
}

/// What was frozen for one run of the mirror test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MirrorPrediction {
    /// Rate, a multiple of lambda_ref.
    pub rate: f64,
    /// The seed.
    pub seed: u64,
    /// F: median completion time of the burst's sessions, s.
    pub wave_s: f64,
    /// Backlog slope over M4's window, sessions/s.
    pub slope_per_s: f64,
    /// Completions over M3's window, in lambda_ref; W8 is not judged without it.
    #[serde(default)]
    pub lull: Option<f64>,
    /// Mean prompt over the evaluation window, tokens; W7 is not judged without it.
    #[serde(default)]
    pub mean_prompt_tokens: Option<f64>,
    /// SHA-256 of the plan it was computed from; a run of another plan does not count.
    #[serde(default)]
    pub plan_sha256: Option<String>,
}

/// Scores of the trap law (S1 to S5).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TrapLawTest {
    /// The arms whose stuck runs are scored; empty for every arm.
    pub arms: Vec<Arm>,
    /// S1: a run's mean prompt within this share of the tilted mix.
    pub composition_per_run: f64,
    /// S1, pooled.
    pub composition_pooled: f64,
    /// S2: the pooled gap slope at least this times gamma ...
    pub gap_at_least: f64,
    /// ... and at most this.
    pub gap_at_most: f64,
    /// S3 asks completions above lambda_ref of runs with this realized load or more, in lambda_ref.
    pub load_at_least: f64,
    /// S3: pooled completions within this share of D.
    pub completions_pooled: f64,
    /// S4: pooled backlog slope within this share of alpha.
    pub slope_pooled: f64,
    /// S5: the slope within this of the plug-in, sessions/s.
    pub plug_in_within_per_s: f64,
    /// The refutation rule needs a group of at least so many trapped runs.
    pub group_at_least: u64,
}

impl Default for TrapLawTest {
    fn default() -> Self {
        Self {
            arms: Vec::new(),
            composition_per_run: 0.08,
            composition_pooled: 0.05,
            gap_at_least: 0.6,
            gap_at_most: 1.4,
            load_at_least: 1.1,
            completions_pooled: 0.15,
            slope_pooled: 0.35,
            plug_in_within_per_s: 0.01,
            group_at_least: 2,
        }
    }
}
