//! What the tables of one run must say together.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::columns::{Columns, Field, Type, shortened};
use super::problem::Problem;
use super::shape::Shape;
use super::{Counts, Run, RunStatus, Session, SessionStatus, Turn, TurnStatus};

/// Half of the last digit written (0.1 ms), with room for clock reads a little apart.
const TIME_TOLERANCE_S: f64 = 1e-3;

/// Times before the run's start or after its end: another unit, another clock, or
/// another run. What was planned may lie after it.
pub fn outside_the_run(table: &Columns, schema: &[Field], end_s: f64) -> Vec<Problem> {
    let is_time = |f: &&Field| f.ty == Type::Number && (f.name == "t" || f.name.starts_with("t_"));
    let mut problems = Vec::new();
    for field in schema.iter().filter(is_time).filter(|f| f.name != "t_arrival") {
        for (row, time) in table.number(field.name).iter().enumerate() {
            if table.too_many(&mut problems) {
                return problems;
            }
            let message = match time {
                Some(t) if *t < 0.0 => format!("{t} lies before the run's start"),
                Some(t) if *t > end_s + TIME_TOLERANCE_S => {
                    format!("{t} lies after the run's end at {end_s} s")
                }
                _ => continue,
            };
            problems.push(table.problem(row, field.name, message));
        }
    }
    problems.sort();
    problems
}

/// Every contradiction between the tables and `meta.json`, and what is worth a note.
pub fn cross_check(run: &Run, shape: &Shape) -> Vec<Problem> {
    let files = Files::of(run, shape);
    let mut problems = counts(run, &files);
    problems.extend(length(run, &files));
    problems.extend(turn_numbers(run, &files));
    problems.extend(plan(run, &files));
    problems
}

/// Where a run's problems are: its directory where a table is not there.
struct Files {
    metadata: PathBuf,
    sessions: PathBuf,
    turns: PathBuf,
}

impl Files {
    fn of(run: &Run, shape: &Shape) -> Self {
        let file = |table: &str| {
            let mut paths = run.sources.iter().map(|source| &source.path);
            paths.find(|path| shape.is_table(path, table)).unwrap_or(&run.dir).clone()
        };
        Self { metadata: shape.metadata(), sessions: file("sessions"), turns: file("turns") }
    }
}

/// What the rows of the tables count.
pub fn rows_counted(sessions: &[Session], turns: &[Turn]) -> Counts {
    let with = |status| sessions.iter().filter(|s| s.status == status).count() as u64;
    let errors = turns.iter().filter(|t| matches!(t.status, TurnStatus::Error(_))).count();
    Counts {
        sessions_arrived: sessions.len() as u64,
        sessions_completed: with(SessionStatus::Completed),
        sessions_failed: with(SessionStatus::Failed),
        turns: turns.len() as u64,
        request_errors: errors as u64,
    }
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
            let problem = Problem::new(file, message);
            // Whoever left a cut-off line out has been told so already.
            if rows_left_out(run, &problem.file) { problem.as_note() } else { problem }
        })
        .collect()
}

fn rows_left_out(run: &Run, file: &Path) -> bool {
    run.notes.iter().any(|note| note.file == file && note.tells_of_rows_left_out())
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
    let planned: BTreeMap<_, _> = run.plan.iter().map(|p| ((p.kind, &p.id), p)).collect();
    let arrived = run.sessions.iter().filter(|_| !run.plan.is_empty());
    let problem = |session: &Session| {
        let who = format!("session {} ({})", shortened(&session.id, 40), session.kind.word());
        let Some(plan) = planned.get(&(session.kind, &session.id)) else {
            return Some(format!("{who} is not in the plan"));
        };
        if plan.turns != session.turns_planned {
            let (here, there) = (session.turns_planned, plan.turns);
            return Some(format!("{who}: {here} turns planned by its row, {there} by the plan"));
        }
        match (session.t_planned_s, plan.t_arrival_s) {
            (Some(here), Some(there)) if (here - there).abs() > TIME_TOLERANCE_S => {
                Some(format!("{who}: planned at {here} s by its row, at {there} s by the plan"))
            }
            _ => None,
        }
    };
    arrived.filter_map(problem).map(|message| Problem::new(&files.sessions, message)).collect()
}

/// A session's turns do not overlap, and agree with its row.
fn turn_numbers(run: &Run, files: &Files) -> Vec<Problem> {
    let mut of_session: Vec<Vec<&Turn>> = vec![Vec::new(); run.sessions.len()];
    for turn in &run.turns {
        of_session[turn.session.at()].push(turn);
    }
    let mut problems = Vec::new();
    let mut shrunk = 0;
    for (index, turns) in of_session.iter_mut().enumerate() {
        turns.sort_by_key(|t| t.number);
        let session = &run.sessions[index];
        problems.extend(one_session(run, files, session, turns));
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

fn one_session(run: &Run, files: &Files, session: &Session, turns: &[&Turn]) -> Vec<Problem> {
    let who = format!("session {} ({})", shortened(&session.id, 40), session.kind.word());
    let mut problems = Vec::new();
    for pair in turns.windows(2) {
        match pair[0].t_end_s {
            Some(end) if pair[1].t_ready_s < end - TIME_TOLERANCE_S => {
                let message = format!(
                    "{who}: turn {} is ready at {} s, before turn {} ends at {end} s",
                    pair[1].number, pair[1].t_ready_s, pair[0].number
                );
                problems.push(Problem::new(&files.turns, message));
            }
            None if pair[0].status == TurnStatus::UnfinishedAtHorizon => {
                let message = format!("{who}: turn {} follows an unfinished turn", pair[1].number);
                problems.push(Problem::new(&files.turns, message));
            }
            _ => {}
        }
    }
    let served = turns.iter().filter(|t| t.status == TurnStatus::Ok).count() as u64;
    if served != session.turns_done {
        let message = format!(
            "{who}: {} turns done by its row, {served} in the turns table",
            session.turns_done
        );
        let problem = Problem::new(&files.sessions, message);
        let told = rows_left_out(run, &files.turns);
        problems.push(if told { problem.as_note() } else { problem });
    }
    if session.status == SessionStatus::Completed && session.turns_done != session.turns_planned {
        let message = format!(
            "{who}: completed after {} of {} turns",
            session.turns_done, session.turns_planned
        );
        problems.push(Problem::new(&files.sessions, message));
    }
    problems
}
