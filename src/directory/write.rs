//! Writing a run directory: beside its place, then renamed into it, so that
//! nobody ever sees half a run.

use std::cell::RefCell;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use polars::prelude::{Column, DataFrame};
use polars_io::parquet::write::{ParquetCompression, ParquetWriter};
use zstd::stream::write::Encoder;
use zstd::zstd_safe::{CCtx, CParameter, ResetDirective};

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
        column("tool_s", rows, |s| Value::Owned(tool_times(&s.tool_s))),
    ];
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

/// The runs of a campaign are pinned by the bytes that this level gives.
const LEVEL: i32 = 9;

thread_local! {
    /// What zstd works in, some 20 MB: a new one for each table would be cleared each time.
    static ZSTD: RefCell<CCtx<'static>> = RefCell::new(CCtx::create());
}

fn write_zstd<W: Write>(table: &Table<'_>, out: W) -> io::Result<W> {
    let refused = |code| io::Error::other(zstd::zstd_safe::get_error_name(code));
    ZSTD.with_borrow_mut(|context| {
        // A table before this one may not have been written to its end.
        context.reset(ResetDirective::SessionOnly).map_err(refused)?;
        context.set_parameter(CParameter::CompressionLevel(LEVEL)).map_err(refused)?;
        context.set_parameter(CParameter::ChecksumFlag(true)).map_err(refused)?;
        write_csv(table, Encoder::with_context(out, context))?.finish()
    })
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
        TableFormat::CsvZst => write_zstd(table, file)?.flush(),
        TableFormat::Parquet => write_parquet(table, file),
    }
}

/// Digits of a second: 0.1 ms of what happened, and microseconds of what was planned.
const TICKS: usize = 4;
const MICROSECONDS: usize = 6;

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

/// The same as a number.
fn rounded(t: f64, decimals: usize) -> Option<f64> {
    whole(t, decimals).map_or_else(|| format!("{t:.decimals$}").parse().ok(), |_| Some(t))
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
                Value::Planned(Some(t)) => {
                    push_text(&mut line, i, "");
                    push_time(&mut line, *t, MICROSECONDS);
                }
                Value::Seconds(Some(t)) => {
                    push_text(&mut line, i, "");
                    push_time(&mut line, *t, TICKS);
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
        Some(Value::Seconds(_) | Value::Planned(_)) => {
            // The same rounding as in the text form.
            let time = |value: &Value<'_>| match value {
                Value::Seconds(t) => t.and_then(|t| rounded(t, TICKS)),
                Value::Planned(t) => t.and_then(|t| rounded(t, MICROSECONDS)),
                _ => None,
            };
            Column::new(name, values.iter().map(time).collect::<Vec<Option<f64>>>())
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

#[cfg(test)]
mod tests;
