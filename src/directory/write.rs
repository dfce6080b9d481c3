//! Writing a run directory: beside its place, then renamed into it, so that
//! nobody ever sees half a run.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use polars::prelude::{Column, DataFrame, ParquetCompression, ParquetWriter};

use crate::files::{Temporary, folder_of};
use crate::run::{ENDINGS, GateEvent, Kind, Run, Turn, TurnStatus};
pub use crate::setup::campaign::TableFormat;

/// A run that could not be written.
#[derive(Debug, thiserror::Error)]
#[error("{}: {message}", path.display())]
pub struct WriteError {
    /// Where.
    pub path: PathBuf,
    /// What went wrong.
    pub message: String,
}

/// A value of a table cell.
enum Value<'a> {
    Text(&'a str),
    Owned(String),
    Count(Option<u64>),
    /// Seconds, written to 0.1 ms.
    Seconds(Option<f64>),
    /// Planned seconds, written to the microsecond: the plan's hash is of these digits.
    Planned(Option<f64>),
}

/// One table: names, and a row maker for each row.
struct Table<'a> {
    name: &'static str,
    columns: Vec<(&'static str, Vec<Value<'a>>)>,
}

/// Writes `run` to the directory `dir`, which must not exist.
///
/// # Errors
/// The directory exists, or a file cannot be written; nothing is left behind.
pub fn write(run: &Run, dir: &Path, format: TableFormat) -> Result<(), WriteError> {
    write_with(run, dir, format, &[])
}

/// As [`write`], with further text files (name, content) in the directory.
///
/// # Errors
/// As [`write`].
pub fn write_with(
    run: &Run,
    dir: &Path,
    format: TableFormat,
    beside_tables: &[(&str, &str)],
) -> Result<(), WriteError> {
    let fail = |message: String| WriteError { path: dir.into(), message };
    let is_there = || fail("already there; a run is never overwritten".into());
    if dir.exists() {
        return Err(is_there());
    }
    let written = Temporary::folder(folder_of(dir)).and_then(|beside| {
        write_all(run, beside.path(), format, beside_tables)?;
        beside.rename_to(dir)
    });
    // Another process may have been faster.
    written.map_err(|e| if dir.exists() { is_there() } else { fail(format!("cannot write: {e}")) })
}

fn write_all(
    run: &Run,
    dir: &Path,
    format: TableFormat,
    beside_tables: &[(&str, &str)],
) -> io::Result<()> {
    for table in tables(run) {
        let path = dir.join(format!("{}.{}", table.name, format.ending()));
        write_table(&table, &path, format)?;
    }
    for (name, text) in beside_tables {
        fs::write(dir.join(name), text)?;
    }
    // Last: a directory without it is no run.
    let meta = serde_json::to_string_pretty(&run.meta)?;
    fs::write(dir.join("meta.json"), meta + "\n")
}

/// Whether a written run may hold a file of this name.
pub fn is_written(name: &str) -> bool {
    let of_table = |table: &str| {
        let ending = name.strip_prefix(table).and_then(|rest| rest.strip_prefix('.'));
        ending.is_some_and(|ending| ENDINGS.contains(&ending))
    };
    ["config.yaml", "meta.json"].contains(&name)
        || ["turns", "sessions", "plan", "engine", "gate"].into_iter().any(of_table)
}

fn tables(run: &Run) -> Vec<Table<'_>> {
    let mut tables = vec![turns(run), sessions(run)];
    if !run.plan.is_empty() {
        tables.push(plan(run));
    }
    if !run.engine.is_empty() {
        tables.push(engine(run));
    }
    if !run.gate.is_empty() {
        tables.push(gate(run));
    }
    tables
}

/// A column, from one value per row.
fn column<'a, T>(
    name: &'static str,
    rows: &'a [T],
    value: impl Fn(&'a T) -> Value<'a>,
) -> (&'static str, Vec<Value<'a>>) {
    (name, rows.iter().map(value).collect())
}

fn turns(run: &Run) -> Table<'_> {
    let rows = &run.turns;
    let session = |t: &Turn| &run.sessions[t.session.at()];
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

fn sessions(run: &Run) -> Table<'_> {
    let rows = &run.sessions;
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

fn plan(run: &Run) -> Table<'_> {
    let rows = &run.plan;
    let columns = vec![
        column("session", rows, |s| Value::Text(&s.id)),
        column("kind", rows, |s| Value::Text(s.kind.word())),
        column("t_arrival", rows, |s| Value::Planned(s.t_arrival_s)),
        column("turns", rows, |s| Value::Count(Some(s.turns))),
        column("tool_s", rows, |s| {
            Value::Owned(s.tool_s.iter().map(|t| microseconds(*t)).collect::<Vec<_>>().join(";"))
        }),
    ];
    Table { name: "plan", columns }
}

/// A planned time, to the microsecond.
fn microseconds(t: f64) -> String {
    format!("{t:.6}")
}

fn engine(run: &Run) -> Table<'_> {
    let rows = &run.engine;
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

fn gate(run: &Run) -> Table<'_> {
    let rows = &run.gate;
    let session = |g: &GateEvent| g.session.map(|s| &run.sessions[s.at()]);
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

fn write_table(table: &Table<'_>, path: &Path, format: TableFormat) -> io::Result<()> {
    let file = BufWriter::new(File::create(path)?);
    match format {
        TableFormat::Csv => write_csv(table, file)?.flush(),
        TableFormat::CsvGz => {
            // mtime 0 and no name: the same run gives the same bytes.
            let packer = flate2::GzBuilder::new().write(file, flate2::Compression::default());
            write_csv(table, packer)?.finish()?.flush()
        }
        TableFormat::CsvZst => {
            let mut packer = zstd::stream::write::Encoder::new(file, 9)?;
            packer.include_checksum(true)?;
            write_csv(table, packer)?.finish()?.flush()
        }
        TableFormat::Parquet => write_parquet(table, file),
    }
}

/// A time to 0.1 ms.
fn seconds(t: f64) -> String {
    format!("{t:.4}")
}

/// Ticks of 0.1 ms, if the time is a whole number of them (as a simulated one is):
/// then it needs no detour over text to be rounded.
fn whole_ticks(t: f64) -> Option<u64> {
    let ticks = libm::floor(t * 1e4 + 0.5);
    ((0.0..1e15).contains(&ticks) && ticks / 1e4 == t).then_some(ticks as u64)
}

fn write_csv<W: Write>(table: &Table<'_>, mut out: W) -> io::Result<W> {
    let mut line = Vec::new();
    for (i, (name, _)) in table.columns.iter().enumerate() {
        push_text(&mut line, i, name);
    }
    line.push(b'\n');
    let rows = table.columns.first().map_or(0, |(_, values)| values.len());
    for row in 0..rows {
        for (i, (_, values)) in table.columns.iter().enumerate() {
            match &values[row] {
                Value::Text(text) => push_text(&mut line, i, text),
                Value::Owned(text) => push_text(&mut line, i, text),
                Value::Count(None) | Value::Seconds(None) | Value::Planned(None) => {
                    push_text(&mut line, i, "")
                }
                Value::Count(Some(count)) => {
                    push_text(&mut line, i, "");
                    push_digits(&mut line, *count, 1);
                }
                Value::Planned(Some(t)) => push_text(&mut line, i, &microseconds(*t)),
                Value::Seconds(Some(t)) => {
                    push_text(&mut line, i, "");
                    match whole_ticks(*t) {
                        Some(ticks) => {
                            push_digits(&mut line, ticks / 10_000, 1);
                            line.push(b'.');
                            push_digits(&mut line, ticks % 10_000, 4);
                        }
                        None => line.extend(seconds(*t).bytes()),
                    }
                }
            }
        }
        line.push(b'\n');
        if line.len() > 1 << 16 {
            out.write_all(&line)?;
            line.clear();
        }
    }
    out.write_all(&line)?;
    Ok(out)
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

fn write_parquet<W: Write>(table: &Table<'_>, mut out: W) -> io::Result<()> {
    let columns: Vec<Column> =
        table.columns.iter().map(|(name, values)| parquet_column(name, values)).collect();
    let mut frame = DataFrame::new_infer_height(columns).map_err(io::Error::other)?;
    ParquetWriter::new(&mut out)
        .with_compression(ParquetCompression::Zstd(None))
        .finish(&mut frame)
        .map_err(io::Error::other)?;
    out.flush()
}

fn parquet_column(name: &str, values: &[Value<'_>]) -> Column {
    let name = name.into();
    match values.first() {
        Some(Value::Count(_)) => {
            let counts: Vec<Option<u64>> =
                values.iter().map(|v| if let Value::Count(c) = v { *c } else { None }).collect();
            Column::new(name, counts)
        }
        Some(Value::Seconds(_)) => {
            let times: Vec<Option<f64>> = values
                .iter()
                .map(|v| match v {
                    Value::Seconds(Some(t)) => match whole_ticks(*t) {
                        Some(_) => Some(*t),
                        // The same rounding as in the text form.
                        None => seconds(*t).parse().ok(),
                    },
                    _ => None,
                })
                .collect();
            Column::new(name, times)
        }
        Some(Value::Planned(_)) => {
            let times: Vec<Option<f64>> = values
                .iter()
                .map(|v| match v {
                    Value::Planned(Some(t)) => microseconds(*t).parse().ok(),
                    _ => None,
                })
                .collect();
            Column::new(name, times)
        }
        _ => {
            let texts: Vec<&str> = values
                .iter()
                .map(|v| match v {
                    Value::Text(text) => text,
                    Value::Owned(text) => text.as_str(),
                    _ => "",
                })
                .collect();
            Column::new(name, texts)
        }
    }
}
