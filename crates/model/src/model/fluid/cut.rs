//! What lowering arrivals does to a trapped queue: Corollary 3 and Proposition 1(a).

use crate::model::fifo::ModelF;
use crate::model::fifo::threshold::critical_backlog;
use crate::model::{ModelError, positive};
use crate::setup::protocol::Burst;

use super::{Arrivals, Start, Trajectory, run};

/// What comes of a cut to a rate, by Corollary 3.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fate {
    /// rho' < 1: empties after V_tot / (1 - rho').
    Empties {
        /// Seconds after the cut.
        after_s: f64,
    },
    /// rho' = 1: settles at a positive backlog.
    Settles {
        /// lambda_miss E\[T\] V_tot / kbar_c, in sessions.
        backlog: f64,
    },
    /// rho' > 1: grows again, at alpha(lambda').
    Grows {
        /// alpha(lambda'), in sessions/s.
        growth_per_s: f64,
    },
}

/// The fate of a queue with `work_left_s` of remaining work under `lambda_per_s` from now
/// on. A rate of 0 stops arrivals.
///
/// # Errors
/// A negative rate, or work that is not positive.
pub fn fate(model: &ModelF, work_left_s: f64, lambda_per_s: f64) -> Result<Fate, ModelError> {
    use crate::model::fifo::Regime;
    positive("remaining work (s)", work_left_s)?;
    if lambda_per_s == 0.0 {
        return Ok(Fate::Empties { after_s: work_left_s });
    }
    Ok(match model.at(lambda_per_s)? {
        Regime::Drains { rho } => Fate::Empties { after_s: work_left_s / (1.0 - rho) },
        Regime::Critical => Fate::Settles { backlog: critical_backlog(model, work_left_s) },
        Regime::Trapped(trap) => Fate::Grows { growth_per_s: trap.alpha_per_s },
    })
}

/// The E2 protocol in model F (App. E.5): the good state's sessions are served first, then
/// a burst joins the base arrivals.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BurstProtocol {
    /// When the burst starts, in seconds (1200).
    pub burst_s: f64,
    /// How long it lasts, in seconds (60).
    pub length_s: f64,
    /// How many sessions it brings (200).
    pub sessions: f64,
    /// Sessions in the good state before it, n_1 of the entry model; 0 for an empty engine.
    pub good_sessions: f64,
}

impl BurstProtocol {
    /// A protocol's burst on top of `good_sessions`.
    pub fn of(burst: Burst, good_sessions: f64) -> Self {
        Self {
            burst_s: burst.start_s,
            length_s: burst.length_s,
            sessions: burst.sessions as f64,
            good_sessions,
        }
    }

    /// V_tot at a time after the burst: how long the queue takes to empty once
    /// arrivals stop, in seconds (Prop. 1(a)).
    ///
    /// # Errors
    /// As [`Self::run`].
    pub fn work_left_s(
        &self,
        model: &ModelF,
        lambda_per_s: f64,
        at_s: f64,
    ) -> Result<f64, ModelError> {
        Ok(self.run(model, lambda_per_s, &[], at_s + 1.0)?.work_left_s(at_s))
    }

    /// The fluid from the burst to `end_s` at a base rate, with later rate changes
    /// `(time_s, rate_per_s)` in order of time.
    ///
    /// # Errors
    /// As [`run`] and [`Arrivals`].
    pub fn run(
        &self,
        model: &ModelF,
        lambda_per_s: f64,
        changes: &[(f64, f64)],
        end_s: f64,
    ) -> Result<Trajectory, ModelError> {
        let mut arrivals = Arrivals::constant(positive("lambda (sessions/s)", lambda_per_s)?)?;
        for (time_s, rate_per_s) in changes {
            arrivals = arrivals.then(*time_s, *rate_per_s)?;
        }
        let arrivals = arrivals.with_burst(self.burst_s, self.length_s, self.sessions)?;
        let start = Start::stationary(self.burst_s, self.good_sessions, model);
        run(model, &start, &arrivals, end_s)
    }
}
