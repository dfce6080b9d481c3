//! The files of a run directory, read once: their hashes say whether a kept result still
//! holds, their bytes are what the loader parses if it does not.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::load::ENDINGS;
use super::problem::Problem;
use super::source::{Bytes, SourceFile};

/// The tables of a run directory.
const TABLES: [&str; 5] = ["plan", "sessions", "turns", "engine", "gate"];

/// What lies in a run directory under the names of its format.
pub struct RunFiles {
    files: BTreeMap<PathBuf, Bytes>,
}

impl RunFiles {
    /// Reads them. What cannot be read is left to the loader, which says why.
    pub fn read(dir: &Path) -> Self {
        let tables = TABLES
            .iter()
            .flat_map(|table| ENDINGS.iter().map(move |ending| format!("{table}.{ending}")));
        let names = ["meta.json".to_owned(), "config.yaml".to_owned()].into_iter().chain(tables);
        let files = names
            .map(|name| dir.join(name))
            .filter(|path| path.is_file())
            .filter_map(|path| Some((path.clone(), Bytes::read(&path).ok()?)))
            .collect();
        Self { files }
    }

    /// Each file with its hash, in order of path.
    pub fn sources(&self) -> Vec<SourceFile> {
        self.files.values().map(Bytes::source).collect()
    }

    /// The same as lines of `sha256sum`.
    pub fn listing(&self) -> String {
        let line = |s: SourceFile| format!("{}  {}\n", s.sha256, s.path.display());
        self.sources().into_iter().map(line).collect()
    }

    /// One file's bytes, which are handed out once.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn take(&mut self, path: &Path) -> Result<Bytes, Problem> {
        self.files.remove(path).map_or_else(|| Bytes::read(path), Ok)
    }
}
