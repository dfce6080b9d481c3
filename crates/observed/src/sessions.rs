//! Sessions out of requests: by their ids, or because one prompt grows out of the other.

use crate::form::{Ended, Observed, Request};

/// How sessions were found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// The source names them.
    Ids,
    /// Each prompt begins with the session's last one, by the hash ids of its blocks.
    HashIds,
    /// One request at a time, each prompt longer than the one before.
    GrowingPrompt,
    /// Not at all.
    Nothing,
}

impl By {
    /// Whether each request says whose it is.
    pub(crate) fn is_told(self) -> bool {
        matches!(self, Self::Ids | Self::HashIds)
    }
}

/// A session and its requests.
#[derive(Debug, Clone, PartialEq)]
pub struct Session {
    /// Its id.
    pub id: String,
    /// Its requests, places in the list of requests, in order of their turns.
    pub requests: Vec<usize>,
}

/// Finds the sessions, in order of their first requests.
pub fn sessions(observed: &Observed) -> (Vec<Session>, By) {
    let requests = &observed.requests;
    if requests.iter().any(|r| r.session.is_some()) {
        let by = if observed.sessions_by_hashes { By::HashIds } else { By::Ids };
        return (by_ids(observed), by);
    }
    if !observed.kept.is_all() {
        return (Vec::new(), By::Nothing);
    }
    match by_prompts(requests) {
        sessions if sessions.is_empty() => (sessions, By::Nothing),
        sessions => (sessions, By::GrowingPrompt),
    }
}

fn by_ids(observed: &Observed) -> Vec<Session> {
    let mut place = vec![None; observed.names.sessions()];
    let mut sessions: Vec<Session> = Vec::new();
    for (i, request) in observed.requests.iter().enumerate() {
        let Some(id) = request.session else { continue };
        let at = *place[id as usize].get_or_insert_with(|| {
            let id = observed.names.session_id(id).to_owned();
            sessions.push(Session { id, requests: Vec::new() });
            sessions.len() - 1
        });
        sessions[at].requests.push(i);
    }
    // By their numbers where each has one of its own, else as they were sent.
    for session in &mut sessions {
        let turn = |i: &usize| observed.requests[*i].turn;
        let mut numbers: Vec<_> = session.requests.iter().filter_map(turn).collect();
        numbers.sort_unstable();
        numbers.dedup();
        if numbers.len() == session.requests.len() {
            session.requests.sort_by_key(turn);
        }
    }
    sessions
}

/// Share of steps at which a single session's prompt grows: a context is compacted now and then,
/// not every fifth turn.
const GROWS: f64 = 0.8;

fn by_prompts(requests: &[Request]) -> Vec<Session> {
    let overlap = requests.windows(2).any(|pair| {
        pair[0].t_end_s.zip(pair[1].t_submit_s).is_some_and(|(end, submit)| submit < end)
    });
    let steps = requests.windows(2).filter(|pair| pair.iter().all(|r| r.prompt_tokens.is_some()));
    let steps: Vec<bool> =
        steps.map(|pair| pair[1].prompt_tokens > pair[0].prompt_tokens).collect();
    let growing = steps.iter().filter(|grows| **grows).count() as f64;
    if overlap || steps.len() < 2 || growing < GROWS * steps.len() as f64 {
        return Vec::new();
    }
    let mut sessions: Vec<Session> = Vec::new();
    let mut before = 0;
    for (i, request) in requests.iter().enumerate() {
        let Some(prompt) = request.prompt_tokens else { continue };
        match sessions.last_mut() {
            // A prompt that falls to less than half begins another conversation.
            Some(session) if 2 * prompt > before => session.requests.push(i),
            _ => {
                let id = (sessions.len() + 1).to_string();
                sessions.push(Session { id, requests: vec![i] });
            }
        }
        before = prompt;
    }
    sessions
}

/// Prompt tokens of each request that its session had put through the engine before; 0 of a
/// first turn, unknown where the turn before is not there.
pub fn reusable_tokens(observed: &Observed, sessions: &[Session]) -> Vec<Option<u64>> {
    let requests = &observed.requests;
    let mut reusable = vec![None; requests.len()];
    for session in sessions {
        let mut before: Option<&Request> = None;
        for place in &session.requests {
            let request = &requests[*place];
            let step =
                |b: &Request| request.turn.zip(b.turn).is_none_or(|(now, then)| now == then + 1);
            reusable[*place] = match before {
                None if request.turn.is_none_or(|turn| turn == 1) => Some(0),
                Some(b) if step(b) && b.ended == Ended::Served => {
                    request.prompt_tokens.zip(b.prompt_tokens).map(|(now, then)| now.min(then))
                }
                _ => None,
            };
            before = Some(request);
        }
    }
    reusable
}
