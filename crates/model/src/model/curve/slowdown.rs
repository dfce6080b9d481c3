//! Populations over time in the quasi-static reading n' = lambda - mu(n) (Eq. (2)): a tool
//! slowdown (TOOLSLOW). Not quantitative in congestion (App. E.4).

use crate::model::ModelError;
use crate::model::numeric::root_between;
use crate::setup::ToolTime;

use super::{Curve, EntryModel};

/// The population after `duration_s` of Eq. (2) from `population`, by fourth-order
/// Runge-Kutta steps of 0.25 s.
pub fn population_after(curve: &Curve, lambda_per_s: f64, population: f64, duration_s: f64) -> f64 {
    let steps = libm::ceil(duration_s / 0.25).max(1.0);
    let step_s = duration_s / steps;
    let drift = |n: f64| lambda_per_s - curve.mu_per_s(n.max(0.0));
    let mut n = population;
    for _ in 0..steps as usize {
        let k1 = drift(n);
        let k2 = drift(n + 0.5 * step_s * k1);
        let k3 = drift(n + 0.5 * step_s * k2);
        let k4 = drift(n + step_s * k3);
        n += step_s / 6.0 * (k1 + 2.0 * (k2 + k3) + k4);
    }
    n
}

/// The model with every tool call `delay_s` longer, for an exponential tool time.
///
/// # Errors
/// Another tool law, or as [`EntryModel::with_tool_time`].
pub fn slowed(model: &EntryModel, delay_s: f64) -> Result<EntryModel, ModelError> {
    match model.tool_time() {
        ToolTime::Exponential { mean_s } => {
            model.with_tool_time(ToolTime::ShiftedExponential { shift_s: delay_s, mean_s: *mean_s })
        }
        ToolTime::ShiftedExponential { shift_s, mean_s } => {
            let shift_s = shift_s + delay_s;
            model.with_tool_time(ToolTime::ShiftedExponential { shift_s, mean_s: *mean_s })
        }
        _ => Err(ModelError::NoSolution {
            what: "a slowed tool time",
            why: "only exponential tool times can be delayed".into(),
        }),
    }
}

/// The largest delay of every tool call at which a good state still exists at a rate, in
/// seconds. `None` when there is none even without delay, or at every delay (below mu_b).
///
/// # Errors
/// As [`slowed`].
pub fn largest_delay_s(model: &EntryModel, lambda_per_s: f64) -> Result<Option<f64>, ModelError> {
    let margin = |delay_s: f64| -> Result<f64, ModelError> {
        Ok(Curve::of(&slowed(model, delay_s)?)?.highest_mu_per_s() - lambda_per_s)
    };
    if margin(0.0)? <= 0.0 || lambda_per_s <= model.onset().mu_b_per_s {
        return Ok(None);
    }
    let mut high = 1.0;
    while margin(high)? > 0.0 {
        high *= 2.0;
        if high > 1e9 {
            return Ok(None);
        }
    }
    Ok(root_between(0.0, high, |d| margin(d).unwrap_or(f64::NAN)))
}
