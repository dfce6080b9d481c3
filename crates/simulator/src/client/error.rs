//! What a client refuses, or cannot go on with.

use crate::plan::Kind;
use crate::setup::Arm;

/// An arm that cannot be run on its schedule, or a behaviour that does not fit its plan.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ClientError {
    /// A value of the arm makes no sense.
    #[error("{0}")]
    Arm(String),
    /// An open arm without a rate.
    #[error("{arm}: expected an arrival rate")]
    NoRate {
        /// The arm.
        arm: Arm,
    },
    /// A closed arm with a rate.
    #[error("{arm}: a closed arm has no arrival rate")]
    RateOfClosed {
        /// The arm.
        arm: Arm,
    },
    /// A gate that looks more often than a run can mean.
    #[error("{arm}: tick_s: {tick_s:?} s makes more than {limit} ticks of the run")]
    TooManyTicks {
        /// The arm.
        arm: Arm,
        /// Seconds between two ticks.
        tick_s: f64,
        /// The limit.
        limit: f64,
    },
    /// Something the arm does lies outside the run.
    #[error("{arm}: {what} at {t_s} s lies outside the run's [0, {horizon_s}) s")]
    OutsideHorizon {
        /// The arm.
        arm: Arm,
        /// What.
        what: &'static str,
        /// When.
        t_s: f64,
        /// The run's end.
        horizon_s: f64,
    },
    /// A gate that lets nobody in.
    #[error("gate: a cap of 0 sessions admits nobody")]
    CapOfZero,
    /// A closed run of nobody.
    #[error("closed: expected a population of at least 1")]
    PopulationOfZero,
    /// A closed run whose plan is too short to start.
    #[error("closed: a population of {population}, but the plan holds {sessions} sessions")]
    PlanTooShort {
        /// Asked for.
        population: u32,
        /// In the plan.
        sessions: usize,
    },
    /// A closed run that would have to play a recorded session twice at once.
    #[error(
        "closed: a population of {population}, but there are {recorded} recorded sessions, and none \
         is played twice at once"
    )]
    TooFewRecorded {
        /// Asked for.
        population: u32,
        /// Recorded sessions in the plan.
        recorded: usize,
    },
    /// An open run in whose backlog every recorded session is.
    #[error(
        "{kind} session {session} arrives at {t_s} s to play recorded session {recorded}, which is \
         being played already, and none is played twice at once: expected more than {traces} \
         recorded sessions for such a backlog, or sessions drawn from quantiles (kind: empirical)"
    )]
    PlayedTwice {
        /// Base or burst.
        kind: Kind,
        /// Its number.
        session: u32,
        /// The recorded session's name.
        recorded: String,
        /// Recorded sessions in the plan.
        traces: usize,
        /// When.
        t_s: f64,
    },
    /// A closed run that used its whole plan.
    #[error("closed: all {sessions} sessions of the plan were used at {t_s} s; draw a longer plan")]
    PlanExhausted {
        /// In the plan.
        sessions: usize,
        /// When.
        t_s: f64,
    },
    /// An open run whose plan has no arrival times.
    #[error("plan: {kind} session {session} has no arrival time, which an open run needs")]
    NoArrivalTime {
        /// Kind of the first such session.
        kind: Kind,
        /// Number of the first such session.
        session: u32,
    },
    /// The driver reported on a session that has no such thing under way.
    #[error("driver: {what} for session {who} at {t_s} s, which has none under way")]
    Unexpected {
        /// What was reported.
        what: &'static str,
        /// Position in the plan.
        who: usize,
        /// When.
        t_s: f64,
    },
}
