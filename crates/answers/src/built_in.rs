//! The configuration that is carried along: the files of `configs/` as they were when this was
//! built. An installed program has no project around it, and a page has none; both still know
//! the paper's cells.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use trapcheck_runs::configs::FOLDERS;
use trapcheck_runs::run::check_layout;

use crate::setup::{ConfigError, Configs, Layout};

/// Each file's path below `configs/`, in order, with its bytes.
pub static FILES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/built_in_configs.rs"));

/// Stands for the folder `configs` of the built-in files: a path that no folder has.
pub const FOLDER: &str = "built-in:configs";

/// The bytes of a built-in file; none for the path of any other.
pub fn bytes(path: &Path) -> Option<&'static [u8]> {
    let name = path.strip_prefix(FOLDER).ok()?;
    FILES.iter().find(|(known, _)| Path::new(known) == name).map(|(_, bytes)| *bytes)
}

/// The built-in `.yaml` files of a folder, sorted; none if the folder is no built-in one.
pub fn yaml_files(dir: &Path) -> Option<Vec<PathBuf>> {
    let folder = dir.strip_prefix(FOLDER).ok()?;
    let inside = |name: &Path| name.parent() == Some(folder);
    let yaml = |name: &Path| name.extension().is_some_and(|ending| ending == "yaml");
    let names = FILES.iter().map(|(name, _)| Path::new(name));
    let found = names.filter(|name| inside(name) && yaml(name));
    Some(found.map(|name| Path::new(FOLDER).join(name)).collect())
}

/// The built-in configuration.
///
/// # Errors
/// The first file that cannot be used.
pub fn configs() -> Result<Configs, ConfigError> {
    let layouts = files_of("layouts").map(|(path, bytes)| {
        let layout = Layout::parse(&path, bytes)?;
        check_layout(&layout).map_err(|message| ConfigError::new(&path, message))?;
        Ok(Arc::new(layout))
    });
    let mut configs = without_layouts()?;
    configs.layouts = layouts.collect::<Result<_, ConfigError>>()?;
    Ok(configs)
}

/// The same for who reads no run of another shape.
///
/// # Errors
/// As [`configs`].
pub fn without_layouts() -> Result<Configs, ConfigError> {
    Configs::parse(Path::new(FOLDER), &files())
}

/// The same for who judges no run either.
///
/// # Errors
/// As [`configs`].
pub fn without_registrations() -> Result<Configs, ConfigError> {
    Configs::without_registrations(Path::new(FOLDER), &files())
}

/// What [`Configs`] are parsed from.
fn files() -> BTreeMap<PathBuf, Vec<u8>> {
    let files = FOLDERS.iter().flat_map(|folder| files_of(folder));
    files.map(|(path, bytes)| (path, bytes.to_vec())).collect()
}

/// The built-in `.yaml` files of a folder of `configs/`.
fn files_of(folder: &str) -> impl Iterator<Item = (PathBuf, &'static [u8])> {
    let paths = yaml_files(&Path::new(FOLDER).join(folder)).unwrap_or_default().into_iter();
    paths.filter_map(|path| Some((path.clone(), bytes(&path)?)))
}
