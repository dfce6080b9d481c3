//! `turns`: one row per turn (request) that was sent.

use std::collections::HashMap;

use super::columns::{Columns, Field, Presence, Type, shortened};
use super::problem::Problem;
use super::sessions::Registry;
use super::{Kind, SessionIndex};

/// One turn. Times are seconds on the run's clock.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    /// The session it belongs to.
    pub session: SessionIndex,
    /// 1-based number within the session.
    pub number: u64,
    /// The tool call ended, or the session arrived: the client would send.
    pub t_ready_s: f64,
    /// Sent to the engine; later than ready when the gate held the session.
    pub t_submit_s: f64,
    /// First token, where known.
    pub t_first_s: Option<f64>,
    /// Last token; empty for a turn still in flight at the end.
    pub t_end_s: Option<f64>,
    /// Prompt length, tokens.
    pub prompt_tokens: u64,
    /// Prompt tokens found in the cache; `None` where the engine did not say.
    pub cached_tokens: Option<u64>,
    /// Decoded tokens.
    pub completion_tokens: Option<u64>,
    /// The tool time that follows this turn, as the client slept it, s.
    pub tool_s: Option<f64>,
    /// How it ended.
    pub status: TurnStatus,
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TurnStatus {
    /// Served to its last token.
    Ok,
    /// Still in flight when the run ended: no error.
    UnfinishedAtHorizon,
    /// The request failed; the client's words.
    Error(Box<str>),
}

/// The word of [`TurnStatus::Ok`] in the files.
const OK: &str = "ok";
/// The word of [`TurnStatus::UnfinishedAtHorizon`] in the files.
const UNFINISHED: &str = "unfinished_at_horizon";

impl Turn {
    /// The completion time and prompt of a turn that was served, else `None`.
    pub fn served_at_s(&self) -> Option<f64> {
        if self.status == TurnStatus::Ok { self.t_end_s } else { None }
    }

    /// Whether it is a follow-up (any turn but the first).
    pub const fn is_follow_up(&self) -> bool {
        self.number > 1
    }
}

/// The table's columns.
pub const SCHEMA: &[Field] = &[
    Field { name: "session", ty: Type::Text, presence: Presence::Needed },
    Field { name: "kind", ty: Type::Text, presence: Presence::Needed },
    Field { name: "turn", ty: Type::Count, presence: Presence::Needed },
    Field { name: "t_ready", ty: Type::Number, presence: Presence::Needed },
    Field { name: "t_submit", ty: Type::Number, presence: Presence::Needed },
    Field { name: "t_first", ty: Type::Number, presence: Presence::MayBeEmpty },
    Field { name: "t_end", ty: Type::Number, presence: Presence::MayBeEmpty },
    Field { name: "prompt_tokens", ty: Type::Count, presence: Presence::Needed },
    Field { name: "cached_tokens", ty: Type::Count, presence: Presence::MayBeEmpty },
    Field { name: "completion_tokens", ty: Type::Count, presence: Presence::MayBeEmpty },
    Field { name: "tool_s", ty: Type::Number, presence: Presence::MayBeEmpty },
    Field { name: "status", ty: Type::Word(&[OK, UNFINISHED]), presence: Presence::Needed },
];

/// Turns in order of sending, with every row checked on its own and against the others.
pub fn parse(table: &Columns, registry: &Registry) -> Result<Vec<Turn>, Vec<Problem>> {
    let mut problems = Vec::new();
    let mut turns = Vec::with_capacity(table.len());
    let mut seen: HashMap<(SessionIndex, u64), u64> = HashMap::with_capacity(table.len());
    let (sessions, kinds) = (table.text("session"), table.text("kind"));
    for row in 0..table.len() {
        if table.too_many(&mut problems) {
            return Err(problems);
        }
        let Some(kind) = Kind::from_word(kinds.get(row)) else {
            problems.push(unknown_kind(table, row, kinds.get(row)));
            continue;
        };
        let Some(session) = registry.find(kind, sessions.get(row)) else {
            let message = format!(
                "session {} ({}) is not in the sessions table",
                shortened(sessions.get(row), 40),
                kind.word()
            );
            problems.push(table.problem(row, "session", message));
            continue;
        };
        let turn = turn_of_row(table, row, session);
        problems.extend(impossible(table, row, &turn));
        let line = table.lines[row];
        if let Some(first) = seen.insert((session, turn.number), line) {
            let message =
                format!("turn {} of this session is already on line {first}", turn.number);
            problems.push(table.problem(row, "turn", message));
        }
        turns.push((turn, row));
    }
    for (turn, row) in turns.iter().filter(|(t, _)| t.number > 1) {
        if table.too_many(&mut problems) {
            return Err(problems);
        }
        if !seen.contains_key(&(turn.session, turn.number - 1)) {
            let message = format!("there is no turn {} of this session", turn.number - 1);
            problems.push(table.problem(*row, "turn", message));
        }
    }
    if !problems.is_empty() {
        problems.sort();
        return Err(problems);
    }
    let mut turns: Vec<Turn> = turns.into_iter().map(|(turn, _)| turn).collect();
    turns.sort_by(|a, b| {
        let times = a.t_submit_s.total_cmp(&b.t_submit_s).then(a.t_ready_s.total_cmp(&b.t_ready_s));
        times.then((a.session, a.number).cmp(&(b.session, b.number)))
    });
    Ok(turns)
}

/// A word that is neither base nor burst.
pub fn unknown_kind(table: &Columns, row: usize, word: &str) -> Problem {
    let word = shortened(word, 40);
    table.problem(row, "kind", format!("expected base or burst, found \u{201c}{word}\u{201d}"))
}

fn turn_of_row(table: &Columns, row: usize, session: SessionIndex) -> Turn {
    // Needed values are there: the reader has refused rows without them.
    let needed = |name| table.number(name)[row].unwrap_or_default();
    Turn {
        session,
        number: table.count("turn")[row].unwrap_or_default(),
        t_ready_s: needed("t_ready"),
        t_submit_s: needed("t_submit"),
        t_first_s: table.number("t_first")[row],
        t_end_s: table.number("t_end")[row],
        prompt_tokens: table.count("prompt_tokens")[row].unwrap_or_default(),
        cached_tokens: table.count("cached_tokens")[row],
        completion_tokens: table.count("completion_tokens")[row],
        tool_s: table.number("tool_s")[row],
        status: match table.text("status").get(row) {
            OK => TurnStatus::Ok,
            UNFINISHED => TurnStatus::UnfinishedAtHorizon,
            error => TurnStatus::Error(error.into()),
        },
    }
}

/// What cannot be in one row, whatever the other rows say.
fn impossible(table: &Columns, row: usize, turn: &Turn) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut say = |column, message: String| problems.push(table.problem(row, column, message));
    if turn.number == 0 {
        say("turn", "turns are numbered from 1".into());
    }
    if turn.prompt_tokens == 0 {
        say("prompt_tokens", "expected at least 1 token".into());
    }
    if let Some(cached) = turn.cached_tokens.filter(|c| *c > turn.prompt_tokens) {
        say(
            "cached_tokens",
            format!("{cached} cached tokens of a prompt of {}", turn.prompt_tokens),
        );
    }
    if let Some(tool) = turn.tool_s.filter(|t| *t < 0.0) {
        say("tool_s", format!("a tool call of {tool} s"));
    }
    let times = [
        ("t_ready", Some(turn.t_ready_s)),
        ("t_submit", Some(turn.t_submit_s)),
        ("t_first", turn.t_first_s),
        ("t_end", turn.t_end_s),
    ];
    let known: Vec<_> = times.iter().filter_map(|(name, t)| t.map(|t| (*name, t))).collect();
    for pair in known.windows(2) {
        let ((before, t0), (after, t1)) = (pair[0], pair[1]);
        if t1 < t0 {
            say(after, format!("{t1} lies before {before} {t0}"));
        }
    }
    match turn.status {
        TurnStatus::Ok if turn.t_end_s.is_none() => {
            say("t_end", "a served turn needs its end".into())
        }
        TurnStatus::UnfinishedAtHorizon if turn.t_end_s.is_some() => {
            say("t_end", "an unfinished turn has no end".into());
        }
        _ => {}
    }
    problems
}
