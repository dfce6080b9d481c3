//! The theory: what a trapped engine does (model F) and how it gets there (the
//! entry model). Formulas only: nothing here reads a file or a run.

mod all_miss;
pub mod cost;
pub mod curve;
pub mod fifo;
pub mod fluid;
pub mod numeric;
mod pool;
pub mod rescue;
pub mod session;
pub mod theory;
pub mod window;

pub use all_miss::AllMiss;
pub use fifo::{ModelF, Regime, Trap};
pub use session::SessionMeans;
pub use theory::Theory;

/// An input with which a model has no answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ModelError {
    /// A rate, cost, length or population that has to be positive is not.
    #[error("{what}: expected a positive number, found {value}")]
    NotPositive {
        /// The quantity, with its unit.
        what: &'static str,
        /// What was given.
        value: f64,
    },
    /// A rate or mass that may be 0 is negative or not finite.
    #[error("{what}: expected a number of at least 0, found {value}")]
    Negative {
        /// The quantity, with its unit.
        what: &'static str,
        /// What was given.
        value: f64,
    },
    /// Costs and turn law do not describe the same turns.
    #[error("{costs} turn costs for a turn law with {turns} turns: expected as many")]
    Lengths {
        /// Number of costs.
        costs: usize,
        /// K, the largest number of turns.
        turns: usize,
    },
    /// The survival function of the number of turns is not one.
    #[error("turn law: {message}")]
    TurnLaw {
        /// What is wrong and what was expected.
        message: String,
    },
    /// A model needs the iteration costs of App. E.9 and the cell gives costs per turn.
    #[error(
        "{what} needs iteration costs, and this cell gives costs per turn only: give costs.kind: \
         iteration, or iteration_costs beside them (trapcheck calibrate writes these from a \
         cache-off run), or --a-s and --b-s-per-token"
    )]
    NeedsIterationCosts {
        /// The model that was asked for.
        what: &'static str,
    },
    /// A turn does not fit into the pool even alone.
    #[error(
        "a pool of {pool_tokens} tokens cannot hold turn {turn}, whose KV is {needs_tokens} tokens: \
         an engine refuses such a turn and its session is lost, which the models do not describe; \
         give a larger pool, shorter prompts or fewer turns"
    )]
    PoolTooSmall {
        /// M, in tokens.
        pool_tokens: u64,
        /// The first turn that does not fit.
        turn: usize,
        /// E_k, its KV in tokens.
        needs_tokens: f64,
    },
    /// Running turns never fill the pool: the engine's limit on requests binds first (S4).
    #[error(
        "a pool of {pool_tokens} tokens is full only when {} turns run, and the engine runs at most \
         {max_running} (max_running): the limit binds, not the pool, nothing running is short of \
         KV, and the models, which leave that limit out (S4), do not apply; give a smaller pool, \
         or the engine's own max_running if it is larger",
        .running.map_or_else(|| "countless".to_owned(), |n| format!("{n:.0}"))
    )]
    PoolTooLarge {
        /// M, in tokens.
        pool_tokens: u64,
        /// M / E_S, turns that run when it is full; `None` beyond the arithmetic.
        running: Option<f64>,
        /// The engine's limit, in requests.
        max_running: u64,
    },
    /// Mixed batching with so large a fixed part that a turn would cost less than nothing.
    #[error(
        "a first turn would cost {first_s:.4} s, because a turn's share of decoding, delta, comes out \
         as {delta_s:.4} s: in mixed batching the turns of an iteration share its fixed part a_s, \
         which model F charges to every turn alone; give a smaller a_s, more decoded tokens, \
         separate batching, or costs per turn (fixed_s, per_token_s), which need no delta"
    )]
    DecodeShare {
        /// c_1 = t_1 + delta, in seconds.
        first_s: f64,
        /// delta, in seconds.
        delta_s: f64,
    },
    /// A question about a trap at a load that has none.
    #[error(
        "at rho = {rho:.6} every turn missing is no trap: {what} is asked of a load above the all-miss \
         capacity, {lambda_miss_per_s:.5} sessions/s here (rho > 1); below it the backlog drains \
         by itself (model trap says when)"
    )]
    NoTrap {
        /// What was asked.
        what: &'static str,
        /// rho = lambda / lambda_miss.
        rho: f64,
        /// lambda_miss, in sessions/s.
        lambda_miss_per_s: f64,
    },
    /// A cut that lowers nothing.
    #[error(
        "{to_per_s:.5} sessions/s is no cut: arrivals are {from_per_s:.5} sessions/s before; \
         expected a lower rate"
    )]
    NoCut {
        /// The rate it was to be cut to, in sessions/s.
        to_per_s: f64,
        /// The rate before, in sessions/s.
        from_per_s: f64,
    },
    /// A fluid that would have to be followed through too many cycles.
    #[error(
        "the backlog was followed through {cycles} cycles to {reached_s:.0} s, of {end_s} s asked for; \
         each cycle takes about {gap_s:.0} s: expected an end before that"
    )]
    TooManyCycles {
        /// Cycles, or pieces of them, followed.
        cycles: usize,
        /// How far that went, in seconds.
        reached_s: f64,
        /// How far it was to go, in seconds.
        end_s: f64,
        /// The queue's length there, in seconds.
        gap_s: f64,
    },
    /// No value of the unknown satisfies the equation.
    #[error("{what} has no solution: {why}")]
    NoSolution {
        /// The unknown.
        what: &'static str,
        /// What would have to change.
        why: String,
    },
}

/// `value` if it is positive and finite, else an error that names `what`.
pub fn positive(what: &'static str, value: f64) -> Result<f64, ModelError> {
    if value > 0.0 && value.is_finite() {
        Ok(value)
    } else {
        Err(ModelError::NotPositive { what, value })
    }
}

#[cfg(test)]
mod tests;
