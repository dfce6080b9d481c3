//! The derived tables of a page, as they lie in the project: a line of each, and its rows.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Value, json};

use crate::analysis::output_files::DERIVED;
use crate::hash::sha256_hex;
use crate::numbers::Manifest;

use super::Judged;

/// The list of tables, `None` of none, and the file of each by its path below `data/`. A table
/// that is not there, or is no csv, is left out: the ledger names it as changed.
pub fn tables(manifest: &Manifest, groups: &[Judged<'_>]) -> (Option<Value>, Vec<(String, Value)>) {
    let (mut list, mut files) = (Vec::new(), Vec::new());
    for output in &manifest.outputs {
        let is_csv = output.path.extension().is_some_and(|e| e == "csv");
        let Some(name) = output.path.file_stem().and_then(|name| name.to_str()) else { continue };
        if !is_csv || !output.path.starts_with(DERIVED) {
            continue;
        }
        let Ok(bytes) = crate::reading::bytes(&output.path) else { continue };
        let Some((columns, rows)) = read(&bytes) else { continue };
        let recorded = manifest.tables.iter().find(|table| table.name == name);
        let unit = |column: &str| {
            let known = recorded.into_iter().flat_map(|table| &table.columns);
            known.filter(|(own, _)| own == column).map(|(_, unit)| unit.as_str()).next()
        };
        let columns: Vec<Value> = columns
            .iter()
            .map(|column| json!({"name": column, "unit": unit(column).unwrap_or_default()}))
            .collect();
        let file = format!("tables/{name}.json");
        let line = json!({
            "name": name,
            "title": title(&output.path).unwrap_or_else(|| name.replace('_', " ")),
            "analysis": output.analysis,
            "sources": sources(&output.analysis, groups),
            "rows": rows.len(),
            "path": output.path.display().to_string(),
            "sha256": sha256_hex(&bytes),
            "file": file,
        });
        list.push(line.clone());
        let mut whole = line;
        whole["columns"] = columns.into();
        whole["rows"] = rows.into();
        files.push((file, whole));
    }
    ((!list.is_empty()).then(|| json!({"tables": list})), files)
}

/// Where the runs of an analysis come from; none of one without runs.
fn sources(analysis: &str, groups: &[Judged<'_>]) -> BTreeSet<&'static str> {
    let of_it = groups.iter().filter(|group| group.name == analysis);
    of_it.flat_map(|group| &group.scoring.runs).map(|run| run.meta.source.word()).collect()
}

/// The names of a csv's columns, and its rows.
fn read(bytes: &[u8]) -> Option<(Vec<String>, Vec<Vec<String>>)> {
    let mut reader = csv::Reader::from_reader(bytes);
    let words = |record: &csv::StringRecord| record.iter().map(str::to_owned).collect();
    let columns = words(reader.headers().ok()?);
    let rows: Result<_, _> = reader.records().map(|record| record.map(|r| words(&r))).collect();
    Some((columns, rows.ok()?))
}

/// What a table is called: the first line of its Markdown, where it has one.
fn title(csv: &Path) -> Option<String> {
    let text = crate::reading::text(csv.with_extension("md")).ok()?;
    let line = text.lines().next()?.strip_prefix("**")?.strip_suffix("**")?;
    Some(line.to_owned())
}
