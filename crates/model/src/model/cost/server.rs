//! The server at a turn rate nu and a follow-up hit probability h: how long a turn runs
//! and how much KV running turns hold (App. E.9, Lemma 5).
//!
//! Two batchings. Separate: prefill iterations take a share of the GPU and decoding
//! proceeds in the rest. Mixed: every iteration carries prefill chunks and decodes.

use crate::model::numeric::{dot, root_between};
use crate::model::session::{SessionMeans, TurnProfile};
use crate::model::{ModelError, positive};
use crate::setup::{Cell, Workload};

use super::{IterationCosts, causal_pairs, is_mixed, lost_to_blocks};

/// A server for one cell and the turns it serves. All means are over those turns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Server {
    costs: IterationCosts,
    kind: Kind,
    /// d - 1: decode iterations of a turn (its first token comes with the prefill).
    decode_steps: f64,
    /// b_att, s per request and iteration.
    attention_s: f64,
    /// E_bar, tokens.
    footprint_tokens: f64,
    mean_turns: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    /// Mean prefill time, and the same weighted by E_k.
    Separate { prefill_s: Blend, prefill_token_s: Blend },
    /// Mean chunks of a prefill, the same weighted by E_k, and a turn's token-proportional
    /// GPU time c_turn.
    Mixed { chunks: Blend, chunk_tokens: Blend, turn_s: Blend },
}

/// Running turns at one (nu, h).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Running {
    /// S_bar, how long a turn occupies the engine, in seconds.
    pub service_s: f64,
    /// S_D, the decode part of it, in seconds.
    pub decode_s: f64,
    /// K_run, KV held by running turns, in tokens.
    pub reserved_tokens: f64,
}

impl Server {
    /// The server for fresh sessions. `costs` already carry the cell's speed.
    pub fn new(cell: &Cell, workload: &Workload, costs: &IterationCosts) -> Self {
        Self::serving(&TurnProfile::fresh(&SessionMeans::of(workload)), cell, workload, costs)
    }

    /// The server for a given profile of turns. A decoding request's mean context stays the
    /// workload's: its mean prompt and half of what it decodes.
    pub fn serving(
        turns: &TurnProfile,
        cell: &Cell,
        workload: &Workload,
        costs: &IterationCosts,
    ) -> Self {
        let lost_tokens = lost_to_blocks(cell);
        let decode_steps = workload.decoded_tokens as f64 - 1.0;
        let context_tokens =
            SessionMeans::of(workload).mean_prompt_tokens() + 0.5 * workload.decoded_tokens as f64;
        let attention_s = costs.attention_s(context_tokens);
        let blend = |per_turn: &dyn Fn(f64, f64) -> f64| {
            Blend::over(turns, workload, lost_tokens, per_turn)
        };
        let kind = if is_mixed(cell) {
            let turn_s = |x: f64, y: f64| {
                costs.b_s_per_token * x
                    + costs.c_p_s_per_pair * causal_pairs(x, y)
                    + (costs.b_s_per_token + attention_s) * decode_steps
            };
            let [chunks, chunk_tokens] = blend(&|x, _| costs.chunks(x));
            let [turn_s, _] = blend(&turn_s);
            Kind::Mixed { chunks, chunk_tokens, turn_s }
        } else {
            let [prefill_s, prefill_token_s] = blend(&|x, y| costs.prefill_s(x, y));
            Kind::Separate { prefill_s, prefill_token_s }
        };
        Self {
            costs: *costs,
            kind,
            decode_steps,
            attention_s,
            footprint_tokens: dot(&turns.share, &turns.footprint_tokens),
            mean_turns: turns.mean_turns,
        }
    }

    /// The running turns at `turn_rate_per_s` (nu) and `hit_probability` (h of follow-ups).
    /// `None` at or above the server's capacity.
    pub fn at(&self, turn_rate_per_s: f64, hit_probability: f64) -> Option<Running> {
        if turn_rate_per_s >= self.capacity_per_s(hit_probability) {
            return None;
        }
        let (prefill_s, prefill_token_s, decode_s) = match self.kind {
            Kind::Separate { prefill_s, prefill_token_s } => {
                let prefill_s = prefill_s.at(hit_probability);
                let free = 1.0 - turn_rate_per_s * prefill_s;
                let decode_s = self.decode_steps
                    * self.decode_iteration_s(turn_rate_per_s * self.decode_steps / free)?
                    / free;
                (prefill_s, prefill_token_s.at(hit_probability), decode_s)
            }
            Kind::Mixed { chunks, chunk_tokens, turn_s } => {
                let free = 1.0 - turn_rate_per_s * turn_s.at(hit_probability);
                let iteration_s = self.costs.a_s / free;
                (
                    chunks.at(hit_probability) * iteration_s,
                    chunk_tokens.at(hit_probability) * iteration_s,
                    self.decode_steps * iteration_s,
                )
            }
        };
        Some(Running {
            service_s: prefill_s + decode_s,
            decode_s,
            reserved_tokens: turn_rate_per_s * (prefill_token_s + self.footprint_tokens * decode_s),
        })
    }

    /// tau_D at the decoding population R with R / tau_D(R) = `psi_per_s`. tau_D is affine on
    /// each side of its kink at R = f0/b, so the root is explicit (Lemma 5).
    fn decode_iteration_s(&self, psi_per_s: f64) -> Option<f64> {
        let c = &self.costs;
        let below = (c.a_s + c.f0_s) / (1.0 - psi_per_s * self.attention_s);
        if below > 0.0 && c.b_s_per_token * psi_per_s * below <= c.f0_s {
            return Some(below);
        }
        let above = c.a_s / (1.0 - psi_per_s * (self.attention_s + c.b_s_per_token));
        (above > 0.0).then_some(above)
    }

    /// nu_cap(h): the turn rate at which service times diverge, in turns/s (Lemma 5).
    pub(crate) fn capacity_per_s(&self, hit_probability: f64) -> f64 {
        match self.kind {
            Kind::Separate { prefill_s, .. } => {
                let per_token_s = self.costs.b_s_per_token + self.attention_s;
                1.0 / (prefill_s.at(hit_probability) + self.decode_steps * per_token_s)
            }
            Kind::Mixed { turn_s, .. } => 1.0 / turn_s.at(hit_probability),
        }
    }

    /// The turn rate at which K_run(nu, h) + nu `idle_tokens_per_turn` fills `pool_tokens`:
    /// nu_b at h = 0 and no idle KV (Prop. 3), else the memory balance of Eq. (4).
    ///
    /// # Errors
    /// The pool is not positive.
    pub(crate) fn turn_rate_with(
        &self,
        pool_tokens: f64,
        hit_probability: f64,
        idle_tokens_per_turn: f64,
    ) -> Result<f64, ModelError> {
        positive("pool_tokens", pool_tokens)?;
        let balance = |nu: f64| match self.at(nu, hit_probability) {
            Some(running) => running.reserved_tokens + nu * idle_tokens_per_turn - pool_tokens,
            None => f64::MAX,
        };
        let mut high = self.capacity_per_s(hit_probability);
        if idle_tokens_per_turn > 0.0 {
            high = high.min(pool_tokens / idle_tokens_per_turn);
        }
        root_between(0.0, high, balance).ok_or_else(|| ModelError::NoSolution {
            what: "the turn rate that fills the pool",
            why: "check that the costs are positive".into(),
        })
    }

    /// nu with K_run(nu, h) = `pool_tokens`: nu_b at h = 0 (Prop. 3), in turns/s.
    ///
    /// # Errors
    /// As [`Server::turn_rate_with`].
    pub(crate) fn turn_rate_filling(
        &self,
        pool_tokens: f64,
        hit_probability: f64,
    ) -> Result<f64, ModelError> {
        self.turn_rate_with(pool_tokens, hit_probability, 0.0)
    }

    /// E\[T\] of the workload, in turns.
    pub fn mean_turns(&self) -> f64 {
        self.mean_turns
    }
}

/// A mean that falls linearly with the hit probability of the turns that may hit:
/// `miss - h drop`.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Blend {
    miss: f64,
    drop: f64,
}

impl Blend {
    /// Means of `per_turn(new, cached)` over the turns, plain and weighted by E_k. A hit loses
    /// `lost_tokens` of what it could reuse.
    fn over(
        turns: &TurnProfile,
        workload: &Workload,
        lost_tokens: f64,
        per_turn: &dyn Fn(f64, f64) -> f64,
    ) -> [Self; 2] {
        let mut blends = [Self { miss: 0.0, drop: 0.0 }; 2];
        for k in 0..turns.share.len() {
            let miss = workload.mean_of_turn(k + 1, |t| per_turn(t.prompt_tokens as f64, 0.0));
            let hit = workload.mean_of_turn(k + 1, |t| {
                let prompt = t.prompt_tokens as f64;
                let computed = (t.new_tokens() as f64 + lost_tokens).min(prompt);
                per_turn(computed, prompt - computed)
            });
            for (blend, weight) in blends.iter_mut().zip([1.0, turns.footprint_tokens[k]]) {
                blend.miss += weight * turns.share[k] * miss;
                blend.drop += weight * (turns.share[k] - turns.must_miss[k]) * (miss - hit);
            }
        }
        blends
    }

    fn at(&self, hit_probability: f64) -> f64 {
        self.miss - hit_probability * self.drop
    }
}
