//! Subagents in a plan: after all sessions that arrive by themselves, each with what starts it.

use std::fmt;
use std::sync::Arc;

use super::sample::microseconds;
use super::{DrawnSession, Kind};

/// What starts a subagent, and what waits for it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StartedBy {
    /// The place in the plan of the session that does.
    pub who: usize,
    /// That session's kind.
    pub kind: Kind,
    /// Its number within its kind.
    pub session: u32,
    /// The turn of it whose answer the subagent follows: 1, 2, ...
    pub after: u32,
    /// From that answer to the subagent's first request, seconds.
    pub delay_s: f64,
    /// The later turn that waits for the subagent's end; `None` where none does.
    pub awaited_by: Option<u32>,
}

impl fmt::Display for StartedBy {
    /// As `plan.csv` says it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, session, after, delay_s, .. } = self;
        write!(f, "{kind} {session} turn {after} + {delay_s:.6} s; ")?;
        match self.awaited_by {
            Some(turn) => write!(f, "turn {turn} waits"),
            None => f.write_str("none waits"),
        }
    }
}

/// Adds the subagents of all that is planned, and theirs: numbered in the order of the sessions that
/// start them.
pub(super) fn add(sessions: &mut Vec<DrawnSession>) {
    let (mut who, mut number) = (0, 0);
    while let Some(planned) = sessions.get(who) {
        let (kind, session) = (planned.kind, planned.session);
        let trace = planned.trace.clone();
        for agent in trace.iter().flat_map(|trace| &trace.subagents) {
            sessions.push(DrawnSession {
                kind: Kind::Subagent,
                session: number,
                t_arrival_s: None,
                tool_s: agent.trace.waits_s().into_iter().map(microseconds).collect(),
                trace: Some(Arc::clone(&agent.trace)),
                started_by: Some(StartedBy {
                    who,
                    kind,
                    session,
                    after: agent.after,
                    delay_s: microseconds(agent.delay_s),
                    awaited_by: agent.awaited.map(|awaited| awaited.turn),
                }),
            });
            number += 1;
        }
        who += 1;
    }
}
