//! Model F near rho = 1: first-order expansions (Prop. 1(c), Theorem 2) and where the fluid
//! settles at rho = 1 (Prop. 1(b)).

use super::ModelF;

/// First order in rho - 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NearThreshold {
    /// gamma = (rho - 1) / kbar_c.
    pub gamma: f64,
    /// alpha = (lambda - lambda_miss) E\[T\] / kbar_c, in sessions/s.
    pub alpha_per_s: f64,
    /// D / lambda_miss - 1 = (rho - 1)(1 - E\[T\] / kbar_c).
    pub premium: f64,
}

/// The expansions at a load.
pub fn expansion(model: &ModelF, lambda_per_s: f64) -> NearThreshold {
    let excess = model.rho(lambda_per_s) - 1.0;
    let share = model.mean_turns() / model.kbar_c();
    NearThreshold {
        gamma: excess / model.kbar_c(),
        alpha_per_s: (lambda_per_s - model.lambda_miss_per_s()) * share,
        premium: excess * (1.0 - share),
    }
}

/// The gap at rho = 1, V_tot / kbar_c, in seconds, from the remaining work.
pub(crate) fn critical_gap_s(model: &ModelF, work_left_s: f64) -> f64 {
    work_left_s / model.kbar_c()
}

/// The backlog at rho = 1, lambda_miss E\[T\] V_tot / kbar_c, in sessions.
pub fn critical_backlog(model: &ModelF, work_left_s: f64) -> f64 {
    model.lambda_miss_per_s() * model.mean_turns() * critical_gap_s(model, work_left_s)
}
