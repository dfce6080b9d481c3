//! `plan`: the arrival plan of a run, fixed before it.

use serde::{Deserialize, Serialize};

use super::columns::{Columns, Field, Presence, Type, number_at};
use super::problem::Problem;
use super::sessions::{Registry, unknown_kind};
use super::{Kind, SessionIndex};
use crate::escape::shortened;
use crate::limits::RUN_S;

/// One planned session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlannedSession {
    /// Its identifier within its kind.
    pub id: Box<str>,
    /// Base stream, burst, or a subagent.
    pub kind: Kind,
    /// When it arrives, s; `None` in closed runs, where it starts when another ends.
    pub t_arrival_s: Option<f64>,
    /// T, its number of turns.
    pub turns: u64,
    /// The T - 1 tool times, s.
    pub tool_s: Vec<f64>,
    /// The recorded session that it plays; `None` where its lengths follow a law.
    pub recorded: Option<Box<str>>,
    /// Of a subagent: what starts it, and what waits for it.
    pub follows: Option<Box<str>>,
}

/// The table's columns.
pub const SCHEMA: &[Field] = &[
    Field { name: "session", ty: Type::Text, presence: Presence::Needed },
    Field { name: "kind", ty: Type::Text, presence: Presence::Needed },
    Field { name: "t_arrival", ty: Type::Number, presence: Presence::MayBeEmpty },
    Field { name: "turns", ty: Type::Count, presence: Presence::Needed },
    Field { name: "tool_s", ty: Type::Text, presence: Presence::MayBeEmpty },
    Field { name: "recorded", ty: Type::Text, presence: Presence::OfSome },
    Field { name: "follows", ty: Type::Text, presence: Presence::OfSome },
];

/// Planned sessions in order of kind and arrival; in closed runs, where arrivals
/// have no time, in the order of the file.
pub fn parse(table: &Columns) -> Result<Vec<PlannedSession>, Vec<Problem>> {
    let mut problems = Vec::new();
    let mut plan: Vec<PlannedSession> = Vec::with_capacity(table.len());
    let mut seen = Registry::new(table.len());
    for row in 0..table.len() {
        table.bound(&mut problems);
        let word = table.text("kind").get(row);
        let Some(kind) = Kind::from_word(word) else {
            problems.push(unknown_kind(table, row, word));
            continue;
        };
        let turns = table.count("turns").get(row).unwrap_or_default();
        let tool_s = match tool_times(table.text("tool_s").get(row)) {
            Ok(times) => times,
            Err(found) => {
                let found = shortened(found, 40);
                let message = format!(
                    "expected seconds separated by ;, a year at most, found \u{201c}{found}\u{201d}"
                );
                problems.push(table.problem(row, "tool_s", message));
                continue;
            }
        };
        if tool_s.len() as u64 + 1 != turns {
            let message = format!("{} tool times for {turns} turns", tool_s.len());
            problems.push(table.problem(row, "tool_s", message));
        }
        let id: Box<str> = table.text("session").get(row).into();
        let t_arrival_s = table.number("t_arrival").get(row);
        if let Some(t) = t_arrival_s.filter(|t| *t < 0.0) {
            problems.push(table.problem(row, "t_arrival", format!("an arrival at {t} s")));
        }
        if !seen.insert(kind, &id, SessionIndex(row as u32)) {
            let message = format!("session {} ({word}) is planned twice", shortened(&id, 40));
            problems.push(table.problem(row, "session", message));
        }
        let [recorded, follows] = ["recorded", "follows"]
            .map(|column| Some(table.text(column).get(row)).filter(|text| !text.is_empty()))
            .map(|text| text.map(Box::from));
        plan.push(PlannedSession { id, kind, t_arrival_s, turns, tool_s, recorded, follows });
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let arrival = |p: &PlannedSession| p.t_arrival_s.unwrap_or_default();
    plan.sort_by(|a, b| {
        let times = arrival(a).total_cmp(&arrival(b));
        let tied = times.is_eq() && a.t_arrival_s.is_some();
        a.kind
            .cmp(&b.kind)
            .then(times)
            .then_with(|| if tied { a.id.cmp(&b.id) } else { std::cmp::Ordering::Equal })
    });
    Ok(plan)
}

fn tool_times(text: &str) -> Result<Vec<f64>, &str> {
    if text.is_empty() {
        return Ok(Vec::new());
    }
    let mut times = Vec::with_capacity(1 + memchr::memchr_iter(b';', text.as_bytes()).count());
    let mut from = 0;
    for to in memchr::memchr_iter(b';', text.as_bytes()).chain([text.len()]) {
        match number_at(text.as_bytes(), from..to) {
            Ok(seconds) if (0.0..=RUN_S).contains(&seconds) => times.push(seconds),
            _ => return Err(&text[from..to]),
        }
        from = to + 1;
    }
    Ok(times)
}
