//! The chance that the all-miss queue ever empties when arrivals are Poisson: Kendall's
//! branching description of the busy period (App. A, stochastic version).
//!
//! Not a bound on a spontaneous exit from the trap: hits return before the queue is empty.

use crate::model::numeric::root_between;
use crate::model::{ModelError, positive};

use super::ModelF;

/// 1 - xi, where xi is the least root of xi = E\[exp(-lambda W_T (1 - xi))\] and W_T is a
/// session's all-miss work. 0 at or below capacity, where the queue empties for certain.
///
/// # Errors
/// The rate is not positive.
pub(crate) fn survival_of_a_session(model: &ModelF, lambda_per_s: f64) -> Result<f64, ModelError> {
    let lambda = positive("lambda (sessions/s)", lambda_per_s)?;
    let rho = model.rho(lambda);
    if rho <= 1.0 {
        return Ok(0.0);
    }
    let law: Vec<(f64, f64)> = session_work(model).collect();
    let second_moment: f64 = law.iter().map(|(p, w)| p * (lambda * w) * (lambda * w)).sum();
    // 1 - e^-s >= s - s^2/2, so the root lies above 2 (rho - 1) / E[(lambda W)^2].
    let low = (rho - 1.0) / second_moment;
    let excess = |x: f64| {
        let transform: f64 = law.iter().map(|(p, w)| -p * libm::expm1(-lambda * w * x)).sum();
        transform - x
    };
    root_between(low, 1.0, excess).ok_or_else(|| ModelError::NoSolution {
        what: "Kendall's root",
        why: format!("rho = {rho} is too close to 1"),
    })
}

/// The probability that the queue empties from `work_left_s` of realized remaining work.
///
/// # Errors
/// As [`survival_of_a_session`].
pub fn emptying_probability(
    model: &ModelF,
    lambda_per_s: f64,
    work_left_s: f64,
) -> Result<f64, ModelError> {
    let survival = survival_of_a_session(model, lambda_per_s)?;
    Ok(libm::exp(-lambda_per_s * survival * work_left_s))
}

/// Its decimal logarithm, for chances smaller than a double holds.
///
/// # Errors
/// As [`survival_of_a_session`].
pub fn log10_emptying_probability(
    model: &ModelF,
    lambda_per_s: f64,
    work_left_s: f64,
) -> Result<f64, ModelError> {
    let survival = survival_of_a_session(model, lambda_per_s)?;
    Ok(-lambda_per_s * survival * work_left_s / std::f64::consts::LN_10)
}

/// (P(T = m), W_m = c_1 + ... + c_m) for m = 1..=K.
fn session_work(model: &ModelF) -> impl Iterator<Item = (f64, f64)> + '_ {
    let mut work = 0.0;
    model.survival.iter().zip(&model.costs_s).enumerate().map(move |(k, (g, c))| {
        work += c;
        (g - model.survival.get(k + 1).unwrap_or(&0.0), work)
    })
}
