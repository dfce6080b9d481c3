//! Whether what caused a trap had gone before the run ended (D1, App. D).

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::run::{Kind, Run, SessionIndex, TurnStatus};
use crate::setup::registration::test::Dose;

use super::share::{Share, is_hit};
use super::treatment::slowed_calls;

/// What became of the trigger's sessions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TriggerMeasures {
    /// Sessions of the trigger.
    pub sessions: u64,
    /// Those still in the system at the end.
    pub present_at_end: u64,
    /// Sessions in the system at the end.
    pub all_at_end: u64,
    /// When the last one left, s; `None` while one is present.
    pub last_left_s: Option<f64>,
    /// How long before the run's end that was, s.
    pub before_end_s: Option<f64>,
    /// Hits of the turns that completed after it left.
    pub turns_after: Option<Share>,
}

/// Measures it: the burst's sessions, or the sessions with a slowed tool call.
/// `None` for a run without a trigger.
pub fn trigger(run: &Run, dose: Dose) -> Option<TriggerMeasures> {
    let sessions: BTreeSet<SessionIndex> = match dose {
        Dose::ToolDelayS => slowed_calls(run).into_iter().map(|c| c.0).collect(),
        Dose::BurstSessions | Dose::StopS => (0..run.sessions.len() as u32)
            .map(SessionIndex)
            .filter(|i| run.sessions[i.at()].kind == Kind::Burst)
            .collect(),
    };
    if sessions.is_empty() {
        return None;
    }
    let present = |i: &&SessionIndex| run.sessions[i.at()].t_end_s.is_none();
    let present_at_end = sessions.iter().filter(present).count() as u64;
    let last_left_s = (present_at_end == 0)
        .then(|| sessions.iter().filter_map(|i| run.sessions[i.at()].t_end_s).fold(0.0, f64::max));
    let after = |left: f64| {
        let mut share = Share::default();
        for turn in &run.turns {
            if turn.status == TurnStatus::Ok && turn.t_end_s.is_some_and(|t| t > left) {
                share.count(is_hit(turn));
            }
        }
        share
    };
    let in_system = |s: &&crate::run::Session| s.was_in_system() && s.t_end_s.is_none();
    Some(TriggerMeasures {
        sessions: sessions.len() as u64,
        present_at_end,
        all_at_end: run.sessions.iter().filter(in_system).count() as u64,
        last_left_s,
        before_end_s: last_left_s.map(|t| run.meta.duration_s - t),
        turns_after: last_left_s.map(after),
    })
}
