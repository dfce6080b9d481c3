//! What the tables of one run must say together. What cannot be is an error, what is only
//! odd a note; `docs/run-directory.md` lists which is which.

mod stated;

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::columns::{Columns, Field, Type};
use super::problem::Problem;
use super::sessions::Registry;
use super::shape::Shape;
use super::turns::by_session;
use super::{Counts, Run, RunStatus, Session, SessionStatus, Turn, TurnStatus};
use crate::escape::shortened;
use crate::limits::RUN_S;

/// Half of the last digit written (0.1 ms), with room for clock reads a little apart.
const TIME_TOLERANCE_S: f64 = 1e-3;

/// A completed session ends with its last turn: its row and that turn's may differ by so
/// much, s. A busy client was seen 0.16 s late.
const SESSION_END_TOLERANCE_S: f64 = 1.0;

/// Times before the run's start or after its end, and lengths of time no run has: another
/// unit, another clock, or another run. What was planned may lie after the run's end.
pub(crate) fn outside_the_run(table: &Columns, schema: &[Field], end_s: f64) -> Vec<Problem> {
    let mut problems = Vec::new();
    for field in schema.iter().filter(|f| f.ty == Type::Number) {
        let (moment, last_s) = match field.name {
            "t_arrival" | "tool_s" => (false, RUN_S),
            name => (!name.ends_with("_s"), end_s + TIME_TOLERANCE_S),
        };
        for (row, time) in table.number(field.name).iter().enumerate() {
            table.bound(&mut problems);
            let message = match time {
                Some(t) if t < 0.0 && moment => {
                    format!("{} lies before the run's start", shown(t))
                }
                Some(t) if t > last_s && moment => {
                    format!("{} lies after the run's end at {end_s} s", shown(t))
                }
                Some(t) if t > last_s => {
                    let longest = if last_s == RUN_S { "a year" } else { "the run" };
                    format!("{} s is longer than {longest}", shown(t))
                }
                _ => continue,
            };
            problems.push(table.problem(row, field.name, message));
        }
    }
    problems.sort();
    problems
}

/// A time as a reader takes it in: 1e308, not its 309 digits.
fn shown(t: f64) -> String {
    if t.abs() < 1e15 { t.to_string() } else { format!("{t:e}") }
}

/// Every contradiction between the tables and `meta.json`, and what is worth a note. The
/// last line of the files in `cut` was left out, as asked.
pub(crate) fn cross_check(run: &Run, shape: &Shape, cut: &BTreeSet<PathBuf>) -> Vec<Problem> {
    let files = Files::of(run, shape, cut);
    let mut problems = counts(run, &files);
    problems.extend(length(run, &files));
    problems.extend(turn_numbers(run, &files));
    problems.extend(plan(run, &files));
    problems.extend(stated::contradictions(run, &files.metadata));
    problems
}

/// Where a run's problems are: its directory where a table is not there.
struct Files<'a> {
    metadata: PathBuf,
    sessions: PathBuf,
    turns: PathBuf,
    cut: &'a BTreeSet<PathBuf>,
}

impl<'a> Files<'a> {
    fn of(run: &Run, shape: &Shape, cut: &'a BTreeSet<PathBuf>) -> Self {
        let file = |table: &str| {
            let mut paths = run.sources.iter().map(|source| &source.path);
            paths.find(|path| shape.is_table(path, table)).unwrap_or(&run.dir).clone()
        };
        let (sessions, turns) = (file("sessions"), file("turns"));
        Self { metadata: shape.metadata(), sessions, turns, cut }
    }
}

/// What the rows of the tables count.
pub fn rows_counted(sessions: &[Session], turns: &[Turn]) -> Counts {
    Counts::of(sessions.iter().map(|s| s.status), turns.iter().map(|t| &t.status))
}

/// `counts` in meta.json against the rows: a table that lost its tail shows here.
fn counts(run: &Run, files: &Files) -> Vec<Problem> {
    let (there, here) = (&run.meta.counts, rows_counted(&run.sessions, &run.turns));
    let (sessions, turns) = (&files.sessions, &files.turns);
    let rows = [
        (sessions, "sessions_arrived", there.sessions_arrived, here.sessions_arrived),
        (sessions, "sessions_completed", there.sessions_completed, here.sessions_completed),
        (sessions, "sessions_failed", there.sessions_failed, here.sessions_failed),
        (turns, "turns", there.turns, here.turns),
        (turns, "request_errors", there.request_errors, here.request_errors),
    ];
    rows.iter()
        .filter(|(_, _, expected, found)| expected != found)
        .map(|(file, name, expected, found)| {
            let metadata = files.metadata.file_name().unwrap_or_default().to_string_lossy();
            let message = format!("{metadata} counts {expected} as {name}, the table has {found}");
            let cut = files.cut.contains(*file);
            // Whoever left a cut-off line out has been told so already.
            if cut && *expected == found + 1 {
                return Problem::new(file, message).as_note();
            }
            let more = if cut { ": more than the line that was left out" } else { "" };
            Problem::new(file, message + more)
        })
        .collect()
}

/// A completed run reached its horizon.
fn length(run: &Run, files: &Files) -> Vec<Problem> {
    let meta = &run.meta;
    let mut problems = Vec::new();
    if meta.status == RunStatus::Completed && meta.duration_s < meta.horizon_s - 1.0 {
        let message = format!(
            "status is completed, but it lasted {} s of {} s",
            meta.duration_s, meta.horizon_s
        );
        problems.push(Problem::new(&files.metadata, message));
    }
    if meta.status != RunStatus::Completed {
        let message = format!(
            "status is {}: it lasted {} s of {} s",
            meta.status.word(),
            meta.duration_s,
            meta.horizon_s
        );
        problems.push(Problem::new(&files.metadata, message).as_note());
    }
    problems
}

/// A session that arrived is one of the plan's, at its time and with its turns.
fn plan(run: &Run, files: &Files) -> Vec<Problem> {
    let planned = Registry::of_plan(&run.plan);
    let arrived = run.sessions.iter().filter(|_| !run.plan.is_empty());
    let problem = |session: &Session| {
        let who = || format!("session {} ({})", shortened(&session.id, 40), session.kind.word());
        let Some(index) = planned.find(session.kind, &session.id) else {
            return Some(format!("{} is not in the plan", who()));
        };
        let plan = &run.plan[index.at()];
        if plan.turns != session.turns_planned {
            let (here, there) = (session.turns_planned, plan.turns);
            let who = who();
            return Some(format!("{who}: {here} turns planned by its row, {there} by the plan"));
        }
        match (session.t_planned_s, plan.t_arrival_s) {
            (Some(here), Some(there)) if (here - there).abs() > TIME_TOLERANCE_S => {
                let who = who();
                Some(format!("{who}: planned at {here} s by its row, at {there} s by the plan"))
            }
            _ => None,
        }
    };
    arrived.filter_map(problem).map(|message| Problem::new(&files.sessions, message)).collect()
}

/// A session's turns do not overlap, and agree with its row.
fn turn_numbers(run: &Run, files: &Files) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut shrunk = 0;
    // The turn of the line that was left out.
    let mut left_out = u64::from(files.cut.contains(&files.turns));
    let mut turns: Vec<&Turn> = Vec::new();
    let of_session = by_session(&run.turns, run.sessions.len());
    for (session, places) in run.sessions.iter().zip(of_session.iter()) {
        turns.clear();
        turns.extend(places.iter().map(|place| &run.turns[*place]));
        problems.extend(one_session(files, session, &turns, &mut left_out));
        shrunk += turns.windows(2).filter(|w| w[1].prompt_tokens < w[0].prompt_tokens).count();
    }
    if shrunk > 0 {
        let message = format!(
            "a session's prompt gets shorter at {shrunk} turns: its context was compacted or replaced"
        );
        problems.push(Problem::new(&files.turns, message).as_note());
    }
    problems
}

fn one_session(
    files: &Files<'_>,
    session: &Session,
    turns: &[&Turn],
    left_out: &mut u64,
) -> Vec<Problem> {
    let who = || format!("session {} ({})", shortened(&session.id, 40), session.kind.word());
    let of_row = |message: String| Problem::new(&files.sessions, format!("{}: {message}", who()));
    let (done, planned) = (session.turns_done, session.turns_planned);
    let mut problems = order_of_turns(files, who, turns);
    problems.extend(admission(session, turns.first().copied()).map(of_row));
    if let Some(last) = turns.last().filter(|last| last.number > planned) {
        problems.push(of_row(format!("turn {} was sent of {planned} planned", last.number)));
    }
    if session.status == SessionStatus::Completed && done != planned {
        problems.push(of_row(format!("completed after {done} of {planned} turns")));
    }
    let served = turns.iter().filter(|t| t.status == TurnStatus::Ok).count() as u64;
    if served == done {
        problems.extend(end(session, turns.last().copied()).map(of_row));
    } else {
        let message = format!("{done} turns done by its row, {served} in the turns table");
        let told = done == served + 1 && *left_out > 0;
        *left_out -= u64::from(told);
        problems.push(if told { of_row(message).as_note() } else { of_row(message) });
    }
    problems
}

/// A turn is ready once the turn before it has ended.
fn order_of_turns(files: &Files<'_>, who: impl Fn() -> String, turns: &[&Turn]) -> Vec<Problem> {
    let problem = |pair: &[&Turn]| {
        let (before, after) = (pair[0], pair[1]);
        match before.t_end_s {
            Some(end) if after.t_ready_s < end - TIME_TOLERANCE_S => Some(format!(
                "{}: turn {} is ready at {} s, before turn {} ends at {end} s",
                who(),
                after.number,
                after.t_ready_s,
                before.number
            )),
            None if before.status == TurnStatus::UnfinishedAtHorizon => {
                Some(format!("{}: turn {} follows an unfinished turn", who(), after.number))
            }
            _ => None,
        }
    };
    let messages = turns.windows(2).filter_map(problem);
    messages.map(|message| Problem::new(&files.turns, message)).collect()
}

/// Turns are sent once a session is planned to arrive and is let in.
fn admission(session: &Session, first: Option<&Turn>) -> Option<String> {
    let first = first?;
    if matches!(session.status, SessionStatus::Gated | SessionStatus::Refused) {
        return Some(format!("{} by its row, but it sent turns", session.status.word()));
    }
    if let Some(t) = session.t_admitted_s.filter(|t| *t > first.t_submit_s + TIME_TOLERANCE_S) {
        let sent = first.t_submit_s;
        return Some(format!("admitted at {t} s, after its first turn was sent at {sent} s"));
    }
    let planned = session.t_planned_s.filter(|t| *t > first.t_ready_s + TIME_TOLERANCE_S)?;
    let ready = first.t_ready_s;
    Some(format!("planned at {planned} s, after its first turn was ready at {ready} s"))
}

/// A session that is over ends with its last turn; one that failed not before it.
fn end(session: &Session, last: Option<&Turn>) -> Option<String> {
    let (end, last) = (session.t_end_s?, last?.t_end_s?);
    let completed = session.status == SessionStatus::Completed;
    let apart =
        end < last - SESSION_END_TOLERANCE_S || completed && end > last + SESSION_END_TOLERANCE_S;
    let word = session.status.word();
    apart.then(|| format!("{word} at {end} s by its row, its last turn ended at {last} s"))
}
