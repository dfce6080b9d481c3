//! Requests as turns and sessions of a run.

use super::NoRun;
use crate::form::{Ended, Losses, Observed, Request};
use crate::run::{Kind, Session, SessionIndex, SessionStatus, Turn, TurnStatus};
use crate::sessions::{By, sessions};

/// What a stream of turns, one after the other, is called: its session's id, with a number
/// behind it where the session held several at once.
struct Stream<'a> {
    id: String,
    requests: Vec<&'a Request>,
}

/// The sessions in order of arrival, and their turns in order of sending.
pub fn of(
    observed: &Observed,
    start_s: f64,
    duration_s: f64,
    dropped: &mut Losses,
    notes: &mut Losses,
) -> Result<(Vec<Session>, Vec<Turn>), NoRun> {
    let (found, by) = sessions(observed);
    if by == By::Nothing {
        return Err(NoRun::NoSessions);
    }
    if by == By::GrowingPrompt {
        notes.add("sessions told by their growing prompts: no ids", 0);
    }
    if by == By::HashIds {
        found.iter().for_each(|_| notes.add("sessions told by the hash ids of their prompts", 0));
    }
    let in_none = observed.requests.iter().filter(|r| r.session.is_none() && by.is_told());
    in_none.for_each(|_| dropped.add("requests of no session", 0));
    let mut streams: Vec<Stream<'_>> = Vec::new();
    for session in &found {
        let requests = session.requests.iter().map(|place| &observed.requests[*place]);
        let mut usable: Vec<&Request> = requests.filter(|r| is_usable(r, dropped)).collect();
        usable.sort_by(|a, b| a.t_submit_s.unwrap_or(0.0).total_cmp(&b.t_submit_s.unwrap_or(0.0)));
        streams.extend(apart(&session.id, usable, notes));
    }
    let first = |s: &Stream<'_>| s.requests.first().and_then(|r| r.t_submit_s).unwrap_or(0.0);
    streams.sort_by(|a, b| first(a).total_cmp(&first(b)).then_with(|| a.id.cmp(&b.id)));
    let (mut rows, mut turns) = (Vec::new(), Vec::new());
    for (place, stream) in streams.iter().enumerate() {
        let index = SessionIndex(u32::try_from(place).unwrap_or(u32::MAX));
        let own = turns_of(stream, index, start_s, observed, notes);
        rows.push(session_of(stream, &own, duration_s, notes));
        turns.extend(own);
    }
    turns.sort_by(|a, b| a.t_submit_s.total_cmp(&b.t_submit_s).then(a.session.cmp(&b.session)));
    Ok((rows, turns))
}

fn is_usable(request: &Request, dropped: &mut Losses) -> bool {
    let why = match request {
        r if r.t_submit_s.is_none() => "requests without a time",
        r if r.prompt_tokens.is_none() => "requests without prompt tokens",
        r if r.ended == Ended::Served && r.t_end_s.is_none() => "served requests without an end",
        _ => return true,
    };
    dropped.add(why, u64::from(request.row));
    false
}

/// A session's requests as streams in which none begins before the one before it has ended.
fn apart<'a>(id: &str, requests: Vec<&'a Request>, notes: &mut Losses) -> Vec<Stream<'a>> {
    let mut streams: Vec<Stream<'a>> = Vec::new();
    for request in requests {
        let free = |s: &&mut Stream<'_>| {
            let end = s.requests.last().and_then(|r| r.t_end_s);
            end.is_some_and(|end| Some(end) <= request.t_submit_s)
        };
        match streams.iter_mut().find(free) {
            Some(stream) => stream.requests.push(request),
            None => {
                let number = streams.len() + 1;
                let id = if number == 1 { id.to_owned() } else { format!("{id}+{number}") };
                if number > 1 {
                    notes.add("further streams of sessions that held several requests at once", 0);
                }
                streams.push(Stream { id, requests: vec![request] });
            }
        }
    }
    streams
}

fn turns_of(
    stream: &Stream<'_>,
    session: SessionIndex,
    start_s: f64,
    observed: &Observed,
    notes: &mut Losses,
) -> Vec<Turn> {
    let numbered = stream.requests.iter().zip(1_u32..).all(|(r, number)| r.turn == Some(number));
    if !numbered && stream.requests.iter().any(|r| r.turn.is_some()) {
        notes.add("sessions whose turns were numbered anew: gaps or repeats", 0);
    }
    let mut before: Option<f64> = None;
    let mut turns = Vec::new();
    for (request, number) in stream.requests.iter().zip(1..) {
        let at = |t: Option<f64>| t.map(|t| t - start_s);
        let submit = at(request.t_submit_s).unwrap_or(0.0);
        let ready = at(request.t_ready_s).filter(|t| before.is_none_or(|end| *t >= end));
        if ready.is_none() {
            notes
                .add("turns whose client does not say when it was ready: taken as when it sent", 0);
        }
        let end = at(request.t_end_s);
        let status = match request.ended {
            Ended::Served => TurnStatus::Ok,
            Ended::Failed(words) => TurnStatus::Error(observed.names.error_words(words).into()),
            Ended::Cancelled if end.is_none() => TurnStatus::UnfinishedAtHorizon,
            Ended::Cancelled => TurnStatus::Error("cancelled".into()),
        };
        before = end.or(before);
        turns.push(Turn {
            session,
            number,
            t_ready_s: ready.unwrap_or(submit).min(submit),
            t_submit_s: submit,
            t_first_s: at(request.t_first_s),
            t_end_s: end,
            prompt_tokens: request.prompt_tokens.unwrap_or(0),
            cached_tokens: request.cached_tokens,
            completion_tokens: request.output_tokens,
            tool_s: None,
            status,
        });
    }
    turns
}

/// Nobody says when a session ends.
fn session_of(stream: &Stream<'_>, turns: &[Turn], duration_s: f64, notes: &mut Losses) -> Session {
    let turns: Vec<&Turn> = turns.iter().collect();
    let session = Session::of_turns(&stream.id, Kind::Base, &turns, None, duration_s);
    if session.status == SessionStatus::Completed {
        notes.add("sessions taken as ended with their last turn: nobody says so", 0);
    }
    session
}
