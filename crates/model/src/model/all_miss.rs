//! The server on which every turn misses: model F's costs (sec 3, App. E.9).

use crate::setup::{Cell, Costs, Workload};

use super::cost::{IterationCosts, Server, speed};
use super::numeric::dot;
use super::session::SessionMeans;
use super::{ModelError, pool};

/// A cell with every turn missing: its speed, its onset of the all-miss branch and
/// model F's costs (sec 3, App. E.9).
#[derive(Debug, Clone, PartialEq)]
pub struct AllMiss {
    /// s: every cost of the cell file is divided by it.
    pub speed: f64,
    /// nu_b, the turn rate at which running requests fill the pool, in turns/s.
    /// With costs per turn, the rate at which the GPU is busy.
    pub nu_b_per_s: f64,
    /// mu_b = nu_b / E\[T\], the model's lambda_miss, in sessions/s.
    pub mu_b_per_s: f64,
    /// delta, a turn's share of decoding, in seconds: sum w_k (t_k + delta) = 1/nu_b.
    pub delta_s: f64,
    /// c_k = t_k + delta, what turn k costs when it misses, in GPU seconds.
    pub costs_s: Vec<f64>,
}

impl AllMiss {
    /// Solves a cell for a workload.
    ///
    /// # Errors
    /// A speed factor that cannot be fitted, costs with which no turn rate fills the pool or a
    /// turn costs nothing, or a pool that a turn does not fit or that does not bind
    /// ([`super::pool`]).
    pub fn of(cell: &Cell, workload: &Workload) -> Result<Self, ModelError> {
        let means = SessionMeans::of(workload);
        pool::holds_every_turn(cell.pool_tokens, &means)?;
        match cell.costs {
            Costs::PerTurn { fixed_s, per_token_s } => {
                let speed = speed::of_per_turn_costs(cell)?;
                Ok(Self::from_turn_costs(&means, fixed_s, per_token_s, speed))
            }
            Costs::Iteration { .. } => {
                let speed = speed::of_iteration_costs(cell, workload)?;
                let costs = IterationCosts::of(cell, "model F")?.divided_by(speed);
                let server = Server::new(cell, workload, &costs);
                pool::binds(cell, &server)?;
                let prefill_s = prefills_s(workload, means.mix.len(), &costs);
                Self::from_server(&means, &prefill_s, &server, cell.pool_tokens as f64, speed)
            }
        }
    }

    fn from_turn_costs(means: &SessionMeans, fixed_s: f64, per_token_s: f64, speed: f64) -> Self {
        let cost_s = |l: &f64| (fixed_s + per_token_s * l) / speed;
        let costs_s: Vec<f64> = means.prompt_tokens.iter().map(cost_s).collect();
        let nu_b_per_s = 1.0 / dot(&means.mix, &costs_s);
        Self { speed, nu_b_per_s, mu_b_per_s: nu_b_per_s / means.mean_turns, delta_s: 0.0, costs_s }
    }

    fn from_server(
        means: &SessionMeans,
        prefill_s: &[f64],
        server: &Server,
        pool_tokens: f64,
        speed: f64,
    ) -> Result<Self, ModelError> {
        let nu_b_per_s = server.turn_rate_filling(pool_tokens, 0.0)?;
        let delta_s = 1.0 / nu_b_per_s - dot(&means.mix, prefill_s);
        // Of a workload that is not recorded prefills grow with the turn: the first is cheapest.
        let first_s = prefill_s.iter().copied().fold(f64::INFINITY, f64::min) + delta_s;
        if first_s <= 0.0 {
            return Err(ModelError::DecodeShare { first_s, delta_s });
        }
        Ok(Self {
            speed,
            nu_b_per_s,
            mu_b_per_s: nu_b_per_s / means.mean_turns,
            delta_s,
            costs_s: prefill_s.iter().map(|t| t + delta_s).collect(),
        })
    }
}

/// t_k^m, the GPU time of turn k = 1..=`turns` when it misses: the mean over the sessions that
/// have it, so that a cost that grows faster than the prompt is not that of the mean prompt.
fn prefills_s(workload: &Workload, turns: usize, costs: &IterationCosts) -> Vec<f64> {
    let of_turn = |k| workload.mean_of_turn(k, |t| costs.prefill_s(t.prompt_tokens as f64, 0.0));
    (1..=turns).map(of_turn).collect()
}
