//! H1: the curve averaged over the fluctuation of what n sessions demand of the pool.
//!
//! Inferred definition, which gives all seven published peak ratios (Tables 11 and 13):
//! mu_H1(n) = E\[mu(n; M/X)\] with X normal, mean 1, variance cv^2/n, and the peak is over
//! whole n. Left out: any correlation between demand and service.

use crate::model::ModelError;
use crate::model::curve::EntryModel;
use crate::model::numeric::root_between;

/// Quadrature nodes over +-6 standard deviations of X.
const NODES: usize = 241;
/// Eviction ages at which the pool that a population needs is tabulated.
const AGES: usize = 600;

/// The averaged peak.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AveragedPeak {
    /// The population at which it is reached.
    pub population: usize,
    /// Its throughput, in sessions/s.
    pub mu_per_s: f64,
}

/// Populations looked at in one sweep.
const SWEEP: usize = 400;

/// The largest mu_H1 over whole populations up to the onset: every one of them where there
/// are few, else by ever finer sweeps around the best so far.
///
/// # Errors
/// As [`averaged_mu_per_s`].
pub fn averaged_peak(model: &EntryModel, cv2: f64) -> Result<AveragedPeak, ModelError> {
    let (mut from, mut to) = (1, libm::ceil(model.onset().population()) as usize + 1);
    let mut best = AveragedPeak { population: 0, mu_per_s: 0.0 };
    loop {
        let step = (to - from).div_ceil(SWEEP).max(1);
        for population in (from..=to).step_by(step) {
            let mu_per_s = averaged_mu_per_s(model, cv2, population as f64)?;
            if mu_per_s > best.mu_per_s {
                best = AveragedPeak { population, mu_per_s };
            }
        }
        if step == 1 {
            return Ok(best);
        }
        from = best.population.saturating_sub(step).max(1);
        to = best.population + step;
    }
}

/// mu_H1(n), in sessions/s.
///
/// # Errors
/// A pool so small that no state exists.
pub fn averaged_mu_per_s(model: &EntryModel, cv2: f64, population: f64) -> Result<f64, ModelError> {
    let table = PoolTable::of(model, population);
    let deviation = (cv2 / population).sqrt();
    let (mut sum, mut weight) = (0.0, 0.0);
    for i in 0..NODES {
        let x = -6.0 + 12.0 * i as f64 / (NODES - 1) as f64;
        let demand = 1.0 + deviation * x;
        if demand <= 0.0 {
            continue;
        }
        let density = libm::exp(-0.5 * x * x);
        sum += density * table.turn_rate(model, model.pool_tokens() / demand)?;
        weight += density;
    }
    Ok(sum / weight / model.mean_turns())
}

/// At one population: the turn rate, by the pool it takes to give it. Small pools first.
struct PoolTable {
    entries: Vec<(f64, f64)>,
}

impl PoolTable {
    fn of(model: &EntryModel, population: f64) -> Self {
        let mean_s = model.tool_time().mean_s();
        let mut entries: Vec<(f64, f64)> = Vec::with_capacity(AGES + 1);
        let mut least = f64::INFINITY;
        // From the largest pool down; where a fold makes the pool rise again, the good
        // branch stays.
        for i in 0..=AGES {
            let share = i as f64 / AGES as f64;
            let age_s = if i == AGES { 0.0 } else { mean_s * libm::exp(9.0 - 20.0 * share) };
            let (pool, nu) = pool_for(model, population, age_s);
            if pool < least {
                least = pool;
                entries.push((pool, nu));
            }
        }
        entries.reverse();
        Self { entries }
    }

    fn turn_rate(&self, model: &EntryModel, pool: f64) -> Result<f64, ModelError> {
        let after = self.entries.partition_point(|(p, _)| *p <= pool);
        if after == 0 {
            return model.server().turn_rate_filling(pool, 0.0);
        }
        let (low_pool, low) = self.entries[after - 1];
        Ok(match self.entries.get(after) {
            None => low,
            Some((high_pool, high)) => {
                low + (high - low) * (pool - low_pool) / (high_pool - low_pool)
            }
        })
    }
}

/// The pool with which `population` sessions have the eviction age, and their turn rate.
fn pool_for(model: &EntryModel, population: f64, age_s: f64) -> (f64, f64) {
    let hit = model.tool_time().ends_within(age_s);
    let tool_s = model.tool_per_turn_s();
    let excess = |nu: f64| match model.server().at(nu, hit) {
        Some(running) => nu * (running.service_s + tool_s) - population,
        None => f64::MAX,
    };
    let nu = root_between(0.0, model.server().capacity_per_s(hit), excess).unwrap_or(f64::NAN);
    let reserved = model.server().at(nu, hit).map_or(f64::NAN, |r| r.reserved_tokens);
    (reserved + nu * model.idle_tokens(age_s) / model.mean_turns(), nu)
}
