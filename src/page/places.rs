//! Where runs lie, as a page says it: relative to the folder above the one that was named.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use crate::judged::statistics::RunStatistics;
use crate::judged::{Measured, Unreadable};
use crate::run::{Problem, SourceFile};

/// How the places under some paths are shown.
#[derive(Debug)]
pub struct Places {
    /// What was asked for, and what stands for it.
    asked: Vec<(PathBuf, PathBuf)>,
}

impl Places {
    /// A plain relative path stands for itself, any other for its last folder's name.
    pub fn under(paths: &[PathBuf]) -> Self {
        let shown = |path: &PathBuf| {
            let is_plain = path.components().all(|part| matches!(part, Component::Normal(_)));
            let name = || path.canonicalize().ok()?.file_name().map(PathBuf::from);
            (path.clone(), if is_plain { path.clone() } else { name().unwrap_or_default() })
        };
        Self { asked: paths.iter().map(shown).collect() }
    }

    /// A place as it is shown; of one that lies elsewhere, the last two names at most.
    pub fn shown(&self, path: &Path) -> PathBuf {
        let below = |(asked, shown): &(PathBuf, PathBuf)| {
            let rest = path.strip_prefix(asked).ok()?;
            let is_itself = rest.as_os_str().is_empty();
            Some(if is_itself { shown.clone() } else { shown.join(rest) })
        };
        self.asked.iter().find_map(below).unwrap_or_else(|| without_root(path))
    }

    /// What was measured, with the run's place and its files' as they are shown.
    pub fn of_measured(&self, measured: Measured) -> Measured {
        match measured {
            Ok(run) => Ok(Arc::new(self.of_run(&run))),
            Err(run) => Err(Unreadable {
                dir: self.shown(&run.dir),
                problems: run
                    .problems
                    .into_iter()
                    .map(|problem| self.of_problem(problem))
                    .collect(),
            }),
        }
    }

    /// A problem of a file, by the place that is shown.
    pub fn of_problem(&self, problem: Problem) -> Problem {
        Problem { file: self.shown(&problem.file), ..problem }
    }

    fn of_run(&self, run: &RunStatistics) -> RunStatistics {
        let source = |file: &SourceFile| SourceFile {
            path: self.shown(&file.path),
            sha256: file.sha256.clone(),
        };
        let mut shown = run.clone();
        shown.dir = self.shown(&run.dir);
        shown.sources = run.sources.iter().map(source).collect();
        shown.notes = run.notes.iter().map(|note| self.of_problem(note.clone())).collect();
        if let Some(registration) = &mut shown.meta.registration {
            let file = without_root(Path::new(&registration.file));
            registration.file = file.display().to_string();
        }
        shown
    }
}

/// A relative path as it is; of an absolute one, or one that climbs, the last two names.
fn without_root(path: &Path) -> PathBuf {
    if path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir)) {
        return path.to_owned();
    }
    let names = path.components().filter(|part| matches!(part, Component::Normal(_)));
    let names: Vec<_> = names.collect();
    names.iter().skip(names.len().saturating_sub(2)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_says_nothing_of_what_lies_above_the_folder_that_was_named() {
        let folder = tempfile::tempdir().unwrap();
        let mine = folder.path().join("mine");
        std::fs::create_dir(&mine).unwrap();
        let places = Places::under(&[mine.clone(), "results/sim".into()]);
        assert_eq!(places.shown(&mine.join("burst/a")), Path::new("mine/burst/a"));
        assert_eq!(places.shown(&mine), Path::new("mine"));
        assert_eq!(places.shown(Path::new("results/sim/x")), Path::new("results/sim/x"));
        assert_eq!(places.shown(Path::new("/etc/far/away/x.yaml")), Path::new("away/x.yaml"));
        assert_eq!(places.shown(Path::new("../up/x.yaml")), Path::new("up/x.yaml"));
    }
}
