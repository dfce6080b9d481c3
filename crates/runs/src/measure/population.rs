//! Sessions in the system and outstanding work as exact functions of time.

use serde::{Deserialize, Serialize};

use crate::run::{Kind, Run, SessionStatus, Turn, TurnStatus};
use crate::setup::Span;

/// A right-continuous step function of time that starts at 0.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepFunction {
    /// Times at which it changes, increasing.
    times_s: Vec<f64>,
    /// Its value from each of those times on.
    values: Vec<f64>,
}

impl StepFunction {
    /// From changes (time, by how much) in any order; changes at one instant add up.
    pub fn from_changes(mut changes: Vec<(f64, f64)>) -> Self {
        // Whole numbers of sessions: in which order those of one instant are added makes no odds.
        changes.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut times_s = Vec::with_capacity(changes.len());
        let mut values: Vec<f64> = Vec::with_capacity(changes.len());
        let mut value = 0.0;
        for (t, change) in changes {
            value += change;
            match values.last_mut() {
                Some(last) if times_s.last() == Some(&t) => *last = value,
                _ => {
                    times_s.push(t);
                    values.push(value);
                }
            }
        }
        Self { times_s, values }
    }

    /// Its value at `t_s`.
    pub fn at(&self, t_s: f64) -> f64 {
        let after = self.times_s.partition_point(|t| *t <= t_s);
        if after == 0 { 0.0 } else { self.values[after - 1] }
    }

    /// The steps inside `span`, as (from, to, value).
    fn pieces(&self, span: Span) -> impl Iterator<Item = (f64, f64, f64)> + '_ {
        let first = self.times_s.partition_point(|t| *t <= span.start_s);
        let last = self.times_s.partition_point(|t| *t < span.end_s);
        let ends = (first..last).map(|i| self.times_s[i]).chain([span.end_s]);
        let mut from = span.start_s;
        let mut value = self.at(span.start_s);
        ends.enumerate().map(move |(i, to)| {
            let piece = (from, to, value);
            from = to;
            value = self.values.get(first + i).copied().unwrap_or(value);
            piece
        })
    }

    /// Its changes inside `span`: when, and to which value.
    pub fn changes(&self, span: Span) -> impl Iterator<Item = (f64, f64)> + '_ {
        let first = self.times_s.partition_point(|t| *t < span.start_s);
        let last = self.times_s.partition_point(|t| *t < span.end_s);
        (first..last).map(|i| (self.times_s[i], self.values[i]))
    }

    /// Its mean over `span`, by time.
    pub fn mean_over(&self, span: Span) -> f64 {
        let area: f64 = self.pieces(span).map(|(from, to, value)| value * (to - from)).sum();
        area / span.length_s()
    }

    /// Its largest value in `span`.
    pub fn max_over(&self, span: Span) -> f64 {
        self.pieces(span).map(|(_, _, value)| value).fold(0.0, f64::max)
    }

    /// Its smallest value in `span`.
    pub fn min_over(&self, span: Span) -> f64 {
        self.pieces(span).map(|(_, _, value)| value).fold(f64::INFINITY, f64::min)
    }

    /// Its means over consecutive bins of `span`, at the bins' midpoints.
    pub(crate) fn bin_means(&self, span: Span, width_s: f64) -> Vec<(f64, f64)> {
        span.bins(width_s).into_iter().map(|bin| (bin.middle_s(), self.mean_over(bin))).collect()
    }
}

/// N(t): sessions that have arrived and not ended, held at the gate or not (App. E.5).
pub fn in_system(run: &Run) -> StepFunction {
    let mut changes = Vec::with_capacity(2 * run.sessions.len());
    for session in run.sessions.iter().filter(|s| s.was_in_system()) {
        changes.extend(session.t_arrival_s().map(|t| (t, 1.0)));
        changes.extend(session.t_end_s.map(|t| (t, -1.0)));
    }
    StepFunction::from_changes(changes)
}

/// Requests in flight (submitted, not ended).
pub fn in_flight(run: &Run) -> StepFunction {
    StepFunction::from_changes(in_flight_changes(run))
}

/// Sessions held at the gate: not yet admitted, or paused.
pub fn held_at_gate(run: &Run) -> StepFunction {
    StepFunction::from_changes(held_changes(run))
}

/// Requests in flight plus sessions held at the gate (App. E.5, E.7).
pub fn outstanding(run: &Run) -> StepFunction {
    let mut changes = in_flight_changes(run);
    changes.extend(held_changes(run));
    StepFunction::from_changes(changes)
}

fn in_flight_changes(run: &Run) -> Vec<(f64, f64)> {
    let end = |turn: &Turn| match turn.status {
        TurnStatus::UnfinishedAtHorizon => None,
        // A failed request without an end leaves when its session does.
        _ => turn.t_end_s.or(run.sessions[turn.session.at()].t_end_s),
    };
    let mut changes = Vec::with_capacity(2 * run.turns.len());
    // The first half is sorted as it is.
    changes.extend(run.turns.iter().map(|turn| (turn.t_submit_s, 1.0)));
    changes.extend(run.turns.iter().filter_map(end).map(|t| (t, -1.0)));
    changes
}

fn held_changes(run: &Run) -> Vec<(f64, f64)> {
    let mut changes = Vec::new();
    let mut hold = |from: f64, to: Option<f64>| {
        // Most are let through at once.
        if to != Some(from) {
            changes.push((from, 1.0));
            changes.extend(to.map(|t| (t, -1.0)));
        }
    };
    for session in run.sessions.iter().filter(|s| s.was_in_system()) {
        if let Some(planned) = session.t_planned_s {
            hold(planned, session.t_admitted_s);
        }
    }
    // Between turns: the gate holds a session from the moment it would send.
    let mut last_turn = vec![None; run.sessions.len()];
    let mut paused_before_s = vec![0.0; run.sessions.len()];
    for turn in &run.turns {
        if turn.is_follow_up() {
            hold(turn.t_ready_s, Some(turn.t_submit_s));
            paused_before_s[turn.session.at()] += turn.t_submit_s - turn.t_ready_s;
        }
        let last: &mut Option<&Turn> = &mut last_turn[turn.session.at()];
        if last.is_none_or(|l| l.number < turn.number) {
            *last = Some(turn);
        }
    }
    let has_subagents = run.sessions.iter().any(|session| session.kind == Kind::Subagent);
    for ((session, last), before_s) in run.sessions.iter().zip(&last_turn).zip(paused_before_s) {
        if session.status == SessionStatus::Paused
            && let Some(end) = last.and_then(|turn| turn.t_end_s)
        {
            // Where it may have waited for subagents, only the pause itself says when it began.
            let from = if has_subagents {
                run.meta.duration_s - (session.pause_s - before_s)
            } else {
                end + last.and_then(|turn| turn.tool_s).unwrap_or(0.0)
            };
            hold(from, None);
        }
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps() -> StepFunction {
        StepFunction::from_changes(vec![(2.0, 1.0), (1.0, 1.0), (3.0, -2.0), (2.0, 1.0)])
    }

    #[test]
    fn a_step_function_holds_its_value_until_the_next_change() {
        let f = steps();
        assert_eq!([0.5, 1.0, 1.9, 2.0, 2.9, 3.0].map(|t| f.at(t)), [0.0, 1.0, 1.0, 3.0, 3.0, 1.0]);
    }

    #[test]
    fn its_mean_is_by_time_not_by_event() {
        let f = steps();
        assert_eq!(f.mean_over(Span::new(0.0, 4.0)), (0.0 + 1.0 + 3.0 + 1.0) / 4.0);
        assert_eq!(f.mean_over(Span::new(1.5, 2.5)), 2.0);
        assert_eq!(f.max_over(Span::new(0.0, 2.0)), 1.0);
        assert_eq!(f.max_over(Span::new(0.0, 2.5)), 3.0);
    }

    #[test]
    fn the_mean_of_bin_means_is_the_mean() {
        let f = steps();
        let means = f.bin_means(Span::new(0.0, 4.0), 0.5);
        let mean = means.iter().map(|m| m.1).sum::<f64>() / means.len() as f64;
        assert!((mean - f.mean_over(Span::new(0.0, 4.0))).abs() < 1e-12);
    }
}
