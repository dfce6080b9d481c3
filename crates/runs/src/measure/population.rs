//! Sessions in the system and outstanding work as exact functions of time.

use serde::{Deserialize, Serialize};

use crate::run::{Kind, Run, Session, SessionStatus, Turn, TurnStatus};
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

    /// How many there are of what begins at these times and ends at those, in any order.
    pub fn counting(mut starts_s: Vec<f64>, mut ends_s: Vec<f64>) -> Self {
        // Turns are listed as they were sent: long stretches of what begins are in order.
        starts_s.sort_by(f64::total_cmp);
        ends_s.sort_unstable_by(f64::total_cmp);
        let mut steps = Self {
            times_s: Vec::with_capacity(starts_s.len() + ends_s.len()),
            values: Vec::with_capacity(starts_s.len() + ends_s.len()),
        };
        let (mut starts, mut ends) = (starts_s.iter().peekable(), ends_s.iter().peekable());
        let mut value = 0.0;
        loop {
            let next = match (starts.peek(), ends.peek()) {
                (Some(start), Some(end)) => start.min(**end),
                (Some(t), None) | (None, Some(t)) => **t,
                (None, None) => return steps,
            };
            while starts.next_if(|t| t.total_cmp(&next).is_le()).is_some() {
                value += 1.0;
            }
            while ends.next_if(|t| t.total_cmp(&next).is_le()).is_some() {
                value -= 1.0;
            }
            steps.times_s.push(next);
            steps.values.push(value);
        }
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
    let sessions = || run.sessions.iter().filter(|s| s.was_in_system());
    let arrivals_s = sessions().filter_map(Session::t_arrival_s).collect();
    StepFunction::counting(arrivals_s, sessions().filter_map(|s| s.t_end_s).collect())
}

/// Requests in flight (submitted, not ended).
pub fn in_flight(run: &Run) -> StepFunction {
    let (starts_s, ends_s) = requests(run);
    StepFunction::counting(starts_s, ends_s)
}

/// Sessions held at the gate: not yet admitted, or paused.
pub fn held_at_gate(run: &Run) -> StepFunction {
    let (starts_s, ends_s) = holds(run);
    StepFunction::counting(starts_s, ends_s)
}

/// Requests in flight plus sessions held at the gate (App. E.5, E.7).
pub fn outstanding(run: &Run) -> StepFunction {
    let ((requests_s, ends_s), (holds_s, releases_s)) = (requests(run), holds(run));
    StepFunction::counting([requests_s, holds_s].concat(), [ends_s, releases_s].concat())
}

/// When requests were sent, and when they ended, s.
fn requests(run: &Run) -> (Vec<f64>, Vec<f64>) {
    let end = |turn: &Turn| match turn.status {
        TurnStatus::UnfinishedAtHorizon => None,
        // A failed request without an end leaves when its session does.
        _ => turn.t_end_s.or(run.sessions[turn.session.at()].t_end_s),
    };
    let sent_s = run.turns.iter().map(|turn| turn.t_submit_s).collect();
    (sent_s, run.turns.iter().filter_map(end).collect())
}

/// From when sessions were held at the gate, and until when, s.
fn holds(run: &Run) -> (Vec<f64>, Vec<f64>) {
    let (mut starts_s, mut ends_s) = (Vec::new(), Vec::new());
    let mut hold = |from: f64, to: Option<f64>| {
        // Most are let through at once.
        if to != Some(from) {
            starts_s.push(from);
            ends_s.extend(to);
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
    (starts_s, ends_s)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps() -> StepFunction {
        StepFunction::from_changes(vec![(2.0, 1.0), (1.0, 1.0), (3.0, -2.0), (2.0, 1.0)])
    }

    #[test]
    fn a_count_is_the_sum_of_its_changes() {
        let (starts, ends) = (vec![2.0, 1.0, 2.0, 7.0], vec![3.0, 2.0, 7.0, 3.0]);
        let changes = starts.iter().map(|t| (*t, 1.0)).chain(ends.iter().map(|t| (*t, -1.0)));
        let summed = StepFunction::from_changes(changes.collect());
        assert_eq!(StepFunction::counting(starts, ends), summed);
        assert_eq!(StepFunction::counting(vec![], vec![1.0]).at(1.0), -1.0);
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
