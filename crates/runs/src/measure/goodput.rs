//! How long sessions took against an unloaded server (D2, App. D).
//!
//! The unloaded server is built from good runs: the least latency seen at each turn
//! number (the paper's first computation). A session's unloaded time is the sum of
//! those plus the tool times it had. Left out: Lu et al.'s condition on the time
//! between tokens, which runs do not record.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::run::{Kind, Run, SessionStatus};
use crate::setup::Span;

/// Least latency by turn number, s.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct UnloadedTurns(BTreeMap<u64, f64>);

impl UnloadedTurns {
    /// The least latency of each turn number in a run.
    pub fn of(run: &Run) -> Self {
        // A run's turns are numbered on from 1: none has a number above how many there are.
        let mut least = vec![f64::INFINITY; run.turns.len()];
        for turn in &run.turns {
            let place = turn.number.checked_sub(1).and_then(|n| least.get_mut(n as usize));
            if let (Some(least), Some(end_s)) = (place, turn.served_at_s()) {
                *least = least.min(end_s - turn.t_submit_s);
            }
        }
        Self((1..).zip(least).filter(|(_, latency)| latency.is_finite()).collect())
    }

    /// The least of both.
    pub fn with(mut self, other: &Self) -> Self {
        for (number, latency) in &other.0 {
            self.0.entry(*number).and_modify(|l| *l = l.min(*latency)).or_insert(*latency);
        }
        self
    }

    /// Latency of `turns` turns one after the other, s; a number that was never seen
    /// takes the latency of the nearest smaller one.
    pub fn latency_s(&self, turns: u64) -> Option<f64> {
        (1..=turns).map(|k| self.0.range(..=k).next_back().map(|(_, l)| *l)).sum()
    }
}

/// A base session and how long it took, for [`served_in_time`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SessionTime {
    /// Planned arrival, s.
    pub arrival_s: f64,
    /// From there to its end, s; `None` if it did not complete.
    pub elapsed_s: Option<f64>,
    /// Its tool times, s.
    pub tool_s: f64,
    /// Its turns.
    pub turns: u64,
}

/// The base sessions of a run.
pub(crate) fn session_times(run: &Run) -> Vec<SessionTime> {
    let mut tool_s = vec![0.0; run.sessions.len()];
    for turn in &run.turns {
        tool_s[turn.session.at()] += turn.tool_s.unwrap_or(0.0);
    }
    run.sessions
        .iter()
        .zip(tool_s)
        .filter(|(s, _)| s.kind == Kind::Base && s.was_in_system())
        .filter_map(|(s, tool_s)| {
            let arrival_s = s.t_planned_s?;
            let completed = s.status == SessionStatus::Completed;
            let elapsed_s = s.t_end_s.filter(|_| completed).map(|end| end - arrival_s);
            Some(SessionTime { arrival_s, elapsed_s, tool_s, turns: s.turns_planned })
        })
        .collect()
}

/// How many sessions that arrived in `span` took at most `slowdown` times their
/// unloaded time, and how many arrived. Latencies of the reference are multiplied by
/// `reference_factor`.
pub(crate) fn served_in_time(
    sessions: &[SessionTime],
    unloaded: &UnloadedTurns,
    span: Span,
    slowdown: f64,
    reference_factor: f64,
) -> (u64, u64) {
    let arrived: Vec<_> = sessions.iter().filter(|s| span.holds(s.arrival_s)).collect();
    let good = arrived.iter().filter(|s| {
        let reference =
            unloaded.latency_s(s.turns).map(|latency| reference_factor * latency + s.tool_s);
        s.elapsed_s
            .zip(reference)
            .is_some_and(|(elapsed, reference)| elapsed <= slowdown * reference)
    });
    (good.count() as u64, arrived.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reference() -> UnloadedTurns {
        UnloadedTurns([(1, 1.0), (2, 0.5)].into())
    }

    fn session(elapsed_s: Option<f64>) -> SessionTime {
        SessionTime { arrival_s: 10.0, elapsed_s, tool_s: 8.0, turns: 3 }
    }

    #[test]
    fn an_unseen_turn_number_takes_the_latency_of_the_one_before() {
        assert_eq!(reference().latency_s(3), Some(2.0));
        assert_eq!(UnloadedTurns::default().latency_s(3), None);
    }

    #[test]
    fn the_slowdown_is_judged_from_both_sides_and_an_unfinished_session_is_late() {
        let span = Span::new(0.0, 100.0);
        let good = |elapsed| served_in_time(&[session(elapsed)], &reference(), span, 4.0, 1.0);
        assert_eq!(good(Some(40.0)), (1, 1));
        assert_eq!(good(Some(40.1)), (0, 1));
        assert_eq!(good(None), (0, 1));
        assert_eq!(
            served_in_time(&[session(Some(1.0))], &reference(), Span::new(50.0, 60.0), 4.0, 1.0),
            (0, 0)
        );
    }

    #[test]
    fn a_slower_reference_forgives_more() {
        let span = Span::new(0.0, 100.0);
        let good =
            |factor| served_in_time(&[session(Some(47.0))], &reference(), span, 4.0, factor).0;
        assert_eq!((good(1.0), good(2.0)), (0, 1));
    }
}
