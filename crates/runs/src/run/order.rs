//! The order of a run's rows in memory, whatever order they came in: what is read back from a
//! directory is in it.

use std::cmp::Ordering;

use super::{Run, Session, SessionIndex, Turn};

/// Turns in order of sending; at one time by session and number.
pub fn of_turns(a: &Turn, b: &Turn) -> Ordering {
    let times = a.t_submit_s.total_cmp(&b.t_submit_s).then(a.t_ready_s.total_cmp(&b.t_ready_s));
    times.then((a.session, a.number).cmp(&(b.session, b.number)))
}

/// Sessions in order of arrival; at one time by kind and identifier.
fn of_sessions(a: &Session, b: &Session) -> Ordering {
    let arrival = |s: &Session| s.t_planned_s.or(s.t_admitted_s).unwrap_or(f64::INFINITY);
    let name = |s: &Session| (s.kind.word(), s.id.to_string());
    arrival(a).total_cmp(&arrival(b)).then_with(|| name(a).cmp(&name(b)))
}

impl Run {
    /// The same run as it is read back once it was written.
    #[must_use]
    pub fn as_read_back(mut self) -> Self {
        let mut places: Vec<usize> = (0..self.sessions.len()).collect();
        places.sort_by(|a, b| of_sessions(&self.sessions[*a], &self.sessions[*b]));
        let mut new = vec![SessionIndex(0); places.len()];
        for (place, old) in (0..).zip(&places) {
            new[*old] = SessionIndex(place);
        }
        self.sessions = places.iter().map(|old| self.sessions[*old].clone()).collect();
        for turn in &mut self.turns {
            turn.session = new[turn.session.at()];
        }
        for event in &mut self.gate {
            event.session = event.session.map(|session| new[session.at()]);
        }
        self.turns.sort_by(of_turns);
        self.gate.sort_by(|a, b| a.t_s.total_cmp(&b.t_s));
        self
    }
}
