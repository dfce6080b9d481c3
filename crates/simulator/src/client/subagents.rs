//! Which subagents a session's answer starts, and whether its next turn waits for some.

use std::collections::BTreeMap;

use super::session::State;
use super::{Action, Client, ClientError, Timer};
use crate::plan::{Plan, StartedBy};

/// The subagents of a run, by their places in the plan.
#[derive(Debug, Clone, Default)]
pub(super) struct Subagents {
    /// Of a session and a turn: those that its answer starts, each with its delay, seconds.
    starts: BTreeMap<(usize, u32), Vec<(usize, f64)>>,
    /// Of a session and a turn: how many that it waits for have not ended.
    awaited: BTreeMap<(usize, u32), u32>,
}

impl Subagents {
    /// All of a plan, none of them started.
    pub(super) fn of(plan: &Plan) -> Self {
        let mut subagents = Self::default();
        for (place, planned) in plan.sessions.iter().enumerate() {
            let Some(by) = planned.started_by else { continue };
            subagents.starts.entry((by.who, by.after)).or_default().push((place, by.delay_s));
            if let Some(turn) = by.awaited_by {
                *subagents.awaited.entry((by.who, turn)).or_default() += 1;
            }
        }
        subagents
    }

    /// Whether a turn waits for a subagent that has not ended.
    pub(super) fn are_awaited(&self, who: usize, turn: u32) -> bool {
        self.awaited.get(&(who, turn)).is_some_and(|left| *left > 0)
    }

    /// One that this turn waits for has ended; whether it was the last of them.
    fn ended(&mut self, who: usize, turn: u32) -> bool {
        let left = self.awaited.entry((who, turn)).or_default();
        *left = left.saturating_sub(1);
        *left == 0
    }
}

impl Client<'_> {
    /// Asks for the timers of those that the answer to a turn starts.
    pub(super) fn start_subagents(
        &self,
        now_s: f64,
        who: usize,
        turn: u32,
        actions: &mut Vec<Action>,
    ) {
        let started = self.subagents.starts.get(&(who, turn)).map_or(&[][..], Vec::as_slice);
        let at = |(who, delay_s): &(usize, f64)| Action::At {
            t_s: now_s + delay_s,
            timer: Timer::Subagent { who: *who },
        };
        actions.extend(started.iter().map(at));
    }

    /// A subagent starts: under its session's slot, whatever the gate does.
    pub(super) fn subagent_starts(
        &mut self,
        now_s: f64,
        who: usize,
        actions: &mut Vec<Action>,
    ) -> Result<(), ClientError> {
        self.expect(now_s, who, State::Planned, "a subagent's start")?;
        let session = &mut self.sessions[who];
        session.t_planned_s = now_s;
        session.t_ready_s = now_s;
        self.admit(now_s, who, actions);
        Ok(())
    }

    /// A subagent ended or failed: if it was the last that its session waits for, the rest of the
    /// gap begins.
    pub(super) fn subagent_ended(&mut self, now_s: f64, by: StartedBy, actions: &mut Vec<Action>) {
        let Some(turn) = by.awaited_by else { return };
        let session = &self.sessions[by.who];
        if self.subagents.ended(by.who, turn)
            && (session.state, session.turn) == (State::InTool, turn)
        {
            let timer = Timer::ToolEnd { who: by.who };
            actions.push(Action::At { t_s: now_s + session.tool_s, timer });
        }
    }
}
