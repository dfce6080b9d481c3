//! H2: the from-empty edge, from a one-dimensional diffusion of the population.
//!
//! Inferred definition, with no free constant, which gives every published edge and escape
//! probability: dX = (lambda - mu(X)) dt + sqrt((lambda + mu(X))(1 + cv^2)) dW with the fluid
//! curve, reflected at 0, absorbed at n_b. The run escapes by T with probability
//! 1 - exp(-T/tau), tau the mean passage from 0; the edge is where that is one half.

use crate::model::curve::Curve;
use crate::model::numeric::root_between;

/// Grid steps from 0 to n_b.
const STEPS: usize = 3000;

/// The diffusion of one curve.
#[derive(Debug, Clone)]
pub struct Diffusion {
    onset: f64,
    /// mu at the midpoints of the grid cells.
    mu_per_s: Vec<f64>,
    noise: f64,
}

impl Diffusion {
    /// `cv2` is [`super::demand_cv2`].
    pub fn of(curve: &Curve, cv2: f64) -> Self {
        let onset = curve.model().onset().population();
        let step = onset / STEPS as f64;
        let mu_per_s = (0..STEPS).map(|i| curve.mu_per_s((i as f64 + 0.5) * step)).collect();
        Self { onset, mu_per_s, noise: 1.0 + cv2 }
    }

    /// tau, the mean time from an empty engine to the onset, in seconds (infinite when it
    /// exceeds the range of floating point).
    pub(crate) fn mean_passage_s(&self, lambda_per_s: f64) -> f64 {
        let step = self.step();
        // tau = int_0^n_b Y, where Y' = b - a Y, Y(0) = 0 (reflection), with constant a and b per cell.
        let (mut y, mut tau) = (0.0_f64, 0.0_f64);
        for mu in &self.mu_per_s {
            let (a, b) = self.coefficients(lambda_per_s, *mu);
            let fading = libm::exp(-a * step);
            let (gain, area) = if (a * step).abs() > 1e-6 {
                let gain = -libm::expm1(-a * step) / a;
                (gain, (step - gain) / a)
            } else {
                (step, 0.5 * step * step)
            };
            tau += y * gain + b * area;
            y = y * fading + b * gain;
        }
        tau
    }

    /// The probability that a run from empty has left the good state by `horizon_s`.
    pub fn escape_probability(&self, lambda_per_s: f64, horizon_s: f64) -> f64 {
        -libm::expm1(-horizon_s / self.mean_passage_s(lambda_per_s))
    }

    /// The rate at which half of the runs have escaped by `horizon_s`, in sessions/s.
    pub fn edge_per_s(&self, horizon_s: f64) -> Option<f64> {
        let highest = self.mu_per_s.iter().copied().fold(0.0, f64::max);
        root_between(1e-3 * highest, 3.0 * highest, |lambda| {
            self.escape_probability(lambda, horizon_s) - 0.5
        })
    }

    /// The probability of reaching the onset before `bottom`, from `from`.
    pub fn committor(&self, lambda_per_s: f64, bottom: f64, from: f64) -> f64 {
        if from >= self.onset {
            return 1.0;
        }
        if from <= bottom {
            return 0.0;
        }
        // Scale function S with S' = exp(-int a): sums over the cells above `bottom`, kept
        // relative to their largest exponent.
        let step = self.step();
        let mut exponent = 0.0;
        let mut cells: Vec<(f64, f64, f64)> = Vec::new();
        for (i, mu) in self.mu_per_s.iter().enumerate() {
            let (low, high) = (i as f64 * step, (i as f64 + 1.0) * step);
            if high <= bottom {
                continue;
            }
            let (a, _) = self.coefficients(lambda_per_s, *mu);
            let width = high - low.max(bottom);
            cells.push((low.max(bottom), high, exponent - 0.5 * a * width));
            exponent -= a * width;
        }
        let largest = cells.iter().map(|c| c.2).fold(f64::NEG_INFINITY, f64::max);
        let (mut below, mut total) = (0.0, 0.0);
        for (low, high, exponent) in cells {
            let density = libm::exp(exponent - largest);
            total += density * (high - low);
            below += density * (high.min(from) - low).max(0.0);
        }
        below / total
    }

    /// n_b, in sessions.
    pub fn onset(&self) -> f64 {
        self.onset
    }

    /// 2 drift / variance and 2 / variance.
    fn coefficients(&self, lambda: f64, mu: f64) -> (f64, f64) {
        let variance = (lambda + mu) * self.noise;
        (2.0 * (lambda - mu) / variance, 2.0 / variance)
    }

    fn step(&self) -> f64 {
        self.onset / STEPS as f64
    }
}
