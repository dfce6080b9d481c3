//! Which shape a run directory has: format 1, or one that a layout maps onto it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::reading;
use crate::run::{ENDINGS, META, Problem, STARTED, Shape, matches};
use crate::setup::layout::Layout;

/// The shape of a directory.
///
/// # Errors
/// Several layouts fit.
pub(crate) fn shape_of(dir: &Path, layouts: &[Arc<Layout>]) -> Result<Shape, Problem> {
    let layout = layout_of(dir, layouts)?;
    Ok(if layout.is_none() && is_unclosed(dir) {
        Shape::unclosed(dir)
    } else {
        Shape::new(dir, layout)
    })
}

/// Whether a run is under way in a directory, or was killed there.
pub fn is_unclosed(dir: &Path) -> bool {
    dir.join(STARTED).is_file() && !dir.join(META).exists()
}

/// The files of a directory that may be a table.
pub fn table_files(dir: &Path, shape: &Shape, table: &str) -> Vec<PathBuf> {
    shape.name(table).map_or_else(Vec::new, |name| files_named(dir, name))
}

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
        let meta = reading::bytes(&path).ok()?;
        let meta: serde_json::Value = serde_json::from_slice(&meta).ok()?;
        meta.as_object().map(|keys| !keys.contains_key("format"))
    };
    let claimed = fitting.iter().any(|layout| layout.metadata == META);
    path.is_file() && !(claimed && theirs() == Some(true))
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
