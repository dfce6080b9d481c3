//! `turns`: one row per turn (request) that was sent.

use super::columns::{Columns, Counts, Field, Numbers, Presence, Texts, Type};
use super::problem::Problem;
use super::sessions::{Registry, out_of_order, unknown_kind};
use super::{Kind, SessionIndex};
use crate::escape::shortened;

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
    Error(Words),
}

/// What a client said. Behind one thin pointer: few turns have any, and each has room for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Words(Box<Box<str>>);

impl<T: Into<Box<str>>> From<T> for Words {
    fn from(words: T) -> Self {
        Self(Box::new(words.into()))
    }
}

impl std::ops::Deref for Words {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

/// The places of turns in a list of them, session by session.
#[derive(Debug)]
pub struct BySession {
    places: Vec<usize>,
    /// Where each session's places end.
    ends: Vec<usize>,
}

impl BySession {
    /// Of each session, the places of its turns in order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = &[usize]> {
        let starts = [0].into_iter().chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| &self.places[start..*end])
    }
}

/// The places of each session's turns in a list of turns, in order of their numbers.
pub fn by_session(turns: &[Turn], sessions: usize) -> BySession {
    // How many turns each session has, then where its places begin: they move up to their end.
    let mut ends = vec![0; sessions];
    turns.iter().for_each(|turn| ends[turn.session.at()] += 1);
    let mut start = 0;
    for end in &mut ends {
        start += std::mem::replace(end, start);
    }
    let mut places = vec![0; turns.len()];
    let mut latest = vec![0; sessions];
    let mut in_order = true;
    for (place, turn) in turns.iter().enumerate() {
        let end = &mut ends[turn.session.at()];
        places[*end] = place;
        *end += 1;
        in_order &= std::mem::replace(&mut latest[turn.session.at()], turn.number) <= turn.number;
    }
    // Turns are mostly listed in the order in which each session had them.
    let mut start = 0;
    for end in ends.iter().filter(|_| !in_order) {
        places[start..*end].sort_by_key(|place| turns[*place].number);
        start = *end;
    }
    BySession { places, ends }
}

/// The word of [`TurnStatus::Ok`] in the files.
const OK: &str = "ok";
/// The word of [`TurnStatus::UnfinishedAtHorizon`] in the files.
const UNFINISHED: &str = "unfinished_at_horizon";

impl Turn {
    /// The completion time and prompt of a turn that was served, else `None`.
    #[inline]
    pub(crate) fn served_at_s(&self) -> Option<f64> {
        if self.status == TurnStatus::Ok { self.t_end_s } else { None }
    }

    /// Whether it is a follow-up (any turn but the first).
    #[inline]
    pub(crate) const fn is_follow_up(&self) -> bool {
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
    let columns = TurnColumns::of(table);
    let mut rows = Vec::with_capacity(table.len());
    for row in 0..table.len() {
        table.bound(&mut problems);
        let (word, id) = (columns.kind.get(row), columns.session.get(row));
        let Some(kind) = Kind::from_word(word) else {
            problems.push(unknown_kind(table, row, word));
            continue;
        };
        let Some(session) = registry.find(kind, id) else {
            let id = shortened(id, 40);
            let message = format!("session {id} ({word}) is not in the sessions table");
            problems.push(table.problem(row, "session", message));
            continue;
        };
        rows.push((row as u32, session));
    }
    // Rows are moved, not turns, which are many times as large.
    columns.sort(&mut rows);
    let turns: Vec<Turn> = rows.iter().map(|(row, session)| columns.turn(*row, *session)).collect();
    for (turn, (row, _)) in turns.iter().zip(&rows) {
        table.bound(&mut problems);
        impossible(table, *row as usize, turn, &mut problems);
    }
    numbering(table, &turns, &rows, &mut problems);
    if problems.is_empty() {
        return Ok(turns);
    }
    problems.sort();
    Err(problems)
}

/// A session's turns are there once each, and none of them lacks the one before it.
fn numbering(table: &Columns, turns: &[Turn], rows: &[Row], problems: &mut Vec<Problem>) {
    let sessions = turns.iter().map(|turn| turn.session.at() + 1).max().unwrap_or(0);
    // As they were sent, so they are numbered, in nearly every table.
    let mut sent = vec![0; sessions];
    let is_next = |turn: &Turn| {
        sent[turn.session.at()] += 1;
        turn.number == sent[turn.session.at()]
    };
    if turns.iter().all(is_next) {
        return;
    }
    let mut own: Vec<(u64, usize)> = Vec::new();
    for places in by_session(turns, sessions).iter() {
        own.clear();
        own.extend(places.iter().map(|place| (turns[*place].number, rows[*place].0 as usize)));
        // Of turns with one number the first is the one that comes first in the file.
        own.sort_unstable();
        // The turn before, and whether it follows on another.
        let mut before: Option<(u64, usize)> = None;
        let mut follows = true;
        for (number, row) in own.iter().copied() {
            table.bound(problems);
            let again = before.filter(|(n, _)| *n == number);
            if let Some((_, first)) = again {
                let first = table.lines[first];
                let message = format!("turn {number} of this session is already on line {first}");
                problems.push(table.problem(row, "turn", message));
            } else {
                follows = number <= 1 || before.is_some_and(|(n, _)| n + 1 == number);
            }
            if !follows {
                let message = format!("there is no turn {} of this session", number - 1);
                problems.push(table.problem(row, "turn", message));
            }
            before = Some((number, row));
        }
    }
}

/// A row of the table, and its session.
type Row = (u32, SessionIndex);

/// The columns of a turns table, each looked up once.
struct TurnColumns<'a> {
    session: &'a Texts,
    kind: &'a Texts,
    number: &'a Counts,
    t_ready: &'a Numbers,
    t_submit: &'a Numbers,
    t_first: &'a Numbers,
    t_end: &'a Numbers,
    prompt_tokens: &'a Counts,
    cached_tokens: &'a Counts,
    completion_tokens: &'a Counts,
    tool_s: &'a Numbers,
    status: &'a Texts,
}

impl<'a> TurnColumns<'a> {
    fn of(table: &'a Columns) -> Self {
        Self {
            session: table.text("session"),
            kind: table.text("kind"),
            number: table.count("turn"),
            t_ready: table.number("t_ready"),
            t_submit: table.number("t_submit"),
            t_first: table.number("t_first"),
            t_end: table.number("t_end"),
            prompt_tokens: table.count("prompt_tokens"),
            cached_tokens: table.count("cached_tokens"),
            completion_tokens: table.count("completion_tokens"),
            tool_s: table.number("tool_s"),
            status: table.text("status"),
        }
    }

    /// In order of sending; at one time by session and number.
    fn sort(&self, rows: &mut [Row]) {
        let times = |(row, _): &Row| {
            [self.t_submit, self.t_ready]
                .map(|column| column.get(*row as usize).unwrap_or_default())
        };
        let turn = |(row, session): &Row| (*session, self.number.get(*row as usize));
        rows.sort_by(|a, b| {
            let ([submit_a, ready_a], [submit_b, ready_b]) = (times(a), times(b));
            let times = submit_a.total_cmp(&submit_b).then(ready_a.total_cmp(&ready_b));
            times.then_with(|| turn(a).cmp(&turn(b)))
        });
    }

    #[inline]
    fn turn(&self, row: u32, session: SessionIndex) -> Turn {
        let row = row as usize;
        Turn {
            session,
            // Needed values are there: the reader has refused rows without them.
            number: self.number.get(row).unwrap_or_default(),
            t_ready_s: self.t_ready.get(row).unwrap_or_default(),
            t_submit_s: self.t_submit.get(row).unwrap_or_default(),
            t_first_s: self.t_first.get(row),
            t_end_s: self.t_end.get(row),
            prompt_tokens: self.prompt_tokens.get(row).unwrap_or_default(),
            cached_tokens: self.cached_tokens.get(row),
            completion_tokens: self.completion_tokens.get(row),
            tool_s: self.tool_s.get(row),
            status: match self.status.get(row) {
                OK => TurnStatus::Ok,
                UNFINISHED => TurnStatus::UnfinishedAtHorizon,
                error => TurnStatus::Error(error.into()),
            },
        }
    }
}

/// What cannot be in one row, whatever the other rows say.
fn impossible(table: &Columns, row: usize, turn: &Turn, problems: &mut Vec<Problem>) {
    let mut say =
        |column: &str, message: String| problems.push(table.problem(row, column, message));
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
    for (column, message) in out_of_order(&times) {
        say(column, message);
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
}
