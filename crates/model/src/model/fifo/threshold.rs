//! Model F at rho = 1: where the fluid settles (Prop. 1(b)).

use super::ModelF;

/// The gap at rho = 1, V_tot / kbar_c, in seconds, from the remaining work.
pub(crate) fn critical_gap_s(model: &ModelF, work_left_s: f64) -> f64 {
    work_left_s / model.kbar_c()
}

/// The backlog at rho = 1, lambda_miss E\[T\] V_tot / kbar_c, in sessions.
pub fn critical_backlog(model: &ModelF, work_left_s: f64) -> f64 {
    model.lambda_miss_per_s() * model.mean_turns() * critical_gap_s(model, work_left_s)
}
