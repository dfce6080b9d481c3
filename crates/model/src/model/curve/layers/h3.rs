//! H3: the probability that a burst of fresh sessions leaves a run stuck.
//!
//! A burst counts by its peak footprint, not by its number (App. E.9). Inferred definition:
//! a burst moves the population along the curve to the state whose live KV is larger by
//! the burst's peak; the H2 diffusion then reaches the onset before n_1 with probability q, or
//! escapes from n_1 later. One constant, the remaining horizon of 5050 s, is fitted to the
//! published 0.879; horizons of 4500 to 5050 s give the same probabilities at 25 to 60 sessions.

use crate::model::curve::{Curve, StationaryState};
use crate::model::numeric::root_between;

use super::h2::Diffusion;

/// The fitted remaining horizon, in seconds.
pub const REMAINING_HORIZON_S: f64 = 5050.0;

/// H3 at one load.
#[derive(Debug, Clone)]
pub struct BurstBasin<'a> {
    curve: &'a Curve,
    diffusion: Diffusion,
    lambda_per_s: f64,
    good: StationaryState,
    unstable: StationaryState,
    /// Peak footprint of a fresh session, in tokens.
    fresh_tokens: f64,
}

impl<'a> BurstBasin<'a> {
    /// `fresh_tokens` is the peak of G_k E_k, 4,331 for the paper's workload. `None` without a
    /// good and an unstable state at the rate.
    pub fn at(curve: &'a Curve, cv2: f64, fresh_tokens: f64, lambda_per_s: f64) -> Option<Self> {
        Some(Self {
            diffusion: Diffusion::of(curve, cv2),
            good: curve.good_state(lambda_per_s)?,
            unstable: curve.unstable_state(lambda_per_s)?,
            curve,
            lambda_per_s,
            fresh_tokens,
        })
    }

    /// The fresh burst that moves the good state to the unstable one, in sessions.
    pub fn critical_burst(&self) -> f64 {
        let model = self.curve.model();
        (model.live_tokens(&self.unstable) - model.live_tokens(&self.good)) / self.fresh_tokens
    }

    /// The probability of reaching the onset before returning to n_1.
    pub fn committor(&self, burst: f64) -> f64 {
        let moved = self.moved_population(burst);
        self.diffusion.committor(self.lambda_per_s, self.good.population, moved)
    }

    /// The probability that the run ends stuck: reaches the onset, or escapes later within
    /// `horizon_s`.
    pub fn stuck_probability(&self, burst: f64, horizon_s: f64) -> f64 {
        let later = self.diffusion.escape_probability(self.lambda_per_s, horizon_s);
        1.0 - (1.0 - self.committor(burst)) * (1.0 - later)
    }

    /// The burst at which `probability(burst)` is one half, in sessions.
    pub fn half_point(&self, probability: impl Fn(f64) -> f64) -> Option<f64> {
        root_between(0.0, 4.0 * self.critical_burst(), |b| probability(b) - 0.5)
    }

    /// n with K_live(n) = K_live(n_1) + burst x fresh tokens; n_b when the curve stays below.
    fn moved_population(&self, burst: f64) -> f64 {
        let model = self.curve.model();
        let target = model.live_tokens(&self.good) + burst * self.fresh_tokens;
        let onset = self.diffusion.onset();
        let excess = |n: f64| model.live_tokens(&self.curve.state(n)) - target;
        root_between(self.good.population, onset, excess).unwrap_or(if burst > 0.0 {
            onset
        } else {
            self.good.population
        })
    }
}
