//! Tables for statements that no analysis derives: settings, published numbers, and what a
//! run directory holds.

use std::path::Path;

use serde_yaml::Value;
use trapcheck_runs::configs::FOLDERS;

use crate::configs::{hashed, yaml_files};
use crate::hash::SourceFile;
use crate::published::{PublishedNumber, numbers};
use crate::run::{EngineSample, GateEvent, Run, Session, Turn, TurnStatus};
use crate::setup::ConfigError;
use crate::table::{Cell, Col, Heading, Table};

/// Folders of the configuration that no run is made from, and that statements may ask: what
/// campaigns plan, what the simulator is held to, what registrations are filled from.
const ASKED_ONLY: [&str; 3] = ["campaigns", "fidelity", "fill"];

/// One value of a configuration file.
struct Setting {
    file: String,
    path: String,
    value: Cell,
    text: Cell,
    source: SourceFile,
}

/// Every value of the configuration under a folder: a row each, found by its file and its
/// path in that.
///
/// # Errors
/// A folder that cannot be listed, or a file that is no YAML.
pub fn settings(folder: &Path) -> Result<Table, ConfigError> {
    let columns: &[Col<Setting>] = &[
        Heading("file", "", "The file, below the folder of the configuration, without .yaml")
            .key(|of| Cell::text(&of.file)),
        Heading("path", "", "Names on the way to the value, joined by points; places from 0")
            .key(|of| Cell::text(&of.path)),
        Heading("value", "", "The value, where it is a number").new(|of| of.value.clone()),
        Heading("text", "", "The value, where it is a word, yes or no").new(|of| of.text.clone()),
    ];
    let mut rows = Vec::new();
    let mut kinds: Vec<&str> = FOLDERS.into_iter().chain(ASKED_ONLY).collect();
    kinds.sort_unstable();
    // Where there is no such folder, the built-in files are asked, which have every kind.
    let is_there = |kind: &&str| !folder.is_dir() || folder.join(kind).is_dir();
    for kind in kinds.into_iter().filter(is_there) {
        for path in yaml_files(&folder.join(kind))? {
            let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let source = hashed(&path)?;
            let content: Value = crate::configs::yaml(&path)?;
            let mut leaves = Vec::new();
            flatten("", &content, &mut leaves);
            rows.extend(leaves.into_iter().map(|(path, value, text)| Setting {
                file: format!("{kind}/{stem}"),
                path,
                value,
                text,
                source: source.clone(),
            }));
        }
    }
    let title = "Settings: every value of the configuration's files but the layouts";
    let identity = |of: &Setting| (format!("{} {}", of.file, of.path), vec![of.source.clone()]);
    Ok(Table::of("settings", title, columns, rows, identity))
}

/// The values at the ends of a tree, each with its path.
fn flatten(path: &str, value: &Value, out: &mut Vec<(String, Cell, Cell)>) {
    let below = |name: &str| match path {
        "" => name.to_owned(),
        path => format!("{path}.{name}"),
    };
    match value {
        Value::Mapping(map) => {
            for (name, value) in map {
                flatten(&below(&crate::published::shown(name)), value, out);
            }
        }
        Value::Sequence(list) => {
            for (i, value) in list.iter().enumerate() {
                flatten(&below(&i.to_string()), value, out);
            }
        }
        Value::Number(number) => {
            let value = Cell::known(number.as_f64(), 0);
            out.push((path.to_owned(), value, Cell::Empty));
        }
        Value::Null => {}
        other => {
            let text = match other {
                Value::Bool(yes) => Cell::yes_no(Some(*yes)),
                other => Cell::text(crate::published::shown(other)),
            };
            out.push((path.to_owned(), Cell::Empty, text));
        }
    }
}

/// The numbers that the paper states in prose: a row each.
///
/// # Errors
/// As [`numbers`].
pub fn published(path: &Path) -> Result<Table, ConfigError> {
    fn nth(of: &PublishedNumber, place: usize) -> Cell {
        let digits = of.digits(place);
        of.values().get(place).map_or(Cell::Empty, |value| Cell::Number(*value, digits))
    }
    let columns: &[Col<PublishedNumber>] = &[
        Heading("id", "", "Its name in the ledger").key(|of| Cell::text(&of.id)),
        Heading("statement", "", "What it says").new(|of| Cell::text(&of.statement)),
        Heading("places", "", "Where it stands in the paper")
            .new(|of| Cell::text(of.places.join("; "))),
        Heading("first", "", "Its value; of a range, the least; of k of n, k").new(|of| nth(of, 0)),
        Heading("second", "", "Of a range, the greatest; of k of n, n").new(|of| nth(of, 1)),
        Heading("unit", "", "Its unit").new(|of| Cell::text(&of.unit)),
        Heading("cell", "", "The cell it is about, where it is about one")
            .new(|of| of.cell.as_ref().map_or(Cell::Empty, Cell::text)),
    ];
    let source = hashed(path)?;
    let title = "Published: the numbers that the paper states in prose";
    let rows = numbers(path)?;
    Ok(Table::of("published", title, columns, rows, |of| (of.id.clone(), vec![source.clone()])))
}

/// What a run directory holds: `sessions`, `turns`, `engine` and `gate` as they are in its
/// files, in the same units.
pub fn of_run(run: &Run) -> Vec<Table> {
    vec![sessions(run), turns(run), engine(run), gate(run)]
}

/// The names of the tables of [`of_run`].
pub const OF_RUN: [&str; 4] = ["sessions", "turns", "engine", "gate"];

/// A row's place in its table and what it is about, with the run it is of.
struct Of<'a, T> {
    run: &'a Run,
    row: &'a T,
}

/// A table of a run's rows. Each comes from the file of the table's name.
fn table<'a, T>(
    run: &'a Run,
    name: &str,
    title: &str,
    rows: &'a [T],
    columns: &[Col<Of<'a, T>>],
) -> Table {
    let is_its = |source: &&SourceFile| {
        let file = source.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        file.split('.').next() == Some(name)
    };
    let sources: Vec<SourceFile> = run.sources.iter().filter(is_its).cloned().collect();
    let rows: Vec<Of<'a, T>> = rows.iter().map(|row| Of { run, row }).collect();
    Table::of(name, title, columns, rows, |_| (String::new(), sources.clone()))
}

fn sessions(run: &Run) -> Table {
    let columns: &[Col<Of<'_, Session>>] = &[
        Heading("session", "", "Its identifier within its kind").key(|of| Cell::text(&*of.row.id)),
        Heading("kind", "", "base, burst or subagent").key(|of| Cell::text(of.row.kind.word())),
        Heading("t_planned", "s", "Arrival by the plan").optional(3, |of| of.row.t_planned_s),
        Heading("t_admitted", "s", "When the gate let it in").optional(3, |of| of.row.t_admitted_s),
        Heading("t_end", "s", "When it ended").optional(3, |of| of.row.t_end_s),
        Heading("turns_planned", "turns", "T, its number of turns")
            .count(|of| of.row.turns_planned),
        Heading("turns_done", "turns", "Turns that were served").count(|of| of.row.turns_done),
        Heading("gate_wait_s", "s", "Time at the gate before admission")
            .number(3, |of| of.row.gate_wait_s),
        Heading("pauses", "", "How often the gate paused it").count(|of| of.row.pauses),
        Heading("pause_s", "s", "Time it was paused").number(3, |of| of.row.pause_s),
        Heading("status", "", "Its state at the end of the run")
            .new(|of| Cell::text(of.row.status.word())),
    ];
    table(run, "sessions", "Sessions of the run, in order of arrival", &run.sessions, columns)
}

fn turns(run: &Run) -> Table {
    let columns: &[Col<Of<'_, Turn>>] = &[
        Heading("session", "", "The session it belongs to, within its kind")
            .key(|of| Cell::text(&*of.run.sessions[of.row.session.at()].id)),
        Heading("kind", "", "base, burst or subagent")
            .key(|of| Cell::text(of.run.sessions[of.row.session.at()].kind.word())),
        Heading("turn", "", "Its number within the session, from 1")
            .key(|of| Cell::Count(of.row.number)),
        Heading("t_ready", "s", "The client would send").number(3, |of| of.row.t_ready_s),
        Heading("t_submit", "s", "Sent to the engine").number(3, |of| of.row.t_submit_s),
        Heading("t_first", "s", "First token").optional(3, |of| of.row.t_first_s),
        Heading("t_end", "s", "Last token; none in flight at the end")
            .optional(3, |of| of.row.t_end_s),
        Heading("prompt_tokens", "tokens", "Prompt length").count(|of| of.row.prompt_tokens),
        Heading("cached_tokens", "tokens", "Prompt tokens found in the cache")
            .new(|of| of.row.cached_tokens.map_or(Cell::Unknown, Cell::Count)),
        Heading("completion_tokens", "tokens", "Decoded tokens")
            .new(|of| of.row.completion_tokens.map_or(Cell::Unknown, Cell::Count)),
        Heading("tool_s", "s", "Tool time that follows").optional(3, |of| of.row.tool_s),
        Heading("status", "", "ok, unfinished_at_horizon, or the error's words").new(|of| {
            Cell::text(match &of.row.status {
                TurnStatus::Ok => "ok",
                TurnStatus::UnfinishedAtHorizon => "unfinished_at_horizon",
                TurnStatus::Error(words) => words,
            })
        }),
    ];
    table(run, "turns", "Turns of the run, in order of sending", &run.turns, columns)
}

fn engine(run: &Run) -> Table {
    fn count(value: Option<u64>) -> Cell {
        value.map_or(Cell::Unknown, Cell::Count)
    }
    let columns: &[Col<Of<'_, EngineSample>>] = &[
        Heading("t", "s", "Time of the sample").key(|of| Cell::Number(of.row.t_s, 3)),
        Heading("running", "requests", "Requests running").new(|of| count(of.row.running)),
        Heading("waiting", "requests", "Requests waiting").new(|of| count(of.row.waiting)),
        Heading("kv_used_tokens", "tokens", "KV held by admitted requests")
            .new(|of| count(of.row.kv_used_tokens)),
        Heading("kv_evictable_tokens", "tokens", "KV cached and idle")
            .new(|of| count(of.row.kv_evictable_tokens)),
        Heading("kv_total_tokens", "tokens", "The pool").new(|of| count(of.row.kv_total_tokens)),
        Heading("prompt_tokens_total", "tokens", "Prompt tokens since the server started")
            .new(|of| count(of.row.prompt_tokens_total)),
        Heading("cached_tokens_total", "tokens", "Of these, found in the cache")
            .new(|of| count(of.row.cached_tokens_total)),
        Heading("generation_tokens_total", "tokens", "Decoded tokens since the server started")
            .new(|of| count(of.row.generation_tokens_total)),
        Heading("preemptions_total", "", "Preemptions since the server started")
            .new(|of| count(of.row.preemptions_total)),
    ];
    table(run, "engine", "The engine's gauges, in order of time", &run.engine, columns)
}

fn gate(run: &Run) -> Table {
    let columns: &[Col<Of<'_, GateEvent>>] = &[
        Heading("t", "s", "When").key(|of| Cell::Number(of.row.t_s, 3)),
        Heading("event", "", "engage, admit, queue, pause, resume or release")
            .key(|of| Cell::text(of.row.event.word())),
        Heading("session", "", "To which session; none for engage and release").key(|of| {
            let session = of.row.session.map(|at| &of.run.sessions[at.at()]);
            session.map_or(Cell::Empty, |session| Cell::text(&*session.id))
        }),
        Heading("admitted", "sessions", "Sessions admitted, just after")
            .count(|of| of.row.admitted),
        Heading("gated", "sessions", "Sessions waiting for their first admission")
            .count(|of| of.row.gated),
        Heading("paused", "sessions", "Sessions paused").count(|of| of.row.paused),
    ];
    table(run, "gate", "Events of the client's gate, in order of time", &run.gate, columns)
}
