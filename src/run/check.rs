//! What the tables of one run must say together.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::columns::{Columns, Field, Type, shortened};
use super::problem::Problem;
use super::{Run, RunStatus, Session, SessionStatus, Turn, TurnStatus};

/// Half of the last digit written (0.1 ms), with room for clock reads a little apart.
const TIME_TOLERANCE_S: f64 = 1e-3;

/// Times before the run's start or after its end: another unit, another clock, or
/// another run. What was planned may lie after it.
pub fn outside_the_run(table: &Columns, schema: &[Field], end_s: f64) -> Vec<Problem> {
    let is_time = |f: &&Field| f.ty == Type::Number && (f.name == "t" || f.name.starts_with("t_"));
    let mut problems = Vec::new();
    for field in schema.iter().filter(is_time).filter(|f| f.name != "t_arrival") {
        for (row, time) in table.number(field.name).iter().enumerate() {
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
pub fn cross_check(run: &Run) -> Vec<Problem> {
    let mut problems = counts(run);
    problems.extend(length(run));
    problems.extend(turn_numbers(run));
    problems.extend(plan(run));
    problems
}

fn file(run: &Run, table: &str) -> PathBuf {
    let named = |path: &PathBuf| {
        path.file_name().and_then(|n| n.to_str()).is_some_and(|n| n.starts_with(table))
    };
    run.sources
        .iter()
        .map(|s| &s.path)
        .find(|p| named(p))
        .cloned()
        .unwrap_or_else(|| run.dir.clone())
}

/// `counts` in meta.json against the rows: a table that lost its tail shows here.
fn counts(run: &Run) -> Vec<Problem> {
    let with = |status| run.sessions.iter().filter(|s| s.status == status).count() as u64;
    let errors = run.turns.iter().filter(|t| matches!(t.status, TurnStatus::Error(_))).count();
    let counts = &run.meta.counts;
    let rows = [
        ("sessions", "sessions_arrived", counts.sessions_arrived, run.sessions.len() as u64),
        (
            "sessions",
            "sessions_completed",
            counts.sessions_completed,
            with(SessionStatus::Completed),
        ),
        ("sessions", "sessions_failed", counts.sessions_failed, with(SessionStatus::Failed)),
        ("turns", "turns", counts.turns, run.turns.len() as u64),
        ("turns", "request_errors", counts.request_errors, errors as u64),
    ];
    rows.iter()
        .filter(|(_, _, expected, found)| expected != found)
        .map(|(table, name, expected, found)| {
            let problem = Problem::new(
                &file(run, &format!("{table}.")),
                format!("meta.json counts {expected} as {name}, the table has {found}"),
            );
            // Whoever left a cut-off line out has been told so already.
            if rows_left_out(run, &problem.file) { problem.as_note() } else { problem }
        })
        .collect()
}

fn rows_left_out(run: &Run, file: &Path) -> bool {
    run.notes.iter().any(|note| note.file == file && note.tells_of_rows_left_out())
}

/// A completed run reached its horizon.
fn length(run: &Run) -> Vec<Problem> {
    let meta = &run.meta;
    let mut problems = Vec::new();
    if meta.status == RunStatus::Completed && meta.duration_s < meta.horizon_s - 1.0 {
        let message = format!(
            "status is completed, but it lasted {} s of {} s",
            meta.duration_s, meta.horizon_s
        );
        problems.push(Problem::new(&run.dir.join("meta.json"), message));
    }
    if meta.status != RunStatus::Completed {
        let message = format!(
            "status is {}: it lasted {} s of {} s",
            meta.status.word(),
            meta.duration_s,
            meta.horizon_s
        );
        problems.push(Problem::new(&run.dir.join("meta.json"), message).as_note());
    }
    problems
}

/// A session that arrived is one of the plan's, at its time and with its turns.
fn plan(run: &Run) -> Vec<Problem> {
    let path = file(run, "sessions.");
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
    arrived.filter_map(problem).map(|message| Problem::new(&path, message)).collect()
}

/// A session's turns do not overlap, and agree with its row.
fn turn_numbers(run: &Run) -> Vec<Problem> {
    let mut of_session: Vec<Vec<&Turn>> = vec![Vec::new(); run.sessions.len()];
    for turn in &run.turns {
        of_session[turn.session.at()].push(turn);
    }
    let mut problems = Vec::new();
    let mut shrunk = 0;
    for (index, turns) in of_session.iter_mut().enumerate() {
        turns.sort_by_key(|t| t.number);
        let session = &run.sessions[index];
        problems.extend(one_session(run, session, turns));
        shrunk += turns.windows(2).filter(|w| w[1].prompt_tokens < w[0].prompt_tokens).count();
    }
    if shrunk > 0 {
        let message = format!(
            "a session's prompt gets shorter at {shrunk} turns: its context was compacted or replaced"
        );
        problems.push(Problem::new(&file(run, "turns."), message).as_note());
    }
    problems
}

fn one_session(run: &Run, session: &Session, turns: &[&Turn]) -> Vec<Problem> {
    let path = file(run, "turns.");
    let who = format!("session {} ({})", shortened(&session.id, 40), session.kind.word());
    let mut problems = Vec::new();
    for pair in turns.windows(2) {
        match pair[0].t_end_s {
            Some(end) if pair[1].t_ready_s < end - TIME_TOLERANCE_S => {
                let message = format!(
                    "{who}: turn {} is ready at {} s, before turn {} ends at {end} s",
                    pair[1].number, pair[1].t_ready_s, pair[0].number
                );
                problems.push(Problem::new(&path, message));
            }
            None if pair[0].status == TurnStatus::UnfinishedAtHorizon => {
                let message = format!("{who}: turn {} follows an unfinished turn", pair[1].number);
                problems.push(Problem::new(&path, message));
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
        let problem = Problem::new(&file(run, "sessions."), message);
        let told = rows_left_out(run, &path);
        problems.push(if told { problem.as_note() } else { problem });
    }
    if session.status == SessionStatus::Completed && session.turns_done != session.turns_planned {
        let message = format!(
            "{who}: completed after {} of {} turns",
            session.turns_done, session.turns_planned
        );
        problems.push(Problem::new(&file(run, "sessions."), message));
    }
    problems
}
