//! What an engine iteration costs in the simulator (paper: App. E.9, E.12).
//!
//! An iteration that prefills X tokens beside R decoding requests takes
//! a + max(f0, b (X + R)), plus c_p per causal pair of the chunks, plus
//! c_d / 8192 per token of decode context. X never exceeds a chunk, so the
//! cost model's a max(1, X/B_c) is always a here.

use super::SimError;
use crate::setup::cell::IterationParts;
use crate::setup::{Cell, Speed};

/// c_d is the cost of this much decode context.
const DECODE_CONTEXT_TOKENS: f64 = 8192.0;

/// Iteration costs, scaled to a cell. Seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScaledCosts {
    fixed_s: f64,
    floor_s: f64,
    token_s: f64,
    half_pair_s: f64,
    context_token_s: f64,
}

const PER_TURN: &str = "its costs are per turn; the simulator needs iteration costs (a, f0, b, \
                        c_p, c_d) or a cell calibrated with them";

/// An all-miss rate is a fit of the model, not a factor, and nothing that the simulator does.
const FITTED_SPEED: &str = "its speed is fitted to an all-miss rate, which the simulator does not \
                            do; give a token_cost_factor";

impl ScaledCosts {
    /// The costs of an iteration of `cell`, beside those of a turn where it has both: all divided by its speed factor; those per token
    /// multiplied by `token_cost_factor`.
    ///
    /// # Errors
    /// Costs per turn alone, a speed that is a fit of the model, or a factor that makes no sense.
    pub fn of(cell: &Cell, token_cost_factor: Option<f64>) -> Result<Self, SimError> {
        let wrong = |message: String| SimError::of_cell(cell, message);
        let IterationParts { a_s, f0_s, b_s_per_token, c_p_s_per_pair, c_d_s } =
            cell.iteration_parts().ok_or_else(|| wrong(PER_TURN.into()))?;
        let speed = match (cell.speed, token_cost_factor) {
            (Speed::Own, _) => 1.0,
            (Speed::Factor { factor }, _) => factor,
            (Speed::AllMissRate { .. }, Some(_)) => 1.0,
            (Speed::AllMissRate { .. }, None) => return Err(wrong(FITTED_SPEED.into())),
        };
        let factor = token_cost_factor.unwrap_or(1.0);
        if !(factor > 0.0 && factor.is_finite()) {
            let found = format!("token_cost_factor: expected a positive number, found {factor}");
            return Err(wrong(found));
        }
        let per_token = factor / speed;
        Ok(Self {
            fixed_s: a_s / speed,
            floor_s: f0_s / speed,
            token_s: b_s_per_token * per_token,
            half_pair_s: 0.5 * c_p_s_per_pair * per_token,
            context_token_s: c_d_s / DECODE_CONTEXT_TOKENS * per_token,
        })
    }

    /// An iteration: `tokens` prefilled and decoded together, `double_pairs` =
    /// sum of x (2y + x + 1) over its chunks, `context` tokens read by decodes.
    pub fn iteration_s(&self, tokens: u64, double_pairs: u128, context: u64) -> f64 {
        self.fixed_s
            + self.floor_s.max(self.token_s * tokens as f64)
            + self.half_pair_s * double_pairs as f64
            + self.context_token_s * context as f64
    }

    /// `steps` decode iterations in a row of `requests` whose contexts sum to
    /// `context` at the first and grow by one token each.
    pub(crate) fn decodes_s(&self, steps: u64, requests: u64, context: u64) -> f64 {
        let n = steps as f64;
        let growth = self.context_token_s * requests as f64;
        n * self.iteration_s(requests, 0, context) + growth * (n * (n - 1.0) / 2.0)
    }

    /// The fewest decode iterations, at least one and at most `limit`, that take
    /// at least `span_s`.
    pub(crate) fn decodes_within(
        &self,
        span_s: f64,
        limit: u64,
        requests: u64,
        context: u64,
    ) -> u64 {
        if limit <= 1 || span_s <= 0.0 {
            return 1;
        }
        if span_s >= self.decodes_s(limit, requests, context) {
            return limit;
        }
        let growth = self.context_token_s * requests as f64;
        // growth/2 n^2 + linear n = span, by the root that does not cancel.
        let linear = self.iteration_s(requests, 0, context) - growth / 2.0;
        let root = libm::sqrt(linear * linear + 2.0 * growth * span_s);
        let mut n = (libm::ceil(2.0 * span_s / (linear + root)) as u64).clamp(1, limit);
        // Rounding may put the root on the wrong side of a whole number.
        while n > 1 && self.decodes_s(n - 1, requests, context) >= span_s {
            n -= 1;
        }
        while n < limit && self.decodes_s(n, requests, context) < span_s {
            n += 1;
        }
        n
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COSTS: ScaledCosts = ScaledCosts {
        fixed_s: 9.24e-3,
        floor_s: 1.26e-3,
        token_s: 62.6e-6,
        half_pair_s: 1.12e-9,
        context_token_s: 0.31e-3 / 8192.0,
    };

    #[test]
    fn decodes_in_a_row_cost_what_they_cost_one_by_one() {
        for requests in [1_u64, 20, 27, 256] {
            let context = 10_000 * requests;
            let one_by_one: f64 =
                (0..99).map(|i| COSTS.iteration_s(requests, 0, context + i * requests)).sum();
            assert!((COSTS.decodes_s(99, requests, context) - one_by_one).abs() < 1e-12);
        }
    }

    #[test]
    fn the_fewest_decodes_that_reach_a_time_are_found_on_both_sides_of_it() {
        for requests in [1_u64, 7, 30, 200] {
            let context = 9_000 * requests;
            for n in 1..99 {
                let exactly = COSTS.decodes_s(n, requests, context);
                let fewest = |span| COSTS.decodes_within(span, 99, requests, context);
                assert_eq!(fewest(exactly), n);
                assert_eq!(fewest(exactly * (1.0 + 1e-12)), n + 1);
                assert_eq!(fewest(exactly * (1.0 - 1e-12)), n);
            }
        }
    }

    #[test]
    fn no_limit_is_passed_and_one_iteration_is_the_least() {
        assert_eq!(COSTS.decodes_within(1e9, 99, 10, 100_000), 99);
        assert_eq!(COSTS.decodes_within(-1.0, 99, 10, 100_000), 1);
        assert_eq!(COSTS.decodes_within(0.0, 1, 10, 100_000), 1);
    }
}
