//! Which shape a run directory has: format 1, or one that a layout maps onto it.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::columns::Mapping;
use super::load::ENDINGS;
use super::meta::Meta;
use super::meta::mapped;
use super::problem::Problem;
use super::source::{Bytes, SourceFile};
use crate::decimal::Decimal;
use crate::setup::layout::Layout;

/// The file that says who, what and when in format 1.
const META: &str = "meta.json";

/// The layout that a directory is read with; `None` where it is format 1.
///
/// # Errors
/// Several layouts fit it.
pub fn layout_of(dir: &Path, layouts: &[Arc<Layout>]) -> Result<Option<Arc<Layout>>, Problem> {
    let fitting: Vec<_> = layouts.iter().filter(|layout| fits(dir, layout)).collect();
    match fitting.as_slice() {
        _ if is_format_1(dir, &fitting) => Ok(None),
        [] => Ok(None),
        [only] => Ok(Some(Arc::clone(only))),
        [first, second, ..] => {
            let message = format!(
                "two layouts fit, {} ({}) and {} ({}): which one is it? Name in `with` a file that tells them apart",
                first.name,
                first.path.display(),
                second.name,
                second.path.display()
            );
            Err(Problem::new(dir, message))
        }
    }
}

/// The file of a run directory that says who, what and when.
pub fn metadata_of(dir: &Path, layouts: &[Arc<Layout>]) -> PathBuf {
    let layout = layout_of(dir, layouts).ok().flatten();
    dir.join(layout.as_ref().map_or(META, |layout| &layout.metadata))
}

/// Whether a directory holds what a run of a layout holds.
pub fn fits(dir: &Path, layout: &Layout) -> bool {
    dir.join(&layout.metadata).is_file()
        && layout.with.iter().all(|file| !files_named(dir, file).is_empty())
}

/// A `meta.json` is format 1's, unless a layout has a file of that name too and this one
/// does not say its format.
fn is_format_1(dir: &Path, fitting: &[&Arc<Layout>]) -> bool {
    let path = dir.join(META);
    let theirs = || {
        let meta = crate::reading::bytes(&path).ok()?;
        let meta: serde_json::Value = serde_json::from_slice(&meta).ok()?;
        meta.as_object().map(|keys| !keys.contains_key("format"))
    };
    let claimed = fitting.iter().any(|layout| layout.metadata == META);
    path.is_file() && !(claimed && theirs() == Some(true))
}

/// The shape of one run directory.
#[derive(Debug, Clone)]
pub struct Shape {
    dir: PathBuf,
    layout: Option<Arc<Layout>>,
    /// The run's time 0 on the clock of absolute times, s; known once the metadata are read.
    origin: Option<Decimal>,
}

impl Shape {
    /// Finds it out.
    ///
    /// # Errors
    /// Several layouts fit.
    pub fn of(dir: &Path, layouts: &[Arc<Layout>]) -> Result<Self, Problem> {
        Ok(Self { dir: dir.into(), layout: layout_of(dir, layouts)?, origin: None })
    }

    /// The file that says who, what and when.
    pub fn metadata(&self) -> PathBuf {
        self.dir.join(self.layout.as_ref().map_or(META, |layout| &layout.metadata))
    }

    /// Reads it.
    pub fn meta(&mut self, bytes: &Bytes) -> Result<Meta, Vec<Problem>> {
        let Some(layout) = &self.layout else { return Meta::parse(bytes) };
        let (meta, origin) = mapped::read(bytes, layout)?;
        self.origin = origin;
        Ok(meta)
    }

    /// The name of a table's file: a stem or a pattern. `None` where such runs have no such table.
    fn name<'a>(&'a self, table: &'a str) -> Option<&'a str> {
        let Some(layout) = &self.layout else { return Some(table) };
        layout.table(table).map(|table| table.file.as_str())
    }

    /// The files that may be a table.
    pub fn files(&self, table: &str) -> Vec<PathBuf> {
        self.name(table).map_or_else(Vec::new, |name| files_named(&self.dir, name))
    }

    /// What is looked for where a table should be.
    pub fn looked_for(&self, table: &str) -> String {
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
        let rules = &self.layout.as_ref()?.table(table)?.columns;
        Some(Mapping { rules, origin: self.origin })
    }

    /// The layout's file, which the run's data depend on.
    pub fn source(&self) -> Option<SourceFile> {
        let layout = self.layout.as_ref()?;
        Some(SourceFile { path: layout.path.clone(), sha256: layout.sha256.clone() })
    }

    /// What a reader of the run's notes should know about its shape.
    pub fn note(&self) -> Option<Problem> {
        let layout = self.layout.as_ref()?;
        let message = format!("read with the layout {} ({})", layout.name, layout.path.display());
        Some(Problem::new(&self.dir, message).as_note())
    }

    /// Whether the metadata count something (`counts.<name>`).
    pub fn counts(&self, name: &str) -> bool {
        let counts = |layout: &Arc<Layout>| layout.meta.contains_key(&format!("counts.{name}"));
        self.layout.as_ref().is_none_or(counts)
    }
}

/// What lies where a stem or pattern names a file, in order of path; that it is a file is
/// for its reader to check. A name with a dot is whole; any other may end in any of
/// [`ENDINGS`].
fn files_named(dir: &Path, name: &str) -> Vec<PathBuf> {
    if !name.contains('*') {
        let whole = name.contains('.').then(|| dir.join(name));
        let ended = ENDINGS.iter().map(|ending| dir.join(format!("{name}.{ending}")));
        let paths = whole.is_none().then_some(ended).into_iter().flatten().chain(whole);
        return paths.filter(|path| path.exists()).collect();
    }
    let (folder, name) = name.rsplit_once('/').unwrap_or(("", name));
    let entries = fs::read_dir(dir.join(folder)).into_iter().flatten().filter_map(Result::ok);
    let mut paths: Vec<_> = entries
        .map(|entry| entry.path())
        .filter(|path| path.file_name().is_some_and(|file| matches(name, file)) && path.exists())
        .collect();
    paths.sort();
    paths
}

fn matches(name: &str, file: &OsStr) -> bool {
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
