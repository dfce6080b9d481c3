//! The files of a run directory, read once: their hashes say whether a kept result still
//! holds, their bytes are what the loader parses if it does not.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::parquet;
use super::shape::{shape_of, table_files};
use super::source::{Bytes, Packing};
use crate::run::columns::{Columns, Field, Mapping};
use crate::run::load::{File, Files, load_files};
use crate::run::{LoadOptions, Problem, Problems, Run, Shape, SourceFile, Text};
use crate::setup::layout::Layout;

/// Reads and checks a run directory.
///
/// # Errors
/// As [`load_files`].
pub fn load(dir: &Path, options: &LoadOptions) -> Result<Run, Problems> {
    load_by(dir, &[], options)
}

/// The same for a directory of format 1 or of one of the layouts.
///
/// # Errors
/// As [`load_files`].
pub fn load_by(
    dir: &Path,
    layouts: &[Arc<Layout>],
    options: &LoadOptions,
) -> Result<Run, Problems> {
    load_files(dir, RunFiles::read(dir, layouts), options)
}

/// The tables of a run directory.
const TABLES: [&str; 5] = ["plan", "sessions", "turns", "engine", "gate"];

/// What lies in a run directory under the names of its format or layout.
pub struct RunFiles {
    shape: Result<Shape, Problem>,
    files: BTreeMap<PathBuf, Bytes>,
}

impl RunFiles {
    /// Reads them. What cannot be read is left to the loader, which says why.
    pub fn read(dir: &Path, layouts: &[Arc<Layout>]) -> Self {
        let shape = shape_of(dir, layouts);
        let paths = |shape: &Shape| {
            let tables = TABLES.iter().flat_map(|table| table_files(dir, shape, table));
            [shape.metadata(), dir.join("config.yaml")].into_iter().chain(tables).collect()
        };
        let paths: Vec<PathBuf> = shape.as_ref().map_or_else(|_| Vec::new(), paths);
        let files = paths
            .into_iter()
            .filter(|path| path.is_file())
            .filter_map(|path| Some((path.clone(), Bytes::read(&path).ok()?)))
            .collect();
        Self { shape, files }
    }

    /// Each file with its hash, in order of path, the layout's last.
    pub fn sources(&self) -> Vec<SourceFile> {
        let layout = self.shape.as_ref().ok().and_then(Shape::source);
        self.files.values().map(Bytes::source).chain(layout).collect()
    }

    /// The same as lines of `sha256sum`.
    pub fn listing(&self) -> String {
        let line = |s: SourceFile| format!("{}  {}\n", s.sha256, s.path.display());
        self.sources().into_iter().map(line).collect()
    }
}

impl Files for RunFiles {
    type File = Bytes;

    fn shape(&self) -> Result<Shape, Problem> {
        self.shape.clone()
    }

    fn tables(&self, dir: &Path, shape: &Shape, table: &str) -> Vec<PathBuf> {
        table_files(dir, shape, table)
    }

    fn holds(&self, path: &Path) -> bool {
        path.exists()
    }

    fn take(&mut self, path: &Path) -> Result<Bytes, Problem> {
        self.files.remove(path).map_or_else(|| Bytes::read(path), Ok)
    }
}

impl File for Bytes {
    fn path(&self) -> &Path {
        &self.path
    }

    fn source(&self) -> SourceFile {
        Self::source(self)
    }

    fn is_parquet(&self) -> bool {
        self.packing() == Packing::Parquet
    }

    fn text(&self, most: u64) -> Result<Text<'_>, Problem> {
        Self::text(self, most)
    }

    fn parquet(
        &self,
        schema: &[Field],
        mapping: Option<&Mapping<'_>>,
    ) -> Result<Columns, Vec<Problem>> {
        parquet::read(self, schema, mapping)
    }
}
