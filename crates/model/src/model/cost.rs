//! What work costs on the GPU (App. E.9).
//!
//! Left out, as in the paper: queueing behind other prefills (S1), retraction of
//! running requests (S3), and the limits on running requests and on an iteration's
//! tokens, which never bind (S4).

mod server;
pub mod speed;

use crate::setup::{Batching, Cell, Workload};

use super::{ModelError, positive};
pub use server::{Running, Server};

/// The iteration-cost model of App. E.9, in seconds and tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IterationCosts {
    /// a: fixed part of an iteration, s.
    pub a_s: f64,
    /// f0: floor of the token part, s.
    pub f0_s: f64,
    /// b: per token, s.
    pub b_s_per_token: f64,
    /// c_p: per causal pair of prefill attention, s.
    pub c_p_s_per_pair: f64,
    /// c_d: decode attention over 8192 tokens of context, s.
    pub c_d_s: f64,
    /// B_c, prompt tokens that one iteration may prefill.
    pub chunk_tokens: f64,
}

impl IterationCosts {
    /// A cell's costs as its file states them, before the speed factor. `what` names the
    /// model that asks, for the error.
    ///
    /// # Errors
    /// The cell gives costs per turn only.
    pub fn of(cell: &Cell, what: &'static str) -> Result<Self, ModelError> {
        let parts = cell.iteration_parts().ok_or(ModelError::NeedsIterationCosts { what })?;
        Ok(Self {
            a_s: positive("costs.a_s", parts.a_s)?,
            f0_s: parts.f0_s,
            b_s_per_token: positive("costs.b_s_per_token", parts.b_s_per_token)?,
            c_p_s_per_pair: parts.c_p_s_per_pair,
            c_d_s: parts.c_d_s,
            chunk_tokens: positive("chunk_tokens", cell.chunk_tokens as f64)?,
        })
    }

    /// A uniformly `speed` times faster GPU.
    #[must_use]
    pub(crate) fn divided_by(&self, speed: f64) -> Self {
        Self {
            a_s: self.a_s / speed,
            f0_s: self.f0_s / speed,
            b_s_per_token: self.b_s_per_token / speed,
            c_p_s_per_pair: self.c_p_s_per_pair / speed,
            c_d_s: self.c_d_s / speed,
            chunk_tokens: self.chunk_tokens,
        }
    }

    /// t_P(x, y): GPU time to prefill `new_tokens` after `cached_tokens`, in seconds.
    pub fn prefill_s(&self, new_tokens: f64, cached_tokens: f64) -> f64 {
        self.a_s * self.chunks(new_tokens)
            + self.f0_s.max(self.b_s_per_token * new_tokens)
            + self.c_p_s_per_pair * causal_pairs(new_tokens, cached_tokens)
    }

    /// b_att: decode attention per request and iteration, in seconds.
    pub(crate) fn attention_s(&self, context_tokens: f64) -> f64 {
        self.c_d_s * context_tokens / 8192.0
    }

    /// max(1, x / B_c): iterations that a prefill of `new_tokens` takes, as a share of
    /// the fixed part it pays (not rounded up, App. E.9).
    pub fn chunks(&self, new_tokens: f64) -> f64 {
        (new_tokens / self.chunk_tokens).max(1.0)
    }
}

/// x (y + (x + 1)/2): token pairs that attention computes.
pub(crate) fn causal_pairs(new_tokens: f64, cached_tokens: f64) -> f64 {
    new_tokens * (cached_tokens + 0.5 * (new_tokens + 1.0))
}

/// What a hit prefills, in tokens: the tool output and the last decoded token, whose KV
/// was never computed, plus what is lost on average to whole blocks (App. E.9: 551; with
/// vLLM's 16-token blocks 558.5).
pub fn hit_prefill_tokens(cell: &Cell, workload: &Workload) -> f64 {
    workload.tool_output_tokens as f64 + 1.0 + lost_to_blocks(cell)
}

/// Tokens of a hit that are lost to whole blocks, on average.
fn lost_to_blocks(cell: &Cell) -> f64 {
    0.5 * (cell.block_tokens as f64 - 1.0)
}

/// Whether one iteration carries prefill and decode together.
pub(crate) fn is_mixed(cell: &Cell) -> bool {
    cell.batching == Batching::Mixed
}

#[cfg(test)]
mod tests {
    use super::*;

    const QWEN: IterationCosts = IterationCosts {
        a_s: 9.24e-3,
        f0_s: 1.26e-3,
        b_s_per_token: 62.6e-6,
        c_p_s_per_pair: 2.24e-9,
        c_d_s: 0.31e-3,
        chunk_tokens: 8192.0,
    };

    #[test]
    fn the_fixed_part_is_paid_once_up_to_one_chunk_and_in_proportion_above() {
        assert_eq!(QWEN.chunks(100.0), 1.0);
        assert_eq!(QWEN.chunks(8192.0), 1.0);
        assert_eq!(QWEN.chunks(12_288.0), 1.5);
    }

    #[test]
    fn a_short_prefill_costs_the_floor() {
        let floor = 9.24e-3 + 1.26e-3;
        assert!((QWEN.prefill_s(1.0, 0.0) - (floor + 2.24e-9)).abs() < 1e-15);
    }

    #[test]
    fn prefilling_in_two_steps_computes_the_same_pairs() {
        let whole = causal_pairs(3000.0, 500.0);
        let split = causal_pairs(1000.0, 500.0) + causal_pairs(2000.0, 1500.0);
        assert!((whole - split).abs() < 1e-6);
    }

    #[test]
    fn a_faster_gpu_divides_every_time() {
        let fast = QWEN.divided_by(2.0);
        assert_eq!(fast.prefill_s(9000.0, 100.0), QWEN.prefill_s(9000.0, 100.0) / 2.0);
        assert_eq!(fast.attention_s(1e4), QWEN.attention_s(1e4) / 2.0);
    }
}
