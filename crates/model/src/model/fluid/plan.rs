//! Model F driven by an exact plan: sessions with given arrival times and turn counts, one
//! turn served at a time in the order of joining. The queue of App. A with whole sessions
//! instead of a fluid, as the MIRROR and CUT predictions use it (App. C).

use std::collections::VecDeque;

use crate::model::ModelError;
use crate::model::fifo::ModelF;

/// A session of the plan.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ArrivingSession {
    /// When it arrives, in seconds.
    pub arrival_s: f64,
    /// The turn it waits for on arrival: 1, or more for a session already under way.
    pub next_turn: usize,
    /// T, its last turn.
    pub turns: usize,
}

/// One served turn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ServedTurn {
    /// Index of the session in the plan.
    pub session: usize,
    /// The turn, 1-based.
    pub turn: usize,
    /// When it joined the queue, in seconds.
    pub joined_s: f64,
    /// When its service began, in seconds.
    pub started_s: f64,
    /// When it completed, in seconds.
    pub completed_s: f64,
}

/// A plan, served. Answers hold for times up to the end that was asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanRun {
    plan: Vec<ArrivingSession>,
    served: Vec<ServedTurn>,
    costs_s: Vec<f64>,
    /// When each session completes, if it does by the end.
    ends_s: Vec<Option<f64>>,
}

/// Serves a plan up to `end_s`, and the turn in service then to its end.
///
/// Sessions that arrive at the same time join in the order of the plan, after a turn that
/// rejoins at that time.
///
/// # Errors
/// Arrivals out of order, or a session with more turns than the model has costs for.
pub fn serve(model: &ModelF, plan: &[ArrivingSession], end_s: f64) -> Result<PlanRun, ModelError> {
    check(model, plan)?;
    let mut served = Vec::new();
    let mut ends_s = vec![None; plan.len()];
    let mut queue: VecDeque<(usize, usize, f64)> = VecDeque::new();
    let mut arriving = plan.iter().enumerate().peekable();
    let mut now_s = f64::NEG_INFINITY;
    while now_s < end_s {
        if queue.is_empty() {
            let Some((session, first)) = arriving.next() else { break };
            now_s = now_s.max(first.arrival_s);
            queue.push_back((session, first.next_turn, first.arrival_s));
        }
        let Some((session, turn, joined_s)) = queue.pop_front() else { break };
        let completed_s = now_s + model.costs_s()[turn - 1];
        while let Some((next, arrival)) = arriving.next_if(|(_, s)| s.arrival_s < completed_s) {
            queue.push_back((next, arrival.next_turn, arrival.arrival_s));
        }
        served.push(ServedTurn { session, turn, joined_s, started_s: now_s, completed_s });
        if turn < plan[session].turns {
            queue.push_back((session, turn + 1, completed_s));
        } else {
            ends_s[session] = Some(completed_s);
        }
        now_s = completed_s;
    }
    Ok(PlanRun { plan: plan.to_vec(), served, costs_s: model.costs_s().to_vec(), ends_s })
}

impl PlanRun {
    /// The turns served, in order.
    pub fn served(&self) -> &[ServedTurn] {
        &self.served
    }

    /// When each session of the plan completes; `None` if not by the end.
    pub fn ends_s(&self) -> &[Option<f64>] {
        &self.ends_s
    }

    /// N: sessions that have arrived and not completed.
    pub fn backlog(&self, time_s: f64) -> usize {
        self.present(time_s).count()
    }

    /// V: pending work at a time, one turn of every session present, in seconds.
    pub fn gap_s(&self, time_s: f64) -> f64 {
        let progress_s = self.progress_s(time_s);
        let waiting = self.waiting(time_s);
        self.present(time_s).map(|i| self.costs_s[waiting[i] - 1]).sum::<f64>() - progress_s
    }

    /// V_tot: all-miss work of the sessions present with their realized turns, in seconds.
    pub fn work_left_s(&self, time_s: f64) -> f64 {
        let progress_s = self.progress_s(time_s);
        let waiting = self.waiting(time_s);
        let left = |i: usize| self.costs_s[waiting[i] - 1..self.plan[i].turns].iter().sum::<f64>();
        self.present(time_s).map(left).sum::<f64>() - progress_s
    }

    /// Sessions that complete in `[from_s, to_s)`.
    pub fn sessions_completed(&self, from_s: f64, to_s: f64) -> usize {
        self.ends_s.iter().flatten().filter(|end| **end >= from_s && **end < to_s).count()
    }

    /// Turns completed in `[from_s, to_s)`, by turn (index k - 1).
    pub fn turns_completed(&self, from_s: f64, to_s: f64) -> Vec<usize> {
        let mut turns = vec![0; self.costs_s.len()];
        for turn in &self.served {
            if turn.completed_s >= from_s && turn.completed_s < to_s {
                turns[turn.turn - 1] += 1;
            }
        }
        turns
    }

    /// A per-turn quantity averaged over the turns completed in `[from_s, to_s)`: with
    /// prompts, the mean served prompt. `None` where none completes.
    pub fn served_mean(&self, from_s: f64, to_s: f64, per_turn: &[f64]) -> Option<f64> {
        let turns = self.turns_completed(from_s, to_s);
        let count: usize = turns.iter().sum();
        let total: f64 = turns.iter().zip(per_turn).map(|(n, x)| *n as f64 * x).sum();
        (count > 0).then(|| total / count as f64)
    }

    /// Least-squares slope of bin means of the backlog over `[from_s, to_s)`, in sessions/s
    /// (App. E.5: 10 s bins). Each bin mean is exact.
    pub fn backlog_slope_per_s(&self, from_s: f64, to_s: f64, bin_s: f64) -> f64 {
        let bins = libm::floor((to_s - from_s) / bin_s) as usize;
        let centre = 0.5 * (bins as f64 - 1.0);
        let (mut above, mut below) = (0.0, 0.0);
        for i in 0..bins {
            let (x, start) = (i as f64 - centre, from_s + i as f64 * bin_s);
            above += x * self.mean_backlog(start, start + bin_s);
            below += x * x;
        }
        above / (below * bin_s)
    }

    /// Mean backlog over `[from_s, to_s)`, in sessions.
    pub fn mean_backlog(&self, from_s: f64, to_s: f64) -> f64 {
        let stay = |(session, end): (&ArrivingSession, &Option<f64>)| {
            let (start, end) = (session.arrival_s.max(from_s), end.unwrap_or(to_s).min(to_s));
            (end - start).max(0.0)
        };
        self.plan.iter().zip(&self.ends_s).map(stay).sum::<f64>() / (to_s - from_s)
    }

    /// The time by which half of the chosen sessions have completed: with a burst's sessions,
    /// the wave of App. C. `None` when fewer than half complete.
    pub fn median_completion_s(&self, chosen: impl Fn(usize) -> bool) -> Option<f64> {
        self.completed_by_s(0.5, chosen)
    }

    /// The time by which a share of the chosen sessions have completed. `None` when fewer
    /// complete.
    pub fn completed_by_s(&self, share: f64, chosen: impl Fn(usize) -> bool) -> Option<f64> {
        let of_chosen = || self.ends_s.iter().enumerate().filter(|(i, _)| chosen(*i));
        let mut ends: Vec<f64> = of_chosen().filter_map(|(_, end)| *end).collect();
        ends.sort_by(f64::total_cmp);
        let count = libm::ceil(share * of_chosen().count() as f64) as usize;
        ends.get(count.checked_sub(1)?).copied()
    }

    fn present(&self, time_s: f64) -> impl Iterator<Item = usize> + '_ {
        (0..self.plan.len()).filter(move |i| {
            self.plan[*i].arrival_s <= time_s && self.ends_s[*i].is_none_or(|end| end > time_s)
        })
    }

    /// The turn each session waits for at a time; its first where it has not been served.
    fn waiting(&self, time_s: f64) -> Vec<usize> {
        let mut waiting: Vec<usize> = self.plan.iter().map(|s| s.next_turn).collect();
        for turn in self.served.iter().take_while(|turn| turn.completed_s <= time_s) {
            waiting[turn.session] = turn.turn + 1;
        }
        waiting
    }

    /// Work already done on the turn in service.
    fn progress_s(&self, time_s: f64) -> f64 {
        let next = self.served.partition_point(|turn| turn.completed_s <= time_s);
        self.served.get(next).map_or(0.0, |turn| (time_s - turn.started_s).max(0.0))
    }
}

fn check(model: &ModelF, plan: &[ArrivingSession]) -> Result<(), ModelError> {
    let wrong = |message: String| Err(ModelError::TurnLaw { message });
    let longest = model.costs_s().len();
    let mut last_s = f64::NEG_INFINITY;
    for (i, session) in plan.iter().enumerate() {
        if !(session.arrival_s >= last_s && session.arrival_s.is_finite()) {
            return wrong(format!("session {i} of the plan arrives before the one ahead of it"));
        }
        last_s = session.arrival_s;
        if session.next_turn == 0 || session.next_turn > session.turns || session.turns > longest {
            return wrong(format!(
                "session {i} of the plan waits for turn {} of {}; expected 1 to {longest}",
                session.next_turn, session.turns
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::fluid::{Arrivals, Start, run};

    fn session(arrival_s: f64, turns: usize) -> ArrivingSession {
        ArrivingSession { arrival_s, next_turn: 1, turns }
    }

    fn close(a: f64, b: f64, relative: f64) -> bool {
        (a - b).abs() <= relative * a.abs().max(b.abs())
    }

    #[test]
    fn a_plan_of_many_small_sessions_follows_the_fluid() {
        let costs = [1.0, 1.5, 2.0, 3.0].map(|c| c / 2000.0);
        let model = ModelF::new(&costs, &[1.0, 0.5, 0.25, 0.25]).unwrap();
        let lambda = 1.5 * model.lambda_miss_per_s();
        // Turn counts in an order that keeps the law's proportions: 1, 2, 1, 4, ...
        let plan: Vec<ArrivingSession> = (0..(200.0 * lambda) as usize)
            .map(|i| session((i as f64 + 0.5) / lambda, [1, 2, 1, 4][i % 4]))
            .collect();
        let served = serve(&model, &plan, 200.0).unwrap();
        let rate = Arrivals::constant(lambda).unwrap();
        let fluid = run(&model, &Start::empty(0.0), &rate, 300.0).unwrap();
        for at in [50.0, 120.0, 199.0] {
            assert!(close(served.backlog(at) as f64, fluid.backlog(at), 5e-3), "backlog at {at}");
            assert!(close(served.gap_s(at), fluid.gap_s(at), 5e-3), "gap at {at}");
            assert!(close(served.work_left_s(at), fluid.work_left_s(at), 5e-3), "work at {at}");
        }
        let completed = served.sessions_completed(50.0, 150.0) as f64;
        assert!(close(completed, fluid.sessions_completed(50.0, 150.0), 5e-3));
        let slope = served.backlog_slope_per_s(50.0, 150.0, 10.0);
        assert!(close(slope, fluid.backlog_slope_per_s(50.0, 150.0, 10.0), 1e-2));
        let expected = fluid.turns_completed(50.0, 150.0);
        for (ours, expected) in served.turns_completed(50.0, 150.0).iter().zip(expected) {
            assert!(close(*ours as f64, expected, 1e-2));
        }
    }

    #[test]
    fn a_plan_is_served_in_the_order_of_joining() {
        let model = ModelF::new(&[1.0, 2.0], &[1.0, 0.5]).unwrap();
        let plan = [session(0.0, 2), session(0.5, 1), session(9.0, 1)];
        let run = serve(&model, &plan, 100.0).unwrap();
        let order: Vec<_> =
            run.served().iter().map(|t| (t.session, t.turn, t.completed_s)).collect();
        assert_eq!(order, [(0, 1, 1.0), (1, 1, 2.0), (0, 2, 4.0), (2, 1, 10.0)]);
        assert_eq!(run.ends_s(), [Some(4.0), Some(2.0), Some(10.0)]);
        // At 1.5 s the first session waits for its second turn, the second is half served.
        assert_eq!((run.backlog(1.5), run.gap_s(1.5), run.work_left_s(1.5)), (2, 2.5, 2.5));
        assert_eq!((run.backlog(5.0), run.gap_s(5.0)), (0, 0.0));
        assert_eq!(run.mean_backlog(0.0, 4.0), (4.0 + 1.5) / 4.0);
        assert_eq!(run.median_completion_s(|_| true), Some(4.0));
        assert_eq!(run.median_completion_s(|_| false), None);
        let by = |share| run.completed_by_s(share, |_| true);
        assert_eq!([by(0.25), by(0.75), by(1.0)], [Some(2.0), Some(10.0), Some(10.0)]);
        // Turns 1, 1 and 2 complete by 5 s.
        assert_eq!(run.served_mean(0.0, 5.0, &[10.0, 40.0]), Some(20.0));
        assert_eq!(run.served_mean(20.0, 30.0, &[10.0, 40.0]), None);
    }

    #[test]
    fn a_session_under_way_starts_at_its_next_turn() {
        let model = ModelF::new(&[1.0, 2.0, 4.0], &[1.0, 0.5, 0.5]).unwrap();
        let plan = [ArrivingSession { arrival_s: 0.0, next_turn: 2, turns: 3 }];
        let run = serve(&model, &plan, 100.0).unwrap();
        assert_eq!(run.ends_s(), [Some(6.0)]);
        assert_eq!(run.work_left_s(1.0), 5.0);
    }

    #[test]
    fn a_session_unfinished_at_the_end_stays_in_the_backlog() {
        let model = ModelF::new(&[10.0], &[1.0]).unwrap();
        let run = serve(&model, &[session(0.0, 1), session(1.0, 1)], 5.0).unwrap();
        assert_eq!((run.backlog(5.0), run.gap_s(5.0)), (2, 15.0));
        assert_eq!(run.ends_s(), [Some(10.0), None]);
        assert_eq!(run.median_completion_s(|i| i == 1), None);
    }

    #[test]
    fn a_plan_that_cannot_be_served_is_refused() {
        let model = ModelF::new(&[1.0], &[1.0]).unwrap();
        assert!(serve(&model, &[session(1.0, 1), session(0.0, 1)], 9.0).is_err());
        assert!(serve(&model, &[session(0.0, 2)], 9.0).is_err());
    }
}
