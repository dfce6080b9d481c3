//! The ledger of a page: every published number in a line, each section's in full, and the
//! files that each derived table was made from. All of it is `paper/numbers.json`, as
//! `trapcheck numbers list` and `show` print it.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Map, Value, json};

use crate::analysis::output_files::DERIVED;
use crate::numbers::ledger::answers::in_words;
use crate::numbers::ledger::bindings::stem;
use crate::numbers::ledger::{Entry, Status};
use crate::numbers::markdown::section::intervals;
use crate::numbers::markdown::sections as in_order;
use crate::numbers::{JSON_PATH, Manifest, SourceEntry};

use super::{LedgerFile, PageError};

/// Every number in a line.
pub fn rows(file: &LedgerFile, differences: &[String]) -> Value {
    let ledger = &file.manifest.ledger;
    let count = |of: &dyn Fn(&Entry) -> bool| ledger.iter().filter(|entry| of(entry)).count();
    let status = |status: Status| json!({"status": status.words(), "entries": count(&|entry: &Entry| entry.status == status)});
    let section = |section: &str| {
        json!({
            "section": section,
            "file": path_of(section),
            "entries": count(&|entry: &Entry| entry.section == section),
        })
    };
    let row = |entry: &Entry| {
        let (interval, rank) = intervals(entry);
        json!({
            "id": entry.id,
            "section": entry.section,
            "place": entry.place,
            "statement": entry.statement,
            "kind": entry.kind,
            "unit": entry.unit,
            "published": entry.published,
            "ours": entry.ours,
            "interval": interval,
            "rank": rank,
            "status": entry.status.words(),
            "cause": entry.cause.as_ref().map(|cause| cause.kind.word()),
            "because": entry.because,
            "basis": in_words(&entry.basis),
        })
    };
    json!({
        "of": {"path": JSON_PATH, "sha256": file.sha256},
        "current": differences.is_empty(),
        "differences": differences,
        "statuses": Status::ALL.map(status),
        "sections": in_order(ledger).into_iter().map(section).collect::<Vec<_>>(),
        "rows": ledger.iter().map(row).collect::<Vec<_>>(),
    })
}

fn path_of(section: &str) -> String {
    format!("ledger/{}.json", stem(section))
}

/// A file per section, by its path below `data/`, with everything that the ledger says.
///
/// # Errors
/// An entry that JSON cannot hold.
pub fn sections(manifest: &Manifest) -> Result<Vec<(String, Value)>, PageError> {
    let hashes: BTreeMap<&Path, &str> = manifest
        .ledger_files
        .iter()
        .map(|file| (file.path.as_path(), file.sha256.as_str()))
        .collect();
    let mut files = Vec::new();
    for section in in_order(&manifest.ledger) {
        let mut entries = Map::new();
        for entry in manifest.ledger.iter().filter(|entry| entry.section == section) {
            let mut said = serde_json::to_value(entry)?;
            let from = entry.computed_from.iter();
            said["files"] = from
                .map(|path| {
                    let sha256 = hashes.get(path.as_path());
                    json!({"path": path.display().to_string(), "sha256": sha256})
                })
                .collect();
            said["tables"] = entry.computed_from.iter().filter_map(|path| table_of(path)).collect();
            said["command"] = format!("trapcheck numbers show {}", entry.id).into();
            if let Value::Object(keys) = &mut said {
                // `files` has them with their hashes.
                keys.remove("computed_from");
            }
            entries.insert(entry.id.clone(), said);
        }
        files.push((path_of(section), json!({"section": section, "entries": entries})));
    }
    Ok(files)
}

/// The derived table that a file is of.
fn table_of(path: &Path) -> Option<Value> {
    let is_table = path.starts_with(DERIVED) && path.extension().is_some_and(|e| e == "csv");
    path.file_stem().filter(|_| is_table)?.to_str().map(Value::from)
}

/// Which files each derived table was made from.
pub fn sources(manifest: &Manifest) -> Value {
    let pair = |file: &SourceEntry| json!([file.path.display().to_string(), file.sha256]);
    let rows: BTreeMap<&str, usize> =
        manifest.tables.iter().map(|table| (table.name.as_str(), table.rows.len())).collect();
    let mut tables = Map::new();
    for output in &manifest.outputs {
        let Some(Value::String(name)) = table_of(&output.path) else { continue };
        let table = json!({
            "path": output.path.display().to_string(),
            "sha256": output.sha256,
            "analysis": output.analysis,
            "rows": rows.get(name.as_str()),
            "files": output.sources,
        });
        tables.insert(name, table);
    }
    json!({"files": manifest.sources.iter().map(pair).collect::<Vec<_>>(), "tables": tables})
}
