//! Sessions out of their turns, where nobody wrote them down.

use std::collections::BTreeMap;

use super::columns::Columns;
use super::plan::PlannedSession;
use super::problem::Problem;
use super::sessions::{Registry, Session, SessionStatus, unknown_kind};
use super::turns::{Turn, TurnStatus, by_session};
use super::{Kind, SessionIndex};

impl Session {
    /// What a session's turns say of it, in their order: it arrived when the first was ready,
    /// and waited at no gate. Of a plan its turns tell whether it has ended; without one it has
    /// with its last turn, unless the run's end came so soon after it that the session may only
    /// be in a tool call.
    pub fn of_turns(
        id: &str,
        kind: Kind,
        turns: &[&Turn],
        planned: Option<&PlannedSession>,
        duration_s: f64,
    ) -> Self {
        let done = turns.iter().filter(|turn| turn.status == TurnStatus::Ok).count() as u64;
        let last = turns.last();
        let end_s = last.and_then(|turn| turn.t_end_s);
        let gaps = turns.windows(2).filter_map(|pair| Some(pair[1].t_submit_s - pair[0].t_end_s?));
        let longest_s = gaps.max_by(f64::total_cmp).unwrap_or(0.0);
        let over = match planned {
            Some(plan) => done == plan.turns,
            None => end_s.is_some_and(|end| end + longest_s < duration_s),
        };
        let status = match last.map(|turn| &turn.status) {
            Some(TurnStatus::Error(_)) => SessionStatus::Failed,
            Some(TurnStatus::Ok) if over => SessionStatus::Completed,
            _ => SessionStatus::Running,
        };
        let ready_s = turns.first().map(|turn| turn.t_ready_s);
        Self {
            id: id.into(),
            kind,
            t_planned_s: planned.and_then(|plan| plan.t_arrival_s),
            t_admitted_s: ready_s,
            // A request that failed before its end has none: then it failed when it was sent.
            t_end_s: match status {
                SessionStatus::Running => None,
                _ => end_s.or(last.map(|turn| turn.t_submit_s)),
            },
            turns_planned: planned.map_or(turns.len() as u64, |plan| plan.turns),
            turns_done: done,
            gate_wait_s: 0.0,
            pauses: 0,
            pause_s: 0.0,
            status,
        }
    }
}

/// The sessions that a turns table names, in order of arrival, of each only who it is; and the
/// way to find them.
///
/// # Errors
/// Rows of no kind.
pub fn arrivals(table: &Columns) -> Result<(Vec<Session>, Registry), Vec<Problem>> {
    let mut first: BTreeMap<(&str, &str), f64> = BTreeMap::new();
    let ready = table.number("t_ready");
    for row in 0..table.len() {
        let name = (table.text("kind").get(row), table.text("session").get(row));
        let t = ready.get(row).unwrap_or(f64::INFINITY);
        let earliest = first.entry(name).or_insert(t);
        *earliest = earliest.min(t);
    }
    let mut order: Vec<_> = first.into_iter().collect();
    order.sort_by(|(a, t_a), (b, t_b)| t_a.total_cmp(t_b).then(a.cmp(b)));
    let mut registry = Registry::new(order.len());
    let (mut sessions, mut problems) = (Vec::with_capacity(order.len()), Vec::new());
    for ((word, id), _) in order {
        let Some(kind) = Kind::from_word(word) else {
            let row = (0..table.len()).find(|row| table.text("kind").get(*row) == word);
            problems.extend(row.map(|row| unknown_kind(table, row, word)));
            continue;
        };
        registry.insert(kind, id, SessionIndex(sessions.len() as u32));
        sessions.push(Session::of_turns(id, kind, &[], None, 0.0));
    }
    if problems.is_empty() { Ok((sessions, registry)) } else { Err(problems) }
}

/// Fills in what the turns and the plan say of them.
pub fn complete(
    sessions: &mut [Session],
    turns: &[Turn],
    plan: &[PlannedSession],
    duration_s: f64,
) {
    let planned = Registry::of_plan(plan);
    let places = by_session(turns, sessions.len());
    for (session, places) in sessions.iter_mut().zip(places.iter()) {
        let own: Vec<&Turn> = places.iter().map(|place| &turns[*place]).collect();
        let plan = planned.find(session.kind, &session.id).map(|index| &plan[index.at()]);
        *session = Session::of_turns(&session.id, session.kind, &own, plan, duration_s);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(number: u64, (submit, end): (f64, Option<f64>), status: TurnStatus) -> Turn {
        Turn {
            session: SessionIndex(0),
            number,
            t_ready_s: submit,
            t_submit_s: submit,
            t_first_s: None,
            t_end_s: end,
            prompt_tokens: 100,
            cached_tokens: None,
            completion_tokens: None,
            tool_s: None,
            status,
        }
    }

    fn of(turns: &[Turn], planned: Option<u64>, duration_s: f64) -> Session {
        let plan = planned.map(|turns| PlannedSession {
            id: "s".into(),
            kind: Kind::Base,
            t_arrival_s: Some(0.5),
            turns,
            tool_s: Vec::new(),
            recorded: None,
            follows: None,
        });
        let turns: Vec<&Turn> = turns.iter().collect();
        Session::of_turns("s", Kind::Base, &turns, plan.as_ref(), duration_s)
    }

    #[test]
    fn a_session_without_a_plan_has_ended_once_it_is_idle_longer_than_ever_before() {
        let turns =
            [turn(1, (1.0, Some(3.0)), TurnStatus::Ok), turn(2, (8.0, Some(10.0)), TurnStatus::Ok)];
        let status = |duration_s| of(&turns, None, duration_s).status;
        assert_eq!(status(14.9), SessionStatus::Running);
        assert_eq!(status(15.1), SessionStatus::Completed);
        let session = of(&turns, None, 60.0);
        assert_eq!((session.t_admitted_s, session.t_end_s), (Some(1.0), Some(10.0)));
        assert_eq!((session.turns_planned, session.turns_done), (2, 2));
    }

    #[test]
    fn a_plan_tells_whether_a_session_has_ended() {
        let turns = [turn(1, (1.0, Some(3.0)), TurnStatus::Ok)];
        assert_eq!(of(&turns, Some(1), 3.0).status, SessionStatus::Completed);
        let running = of(&turns, Some(2), 600.0);
        assert_eq!((running.status, running.turns_planned), (SessionStatus::Running, 2));
        assert_eq!((running.t_planned_s, running.t_end_s), (Some(0.5), None));
    }

    #[test]
    fn an_error_ends_a_session_and_a_turn_in_flight_does_not() {
        let failed = [turn(1, (1.0, None), TurnStatus::Error("reset".into()))];
        let session = of(&failed, None, 60.0);
        assert_eq!((session.status, session.t_end_s), (SessionStatus::Failed, Some(1.0)));
        let in_flight = [turn(1, (1.0, None), TurnStatus::UnfinishedAtHorizon)];
        assert_eq!(of(&in_flight, None, 60.0).status, SessionStatus::Running);
    }
}
