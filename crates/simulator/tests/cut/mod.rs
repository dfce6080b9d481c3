//! A run as its directory would have it had it ended earlier.

use trapcheck_runs::run::{Meta, Run, RunStatus, Session, SessionIndex, SessionStatus};
use trapcheck_runs::run::{Turn, TurnStatus};

/// The run as it was at `t_s`: what came later is not there, what was under way has no end.
pub fn cut(run: &Run, t_s: f64) -> Run {
    let mut places = vec![None; run.sessions.len()];
    let mut sessions = Vec::new();
    for (i, session) in run.sessions.iter().enumerate() {
        if session.t_arrival_s().is_some_and(|arrival| arrival <= t_s) {
            places[i] = Some(SessionIndex(sessions.len() as u32));
            sessions.push(session.clone());
        }
    }
    for session in &mut sessions {
        let refused = session.status == SessionStatus::Refused;
        if !refused && session.t_end_s.is_none_or(|end| end > t_s) {
            *session = under_way(session, t_s);
        }
        session.turns_done = 0;
    }
    let mut turns = Vec::new();
    for turn in run.turns.iter().filter(|turn| turn.t_submit_s <= t_s) {
        let Some(session) = places[turn.session.at()] else { continue };
        let ended = turn.t_end_s.is_some_and(|end| end <= t_s);
        sessions[session.at()].turns_done += u64::from(ended && turn.status == TurnStatus::Ok);
        let turn = Turn { session, ..turn.clone() };
        turns.push(if ended { turn } else { in_flight(&turn) });
    }
    let meta = Meta { duration_s: t_s, status: RunStatus::Truncated, ..run.meta.clone() };
    Run { meta, sessions, turns, engine: Vec::new(), gate: Vec::new(), ..run.clone() }
}

fn under_way(session: &Session, t_s: f64) -> Session {
    let t_admitted_s = session.t_admitted_s.filter(|t| *t <= t_s);
    let status = match t_admitted_s {
        None => SessionStatus::Gated,
        Some(_) => SessionStatus::Running,
    };
    Session { t_admitted_s, t_end_s: None, status, ..session.clone() }
}

fn in_flight(turn: &Turn) -> Turn {
    Turn {
        t_first_s: None,
        t_end_s: None,
        cached_tokens: None,
        completion_tokens: None,
        tool_s: None,
        status: TurnStatus::UnfinishedAtHorizon,
        ..turn.clone()
    }
}
