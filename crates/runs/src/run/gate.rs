//! `gate`: events of the client's gate.

use super::columns::{Columns, Field, Presence, Type};
use super::problem::Problem;
use super::sessions::{Registry, unknown_kind};
use super::{Kind, SessionIndex};
use crate::escape::shortened;

/// One event of the gate, with the populations just after it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GateEvent {
    /// When, s.
    pub t_s: f64,
    /// What happened.
    pub event: GateEventKind,
    /// To which session; none for engage and release.
    pub session: Option<SessionIndex>,
    /// Sessions admitted.
    pub admitted: u64,
    /// Sessions waiting to be admitted for the first time.
    pub gated: u64,
    /// Sessions paused.
    pub paused: u64,
}

/// What a gate does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GateEventKind {
    /// The cap begins to bind.
    Engage,
    /// A new session is let in.
    Admit,
    /// A new session is held.
    Queue,
    /// A session gives up its slot between turns.
    Pause,
    /// A paused session continues.
    Resume,
    /// The cap is removed.
    Release,
}

impl GateEventKind {
    pub(super) const ALL: [Self; 6] =
        [Self::Engage, Self::Admit, Self::Queue, Self::Pause, Self::Resume, Self::Release];

    /// The word used in the files.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Engage => "engage",
            Self::Admit => "admit",
            Self::Queue => "queue",
            Self::Pause => "pause",
            Self::Resume => "resume",
            Self::Release => "release",
        }
    }
}

/// The table's columns.
pub const SCHEMA: &[Field] = &[
    Field { name: "t", ty: Type::Number, presence: Presence::Needed },
    Field { name: "event", ty: Type::Text, presence: Presence::Needed },
    Field { name: "kind", ty: Type::Text, presence: Presence::MayBeEmpty },
    Field { name: "session", ty: Type::Text, presence: Presence::MayBeEmpty },
    Field { name: "admitted", ty: Type::Count, presence: Presence::Needed },
    Field { name: "gated", ty: Type::Count, presence: Presence::Needed },
    Field { name: "paused", ty: Type::Count, presence: Presence::Needed },
];

/// Events in order of time. At one time the order of the file's rows is kept: only
/// it knows which came first.
pub fn parse(table: &Columns, registry: &Registry) -> Result<Vec<GateEvent>, Vec<Problem>> {
    let mut problems = Vec::new();
    let mut events = Vec::with_capacity(table.len());
    for row in 0..table.len() {
        let word = table.text("event").get(row);
        let Some(event) = GateEventKind::ALL.into_iter().find(|e| e.word() == word) else {
            let words = GateEventKind::ALL.map(GateEventKind::word).join(", ");
            let word = shortened(word, 40);
            let message = format!("expected one of {words}, found \u{201c}{word}\u{201d}");
            problems.push(table.problem(row, "event", message));
            continue;
        };
        let session = session(table, row, event, registry).unwrap_or_else(|problem| {
            problems.push(problem);
            None
        });
        events.push(GateEvent {
            t_s: table.number("t").get(row).unwrap_or_default(),
            event,
            session,
            admitted: table.count("admitted").get(row).unwrap_or_default(),
            gated: table.count("gated").get(row).unwrap_or_default(),
            paused: table.count("paused").get(row).unwrap_or_default(),
        });
    }
    events.sort_by(|a, b| a.t_s.total_cmp(&b.t_s));
    if problems.is_empty() { Ok(events) } else { Err(problems) }
}

/// The session of an event: none for engage and release, one of the run's for the others.
fn session(
    table: &Columns,
    row: usize,
    event: GateEventKind,
    registry: &Registry,
) -> Result<Option<SessionIndex>, Problem> {
    let (word, id) = (table.text("kind").get(row), table.text("session").get(row));
    let of_the_gate = matches!(event, GateEventKind::Engage | GateEventKind::Release);
    match (of_the_gate, id.is_empty()) {
        (true, true) => return Ok(None),
        (true, false) => {
            let message = format!("expected no session for {}", event.word());
            return Err(table.problem(row, "session", message));
        }
        (false, true) => {
            let message = format!("expected a session: which one does {} concern?", event.word());
            return Err(table.problem(row, "session", message));
        }
        (false, false) => {}
    }
    let kind = Kind::from_word(word).ok_or_else(|| unknown_kind(table, row, word))?;
    registry.find(kind, id).map(Some).ok_or_else(|| {
        let message =
            format!("session {} ({word}) is not in the sessions table", shortened(id, 40));
        table.problem(row, "session", message)
    })
}
