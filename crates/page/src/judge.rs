//! Dropped files, judged: run directories as `trapcheck score` does, all else as `trapcheck
//! diagnose` does.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use trapcheck_answers::score;
use trapcheck_runs::configs::Configs;
use trapcheck_runs::judged::statistics::{RunStatistics, Unreadable};
use trapcheck_runs::run::load::{LoadOptions, load_files};

use crate::Refused;
use crate::command::{KNOWN, flags, quoted};
use crate::dropped::{Dropped, Source, files, outermost, paths};
use crate::engines::{engine, waiting};
use crate::judged::Measured;
use crate::judged::score::{Scoring, score as score_of};
use crate::judged::verdict::Verdict;
use crate::logs::observed;
use crate::question::Question;
use crate::reply::Reply;
use crate::run_files::{RunFiles, run_folders};

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
    if run_folders(&dropped).is_empty() {
        logs(question, dropped, configs)
    } else {
        runs(question, &dropped, configs)
    }
}

/// The same of files among which there is a run directory.
///
/// # Errors
/// As [`judge`], and where there is none.
pub fn runs(question: &Question, dropped: &[Dropped], configs: &Configs) -> Result<Reply, Refused> {
    let folders = run_folders(dropped);
    if folders.is_empty() {
        return Err(Refused::new("only run directories are judged here"));
    }
    let reply = scored(&folders, dropped, configs)?.with("what", "runs");
    Ok(reply.command(command(question)?))
}

/// The same of files that are no run directory.
///
/// # Errors
/// As [`judge`], and where there is one.
pub fn logs(
    question: &Question,
    dropped: Vec<Dropped>,
    configs: &Configs,
) -> Result<Reply, Refused> {
    if !run_folders(&dropped).is_empty() {
        return Err(Refused::new("only logs are judged here"));
    }
    let reply = observed(question, dropped, configs)?.with("what", "observed");
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

fn scored(folders: &[&Path], dropped: &[Dropped], configs: &Configs) -> Result<Reply, Refused> {
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
