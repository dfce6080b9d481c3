//! What `score`, `verdict` and `figures` share: find run directories, measure them, say
//! what cannot be used.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::bail;

use trapcheck::analysis::store::{Measured, Store, Trust, find_kept};
use trapcheck::directory::{LoadOptions, find_runs_by};
use trapcheck::escape::shown;
use trapcheck::judged::Unreadable;
use trapcheck::run::Problem;
use trapcheck::setup::Configs;

use super::progress;

/// Problems of one file that are printed.
const MOST_SHOWN: usize = 10;

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
    tell_trust(store.trust());
    measured.sort_by_key(dir);
    measured.dedup_by(|a, b| a.is_err() && b.is_err() && dir(a) == dir(b));
    measured
}

/// Says of which runs the statistics were taken as kept, and which kept files were not taken.
pub fn tell_trust(trust: Trust) {
    let Trust { same_inputs, not_here, refused } = trust;
    for (file, why) in refused {
        eprintln!("problem: {}: {why}; it was measured again", file.display());
    }
    let of = |runs: &BTreeSet<PathBuf>| {
        let first = runs.first().map(|dir| dir.display().to_string()).unwrap_or_default();
        match runs.len() {
            1 => format!("1 run ({first})"),
            n => format!("{n} runs ({first} and others)"),
        }
    };
    if !same_inputs.is_empty() {
        eprintln!(
            "note: the statistics of {} were kept, not recomputed; what they were measured from has not changed",
            of(&same_inputs)
        );
    }
    if !not_here.is_empty() {
        eprintln!(
            "note: the statistics of {} are trusted as they were kept, not recomputed: the runs are not here to compare with",
            of(&not_here)
        );
    }
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
    let notes: Vec<(&Path, &Problem)> = runs.into_iter().flat_map(each).collect();
    if all {
        tell(&notes.iter().map(|(_, note)| (*note).clone()).collect::<Vec<_>>(), "note", all);
    } else {
        tell(&said_once(&notes), "note", all);
    }
}

/// Notes in the order in which they first come. One that several runs share, but for its
/// numbers, names its file within them, how many they are, and its numbers as ranges.
fn said_once(notes: &[(&Path, &Problem)]) -> Vec<Problem> {
    let mut groups: Vec<Vec<(&Path, &Problem)>> = Vec::new();
    let mut place_of = BTreeMap::new();
    for (dir, note) in notes {
        let file = note.file.strip_prefix(dir).unwrap_or(&note.file);
        let words: Vec<&str> = parts(&note.message).filter(|part| !is_number(part)).collect();
        let place = *place_of.entry((file, &note.column, words)).or_insert(groups.len());
        if place == groups.len() {
            groups.push(Vec::new());
        }
        groups[place].push((*dir, *note));
    }
    groups.iter().flat_map(|group| of_one_or_several(group)).collect()
}

fn of_one_or_several(group: &[(&Path, &Problem)]) -> Vec<Problem> {
    let runs = group.iter().map(|(dir, _)| dir).collect::<BTreeSet<_>>().len();
    match group {
        [(dir, first), ..] if runs > 1 => {
            let name = first.file.strip_prefix(dir).unwrap_or(&first.file).display().to_string();
            let of = if name.is_empty() { "" } else { " of " };
            let file = PathBuf::from(format!("{name}{of}{runs} runs"));
            let message = with_ranges(group.iter().map(|(_, note)| note.message.as_str()));
            vec![Problem { file, line: None, message, ..(*first).clone() }]
        }
        _ => group.iter().map(|(_, note)| (*note).clone()).collect(),
    }
}

/// The numbers of a message and what is between them, in turn.
fn parts(message: &str) -> impl Iterator<Item = &str> {
    let digits = |c: char| c.is_ascii_digit() || c == '.';
    let mut rest = message;
    std::iter::from_fn(move || {
        let number = rest.starts_with(digits);
        let end = rest.find(|c| digits(c) != number).unwrap_or(rest.len());
        let (part, after) = rest.split_at(end);
        rest = after;
        Some(part).filter(|part| !part.is_empty())
    })
}

fn is_number(part: &str) -> bool {
    part.parse::<f64>().is_ok_and(f64::is_finite)
}

/// Messages that differ in their numbers alone, as one.
fn with_ranges<'a>(messages: impl Iterator<Item = &'a str>) -> String {
    let of_all: Vec<Vec<&str>> = messages.map(|message| parts(message).collect()).collect();
    let range = |i: usize| {
        let value = |part: &&str| part.parse::<f64>().unwrap_or_default();
        let mut each: Vec<&str> = of_all.iter().filter_map(|parts| parts.get(i).copied()).collect();
        each.sort_by(|a, b| value(a).total_cmp(&value(b)).then_with(|| a.cmp(b)));
        match (each.first(), each.last()) {
            (Some(low), Some(high)) if low != high => format!("{low} to {high}"),
            (low, _) => low.copied().unwrap_or_default().to_owned(),
        }
    };
    (0..of_all.first().map_or(0, Vec::len)).map(range).collect()
}

/// Problems on stderr, file by file, the first few of each unless `all` is asked for.
pub fn tell(problems: &[Problem], word: &str, all: bool) {
    for of_file in problems.chunk_by(|a, b| a.file == b.file) {
        let shown = if all { of_file.len() } else { of_file.len().min(MOST_SHOWN) };
        let (listed, more) = of_file.split_at(shown);
        listed.iter().for_each(|problem| eprintln!("{word}: {problem}"));
        if let Some(first) = more.first() {
            let count = Problem::count(more);
            eprintln!("{word}: {}: and {count} more; --all lists them", first.file.display());
        }
    }
}

/// The last two folders of a run's path.
pub fn short_name(dir: &Path) -> String {
    let parts: Vec<_> = dir.components().rev().take(2).collect();
    parts.iter().rev().map(|p| shown(p.as_ref())).collect::<Vec<_>>().join("/")
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

#[cfg(test)]
mod tests {
    use super::*;

    fn note(file: &str, message: &str) -> Problem {
        Problem::at(Path::new(file), 3, "t", message).as_note()
    }

    #[test]
    fn a_note_that_several_runs_share_is_said_once_with_their_number() {
        let (a, b, c) = (Path::new("r/a"), Path::new("r/b"), Path::new("r/c"));
        let of_table = ["r/a/engine.csv", "r/b/engine.csv"].map(|file| note(file, "falls"));
        let of_run = Problem::new(b, "has no plan").as_note();
        let same = Problem::new(c, "has no plan").as_note();
        let own = [note("r/c/engine.csv", "rises"), note("r/c/engine.csv", "rises")];
        let notes = [
            (a, &of_table[0]),
            (b, &of_table[1]),
            (b, &of_run),
            (c, &own[0]),
            (c, &own[1]),
            (c, &same),
        ];
        let said: Vec<String> = said_once(&notes).iter().map(ToString::to_string).collect();
        let expected = [
            "engine.csv of 2 runs: t: falls",
            "2 runs: has no plan",
            "r/c/engine.csv:3: t: rises",
            "r/c/engine.csv:3: t: rises",
        ];
        assert_eq!(said, expected);
    }

    #[test]
    fn notes_that_differ_in_their_numbers_alone_are_said_once_with_their_ranges() {
        let dirs: Vec<PathBuf> = (0..3).map(|i| PathBuf::from(format!("r/{i}"))).collect();
        let notes: Vec<Problem> = [("9", "5.5"), ("10", "5.5"), ("2", "5.5")]
            .iter()
            .zip(&dirs)
            .map(|((turns, s), dir)| Problem::new(dir, format!("{turns} turns of {s} s.")))
            .collect();
        let each: Vec<_> = dirs.iter().map(PathBuf::as_path).zip(&notes).collect();
        let said: Vec<String> = said_once(&each).iter().map(ToString::to_string).collect();
        assert_eq!(said, ["3 runs: 2 to 10 turns of 5.5 s."]);
    }
}
