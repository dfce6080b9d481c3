//! `sessions`: one row per session that arrived.

use std::collections::HashMap;

use super::columns::{Columns, Counts, Field, Numbers, Presence, Texts, Type};
use super::problem::Problem;
use super::{Kind, PlannedSession, SessionIndex};
use crate::escape::shortened;

/// One session. Times are seconds on the run's clock.
#[derive(Debug, Clone, PartialEq)]
pub struct Session {
    /// Its identifier within its kind.
    pub id: Box<str>,
    /// Base stream, burst, or a subagent.
    pub kind: Kind,
    /// When it arrived by the plan; empty where the plan has no arrival time.
    pub t_planned_s: Option<f64>,
    /// When the gate let it in (its arrival where there is no gate); empty if it never did.
    pub t_admitted_s: Option<f64>,
    /// When it ended; empty if it did not.
    pub t_end_s: Option<f64>,
    /// T, its number of turns.
    pub turns_planned: u64,
    /// Turns that were served.
    pub turns_done: u64,
    /// Time at the gate before admission, s.
    pub gate_wait_s: f64,
    /// How often the gate paused it.
    pub pauses: u64,
    /// Time it was paused, s.
    pub pause_s: f64,
    /// Its state at the end of the run.
    pub status: SessionStatus,
}

/// A session's state at the end of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionStatus {
    /// Ended its last turn.
    Completed,
    /// In a turn or a tool call.
    Running,
    /// At the gate, never admitted.
    Gated,
    /// Paused by the gate.
    Paused,
    /// Turned away on arrival.
    Refused,
    /// Ended by a request error.
    Failed,
}

impl SessionStatus {
    pub(super) const ALL: [Self; 6] =
        [Self::Completed, Self::Running, Self::Gated, Self::Paused, Self::Refused, Self::Failed];

    const WORDS: [&str; 6] = {
        let [a, b, c, d, e, f] = Self::ALL;
        [a.word(), b.word(), c.word(), d.word(), e.word(), f.word()]
    };

    /// The word used in the files.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Running => "running",
            Self::Gated => "gated",
            Self::Paused => "paused",
            Self::Refused => "refused",
            Self::Failed => "failed",
        }
    }

    fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.word() == word)
    }
}

impl Session {
    /// When the session arrived: by the plan, or when it was let in where the
    /// plan has no time for it (closed runs).
    pub fn t_arrival_s(&self) -> Option<f64> {
        self.t_planned_s.or(self.t_admitted_s)
    }

    /// Whether it was ever in the system (a refused session was not). A subagent is there as a
    /// part of the session that started it.
    pub(crate) fn was_in_system(&self) -> bool {
        self.status != SessionStatus::Refused && self.kind != Kind::Subagent
    }
}

/// The table's columns.
pub const SCHEMA: &[Field] = &[
    Field { name: "session", ty: Type::Text, presence: Presence::Needed },
    Field { name: "kind", ty: Type::Text, presence: Presence::Needed },
    Field { name: "t_planned", ty: Type::Number, presence: Presence::MayBeEmpty },
    Field { name: "t_admitted", ty: Type::Number, presence: Presence::MayBeEmpty },
    Field { name: "t_end", ty: Type::Number, presence: Presence::MayBeEmpty },
    Field { name: "turns_planned", ty: Type::Count, presence: Presence::Needed },
    Field { name: "turns_done", ty: Type::Count, presence: Presence::Needed },
    Field { name: "gate_wait_s", ty: Type::Number, presence: Presence::MayBeEmpty },
    Field { name: "pauses", ty: Type::Count, presence: Presence::MayBeEmpty },
    Field { name: "pause_s", ty: Type::Number, presence: Presence::MayBeEmpty },
    Field { name: "status", ty: Type::Word(&SessionStatus::WORDS), presence: Presence::Needed },
];

/// Finds a session by kind and identifier.
pub struct Registry {
    /// Per kind, by their numbers: most clients count their sessions.
    numbered: [Vec<Option<SessionIndex>>; 3],
    /// Per kind, the others.
    named: [HashMap<Box<str>, SessionIndex>; 3],
}

impl Registry {
    /// For so many sessions.
    pub fn new(sessions: usize) -> Self {
        // The numbers of some may be far apart: those are found as names.
        let numbered = Kind::ALL.map(|_| vec![None; 2 * sessions]);
        Self { numbered, named: Default::default() }
    }

    /// The session of this name.
    #[inline]
    pub fn find(&self, kind: Kind, id: &str) -> Option<SessionIndex> {
        let kind = kind as usize;
        match number(id).and_then(|n| self.numbered[kind].get(n)) {
            Some(there) => *there,
            None => self.named[kind].get(id).copied(),
        }
    }

    /// Of planned sessions, in their order.
    pub fn of_plan(plan: &[PlannedSession]) -> Self {
        let mut registry = Self::new(plan.len());
        for (session, index) in plan.iter().zip(0..) {
            registry.insert(session.kind, &session.id, SessionIndex(index));
        }
        registry
    }

    /// Adds a session; says whether its name is new.
    pub fn insert(&mut self, kind: Kind, id: &str, index: SessionIndex) -> bool {
        let kind = kind as usize;
        let before = match number(id).and_then(|n| self.numbered[kind].get_mut(n)) {
            Some(there) => there.replace(index),
            None => self.named[kind].insert(id.into(), index),
        };
        before.is_none()
    }
}

/// The number that an identifier is, where no other is the same number: 7, not 07.
#[inline]
fn number(id: &str) -> Option<usize> {
    match id.as_bytes() {
        [b'+', ..] | [b'0', _, ..] => None,
        _ => id.parse().ok(),
    }
}

/// Sessions in order of arrival, and the way to find them.
pub fn parse(table: &Columns) -> Result<(Vec<Session>, Registry), Vec<Problem>> {
    let mut problems = Vec::new();
    let columns = SessionColumns::of(table);
    let mut sessions = Vec::with_capacity(table.len());
    let mut registry = Registry::new(table.len());
    for row in columns.by_arrival(table.len()) {
        table.bound(&mut problems);
        let (kind, status) = (columns.kind.get(row), columns.status.get(row));
        let Some(kind) = Kind::from_word(kind) else {
            problems.push(unknown_kind(table, row, kind));
            continue;
        };
        let Some(status) = SessionStatus::from_word(status) else {
            let words = SessionStatus::WORDS.join(", ");
            let status = shortened(status, 40);
            let message = format!("expected one of {words}, found \u{201c}{status}\u{201d}");
            problems.push(table.problem(row, "status", message));
            continue;
        };
        let session = columns.session(row, kind, status);
        problems.extend(impossible(table, row, &session));
        let index = SessionIndex(sessions.len() as u32);
        if !registry.insert(kind, &session.id, index) {
            let id = shortened(&session.id, 40);
            let message = format!("session {id} ({}) is there twice", kind.word());
            problems.push(table.problem(row, "session", message));
        }
        sessions.push(session);
    }
    problems.sort();
    if problems.is_empty() { Ok((sessions, registry)) } else { Err(problems) }
}

/// The columns of a sessions table, each looked up once.
struct SessionColumns<'a> {
    id: &'a Texts,
    kind: &'a Texts,
    t_planned: &'a Numbers,
    t_admitted: &'a Numbers,
    t_end: &'a Numbers,
    turns_planned: &'a Counts,
    turns_done: &'a Counts,
    gate_wait: &'a Numbers,
    pauses: &'a Counts,
    pause: &'a Numbers,
    status: &'a Texts,
}

impl<'a> SessionColumns<'a> {
    fn of(table: &'a Columns) -> Self {
        Self {
            id: table.text("session"),
            kind: table.text("kind"),
            t_planned: table.number("t_planned"),
            t_admitted: table.number("t_admitted"),
            t_end: table.number("t_end"),
            turns_planned: table.count("turns_planned"),
            turns_done: table.count("turns_done"),
            gate_wait: table.number("gate_wait_s"),
            pauses: table.count("pauses"),
            pause: table.number("pause_s"),
            status: table.text("status"),
        }
    }

    /// Rows in order of arrival; at one time by kind and identifier, so that the order
    /// of rows in the file says nothing.
    fn by_arrival(&self, rows: usize) -> Vec<usize> {
        let known = |row: usize| self.t_planned.get(row).or(self.t_admitted.get(row));
        let arrival = |row: &usize| known(*row).unwrap_or(f64::INFINITY);
        let name = |row: &usize| (self.kind.get(*row), self.id.get(*row));
        let mut rows: Vec<usize> = (0..rows).collect();
        rows.sort_by(|a, b| arrival(a).total_cmp(&arrival(b)).then_with(|| name(a).cmp(&name(b))));
        rows
    }

    fn session(&self, row: usize, kind: Kind, status: SessionStatus) -> Session {
        Session {
            id: self.id.get(row).into(),
            kind,
            t_planned_s: self.t_planned.get(row),
            t_admitted_s: self.t_admitted.get(row),
            t_end_s: self.t_end.get(row),
            turns_planned: self.turns_planned.get(row).unwrap_or_default(),
            turns_done: self.turns_done.get(row).unwrap_or_default(),
            gate_wait_s: self.gate_wait.get(row).unwrap_or_default(),
            pauses: self.pauses.get(row).unwrap_or_default(),
            pause_s: self.pause.get(row).unwrap_or_default(),
            status,
        }
    }
}

/// Times that lie before the last known one in front of them: which, and why.
pub(crate) fn out_of_order<'a>(
    times: &'a [(&'a str, Option<f64>)],
) -> impl Iterator<Item = (&'a str, String)> {
    let known = times.iter().filter_map(|(name, t)| t.map(|t| (*name, t)));
    known
        .clone()
        .zip(known.skip(1))
        .filter(|((_, t0), (_, t1))| t1 < t0)
        .map(|((before, t0), (after, t1))| (after, format!("{t1} lies before {before} {t0}")))
}

fn impossible(table: &Columns, row: usize, session: &Session) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut say =
        |column: &str, message: String| problems.push(table.problem(row, column, message));
    if session.t_arrival_s().is_none() && session.was_in_system() {
        say("t_planned", "expected t_planned or t_admitted: when did it arrive?".into());
    }
    let times = [
        ("t_planned", session.t_planned_s),
        ("t_admitted", session.t_admitted_s),
        ("t_end", session.t_end_s),
    ];
    for (name, wait) in [("gate_wait_s", session.gate_wait_s), ("pause_s", session.pause_s)] {
        if wait < 0.0 {
            say(name, format!("a wait of {wait} s"));
        }
    }
    for (column, message) in out_of_order(&times) {
        say(column, message);
    }
    if session.turns_planned == 0 {
        say("turns_planned", "expected at least 1 turn".into());
    }
    if session.turns_done > session.turns_planned {
        let (done, planned) = (session.turns_done, session.turns_planned);
        say("turns_done", format!("{done} turns done of {planned} planned"));
    }
    let ended = matches!(session.status, SessionStatus::Completed | SessionStatus::Failed);
    if ended && session.t_end_s.is_none() {
        say("t_end", format!("a {} session needs its end", session.status.word()));
    }
    if !ended && session.t_end_s.is_some() {
        say("t_end", format!("a {} session has not ended", session.status.word()));
    }
    problems
}

/// A word that is neither base nor burst.
pub(crate) fn unknown_kind(table: &Columns, row: usize, word: &str) -> Problem {
    let word = shortened(word, 40);
    let message = format!("expected subagent, base or burst, found \u{201c}{word}\u{201d}");
    table.problem(row, "kind", message)
}
