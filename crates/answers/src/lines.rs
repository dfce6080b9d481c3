//! Lines to draw: what pictures of the theory show, on paper and in the page.

use serde::Serialize;

use crate::model::fifo::Trap;
use crate::model::{ModelError, Theory};

/// Points of a line over the load, the population or over time.
pub const STEPS: usize = 240;
/// Where a curve is drawn from and to, in multiples of the onset.
pub(crate) const FROM_ONSET: f64 = 0.125;
/// See [`FROM_ONSET`].
pub(crate) const PAST_ONSET: f64 = 1.3;

/// The youth premium and its factors at a load (Theorem 2).
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Premium {
    /// Arrivals over the all-miss capacity.
    pub rho: f64,
    /// Arrivals over lambda_ref.
    pub multiple: f64,
    /// Completions over the all-miss capacity, less 1.
    pub premium: f64,
    /// H.
    pub turn_factor: f64,
    /// Gamma.
    pub cost_factor: f64,
    /// Mean served prompt over that of all turns.
    pub served_over_stationary: f64,
}

/// A turn's share of those served.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct TurnShare {
    /// k.
    pub turn: usize,
    /// In the trap.
    pub trapped: f64,
    /// Of all turns.
    pub stationary: f64,
}

/// A backlog over time after arrivals change.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Path {
    /// The rate they change to, in multiples of lambda_ref.
    pub cut_to: f64,
    /// Times, s.
    pub t_s: Vec<f64>,
    /// Sessions in the system then.
    pub backlog: Vec<f64>,
}

impl Premium {
    /// Of a trap.
    pub fn of(theory: &Theory, trap: &Trap) -> Self {
        let served = trap.served_mean(&theory.means.prompt_tokens);
        Self {
            rho: trap.rho,
            multiple: trap.lambda_per_s / theory.cell.lambda_ref_per_s,
            premium: trap.premium(),
            turn_factor: trap.turn_factor,
            cost_factor: trap.cost_factor,
            served_over_stationary: served / theory.means.mean_prompt_tokens(),
        }
    }
}

/// The trap at loads from just above 1 to 3, or to half more than `trap`'s own, by load.
///
/// # Errors
/// A rate that the model has no answer for.
pub fn traps(theory: &Theory, trap: Option<&Trap>) -> Result<Vec<(f64, Trap)>, ModelError> {
    let capacity = theory.model_f.lambda_miss_per_s();
    let most = trap.map_or(3.0, |t| (1.5 * t.rho).max(3.0));
    let mut traps = Vec::with_capacity(STEPS);
    for i in 1..=STEPS {
        let rho = 1.0 + (most - 1.0) * i as f64 / STEPS as f64;
        traps.extend(theory.trap(rho * capacity)?.map(|trap| (rho, trap)));
    }
    Ok(traps)
}

/// Turn by turn, the shares of those served in a trap and of all.
pub fn mix(theory: &Theory, trap: &Trap) -> Vec<TurnShare> {
    let both = trap.tilted_mix.iter().zip(&theory.means.mix);
    let shares = both.zip(1..);
    shares
        .map(|((trapped, all), turn)| TurnShare { turn, trapped: *trapped, stationary: *all })
        .collect()
}

/// The backlog from the burst on, after arrivals change at `at_s` to each of `rates`
/// (sessions/s).
///
/// # Errors
/// A rate that is negative, or a base rate that is not positive.
pub fn after_change(
    theory: &Theory,
    lambda_per_s: f64,
    (at_s, until_s): (f64, f64),
    rates: &[f64],
) -> Result<Vec<Path>, ModelError> {
    let burst = theory.burst(lambda_per_s);
    let start_s = burst.burst_s;
    let time = |i: usize| start_s + (until_s - start_s) * i as f64 / STEPS as f64;
    let t_s: Vec<f64> = (0..=STEPS).map(time).collect();
    let each = rates.iter().map(|rate| {
        let fluid = burst.run(&theory.model_f, lambda_per_s, &[(at_s, *rate)], until_s)?;
        let backlog = t_s.iter().map(|t_s| fluid.backlog(*t_s)).collect();
        let cut_to = rate / theory.cell.lambda_ref_per_s;
        Ok(Path { cut_to, t_s: t_s.clone(), backlog })
    });
    each.collect()
}

/// Populations that a curve is drawn at, up to `least` at least.
///
/// # Errors
/// A cell without iteration costs.
pub fn populations(theory: &Theory, least: f64) -> Result<Vec<f64>, ModelError> {
    let onset = theory.curve()?.model().onset().population();
    let (start, end) = (FROM_ONSET * onset, (PAST_ONSET * onset).max(least));
    Ok((0..=STEPS).map(|i| start + (end - start) * i as f64 / STEPS as f64).collect())
}
