//! Finding run directories under a path.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::shape::{fits, is_unclosed};
use crate::reading;
use crate::run::{META, Problem, STARTED};
use crate::setup::layout::Layout;

/// What lies under a path.
#[derive(Debug, Default)]
pub struct Found {
    /// Run directories, sorted by path.
    pub runs: Vec<PathBuf>,
    /// Places that could not be read, and directories that hold a run's tables
    /// but no `meta.json` nor what a layout needs.
    pub problems: Vec<Problem>,
}

/// Finds every directory that holds a `meta.json`, or is not closed by one yet, under the given paths, in
/// order of path, each once. A path may itself be a run directory. Folders whose name
/// begins with a dot or ends in `.tmp` are not searched, here as by every command.
pub fn find_runs<P: AsRef<Path>>(paths: &[P]) -> Found {
    find_runs_by(paths, &[])
}

/// The same, and every directory that fits one of the layouts.
pub fn find_runs_by<P: AsRef<Path>>(paths: &[P], layouts: &[Arc<Layout>]) -> Found {
    let mut found = Found::default();
    for path in paths {
        look_under(path.as_ref(), layouts, &mut found);
    }
    found.runs.sort();
    // A run reached again through a link is still one run.
    let mut seen = BTreeSet::new();
    found.runs.retain(|dir| seen.insert(dir.canonicalize().unwrap_or_else(|_| dir.clone())));
    refuse_names_without_text(&mut found);
    found.problems.sort();
    found.problems.dedup();
    found
}

/// A run is known by its path in every output, and an output is UTF-8.
fn refuse_names_without_text(found: &mut Found) {
    let is_text = |dir: &PathBuf| dir.to_str().is_some();
    let message = "its name is not UTF-8, so no output could say which run it is: rename it";
    let nameless = found.runs.iter().filter(|dir| !is_text(dir));
    found.problems.extend(nameless.map(|dir| Problem::new(dir, message)));
    found.runs.retain(is_text);
}

fn look_under(path: &Path, layouts: &[Arc<Layout>], found: &mut Found) {
    let mut orphans: Vec<PathBuf> = Vec::new();
    let before = found.runs.len();
    // Neither hidden folders nor runs that are being written, whatever ended their writer.
    for entry in reading::walk(path) {
        match entry {
            // A meta.json that is a pipe or a device is a run's all the same, and named there.
            Ok(entry) if !entry.file_type().is_dir() => {
                let Some(parent) = entry.path().parent() else { continue };
                match entry.file_name().to_str() {
                    Some(META) => found.runs.push(parent.into()),
                    Some(STARTED) if is_unclosed(parent) => found.runs.push(parent.into()),
                    Some(name) if layouts.iter().any(|l| l.metadata == name && fits(parent, l)) => {
                        found.runs.push(parent.into());
                    }
                    Some(name) if name.starts_with("turns.") => orphans.push(parent.into()),
                    _ => {}
                }
            }
            Ok(_) => {}
            Err(e) => {
                let place = e.path().unwrap_or(path).to_owned();
                let why = e.io_error().map_or_else(|| e.to_string(), ToString::to_string);
                found.problems.push(Problem::new(&place, format!("cannot look here: {why}")));
            }
        }
    }
    let runs = &found.runs[before..];
    orphans.retain(|dir| !runs.contains(dir));
    for dir in orphans {
        found.problems.push(Problem::new(&dir, "has a turns table but no meta.json"));
    }
}
