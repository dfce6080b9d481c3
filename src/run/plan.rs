//! `plan`: the arrival plan of a run, fixed before it.

use super::Kind;
use super::columns::{Columns, Field, Presence, Type};
use super::problem::Problem;
use super::turns::unknown_kind;

/// One planned session.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedSession {
    /// Its identifier within its kind.
    pub id: Box<str>,
    /// Base stream or burst.
    pub kind: Kind,
    /// When it arrives, s; `None` in closed runs, where it starts when another ends.
    pub t_arrival_s: Option<f64>,
    /// T, its number of turns.
    pub turns: u64,
    /// The T - 1 tool times, s.
    pub tool_s: Vec<f64>,
}

pub const SCHEMA: &[Field] = &[
    Field { name: "session", ty: Type::Text, presence: Presence::Needed },
    Field { name: "kind", ty: Type::Text, presence: Presence::Needed },
    Field { name: "t_arrival", ty: Type::Number, presence: Presence::MayBeEmpty },
    Field { name: "turns", ty: Type::Count, presence: Presence::Needed },
    Field { name: "tool_s", ty: Type::Text, presence: Presence::MayBeEmpty },
];

/// Planned sessions in file order.
pub fn parse(table: &Columns) -> Result<Vec<PlannedSession>, Vec<Problem>> {
    let mut problems = Vec::new();
    let mut plan = Vec::with_capacity(table.len());
    for row in 0..table.len() {
        let word = table.text("kind").get(row);
        let Some(kind) = Kind::from_word(word) else {
            problems.push(unknown_kind(table, row, word));
            continue;
        };
        let turns = table.count("turns")[row].unwrap_or_default();
        let tool_s = match tool_times(table.text("tool_s").get(row)) {
            Ok(times) => times,
            Err(found) => {
                let message =
                    format!("expected seconds separated by ;, found \u{201c}{found}\u{201d}");
                problems.push(table.problem(row, "tool_s", message));
                continue;
            }
        };
        if tool_s.len() as u64 + 1 != turns {
            let message = format!("{} tool times for {turns} turns", tool_s.len());
            problems.push(table.problem(row, "tool_s", message));
        }
        let id = table.text("session").get(row).into();
        let t_arrival_s = table.number("t_arrival")[row];
        plan.push(PlannedSession { id, kind, t_arrival_s, turns, tool_s });
    }
    if problems.is_empty() { Ok(plan) } else { Err(problems) }
}

fn tool_times(text: &str) -> Result<Vec<f64>, &str> {
    if text.is_empty() {
        return Ok(Vec::new());
    }
    text.split(';')
        .map(|time| match fast_float2::parse::<f64, _>(time) {
            Ok(seconds) if seconds.is_finite() && seconds >= 0.0 => Ok(seconds),
            _ => Err(time),
        })
        .collect()
}
