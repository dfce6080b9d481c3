//! One session as its client sees it.

use crate::plan::DrawnSession;
use crate::run::SessionIndex;

use super::records::{SessionRecord, SessionStatus, Turn, TurnStatus};

/// Where a session is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Planned,
    Gated,
    InFlight,
    InTool,
    Paused,
    Completed,
    Refused,
    Failed,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Session {
    pub(super) state: State,
    /// The turn under way, or the next one, 1-based.
    pub(super) turn: u32,
    pub(super) t_planned_s: f64,
    pub(super) t_admitted_s: Option<f64>,
    pub(super) t_end_s: Option<f64>,
    /// When the present turn could have been sent, and was.
    pub(super) t_ready_s: f64,
    pub(super) t_submit_s: f64,
    /// How long the client waits before the next turn: from the answer, or from the end of the
    /// last subagent that the turn waits for.
    pub(super) tool_s: f64,
    pub(super) pauses: u32,
    pub(super) pause_s: f64,
}

impl Session {
    pub(super) const NEW: Self = Self {
        state: State::Planned,
        turn: 1,
        t_planned_s: 0.0,
        t_admitted_s: None,
        t_end_s: None,
        t_ready_s: 0.0,
        t_submit_s: 0.0,
        tool_s: 0.0,
        pauses: 0,
        pause_s: 0.0,
    };

    /// The row of the turn under way of the session at place `who` of the plan, not yet answered.
    pub(super) fn turn_record(&self, who: usize, prompt_tokens: u64, status: TurnStatus) -> Turn {
        Turn {
            session: SessionIndex(who as u32),
            number: self.turn.into(),
            t_ready_s: self.t_ready_s,
            t_submit_s: self.t_submit_s,
            t_first_s: None,
            t_end_s: None,
            prompt_tokens,
            cached_tokens: None,
            // A request that failed gave nothing; of one in flight nobody knows.
            completion_tokens: (status != TurnStatus::UnfinishedAtHorizon).then_some(0),
            tool_s: None,
            status,
        }
    }

    /// The session's row when its run ends at `horizon_s`.
    pub(super) fn record(&self, planned: &DrawnSession, horizon_s: f64) -> SessionRecord {
        let waiting_s = horizon_s - self.t_ready_s;
        SessionRecord {
            session: planned.session,
            kind: planned.kind,
            t_planned_s: self.t_planned_s,
            t_admitted_s: self.t_admitted_s,
            t_end_s: self.t_end_s,
            turns_planned: planned.turns(),
            turns_done: self.turn - 1,
            gate_wait_s: match (self.t_admitted_s, self.state) {
                (Some(admitted), _) => admitted - self.t_planned_s,
                (None, State::Gated) => waiting_s,
                _ => 0.0,
            },
            pauses: self.pauses,
            pause_s: self.pause_s + if self.state == State::Paused { waiting_s } else { 0.0 },
            status: match self.state {
                State::Completed => SessionStatus::Completed,
                State::Gated => SessionStatus::Gated,
                State::Paused => SessionStatus::Paused,
                State::Refused => SessionStatus::Refused,
                State::Failed => SessionStatus::Failed,
                State::Planned | State::InFlight | State::InTool => SessionStatus::Running,
            },
        }
    }
}
