//! Everything measured on one run, over the windows its protocol names.
//!
//! Turns belong to the window in which they completed; sessions in the system
//! are an exact step function of time. What a run cannot say is `None`, never 0.
//! No thresholds here: rules have those.

use serde::{Deserialize, Serialize};

pub mod alarm;
pub mod at_burst;
pub mod bins;
pub mod burst;
pub mod capped;
pub mod closed_curve;
pub mod cohort;
mod gap;
pub mod goodput;
pub mod plan_identity;
pub mod population;
pub mod queue;
pub mod reach;
pub mod rescue;
pub mod reuse;
pub mod rolling;
pub mod share;
pub mod span;
pub mod stats;
pub mod stretches;
pub(crate) mod tiles;
pub mod treatment;
pub mod trigger;
pub mod window;

pub use reach::{Range, Reach};
pub use share::Share;
pub use window::WindowMeasures;

use crate::run::{BySession, Kind, Run, SessionStatus, by_session};
use crate::setup::{Arm, Protocol, Span, Workload};

/// Which of a protocol's windows a run is measured over: by its arm.
///
/// Closed runs after their warm-up, cache-off runs likewise, from-empty runs over
/// their second half, every other arm over the evaluation window.
fn window_of(arm: &Arm, protocol: &Protocol) -> Span {
    match arm {
        Arm::Closed => protocol.closed.window(),
        Arm::E0a => protocol.e0a.window(),
        Arm::E0b => protocol.e0b.window_s,
        _ => protocol.paired.window_s,
    }
}

/// The measurements of one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunMeasures {
    /// Over the window of the run's arm; `None` when the run ended before it did.
    pub window: Option<WindowMeasures>,
    /// The window that was asked for.
    pub window_span: Span,
    /// At the end of the window (RECOVERED is judged there).
    pub last: Option<LastMeasures>,
    /// What the window could still have come to, where an open run ended before it did and its
    /// plan bounds it ([`still_open`]).
    pub reach: Option<Reach>,
    /// Over the whole run.
    pub whole: WholeMeasures,
    /// When the protocol's burst starts, s; `None` when the run has no burst.
    pub burst_start_s: Option<f64>,
    /// Over time.
    pub series: bins::Series,
}

/// The end of the window: hits over its last part, outstanding at its last instant
/// (Table 6: "hit > 0.8 and outstanding < 20, last 300 s").
///
/// App. E.5 can be read as a mean over the last 300 s too. The times of App. E.7 decide: with
/// the value at the end a rescue is RECOVERED about as long before its release as printed,
/// with the mean 100 to 200 s later.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LastMeasures {
    /// The last part of the window.
    pub span: Span,
    /// Hit fraction of the turns completed in it.
    pub hits: Share,
    /// Outstanding at its end, sessions (requests in flight plus sessions held at the gate).
    pub outstanding_end: f64,
}

impl LastMeasures {
    /// At the end of `span`, with the hits of the turns completed in it.
    pub fn of(span: Span, hits: Share, outstanding: &population::StepFunction) -> Self {
        Self { span, hits, outstanding_end: outstanding.at(span.end_s) }
    }
}

/// The whole run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct WholeMeasures {
    /// Sessions that arrived.
    pub sessions_arrived: u64,
    /// Sessions that completed.
    pub sessions_completed: u64,
    /// Sessions that had arrived and not ended at the end.
    pub sessions_unfinished: u64,
    /// Sessions that failed.
    pub sessions_failed: u64,
    /// Sessions that had to wait at the gate, or were paused by it.
    pub sessions_held: u64,
    /// Mean time held at the gate over the held sessions that got in, waits and
    /// pauses together, s.
    pub held_mean_s: Option<f64>,
    /// Session-hours held at the gate (Table 8's delay).
    pub held_session_hours: f64,
    /// Base arrivals of the plan over the whole run, sessions/s.
    pub base_arrivals_per_s: f64,
    /// Hits of all turns that completed.
    pub hits: Share,
}

/// What a run did, over time and by session: windows and bins are cut out of it.
struct Course {
    /// Sessions in the system.
    backlog: population::StepFunction,
    outstanding: population::StepFunction,
    of_session: BySession,
    gaps: Vec<gap::Gap>,
}

impl Course {
    fn of(run: &Run) -> Self {
        let of_session = by_session(&run.turns, run.sessions.len());
        Self {
            backlog: population::in_system(run),
            outstanding: population::outstanding(run),
            gaps: gap::gaps(run, &of_session),
            of_session,
        }
    }
}

/// A wait shorter than this is the client's own lateness, not the gate.
const GATE_WAIT_S: f64 = 0.5;

/// Measures a run under a protocol.
pub fn measure(run: &Run, protocol: &Protocol) -> RunMeasures {
    let span = window_of(&run.meta.arm, protocol);
    let course = Course::of(run);
    let reached = run.meta.duration_s >= span.end_s - 1e-6;
    let last_span = last_of(span, protocol);
    RunMeasures {
        window: reached.then(|| WindowMeasures::of(run, span, &protocol.bins, &course)),
        window_span: span,
        last: reached
            .then(|| LastMeasures::of(last_span, share::hits(run, last_span), &course.outstanding)),
        reach: None,
        whole: whole(run),
        burst_start_s: run
            .sessions
            .iter()
            .any(|s| s.kind == Kind::Burst)
            .then_some(protocol.paired.burst.start_s),
        series: bins::Series::of(run, &protocol.bins, &course),
    }
}

/// The part of a window over which RECOVERED is judged.
fn last_of(window: Span, protocol: &Protocol) -> Span {
    window.last(protocol.paired.last_s.min(window.length_s()))
}

/// What the window of an open run that ended within it could still have come to, by its plan
/// and its workload's law; `None` where nothing bounds it ([`Reach::of`]).
pub fn still_open(run: &Run, protocol: &Protocol, workload: &Workload) -> Option<Reach> {
    let span = window_of(&run.meta.arm, protocol);
    let open = run.meta.arm.is_open();
    open.then(|| Reach::of(run, span, last_of(span, protocol), protocol, workload)).flatten()
}

fn whole(run: &Run) -> WholeMeasures {
    let own = || run.sessions.iter().filter(|s| s.was_in_system());
    let with = |status| own().filter(|s| s.status == status).count() as u64;
    let held: Vec<f64> = run
        .sessions
        .iter()
        .filter(|s| s.gate_wait_s >= GATE_WAIT_S || s.pauses > 0)
        .map(|s| s.gate_wait_s + s.pause_s)
        .collect();
    let unfinished = [SessionStatus::Running, SessionStatus::Gated, SessionStatus::Paused];
    WholeMeasures {
        sessions_arrived: own().count() as u64,
        sessions_completed: with(SessionStatus::Completed),
        sessions_unfinished: unfinished.into_iter().map(with).sum(),
        sessions_failed: with(SessionStatus::Failed),
        sessions_held: held.len() as u64,
        held_mean_s: stats::mean(&held),
        held_session_hours: held.iter().sum::<f64>() / 3600.0,
        base_arrivals_per_s: span::base_arrivals_per_s(run, Span::new(0.0, run.meta.duration_s)),
        hits: share::hits(run, Span::new(0.0, f64::INFINITY)),
    }
}

#[cfg(test)]
mod tests;
