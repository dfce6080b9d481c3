//! Model F in time: the exact fluid from any start under piecewise constant arrivals
//! (App. A, Lemma 1 and 3). No time step: between arrival-rate changes the state is
//! linear on each piece of a FIFO orbit, so the march goes from piece to piece.
//!
//! Left out: tool time (F4), whose effect over a registered window is below 0.02 %
//! (App. A), and hits, which return as the queue empties.

mod arrivals;
pub mod cut;
mod march;
pub mod orbit;
pub mod plan;
pub mod sojourn;
pub mod think;
mod trajectory;

pub use arrivals::Arrivals;
pub use trajectory::Trajectory;

use super::fifo::ModelF;
use super::{ModelError, positive};

/// Where a fluid starts (F6).
#[derive(Debug, Clone, PartialEq)]
pub struct Start {
    /// Time of the start, in seconds.
    pub time_s: f64,
    /// Sessions pending at the start, by the turn they wait for (index k - 1); served
    /// first, in one uniform mix. Empty for an empty queue.
    pub pending: Vec<f64>,
}

impl Start {
    /// An empty queue.
    pub fn empty(time_s: f64) -> Self {
        Self { time_s, pending: Vec::new() }
    }

    /// `sessions` in the stationary turn mix: what the good state leaves when it is lost.
    pub fn stationary(time_s: f64, sessions: f64, model: &ModelF) -> Self {
        let per_turn = |g: &f64| sessions * g / model.mean_turns();
        Self { time_s, pending: model.survival().iter().map(per_turn).collect() }
    }
}

/// The fluid from `start` to `end_s`.
///
/// # Errors
/// An end before the start, more pending turns than the model has, or a negative mass.
pub fn run(
    model: &ModelF,
    start: &Start,
    arrivals: &Arrivals,
    end_s: f64,
) -> Result<Trajectory, ModelError> {
    positive("duration of the fluid (s)", end_s - start.time_s)?;
    let (given, turns) = (start.pending.len(), model.survival().len());
    if given > turns {
        return Err(ModelError::TurnLaw {
            message: format!("{given} turns are pending, but a session has at most {turns}"),
        });
    }
    if let Some(mass) = start.pending.iter().find(|m| !(**m >= 0.0 && m.is_finite())) {
        return Err(ModelError::Negative { what: "pending sessions", value: *mass });
    }
    let mut pending = start.pending.clone();
    pending.resize(turns, 0.0);
    march::march(model, start.time_s, pending, arrivals, end_s)
}

#[cfg(test)]
#[path = "fluid/tests.rs"]
mod tests;
