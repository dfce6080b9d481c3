//! Which shape a run has: format 1, or one that a layout maps onto it.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::answer::Clock;
use super::columns::Mapping;
use super::meta::Meta;
use super::meta::mapped;
use super::problem::Problem;
use super::source::SourceFile;
use crate::setup::layout::{Layout, TableLayout};

/// The file that says who, what and when in format 1.
pub const META: &str = "meta.json";

/// What a run that is under way has in its place: `meta.json` closes a run. A run that was
/// killed has this one for ever.
pub const STARTED: &str = "started.json";

/// The endings a table may have, in the order they are looked for.
pub const ENDINGS: [&str; 4] = ["csv", "csv.gz", "csv.zst", "parquet"];

/// The shape of one run directory.
#[derive(Debug, Clone)]
pub struct Shape {
    dir: PathBuf,
    layout: Option<Arc<Layout>>,
    /// Whether it has not been closed: [`STARTED`] in place of [`META`].
    unclosed: bool,
    /// The clock of absolute times; known once the metadata are read.
    clock: Clock,
}

impl Shape {
    /// Of a directory that is read with this layout; format 1 without one.
    pub fn new(dir: &Path, layout: Option<Arc<Layout>>) -> Self {
        Self { dir: dir.into(), layout, unclosed: false, clock: Clock::default() }
    }

    /// Of a directory whose run is under way, or was killed.
    pub fn unclosed(dir: &Path) -> Self {
        Self { unclosed: true, ..Self::new(dir, None) }
    }

    /// Whether its run is under way, or was killed: its tables say how far it came.
    pub fn is_unclosed(&self) -> bool {
        self.unclosed
    }

    /// The layout it is read with. None in a page, which reads format 1 alone: the code for
    /// other shapes is then no part of it.
    fn layout(&self) -> Option<&Arc<Layout>> {
        self.layout.as_ref().filter(|_| cfg!(not(target_family = "wasm")))
    }

    /// The file that says who, what and when.
    pub fn metadata(&self) -> PathBuf {
        let own = if self.unclosed { STARTED } else { META };
        self.dir.join(self.layout().map_or(own, |layout| &layout.metadata))
    }

    /// Parses its text.
    ///
    /// # Errors
    /// Everything wrong with it.
    pub fn meta(&mut self, text: &[u8]) -> Result<Meta, Vec<Problem>> {
        let path = self.metadata();
        if self.unclosed {
            return Meta::parse_started(&path, text);
        }
        let Some(layout) = self.layout() else { return Meta::parse(&path, text) };
        let (meta, clock) = mapped::read(&path, text, layout)?;
        self.clock = clock;
        Ok(meta)
    }

    /// The name of a table's file: a stem or a pattern. `None` where such runs have no such table.
    pub fn name<'a>(&'a self, table: &'a str) -> Option<&'a str> {
        let Some(layout) = self.layout() else { return Some(table) };
        layout.table(table).map(|table| table.file.as_str())
    }

    /// What is looked for where a table should be.
    pub(crate) fn looked_for(&self, table: &str) -> String {
        let name = self.name(table).unwrap_or(table);
        if name.contains('.') { name.into() } else { format!("{name}.{}", ENDINGS.join(", .")) }
    }

    /// Whether a file is a table's.
    pub fn is_table(&self, path: &Path, table: &str) -> bool {
        let last = self.name(table).map(|name| name.rsplit_once('/').map_or(name, |(_, n)| n));
        last.is_some_and(|name| path.file_name().is_some_and(|file| matches(name, file)))
    }

    /// How a table's columns answer the schema's, where they do not have its names.
    pub fn mapping(&self, table: &str) -> Option<Mapping<'_>> {
        let TableLayout { columns, only, long, .. } = self.layout()?.table(table)?;
        Some(Mapping { rules: columns, clock: self.clock, only, long: long.as_ref() })
    }

    /// The layout's file, which the run's data depend on.
    pub fn source(&self) -> Option<SourceFile> {
        let layout = self.layout()?;
        Some(SourceFile { path: layout.path.clone(), sha256: layout.sha256.clone() })
    }

    /// What a reader of the run's notes should know about its shape.
    pub fn note(&self) -> Option<Problem> {
        let layout = self.layout()?;
        let message = format!("read with the layout {} ({})", layout.name, layout.path.display());
        Some(Problem::new(&self.dir, message).as_note())
    }

    /// Whether the metadata count something (`counts.<name>`).
    pub fn counts(&self, name: &str) -> bool {
        if self.unclosed {
            return false;
        }
        let counts = |layout: &Arc<Layout>| layout.meta.contains_key(&format!("counts.{name}"));
        self.layout().is_none_or(counts)
    }
}

/// Whether a file's name is one that a stem or a pattern stands for.
pub fn matches(name: &str, file: &OsStr) -> bool {
    let Some(file) = file.to_str() else { return false };
    let (start, end) = name.split_once('*').unwrap_or((name, ""));
    let fits = |text: &str| {
        let star = text.strip_prefix(start).and_then(|rest| rest.strip_suffix(end));
        star.is_some_and(|star| star.is_empty() || name.contains('*'))
    };
    if name.contains('.') {
        return fits(file);
    }
    let stem = |ending: &str| file.strip_suffix(ending)?.strip_suffix('.');
    ENDINGS.iter().any(|ending| stem(ending).is_some_and(fits))
}
