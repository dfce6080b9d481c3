//! The processor-sharing version of model F: every session advances at the same rate
//! (App. A, remarks). Only its growth; layer RR has its transient.

use crate::model::numeric::root_of_increasing;
use crate::model::{ModelError, positive};

use super::ModelF;

/// Growth of the processor-sharing queue above capacity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sharing {
    /// alpha_PS, also the growth of the cycle per second.
    pub exponent: f64,
    /// lambda (1 - E\[e^(-alpha_PS T)\]), growth of the backlog in sessions/s.
    pub growth_per_s: f64,
    /// lambda E\[e^(-alpha_PS T)\], completions in sessions/s.
    pub completions_per_s: f64,
}

/// Solves lambda sum_k c_k G_k int_{k-1}^k e^(-alpha a) da = 1. `None` at or below capacity.
///
/// # Errors
/// The rate is not positive.
pub fn sharing(model: &ModelF, lambda_per_s: f64) -> Result<Option<Sharing>, ModelError> {
    let lambda = positive("lambda (sessions/s)", lambda_per_s)?;
    let rho = model.rho(lambda);
    if rho <= 1.0 {
        return Ok(None);
    }
    let kernel = |alpha: f64| {
        let per_turn = -libm::expm1(-alpha);
        let y = 1.0 - per_turn;
        let mut power = per_turn / alpha;
        let mut sum = 0.0;
        for (c, g) in model.costs_s.iter().zip(&model.survival) {
            sum += c * g * power;
            power *= y;
        }
        lambda * sum
    };
    let guess = (rho - 1.0) / model.kbar_c();
    let solved = root_of_increasing(guess, |alpha| 1.0 - kernel(alpha));
    let exponent = solved.ok_or_else(|| ModelError::NoSolution {
        what: "the processor-sharing exponent",
        why: format!("rho = {rho} is too close to 1"),
    })?;
    // 1 - E[y^T] = (1 - y) sum G_k y^(k-1).
    let per_turn = -libm::expm1(-exponent);
    let mut power = per_turn;
    let mut staying = 0.0;
    for g in &model.survival {
        staying += g * power;
        power *= 1.0 - per_turn;
    }
    let growth_per_s = lambda * staying;
    Ok(Some(Sharing { exponent, growth_per_s, completions_per_s: lambda - growth_per_s }))
}
