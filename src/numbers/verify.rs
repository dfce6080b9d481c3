//! Comparing a recorded manifest with one that was just computed, and with the
//! files on disk.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use walkdir::WalkDir;

use crate::analysis::output_files::FIGURES;
use crate::analysis::theory_tables::PUBLISHED;
use crate::hash::sha256_hex;
use crate::provenance::manifest::FIGURES_PAGE;

use super::{JSON_PATH, Manifest, SourceEntry, pages};

/// The folder of tables, numbers and what was published.
const PAPER: &str = "paper";

/// What lies there and is nobody's output: what is published, and the user's own drawings
/// (`figures --from`, `figures run`), which are no part of the repository.
const ELSEWHERE: [&str; 3] = [PUBLISHED, "figures/from", "figures/runs"];

/// Everything that differs, each line naming a file or an id. Empty: all holds.
///
/// `recorded` is what the manifest says, `computed` what the sources give now;
/// files are looked up under `root`.
pub fn differences(recorded: &Manifest, computed: &Manifest, root: &Path) -> Vec<String> {
    let mut found = changed_files(recorded, root);
    found.extend(analyses(recorded, computed));
    found.extend(sources(recorded, computed));
    found.extend(values(recorded, computed));
    found.extend(outputs(recorded, computed));
    found.extend(ledger(recorded, computed));
    found.dedup();
    found
}

/// The files that the manifest rests on or names as written, and that are not there with the
/// hash that it records, each with what is the matter.
pub fn changed_files(recorded: &Manifest, root: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let configs = recorded.analyses.iter().flat_map(|a| &a.configs);
    let of_ledger = recorded.ledger_files.iter().filter(|f| !f.path.starts_with("paper/derived"));
    for source in configs.chain(&recorded.sources).chain(of_ledger) {
        found.extend(changed_file("source", source, root));
    }
    for output in &recorded.outputs {
        let entry = SourceEntry { path: output.path.clone(), sha256: output.sha256.clone() };
        found.extend(changed_file("output", &entry, root));
    }
    found
}

fn changed_file(what: &str, entry: &SourceEntry, root: &Path) -> Option<String> {
    let path = entry.path.display();
    match crate::reading::bytes(root.join(&entry.path)) {
        Err(e) => Some(format!("{what} {path}: {e}")),
        Ok(bytes) => {
            let now = sha256_hex(&bytes);
            (now != entry.sha256)
                .then(|| format!("{what} {path}: SHA-256 is {now}, recorded {}", entry.sha256))
        }
    }
}

fn analyses(recorded: &Manifest, computed: &Manifest) -> Vec<String> {
    let recorded: BTreeMap<_, _> = recorded.analyses.iter().map(|a| (&a.name, a)).collect();
    let computed: BTreeMap<_, _> = computed.analyses.iter().map(|a| (&a.name, a)).collect();
    let mut found = Vec::new();
    for (name, now) in &computed {
        match recorded.get(name) {
            None => found.push(format!("analysis {name}: not in the manifest")),
            Some(was) => {
                let new = now.not_used.iter().filter(|why| !was.not_used.contains(why));
                found.extend(new.map(|why| format!("run cannot be used: {why}")));
            }
        }
    }
    let gone = recorded.keys().filter(|name| !computed.contains_key(*name));
    found.extend(gone.map(|name| format!("analysis {name}: in the manifest, no longer declared")));
    found
}

fn sources(recorded: &Manifest, computed: &Manifest) -> Vec<String> {
    let known: BTreeMap<_, _> = recorded.sources.iter().map(|s| (&s.path, ())).collect();
    let new = computed.sources.iter().filter(|s| !known.contains_key(&s.path));
    new.map(|s| format!("source {}: not in the manifest", s.path.display())).collect()
}

fn values(recorded: &Manifest, computed: &Manifest) -> Vec<String> {
    let by_id = |manifest: &Manifest| -> BTreeMap<String, (String, String)> {
        let mut values = BTreeMap::new();
        for table in &manifest.tables {
            for row in &table.rows {
                for ((column, unit), value) in table.columns.iter().zip(&row.values) {
                    if !value.is_empty() {
                        let id = format!("{}.{}.{column}", table.name, row.row);
                        values.insert(id, (value.clone(), unit.clone()));
                    }
                }
            }
        }
        values
    };
    let (was, now) = (by_id(recorded), by_id(computed));
    let mut found = Vec::new();
    for (id, (value, unit)) in &was {
        match now.get(id) {
            None => found.push(format!("value {id}: recorded {value} {unit}, no longer computed")),
            Some((v, u)) if (v, u) != (value, unit) => {
                found.push(format!("value {id}: computed {v} {u}, recorded {value} {unit}"));
            }
            Some(_) => {}
        }
    }
    let new = now.iter().filter(|(id, _)| !was.contains_key(*id));
    found.extend(
        new.map(|(id, (v, u))| format!("value {id}: computed {v} {u}, not in the manifest")),
    );
    found.into_iter().map(|line| line.replace("  ", " ").replace(" ,", ",")).collect()
}

fn outputs(recorded: &Manifest, computed: &Manifest) -> Vec<String> {
    let was: BTreeMap<_, _> = recorded.outputs.iter().map(|o| (&o.path, &o.sha256)).collect();
    computed
        .outputs
        .iter()
        .filter_map(|output| {
            let path = output.path.display();
            match was.get(&output.path) {
                None => Some(format!("output {path}: not in the manifest")),
                Some(hash) if **hash != output.sha256 => {
                    Some(format!("output {path}: computed {}, recorded {hash}", output.sha256))
                }
                Some(_) => None,
            }
        })
        .collect()
}

fn ledger(recorded: &Manifest, computed: &Manifest) -> Vec<String> {
    let was: BTreeMap<_, _> = recorded.ledger.iter().map(|e| (&e.id, e)).collect();
    let now: BTreeMap<_, _> = computed.ledger.iter().map(|e| (&e.id, e)).collect();
    let mut found = Vec::new();
    for (id, entry) in &was {
        match now.get(id) {
            None => found.push(format!("number {id}: in the manifest, no longer published")),
            Some(n) if n != entry => {
                let say = |e: &super::Entry| format!("{} ({})", e.ours, e.status.words());
                found.push(format!("number {id}: computed {}, recorded {}", say(n), say(entry)));
            }
            Some(_) => {}
        }
    }
    let new = now.keys().filter(|id| !was.contains_key(*id));
    found.extend(new.map(|id| format!("number {id}: not in the manifest")));
    found
}

/// Files among the figures and the paper's tables and numbers that nothing makes. What is
/// published, and the figures' page, are held to their hashes by the data's manifest.
pub fn unclaimed(computed: &Manifest, root: &Path) -> Vec<String> {
    let pages = pages(computed);
    let mut made: BTreeSet<_> = computed.outputs.iter().map(|o| o.path.as_path()).collect();
    made.extend([JSON_PATH, FIGURES_PAGE].map(Path::new));
    made.extend(pages.iter().map(|(path, _)| path.as_path()));
    let folders = [FIGURES, PAPER].into_iter();
    folders
        .flat_map(|folder| WalkDir::new(root.join(folder)).sort_by_file_name())
        .flatten()
        .filter(|entry| !entry.file_type().is_dir())
        .filter_map(|entry| entry.path().strip_prefix(root).ok().map(Path::to_owned))
        .filter(|path| !ELSEWHERE.iter().any(|folder| path.starts_with(folder)))
        .filter(|path| !made.contains(path.as_path()))
        .map(|path| format!("{}: not made by anything here", path.display()))
        .collect()
}
