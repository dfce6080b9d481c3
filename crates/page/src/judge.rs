//! Dropped files, judged: run directories as `trapcheck score` does, all else as `trapcheck
//! diagnose` does.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use trapcheck_answers::built_in;
use trapcheck_answers::observed::{Known, as_text, format_named, found, parts};
use trapcheck_answers::score;
use trapcheck_answers::services::{ReadFile, Service, is_known, read_stream, together, usable};
use trapcheck_observed::answer::Thresholds;
use trapcheck_observed::form::Observed;
use trapcheck_observed::format::Format;
use trapcheck_runs::configs::Configs;
use trapcheck_runs::judged::statistics::{RunStatistics, Unreadable};
use trapcheck_runs::run::load::{LoadOptions, load_files};
use trapcheck_setup::packing::Packing;

use crate::Refused;
use crate::command::{KNOWN, flags, quoted};
use crate::dropped::{Dropped, Source, files, paths};
use crate::engines::{engine, waiting};
use crate::judged::Measured;
use crate::judged::score::{Scoring, score as score_of};
use crate::judged::verdict::Verdict;
use crate::question::Question;
use crate::reply::Reply;
use crate::run_files::{NO_ZSTD, RunFiles, run_folders};

/// The queue of a run over time, by its directory.
type Waiting = (PathBuf, Vec<(f64, Option<f64>)>);

/// Runs that were scored together.
pub struct Judged<'a> {
    /// How they came out.
    pub scoring: Scoring,
    verdicts: Result<Vec<Verdict>, Refused>,
    waiting: Vec<Waiting>,
    configs: &'a Configs,
}

impl<'a> Judged<'a> {
    /// Scores measured runs, in order of path.
    pub fn of(mut measured: Vec<Measured>, waiting: Vec<Waiting>, configs: &'a Configs) -> Self {
        measured.sort_by_key(|m| m.as_ref().map_or_else(|u| u.dir.clone(), |run| run.dir.clone()));
        let scoring = score_of(measured, configs, None);
        let verdicts = scoring.paired(configs).map_err(Refused::from);
        Self { scoring, verdicts, waiting, configs }
    }

    /// What `trapcheck score` prints, and each run over time.
    ///
    /// # Errors
    /// A verdict that cannot be made.
    pub fn reply(&self) -> Result<Reply, Refused> {
        let verdicts = self.verdicts.as_ref().map_err(Clone::clone)?;
        let tables = score::tables(&self.scoring, verdicts);
        let parts = score::parts(&self.scoring, &tables, Value::Null);
        let notes = self.scoring.runs.iter().flat_map(|run| &run.notes);
        let notes: Vec<String> = notes.map(ToString::to_string).collect();
        let reply = Reply::of("score", parts).printed(&tables);
        Ok(reply.with("engines", self.engines()).with("notes", notes))
    }

    fn engines(&self) -> Vec<Value> {
        let of = |(dir, waiting): &Waiting| {
            let run = self.scoring.runs.iter().find(|run| run.dir == *dir)?;
            Some(engine(run, self.configs, waiting))
        };
        self.waiting.iter().filter_map(of).collect()
    }
}

/// Answers `judge`.
///
/// # Errors
/// Files that cannot be used, in the command line's words.
pub fn judge(question: &Question, bytes: Source<'_>, configs: &Configs) -> Result<Reply, Refused> {
    let dropped = files(question, bytes)?;
    let folders = run_folders(&dropped);
    let reply = if folders.is_empty() {
        no_orphans(&dropped)?;
        observed(question, dropped, configs)?.with("what", "observed")
    } else {
        runs(&folders, &dropped, configs)?.with("what", "runs")
    };
    Ok(reply.command(command(question)?))
}

/// The command line that judges the same files.
///
/// # Errors
/// A name that is none.
pub fn command(question: &Question) -> Result<String, Refused> {
    let paths = paths(question)?;
    let named: Vec<Dropped> =
        paths.into_iter().map(|path| Dropped { path, bytes: Vec::new(), size: 0 }).collect();
    let folders = run_folders(&named);
    let words = |paths: Vec<&Path>| {
        let words = paths.iter().map(|path| quoted(&path.display().to_string()));
        words.collect::<Vec<_>>().join(" ")
    };
    if !folders.is_empty() {
        return Ok(format!("trapcheck score {}", words(folders)));
    }
    let mut given: Vec<&Path> = named.iter().map(|file| outermost(&file.path)).collect();
    given.dedup();
    let known = flags(question, KNOWN.iter().copied());
    Ok(format!("trapcheck diagnose{known} {}", words(given)))
}

fn runs(folders: &[&Path], dropped: &[Dropped], configs: &Configs) -> Result<Reply, Refused> {
    let mut measured: Vec<Measured> = Vec::new();
    let mut queues = Vec::new();
    for dir in folders {
        let unreadable = |problems| Unreadable { dir: (*dir).into(), problems };
        let run = load_files(dir, RunFiles::of(dir, dropped), &LoadOptions::default());
        measured.push(match run {
            Err(problems) => Err(unreadable(problems.0)),
            Ok(run) => {
                if let Some((_, _, protocol)) = configs.of_cell(&run.meta.cell) {
                    queues.push((run.dir.clone(), waiting(&run, protocol)));
                }
                RunStatistics::of(run, configs, None).map(Arc::new)
            }
        });
    }
    Judged::of(measured, queues, configs).reply()
}

/// A turns table without a `meta.json` is half a run, not a log.
fn no_orphans(dropped: &[Dropped]) -> Result<(), Refused> {
    let is_turns = |file: &&Dropped| {
        file.path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("turns."))
    };
    let orphan =
        dropped.iter().filter(|file| file.path.parent() != Some(Path::new("."))).find(is_turns);
    match orphan.and_then(|file| file.path.parent()) {
        Some(dir) => Err(Refused(format!("{}: has a turns table but no meta.json", dir.display()))),
        None => Ok(()),
    }
}

fn observed(
    question: &Question,
    dropped: Vec<Dropped>,
    configs: &Configs,
) -> Result<Reply, Refused> {
    let known: Known = question.part()?;
    let ask = known.ask()?;
    let rule = Thresholds::parse(
        &Path::new(built_in::FOLDER).join("diagnose.yaml"),
        built_in::bytes(&Path::new(built_in::FOLDER).join("diagnose.yaml")).unwrap_or_default(),
    )?;
    let from: Option<String> = question.field("from")?;
    let format = from.as_deref().map(format_named).transpose()?;
    let theory = known.theory(configs)?;
    let services = services(dropped, format)?;
    let found = found(services, &ask, &rule, theory.as_ref(), known.sessions_per_s);
    Ok(Reply::of("diagnose", parts(&found)).with("text", as_text(&found)))
}

/// Files alone are views of one service, those of each folder too.
fn services(dropped: Vec<Dropped>, format: Option<Format>) -> Result<Vec<Service>, Refused> {
    let first = dropped.first().map(|file| outermost(&file.path).to_owned()).unwrap_or_default();
    let (alone, of_folders): (Vec<_>, Vec<_>) =
        dropped.into_iter().partition(|file| file.path.parent() == Some(Path::new(".")));
    let mut services = Vec::new();
    let mut named = Vec::new();
    for file in alone {
        let observed = read(&file, format)
            .map_err(|why| Refused(format!("{}: {why}", name_of(&file.path))))?;
        named.push(ReadFile { name: name_of(&file.path), observed });
    }
    services.extend(together(String::new(), named, 0));
    let mut folders: BTreeMap<PathBuf, Vec<Dropped>> = BTreeMap::new();
    for file in of_folders {
        let folder = file.path.parent().unwrap_or(Path::new("")).to_owned();
        folders.entry(folder).or_default().push(file);
    }
    for (folder, files) in folders {
        let (mut known, mut unknown) = (Vec::new(), 0);
        for file in files {
            match read(&file, format) {
                Ok(observed) if is_known(&observed) => {
                    known.push(ReadFile { name: name_of(&file.path), observed });
                }
                _ => unknown += 1,
            }
        }
        let label = folder.strip_prefix(outermost(&folder)).unwrap_or(&folder);
        services.extend(together(label.display().to_string(), known, unknown));
    }
    usable(services).map_err(|why| Refused(format!("{}: {why}", first.display())))
}

/// What was dropped: a file, or the folder that a file lies in.
fn outermost(path: &Path) -> &Path {
    let path = path.strip_prefix(".").unwrap_or(path);
    let parts: Vec<&Path> = path.ancestors().collect();
    parts.iter().rev().nth(1).copied().unwrap_or(path)
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn read(file: &Dropped, format: Option<Format>) -> Result<Observed, String> {
    if let Some(why) = file.too_large() {
        return Err(format!("cannot read: {why} in a page; trapcheck diagnose reads it"));
    }
    let (raw, name) = (file.bytes.as_slice(), name_of(&file.path));
    match Packing::of(raw) {
        Packing::Gzip => read_stream(flate2::read::MultiGzDecoder::new(raw), &name, format),
        Packing::Zstd => Err(NO_ZSTD.into()),
        Packing::Parquet => Err("parquet is not read here: give text".into()),
        Packing::Plain => read_stream(raw, &name, format),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_dropped_is_a_file_or_the_folder_it_lies_in() {
        assert_eq!(outermost(Path::new("./a.log")), Path::new("a.log"));
        assert_eq!(outermost(Path::new("night/one/a.log")), Path::new("night"));
        assert_eq!(outermost(Path::new("night")), Path::new("night"));
    }
}
