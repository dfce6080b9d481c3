//! What a client writes down, of which the rows of `turns.csv`, `sessions.csv` and `gate.csv`
//! become (run directory, format 1). No rows yet: which row a session has, its turns say only
//! by kind and number, as it is known when the run has ended; and times are not whole ticks.

pub use crate::run::{GateEventKind, Kind, SessionStatus, TurnStatus};

/// Everything one client recorded.
#[derive(Debug, Clone, PartialEq)]
pub struct ClientRun {
    /// Turns that were sent: in order of completion, then those in flight.
    pub turns: Vec<TurnRecord>,
    /// Sessions that arrived, in order of the plan.
    pub sessions: Vec<SessionRecord>,
    /// Gate events in order of time; empty when the arm has no gate.
    pub gate: Vec<GateRecord>,
}

/// One row of `turns.csv`. Times in seconds on the run's clock.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnRecord {
    /// Number within its kind.
    pub session: u32,
    /// Base, burst or subagent.
    pub kind: Kind,
    /// 1-based.
    pub turn: u32,
    /// The client would send: arrival, or the tool call's end.
    pub t_ready_s: f64,
    /// Sent; later than `t_ready_s` when the gate held the session.
    pub t_submit_s: f64,
    /// First token.
    pub t_first_s: Option<f64>,
    /// Last token.
    pub t_end_s: Option<f64>,
    /// L_k.
    pub prompt_tokens: u64,
    /// Served from cache; `None` is unknown, never 0.
    pub cached_tokens: Option<u64>,
    /// Decoded.
    pub completion_tokens: u64,
    /// The tool time that follows, as slept: where the next turn waits for subagents, from the end
    /// of the last of them. `None` after the last turn.
    pub tool_s: Option<f64>,
    /// How it ended.
    pub status: TurnStatus,
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

/// One row of `gate.csv`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GateRecord {
    /// When, seconds on the run's clock.
    pub t_s: f64,
    /// What.
    pub event: GateEventKind,
    /// Of whom: kind and number; `None` for engage and release.
    pub session: Option<(Kind, u32)>,
    /// Sessions past the gate just after the event.
    pub admitted: u32,
    /// Arrivals that wait, just after the event.
    pub gated: u32,
    /// Sessions in the resume queue, just after the event.
    pub paused: u32,
}
