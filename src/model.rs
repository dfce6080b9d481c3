//! The theory: what a trapped engine does (model F) and how it gets there (the
//! entry model). Formulas only: nothing here reads a file or a run.

pub mod cost;
pub mod fifo;
pub mod numeric;
pub mod session;
pub mod tool_time;
pub mod window;

pub use cost::AllMiss;
pub use fifo::{ModelF, Regime, Trap};
pub use session::SessionMeans;

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
    #[error("{what} needs iteration costs (costs.kind: iteration); this cell gives costs per turn")]
    NeedsIterationCosts {
        /// The model that was asked for.
        what: &'static str,
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
pub(crate) fn positive(what: &'static str, value: f64) -> Result<f64, ModelError> {
    if value > 0.0 && value.is_finite() {
        Ok(value)
    } else {
        Err(ModelError::NotPositive { what, value })
    }
}
