//! What a client writes down: the rows of `turns.csv`, `sessions.csv` and
//! `gate.csv` (run directory, format 1), times not yet rounded.

pub use crate::run::{GateEvent, GateEventKind, Kind, SessionStatus, Turn, TurnStatus};

/// Everything one client recorded. The session of a turn or of an event is a place in the plan:
/// which sessions arrive, and so have a row, is known at the end.
#[derive(Debug, Clone, PartialEq)]
pub struct ClientRun {
    /// Turns that were sent: in order of completion, then those in flight.
    pub turns: Vec<Turn>,
    /// Sessions that arrived, in order of the plan.
    pub sessions: Vec<SessionRecord>,
    /// Gate events in order of time; empty when the arm has no gate.
    pub gate: Vec<GateEvent>,
}

/// One row of `sessions.csv`. Times in seconds on the run's clock.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionRecord {
    /// Number within its kind.
    pub session: u32,
    /// Base, burst or subagent.
    pub kind: Kind,
    /// Planned arrival; in a closed run, when it started.
    pub t_planned_s: f64,
    /// Let in by the gate; equals the arrival without one.
    pub t_admitted_s: Option<f64>,
    /// End of the last turn.
    pub t_end_s: Option<f64>,
    /// T.
    pub turns_planned: u32,
    /// Turns answered.
    pub turns_done: u32,
    /// Waited at the gate before admission, up to the run's end.
    pub gate_wait_s: f64,
    /// Times it gave up its slot.
    pub pauses: u32,
    /// Waited in the resume queue, up to the run's end.
    pub pause_s: f64,
    /// Where it was when the run ended.
    pub status: SessionStatus,
}
