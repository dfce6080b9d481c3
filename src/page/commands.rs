//! The command lines that print what a page shows of runs: of runs in folders these alone, of
//! runs that were simulated for the page after the campaign that makes them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::analysis::store::SIMULATED;
use crate::judged::statistics::RunStatistics;
use crate::slurm::quoted;

/// Where a command makes runs that lie nowhere yet.
const MADE: &str = "made";

/// How a command line comes by a run.
enum Place<'a> {
    Here(&'a Path),
    /// A campaign makes it: its file, the run's name, its place below the campaign's folder.
    Made(&'a Path, &'a str, &'a Path),
}

/// `None` of a run of which only statistics are kept.
fn place(run: &RunStatistics) -> Option<Place<'_>> {
    if run.sources.iter().any(|file| file.path.starts_with(&run.dir)) {
        return Some(Place::Here(&run.dir));
    }
    let below = run.dir.strip_prefix(SIMULATED).ok()?;
    let campaign = run.sources.first()?;
    Some(Place::Made(&campaign.path, below.file_name()?.to_str()?, below))
}

/// What judges these runs and no others: `trapcheck WORDS RUN...`. `None` where a run can
/// neither be read nor made.
pub(crate) fn of_each<'a>(
    words: &str,
    runs: impl IntoIterator<Item = &'a RunStatistics>,
) -> Option<String> {
    line(words, MADE, runs, Path::to_owned)
}

/// The same with folders in place of runs: of `all` that a project has, one that holds none but of
/// `group` stands for those in it. A page that is of some runs alone does not know what else lies
/// beside them. What is simulated is made in the folder `made/MADE`, all of which is asked about.
pub(crate) fn of_group<'a>(
    words: &str,
    made: &str,
    runs: impl IntoIterator<Item = &'a RunStatistics>,
    group: &BTreeSet<&Path>,
    all: Option<&BTreeSet<&Path>>,
) -> Option<String> {
    let is_free = |folder: &Path| {
        let is_alone = |all: &BTreeSet<&Path>| {
            let mut within = all.iter().filter(|dir| dir.starts_with(folder));
            within.all(|dir| group.contains(dir))
        };
        !folder.as_os_str().is_empty() && all.is_some_and(is_alone)
    };
    // A run lies in a folder of its arm, and this in one of its batch.
    let folder = |run: &Path| {
        let above = run.ancestors().skip(1).take(2).take_while(|folder| is_free(folder));
        above.last().unwrap_or(run).to_owned()
    };
    line(words, &format!("{MADE}/{made}"), runs, folder)
}

fn line<'a>(
    words: &str,
    made: &str,
    runs: impl IntoIterator<Item = &'a RunStatistics>,
    folder: impl Fn(&Path) -> PathBuf,
) -> Option<String> {
    let mut campaigns: BTreeMap<&Path, Vec<&str>> = BTreeMap::new();
    let (mut paths, mut single) = (BTreeSet::new(), None);
    for run in runs {
        match place(run)? {
            Place::Here(dir) => _ = paths.insert(folder(dir)),
            Place::Made(campaign, name, below) => {
                campaigns.entry(campaign).or_default().push(name);
                single = Some(below);
            }
        }
    }
    let made_of = campaigns.values().map(Vec::len).sum::<usize>();
    let out = Path::new(made);
    match single.filter(|_| made_of == 1) {
        Some(below) => _ = paths.insert(out.join(below)),
        None if made_of > 1 => _ = paths.insert(out.to_owned()),
        None => {}
    }
    let makes = campaigns.iter().map(|(file, names)| {
        let names: String = names.iter().map(|name| format!(" --run {}", quoted(name))).collect();
        let file = quoted(&file.display().to_string());
        format!("trapcheck campaign {file}{names} --out {} && ", quoted(made))
    });
    let makes: String = makes.collect();
    let paths: String =
        paths.iter().map(|path| format!(" {}", quoted(&path.display().to_string()))).collect();
    (!paths.is_empty()).then(|| format!("{makes}trapcheck {words}{paths}"))
}
