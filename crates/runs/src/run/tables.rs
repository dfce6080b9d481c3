//! A run's tables as they are written: columns by name, and their text form.

use super::{EngineSample, GateEvent, Kind, PlannedSession, Run, Session, Turn, TurnStatus};

/// A value of a table cell.
#[derive(Debug, Clone)]
pub enum Value<'a> {
    /// Text that lies elsewhere.
    Text(&'a str),
    /// Text of its own.
    Owned(String),
    /// A whole number; empty where unknown.
    Count(Option<u64>),
    /// Seconds, written to 0.1 ms.
    Seconds(Option<f64>),
    /// Planned seconds, written to the microsecond: the plan's hash is of these digits.
    Planned(Option<f64>),
}

/// One table: its columns by name.
#[derive(Debug, Clone)]
pub struct Table<'a> {
    /// The file's stem.
    pub name: &'static str,
    /// Columns of one length.
    pub columns: Vec<(&'static str, Vec<Value<'a>>)>,
}

impl Table<'_> {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |(_, values)| values.len())
    }

    /// Appends the csv line of the columns' names.
    pub fn push_header(&self, text: &mut Vec<u8>) {
        for (i, (name, _)) in self.columns.iter().enumerate() {
            push_text(text, i, name);
        }
        text.push(b'\n');
    }

    /// Appends the csv line of row `row`.
    pub fn push_row(&self, row: usize, text: &mut Vec<u8>) {
        for (i, (_, values)) in self.columns.iter().enumerate() {
            push_value(text, i, &values[row]);
        }
        text.push(b'\n');
    }
}

fn push_value(line: &mut Vec<u8>, i: usize, value: &Value<'_>) {
    match value {
        Value::Text(text) => push_text(line, i, text),
        Value::Owned(text) => push_text(line, i, text),
        Value::Count(None) | Value::Seconds(None) | Value::Planned(None) => push_text(line, i, ""),
        Value::Count(Some(count)) => {
            push_text(line, i, "");
            push_digits(line, *count, 1);
        }
        Value::Planned(Some(t)) => {
            push_text(line, i, "");
            push_time(line, *t, MICROSECONDS);
        }
        Value::Seconds(Some(t)) => {
            push_text(line, i, "");
            push_time(line, *t, TICKS);
        }
    }
}

/// The tables of a run, those that it has.
pub fn tables(run: &Run) -> Vec<Table<'_>> {
    let mut tables = vec![turns(&run.turns, &run.sessions), sessions(&run.sessions)];
    if !run.plan.is_empty() {
        tables.push(plan(&run.plan));
    }
    if !run.engine.is_empty() {
        tables.push(engine(&run.engine));
    }
    if !run.gate.is_empty() {
        tables.push(gate(&run.gate, &run.sessions));
    }
    tables
}

/// A column, from one value per row.
pub fn column<'a, T>(
    name: &'static str,
    rows: &'a [T],
    value: impl Fn(&'a T) -> Value<'a>,
) -> (&'static str, Vec<Value<'a>>) {
    (name, rows.iter().map(value).collect())
}

/// `turns`, of the sessions that they point into.
pub fn turns<'a>(rows: &'a [Turn], sessions: &'a [Session]) -> Table<'a> {
    let session = |t: &Turn| &sessions[t.session.at()];
    let columns = vec![
        column("session", rows, |t| Value::Text(&session(t).id)),
        column("kind", rows, |t| Value::Text(session(t).kind.word())),
        column("turn", rows, |t| Value::Count(Some(t.number))),
        column("t_ready", rows, |t| Value::Seconds(Some(t.t_ready_s))),
        column("t_submit", rows, |t| Value::Seconds(Some(t.t_submit_s))),
        column("t_first", rows, |t| Value::Seconds(t.t_first_s)),
        column("t_end", rows, |t| Value::Seconds(t.t_end_s)),
        column("prompt_tokens", rows, |t| Value::Count(Some(t.prompt_tokens))),
        column("cached_tokens", rows, |t| Value::Count(t.cached_tokens)),
        column("completion_tokens", rows, |t| Value::Count(t.completion_tokens)),
        column("tool_s", rows, |t| Value::Seconds(t.tool_s)),
        column("status", rows, |t| {
            Value::Text(match &t.status {
                TurnStatus::Ok => "ok",
                TurnStatus::UnfinishedAtHorizon => "unfinished_at_horizon",
                TurnStatus::Error(message) => message,
            })
        }),
    ];
    Table { name: "turns", columns }
}

/// `sessions`.
pub fn sessions(rows: &[Session]) -> Table<'_> {
    let columns = vec![
        column("session", rows, |s| Value::Text(&s.id)),
        column("kind", rows, |s| Value::Text(s.kind.word())),
        column("t_planned", rows, |s| Value::Seconds(s.t_planned_s)),
        column("t_admitted", rows, |s| Value::Seconds(s.t_admitted_s)),
        column("t_end", rows, |s| Value::Seconds(s.t_end_s)),
        column("turns_planned", rows, |s| Value::Count(Some(s.turns_planned))),
        column("turns_done", rows, |s| Value::Count(Some(s.turns_done))),
        column("gate_wait_s", rows, |s| Value::Seconds(Some(s.gate_wait_s))),
        column("pauses", rows, |s| Value::Count(Some(s.pauses))),
        column("pause_s", rows, |s| Value::Seconds(Some(s.pause_s))),
        column("status", rows, |s| Value::Text(s.status.word())),
    ];
    Table { name: "sessions", columns }
}

/// `plan`.
pub fn plan<'a>(rows: &'a [PlannedSession]) -> Table<'a> {
    let mut columns = vec![
        column("session", rows, |s| Value::Text(&s.id)),
        column("kind", rows, |s| Value::Text(s.kind.word())),
        column("t_arrival", rows, |s| Value::Planned(s.t_arrival_s)),
        column("turns", rows, |s| Value::Count(Some(s.turns))),
        column("tool_s", rows, |s| Value::Owned(tool_times(&s.tool_s))),
    ];
    if rows.iter().any(|s| s.recorded.is_some()) {
        let recorded = |s: &'a PlannedSession| Value::Text(s.recorded.as_deref().unwrap_or(""));
        columns.push(column("recorded", rows, recorded));
    }
    if rows.iter().any(|s| s.follows.is_some()) {
        let follows = |s: &'a PlannedSession| Value::Text(s.follows.as_deref().unwrap_or(""));
        columns.push(column("follows", rows, follows));
    }
    Table { name: "plan", columns }
}

/// Planned times, to the microsecond.
fn tool_times(times: &[f64]) -> String {
    let mut text = Vec::with_capacity(10 * times.len());
    for (i, t) in times.iter().enumerate() {
        if i > 0 {
            text.push(b';');
        }
        push_time(&mut text, *t, MICROSECONDS);
    }
    text.into_iter().map(char::from).collect()
}

/// `engine`.
pub fn engine(rows: &[EngineSample]) -> Table<'_> {
    let columns = vec![
        column("t", rows, |e| Value::Seconds(Some(e.t_s))),
        column("running", rows, |e| Value::Count(e.running)),
        column("waiting", rows, |e| Value::Count(e.waiting)),
        column("kv_used_tokens", rows, |e| Value::Count(e.kv_used_tokens)),
        column("kv_evictable_tokens", rows, |e| Value::Count(e.kv_evictable_tokens)),
        column("kv_total_tokens", rows, |e| Value::Count(e.kv_total_tokens)),
        column("prompt_tokens_total", rows, |e| Value::Count(e.prompt_tokens_total)),
        column("cached_tokens_total", rows, |e| Value::Count(e.cached_tokens_total)),
        column("generation_tokens_total", rows, |e| Value::Count(e.generation_tokens_total)),
        column("preemptions_total", rows, |e| Value::Count(e.preemptions_total)),
    ];
    Table { name: "engine", columns }
}

/// `gate`, of the sessions that its events point into.
pub fn gate<'a>(rows: &'a [GateEvent], sessions: &'a [Session]) -> Table<'a> {
    let session = |g: &GateEvent| g.session.map(|s| &sessions[s.at()]);
    let columns = vec![
        column("t", rows, |g| Value::Seconds(Some(g.t_s))),
        column("event", rows, |g| Value::Text(g.event.word())),
        column("kind", rows, |g| Value::Text(session(g).map_or("", |s| Kind::word(s.kind)))),
        column("session", rows, |g| Value::Text(session(g).map_or("", |s| &s.id))),
        column("admitted", rows, |g| Value::Count(Some(g.admitted))),
        column("gated", rows, |g| Value::Count(Some(g.gated))),
        column("paused", rows, |g| Value::Count(Some(g.paused))),
    ];
    Table { name: "gate", columns }
}

/// Digits of a second that happened: 0.1 ms.
pub const TICKS: usize = 4;
/// Of a planned second.
pub const MICROSECONDS: usize = 6;

/// The whole number of a time's last digits, if it is one (as a simulated time is): then it
/// needs no detour over text to be rounded.
fn whole(t: f64, decimals: usize) -> Option<u64> {
    let per_s = [1e4, 1e6][usize::from(decimals == MICROSECONDS)];
    let ticks = libm::floor(t * per_s + 0.5);
    ((0.0..1e15).contains(&ticks) && ticks / per_s == t).then_some(ticks as u64)
}

/// A time to so many digits of a second.
fn push_time(line: &mut Vec<u8>, t: f64, decimals: usize) {
    match whole(t, decimals) {
        Some(ticks) => {
            let per_s = 10_u64.pow(decimals as u32);
            push_digits(line, ticks / per_s, 1);
            line.push(b'.');
            push_digits(line, ticks % per_s, decimals);
        }
        None => line.extend(format!("{t:.decimals$}").bytes()),
    }
}

/// A time as the number that its text is.
pub fn rounded(t: f64, decimals: usize) -> Option<f64> {
    whole(t, decimals).map_or_else(|| format!("{t:.decimals$}").parse().ok(), |_| Some(t))
}

/// A whole number, with zeros before it up to so many digits.
fn push_digits(line: &mut Vec<u8>, mut n: u64, least: usize) {
    let start = line.len();
    while n > 0 || line.len() < start + least {
        line.push(b'0' + (n % 10) as u8);
        n /= 10;
    }
    line[start..].reverse();
}

/// A field after its comma, quoted only where it has to be.
fn push_text(line: &mut Vec<u8>, column: usize, text: &str) {
    if column > 0 {
        line.push(b',');
    }
    if text.bytes().any(|b| matches!(b, b',' | b'"' | b'\n' | b'\r')) {
        line.push(b'"');
        line.extend(text.replace('"', "\"\"").bytes());
        line.push(b'"');
    } else {
        line.extend(text.bytes());
    }
}

#[cfg(test)]
mod tests;
