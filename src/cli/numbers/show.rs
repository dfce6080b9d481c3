//! `trapcheck numbers show`: one published number, explained.

use std::process::ExitCode;

use anyhow::bail;

use trapcheck::nearest::unknown;
use trapcheck::numbers::ledger::answers;
use trapcheck::numbers::ledger::predictive::Direction;
use trapcheck::numbers::ledger::{Entry, Interval, Status};
use trapcheck::numbers::{Manifest, SourceEntry};

use super::super::output;

/// How many source files are named.
const SOURCES: usize = 3;

/// Explains the number `id` from the manifest.
///
/// # Errors
/// No number is called so.
pub fn run(id: &str, manifest: &Manifest) -> anyhow::Result<ExitCode> {
    let Some(entry) = manifest.ledger.iter().find(|entry| entry.id == id) else {
        let known: Vec<&str> = manifest.ledger.iter().map(|e| e.id.as_str()).collect();
        let parts: Vec<&str> =
            known.iter().copied().filter(|name| name.contains(id)).take(10).collect();
        if parts.len() > 1 {
            bail!("no published number {id}; there are: {}", parts.join(", "));
        }
        bail!(
            "{} (trapcheck numbers list has them all)",
            unknown("published number", id, "", known)
        );
    };
    output::print(&explained(entry, manifest))?;
    Ok(ExitCode::SUCCESS)
}

fn explained(entry: &Entry, manifest: &Manifest) -> String {
    let mut out = output::lines([entry.id.clone(), format!("  {}", entry.statement)]);
    let mut line = |what: &str, text: &str| {
        if !text.is_empty() {
            out += &output::lines([format!("  {what:<12} {text}")]);
        }
    };
    let with_unit = |value: &str| format!("{value} {}", entry.unit).trim_end().to_owned();
    line("stands in", &entry.place);
    line("kind", &entry.kind);
    if entry.kind == "table" {
        // A field per line: a row has many.
        fields(&mut line, "published", &entry.published);
        fields(&mut line, "ours", if entry.ours.is_empty() { "nothing" } else { &entry.ours });
    } else {
        line("published", &with_unit(&entry.published));
        let ours = if entry.ours.is_empty() { "nothing".into() } else { with_unit(&entry.ours) };
        line("ours", &ours);
    }
    line("rests on", &answers::in_words(&entry.basis));
    line("status", entry.status.words());
    if entry.status == Status::Differs {
        line("differs", &way(entry));
        let cause = entry.cause.as_ref();
        let cause = cause.map(|cause| format!("{}: {}", cause.kind.word(), cause.because));
        line("cause", cause.as_deref().unwrap_or("not known"));
        line("checked", entry.cause.as_ref().map_or("", |cause| &cause.checked));
    }
    for (i, interval) in entry.intervals.iter().enumerate() {
        line(if i == 0 { "interval" } else { "" }, &in_words(interval));
    }
    line("remark", &entry.because);
    for (i, text) in entry.query.lines().enumerate() {
        line(if i == 0 { "query" } else { "" }, text);
    }
    for (i, (table, rows, of)) in entry.read.iter().enumerate() {
        line(if i == 0 { "rows used" } else { "" }, &format!("{rows} of {of} of {table}"));
    }
    sources(&mut line, entry, manifest);
    out
}

/// The files behind it: derived tables with the analyses that make them, settings, runs.
fn sources(line: &mut impl FnMut(&str, &str), entry: &Entry, manifest: &Manifest) {
    let mut sources: Vec<&SourceEntry> = Vec::new();
    for path in &entry.computed_from {
        let file = path.display();
        let Some(output) = manifest.outputs.iter().find(|o| o.path == *path) else {
            line("from", &file.to_string());
            continue;
        };
        let (analysis, files) = (&output.analysis, output.sources.len());
        line("from", &format!("{file}, by trapcheck derive {analysis} from {files} files"));
        sources.extend(output.sources.iter().filter_map(|i| manifest.sources.get(*i)));
    }
    sources.sort();
    sources.dedup();
    for source in sources.iter().take(SOURCES) {
        line("source", &source.path.display().to_string());
    }
    if sources.len() > SOURCES {
        line("", &format!("and {} more (paper/numbers.json)", sources.len() - SOURCES));
    }
}

fn fields(line: &mut impl FnMut(&str, &str), what: &str, text: &str) {
    for (i, field) in text.split("; ").enumerate() {
        line(if i == 0 { what } else { "" }, field);
    }
}

fn way(entry: &Entry) -> String {
    match entry.direction {
        None => entry.gap.clone(),
        Some(direction) if entry.gap.is_empty() => direction.to_string(),
        Some(direction) => format!("{direction}: {}", entry.gap),
    }
}

/// `low end: 459 against 240 to 350 (median 301, 40 draws below it, width 0.24 of it): ours below`.
fn in_words(interval: &Interval) -> String {
    let Interval { what, published, low, high, median, rank, width, outside } = interval;
    let width = width.map_or_else(String::new, |width| format!(", width {width} of it"));
    let rank = rank.map_or_else(String::new, |rank| format!(", {rank} draws below"));
    let outside = outside.map_or("inside", Direction::words);
    format!("{what}: {published} against {low} to {high} (median {median}{rank}{width}): {outside}")
}
