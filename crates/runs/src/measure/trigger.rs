//! Whether what caused a trap had gone before the run ended (D1, App. D).

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::run::{Kind, Run, SessionIndex, TurnStatus};

use super::share::{Share, is_hit};
use super::treatment::{Dose, slowed_calls};

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
    /// From when it left to the last of those hits, s; `None` where there is none.
    pub last_hit_after_s: Option<f64>,
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
        let mut last_hit_s = None;
        for turn in run.turns.iter().filter(|turn| turn.status == TurnStatus::Ok) {
            let Some(end_s) = turn.t_end_s.filter(|t| *t > left) else { continue };
            share.count(is_hit(turn));
            if is_hit(turn) == Some(true) {
                last_hit_s = Some(last_hit_s.unwrap_or(end_s).max(end_s));
            }
        }
        (share, last_hit_s.map(|t| t - left))
    };
    let afterwards = last_left_s.map(after);
    let in_system = |s: &&crate::run::Session| s.was_in_system() && s.t_end_s.is_none();
    Some(TriggerMeasures {
        sessions: sessions.len() as u64,
        present_at_end,
        all_at_end: run.sessions.iter().filter(in_system).count() as u64,
        last_left_s,
        before_end_s: last_left_s.map(|t| run.meta.duration_s - t),
        turns_after: afterwards.map(|(share, _)| share),
        last_hit_after_s: afterwards.and_then(|(_, s)| s),
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{by_hand, session, turn};
    use super::*;

    #[test]
    fn a_trigger_that_is_present_at_the_end_has_no_time_after_it() {
        let found = trigger(&by_hand(), Dose::BurstSessions).unwrap();
        assert_eq!((found.sessions, found.present_at_end, found.all_at_end), (1, 1, 2));
        assert_eq!((found.turns_after, found.last_hit_after_s), (None, None));
    }

    #[test]
    fn the_turns_after_it_left_and_the_last_hit_among_them_are_counted_from_there() {
        let mut run = by_hand();
        // The burst's session leaves at 60: turns end at 70 (miss) and 90 (hit) after it.
        run.sessions[1] = session("0", Kind::Burst, 10.0, Some(60.0), 1);
        run.turns[4] = turn(0, 4, 80.0, 90.0, Some(400));
        let found = trigger(&run, Dose::BurstSessions).unwrap();
        assert_eq!((found.present_at_end, found.before_end_s), (0, Some(40.0)));
        assert_eq!(found.turns_after, Some(Share { hits: 1, misses: 1, unknown: 0 }));
        assert_eq!(found.last_hit_after_s, Some(30.0));
        run.turns[4].cached_tokens = Some(0);
        assert_eq!(trigger(&run, Dose::BurstSessions).unwrap().last_hit_after_s, None);
    }
}
