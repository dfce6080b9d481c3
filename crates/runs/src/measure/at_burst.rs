//! Who is in the system when the burst starts, and who arrives after: what model F
//! needs to be driven by a run's own plan (App. C).

use serde::{Deserialize, Serialize};

use crate::run::{Kind, Run, SessionStatus};

use super::population::StepFunction;
use super::stats;

/// A session from the burst's start on.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Arrival {
    /// When it arrives, s; the burst's start for one that is there already.
    pub arrival_s: f64,
    /// The turn it waits for then, from 1.
    pub next_turn: usize,
    /// T, its last turn.
    pub turns: usize,
    /// Base stream or burst.
    pub kind: Kind,
    /// When it left, s; `None` while it is present.
    pub end_s: Option<f64>,
    /// Whether it left because all its turns were served.
    pub completed: bool,
}

impl Arrival {
    /// When it completed, s; `None` if it did not.
    pub fn completed_s(&self) -> Option<f64> {
        self.end_s.filter(|_| self.completed)
    }
}

/// The wave: median completion time of the burst's sessions, s, those that did not complete
/// later than all others; `None` when the median is one of them, or there is no burst
/// (App. C).
pub fn wave_s(arrivals: &[Arrival]) -> Option<f64> {
    let times: Vec<f64> = arrivals
        .iter()
        .filter(|a| a.kind == Kind::Burst)
        .map(|a| a.completed_s().unwrap_or(f64::INFINITY))
        .collect();
    stats::median(&times).filter(|t| t.is_finite())
}

/// Sessions in the system as a function of time, from the burst's start on.
pub fn present(arrivals: &[Arrival]) -> StepFunction {
    let arrivals_s = arrivals.iter().map(|a| a.arrival_s).collect();
    StepFunction::counting(arrivals_s, arrivals.iter().filter_map(|a| a.end_s).collect())
}

/// Sessions present at `start_s` with the turns they have had, then those that arrive
/// later, in order of arrival.
pub(crate) fn arrivals_from(run: &Run, start_s: f64) -> Vec<Arrival> {
    let mut served = vec![0; run.sessions.len()];
    for turn in &run.turns {
        if turn.served_at_s().is_some_and(|t| t <= start_s) {
            served[turn.session.at()] += 1;
        }
    }
    let mut arrivals: Vec<Arrival> = run
        .sessions
        .iter()
        .zip(served)
        .filter(|(session, _)| session.was_in_system())
        .filter_map(|(session, served)| {
            let arrival_s = session.t_arrival_s()?;
            let gone = session.t_end_s.is_some_and(|end| end <= start_s);
            let turns = session.turns_planned as usize;
            (!gone && served < turns).then_some(Arrival {
                arrival_s: arrival_s.max(start_s),
                next_turn: served + 1,
                turns,
                kind: session.kind,
                end_s: session.t_end_s,
                completed: session.status == SessionStatus::Completed,
            })
        })
        .collect();
    arrivals.sort_by(|a, b| a.arrival_s.total_cmp(&b.arrival_s));
    arrivals
}

#[cfg(test)]
mod tests {
    use super::super::tests::{by_hand, session};
    use super::*;

    #[test]
    fn sessions_are_present_from_the_burst_until_they_leave() {
        // At 10: one base session after its first turn, one of the burst; one more at 80.
        let mut run = by_hand();
        run.sessions[2].turns_planned = 1;
        let arrivals = arrivals_from(&run, 10.0);
        let seen: Vec<_> =
            arrivals.iter().map(|a| (a.arrival_s, a.next_turn, a.completed_s())).collect();
        assert_eq!(seen, [(10.0, 2, Some(70.0)), (10.0, 1, None), (80.0, 1, None)]);
        let present = present(&arrivals);
        assert_eq!([9.0, 10.0, 75.0, 85.0].map(|t| present.at(t)), [0.0, 2.0, 1.0, 2.0]);
    }

    #[test]
    fn the_wave_is_the_median_and_unknown_while_half_of_the_burst_is_there() {
        let mut run = by_hand();
        assert_eq!(wave_s(&arrivals_from(&run, 10.0)), None);
        run.sessions[1] = session("0", Kind::Burst, 10.0, Some(60.0), 2);
        assert_eq!(wave_s(&arrivals_from(&run, 10.0)), Some(60.0));
        assert_eq!(wave_s(&[]), None);
    }
}
