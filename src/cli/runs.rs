//! What `score`, `verdict` and `figures` share: find run directories, measure them, say
//! what cannot be used.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::bail;

use crate::analysis::score::Unreadable;
use crate::analysis::store::{Measured, Store, find_kept};
use crate::run::{LoadOptions, Problem, find_runs_by};
use crate::setup::Configs;

use super::progress;

/// Which runs, and how they are read.
#[derive(Debug, clap::Args)]
pub struct RunArgs {
    /// Run directories, kept statistics of runs, or folders to search for them
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Folder of cells, protocols, workloads, registrations and layouts
    #[arg(long, value_name = "DIR", default_value = "configs")]
    pub configs: PathBuf,
    /// Leave out a last line that a crash cut off
    #[arg(long)]
    pub drop_cut_off: bool,
    /// Keep what is measured on each run in this folder, and use what it holds already
    #[arg(long, value_name = "DIR")]
    pub cache: Option<PathBuf>,
}

impl RunArgs {
    /// How runs are read.
    pub fn load_options(&self) -> LoadOptions {
        LoadOptions { drop_cut_off: self.drop_cut_off }
    }

    /// The same store settings for every command.
    pub fn store<'a>(&self, store: Store<'a>) -> Store<'a> {
        store.reading(self.load_options()).kept_in(self.cache.as_deref())
    }
}

/// What lies under some paths.
#[derive(Debug)]
pub struct Inputs {
    /// Run directories, sorted by path.
    pub runs: Vec<PathBuf>,
    /// Kept statistics of runs, sorted by path.
    pub kept: Vec<PathBuf>,
    /// What could not be looked at.
    pub problems: Vec<Problem>,
}

/// The runs under some paths; what could not be looked at is said at once.
///
/// # Errors
/// There is none.
pub fn find<P: AsRef<Path>>(paths: &[P], configs: &Configs) -> anyhow::Result<Inputs> {
    let found = find_runs_by(paths, &configs.layouts);
    for problem in &found.problems {
        eprintln!("problem: {problem}");
    }
    let kept = find_kept(paths);
    if found.runs.is_empty() && kept.is_empty() {
        let named: Vec<String> =
            paths.iter().map(|path| path.as_ref().display().to_string()).collect();
        bail!(
            "no run directory under {} (one holds a meta.json, or fits one of the layouts)",
            named.join(", ")
        );
    }
    Ok(Inputs { runs: found.runs, kept, problems: found.problems })
}

/// Measures runs behind a progress bar, and takes what was kept of others.
pub fn measure(store: &Store<'_>, found: &Inputs, doing: &'static str) -> Vec<Measured> {
    let bar = progress::bar(found.runs.len(), doing);
    let mut measured = store.runs(&found.runs, || bar.inc(1));
    bar.finish_and_clear();
    let dir = |m: &Measured| m.as_ref().map_or_else(|u| u.dir.clone(), |run| run.dir.clone());
    let kept = store.kept(&found.kept);
    // What is kept of a run that is here, or of one that was measured again since, is old.
    let mut current: BTreeMap<PathBuf, usize> = BTreeMap::new();
    for run in kept.iter().flatten() {
        *current.entry(run.dir.clone()).or_default() += 1;
    }
    let there: BTreeSet<&PathBuf> = found.runs.iter().collect();
    for one in kept {
        let place = dir(&one);
        if there.contains(&place) || one.is_err() && current.contains_key(&place) {
            continue;
        }
        let twice = current.get(&place).is_some_and(|count| *count > 1);
        measured.push(if twice { Err(kept_twice(&place)) } else { one });
    }
    measured.sort_by_key(dir);
    measured.dedup_by(|a, b| a.is_err() && b.is_err() && dir(a) == dir(b));
    measured
}

fn kept_twice(dir: &Path) -> Unreadable {
    let message = "several kept files are of this run as it was at different times: \
                   remove the folder and measure again";
    Unreadable { dir: dir.into(), problems: vec![Problem::new(dir, message)] }
}

/// Says on stderr what is worth knowing about runs. What is so of several of them is said
/// once, with their number, unless `all` is asked for.
pub fn tell_notes<'a>(runs: impl IntoIterator<Item = (&'a Path, &'a [Problem])>, all: bool) {
    let each = |(dir, notes): (&'a Path, &'a [Problem])| notes.iter().map(move |note| (dir, note));
    let mut alike: Vec<Vec<(&Path, &Problem)>> = Vec::new();
    let mut place_of = BTreeMap::new();
    for (dir, note) in runs.into_iter().flat_map(each) {
        let name = note.file.strip_prefix(dir).unwrap_or(&note.file);
        let place = *place_of.entry((name, &note.message)).or_insert(alike.len());
        if place == alike.len() {
            alike.push(Vec::new());
        }
        alike[place].push((dir, note));
    }
    for notes in alike {
        match notes.as_slice() {
            [(dir, note), _, ..] if !all => {
                let name = note.file.strip_prefix(dir).unwrap_or(&note.file).display().to_string();
                let of = if name.is_empty() { "" } else { " of " };
                eprintln!("note: {name}{of}{} runs: {}", notes.len(), note.message);
            }
            notes => notes.iter().for_each(|(_, note)| eprintln!("note: {note}")),
        }
    }
}

/// Says for each run that could not be used the first of its problems.
pub fn tell_unusable<'a>(
    unusable: impl Iterator<Item = (&'a Path, &'a [Problem])>,
    not_done: &str,
) {
    for (dir, problems) in unusable {
        for problem in problems.iter().take(5) {
            eprintln!("problem: {problem}");
        }
        eprintln!("{not_done}: {} (trapcheck inspect lists every problem)", dir.display());
    }
}
