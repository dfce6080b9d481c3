//! `trapcheck numbers show`: one published number, explained.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, bail};

use crate::nearest::unknown;
use crate::numbers::ledger::{Entry, NUMBERS, TABLES};
use crate::numbers::{Manifest, SourceEntry};

use super::super::output;

/// Explains the number `id` from the manifest.
///
/// # Errors
/// No number is called so, or the bindings cannot be read.
pub fn run(id: &str, manifest: &Manifest) -> anyhow::Result<ExitCode> {
    let Some(entry) = manifest.ledger.iter().find(|entry| entry.id == id) else {
        let known: Vec<&str> = manifest.ledger.iter().map(|e| e.id.as_str()).collect();
        let parts: Vec<&str> =
            known.iter().copied().filter(|name| name.contains(id)).take(10).collect();
        if parts.len() > 1 {
            bail!("no published number {id}; there are: {}", parts.join(", "));
        }
        bail!("{} (paper/NUMBERS.md lists them)", unknown("published number", id, "", known));
    };
    output::print(&explained(entry, manifest)?)?;
    Ok(ExitCode::SUCCESS)
}

fn explained(entry: &Entry, manifest: &Manifest) -> anyhow::Result<String> {
    let mut out = output::lines([entry.id.clone(), format!("  {}", entry.statement)]);
    let unit = if entry.unit.is_empty() { String::new() } else { format!(" {}", entry.unit) };
    let ours = if entry.ours.is_empty() { "nothing" } else { &entry.ours };
    let mut line = |what: &str, text: &str| {
        if !text.is_empty() {
            out += &output::lines([format!("  {what:<14} {text}")]);
        }
    };
    line("where", &entry.place);
    line("kind", &entry.kind);
    line("published", &format!("{}{unit}", entry.published));
    line("ours", &format!("{ours}{}", if entry.ours.is_empty() { "" } else { &unit }));
    line("from", &entry.from);
    line("status", entry.status.words());
    line("apart by", &entry.gap);
    let label = match (entry.ours.is_empty(), entry.kind.as_str()) {
        (true, _) => "because",
        (false, "table") => "compared",
        (false, _) => "allowed",
    };
    line(label, &entry.because);
    if let Some(binding) = binding(entry)? {
        line("computed as", &binding);
    }
    let mut sources: Vec<&SourceEntry> = Vec::new();
    for path in &entry.computed_from {
        let hash = manifest.ledger_files.iter().find(|f| f.path == *path);
        line("from file", &named(path, hash.map_or("", |f| &f.sha256)));
        let output = manifest.outputs.iter().find(|o| o.path == *path);
        if let Some(output) = output {
            line(
                "",
                &format!(
                    "made by analysis {} from {} files",
                    output.analysis,
                    output.sources.len()
                ),
            );
            sources.extend(output.sources.iter().filter_map(|i| manifest.sources.get(*i)));
            line("again with", &format!("trapcheck derive {}", output.analysis));
        }
    }
    sources.sort();
    sources.dedup();
    for source in sources.iter().take(3) {
        line("source", &named(&source.path, &source.sha256));
    }
    if sources.len() > 3 {
        line("", &format!("and {} more (paper/numbers.json)", sources.len() - 3));
    }
    Ok(out)
}

fn named(path: &Path, sha256: &str) -> String {
    format!("{}  {}", path.display(), sha256)
}

/// The binding as it is written in the file; a table's fields are too many to show.
fn binding(entry: &Entry) -> anyhow::Result<Option<String>> {
    if entry.kind == "table" {
        return Ok(Some(format!("per field, see {TABLES}")));
    }
    let all: std::collections::BTreeMap<String, serde_yaml::Value> =
        crate::configs::yaml(Path::new(NUMBERS)).context("cannot read the bindings")?;
    let Some(value) = all.get(&entry.id) else { return Ok(None) };
    let text = serde_json::to_string(value)?;
    Ok(Some(text.replace('"', "").replace(',', ", ").replace(':', ": ")))
}
