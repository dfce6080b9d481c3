//! The speed factor of a cell: stated, or fitted to its measured all-miss token rate
//! (App. E.9). It divides every cost; tools and memory keep their speed.

use crate::model::numeric::{root_between, root_of_increasing};
use crate::model::session::SessionMeans;
use crate::model::{ModelError, positive};
use crate::setup::{Cell, Speed, Workload};

use super::{IterationCosts, Server};

/// The speed factor of a cell with iteration costs.
///
/// # Errors
/// A factor that is not positive, or a token rate that no factor gives.
pub(crate) fn of_iteration_costs(cell: &Cell, workload: &Workload) -> Result<f64, ModelError> {
    match cell.speed {
        Speed::Own => Ok(1.0),
        Speed::Factor { factor } => positive("speed.factor", factor),
        Speed::AllMissRate { population } => {
            let rate =
                positive("all_miss_tokens_per_s", cell.all_miss_tokens_per_s.unwrap_or(f64::NAN))?;
            let population = positive("speed.population", population)?;
            fitted(cell, workload, population, rate)
        }
    }
}

/// The speed factor of a cell with costs per turn, which has no fit: its costs come from
/// the all-miss rate itself.
///
/// # Errors
/// A fit is asked for, or the stated factor is not positive.
pub(crate) fn of_per_turn_costs(cell: &Cell) -> Result<f64, ModelError> {
    match cell.speed {
        Speed::Own => Ok(1.0),
        Speed::Factor { factor } => positive("speed.factor", factor),
        Speed::AllMissRate { .. } => {
            Err(ModelError::NeedsIterationCosts { what: "a speed fitted to the all-miss rate" })
        }
    }
}

/// Uncached prompt tokens per second of a closed population with caching off, at the given
/// speed (E0a). Below saturation the population bounds the turn rate, above it the pool.
///
/// # Errors
/// The cell gives costs per turn, or the pool is not positive.
pub fn all_miss_tokens_per_s(
    cell: &Cell,
    workload: &Workload,
    population: f64,
    speed: f64,
) -> Result<f64, ModelError> {
    let costs = IterationCosts::of(cell, "the all-miss token rate")?.divided_by(speed);
    let server = Server::new(cell, workload, &costs);
    let means = SessionMeans::of(workload);
    let tool_s = workload.tool_time.mean_s() * means.followup_share();
    let full = server.turn_rate_filling(cell.pool_tokens as f64, 0.0)?;
    let excess = |nu: f64| match server.at(nu, 0.0) {
        Some(running) => nu * (running.service_s + tool_s) - population,
        None => f64::MAX,
    };
    let nu = root_between(0.0, full, excess).unwrap_or(full);
    Ok(nu * means.mean_prompt_tokens())
}

fn fitted(
    cell: &Cell,
    workload: &Workload,
    population: f64,
    tokens_per_s: f64,
) -> Result<f64, ModelError> {
    all_miss_tokens_per_s(cell, workload, population, 1.0)?;
    root_of_increasing(1.0, |speed| {
        all_miss_tokens_per_s(cell, workload, population, speed).unwrap_or(f64::NAN) - tokens_per_s
    })
    .ok_or_else(|| ModelError::NoSolution {
        what: "the speed factor",
        why: format!(
            "no factor gives {tokens_per_s} tokens/s at a population of {population}; tool calls \
             alone may keep it below"
        ),
    })
}
