//! Reading `configs/`: the files' bytes, and from them the values of [`crate::setup`].

pub mod built_in;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::de::DeserializeOwned;

use crate::hash::sha256_hex;
use crate::run::SourceFile;
use crate::setup::yaml::check_name;
use crate::setup::{ConfigError, Configs, Layout, yaml as text};
use crate::{reading, run};
use trapcheck_runs::configs::FOLDERS;

/// Reads a configuration file by the `parse` of its type.
///
/// # Errors
/// It cannot be read or is too large, and what `parse` finds.
pub fn read<T>(
    path: &Path,
    parse: impl FnOnce(&Path, &[u8]) -> Result<T, ConfigError>,
) -> Result<T, ConfigError> {
    parse(path, &bytes(path)?)
}

/// Reads a YAML file into `T`.
///
/// # Errors
/// As [`read`] and [`crate::setup::yaml::from_bytes`].
pub fn yaml<T: DeserializeOwned>(path: &Path) -> Result<T, ConfigError> {
    read(path, text::from_bytes)
}

/// Reads the configuration of a project and checks that every name it refers to is there.
///
/// # Errors
/// The first file that cannot be used, or a directory that is not there.
pub fn load(dir: &Path) -> Result<Configs, ConfigError> {
    if !dir.is_dir() && dir != Path::new(built_in::FOLDER) {
        let message = "no such directory; run in the project's folder or pass --configs DIR";
        return Err(ConfigError::new(dir, message));
    }
    let mut files = BTreeMap::new();
    for folder in FOLDERS {
        for path in yaml_files(&dir.join(folder))? {
            let content = bytes(&path)?;
            files.insert(path, content);
        }
    }
    let mut configs = Configs::parse(dir, &files)?;
    configs.layouts = layouts(dir)?;
    configs.read_sessions = Some(crate::sessions::recorded);
    Ok(configs)
}

/// The layouts of a configuration, in order of name; none where it has no such folder.
///
/// # Errors
/// The first that cannot be used.
pub fn layouts(dir: &Path) -> Result<Vec<Arc<Layout>>, ConfigError> {
    let mut layouts = Vec::new();
    for path in yaml_files(&dir.join("layouts"))? {
        let layout = layout(&path)?;
        check_name(&path, &layout.name)?;
        layouts.push(Arc::new(layout));
    }
    Ok(layouts)
}

/// Reads and checks a layout.
///
/// # Errors
/// As [`read`], and when it maps something that format 1 does not have, leaves out what it
/// needs, or converts what cannot be converted.
pub fn layout(path: &Path) -> Result<Layout, ConfigError> {
    let layout = read(path, Layout::parse)?;
    run::check_layout(&layout).map_err(|message| ConfigError::new(path, message))?;
    Ok(layout)
}

/// A file with its hash; the built-in ones, too.
///
/// # Errors
/// It cannot be read.
pub fn hashed(path: &Path) -> Result<SourceFile, ConfigError> {
    let sha256 = match built_in::bytes(path) {
        Some(bytes) => sha256_hex(bytes),
        None => sha256_hex(
            &reading::bytes(path)
                .map_err(|e| ConfigError::new(path, format!("cannot read: {e}")))?,
        ),
    };
    Ok(SourceFile { path: path.into(), sha256 })
}

/// The `.yaml` files of a directory that are not hidden, sorted; none when it is not there.
///
/// # Errors
/// The directory cannot be listed.
pub(crate) fn yaml_files(dir: &Path) -> Result<Vec<PathBuf>, ConfigError> {
    if let Some(paths) = built_in::yaml_files(dir) {
        return Ok(paths);
    }
    if !dir.is_dir() {
        return Ok(Vec::new());
    }
    let entries =
        std::fs::read_dir(dir).map_err(|e| ConfigError::new(dir, format!("cannot list: {e}")))?;
    let mut paths: Vec<PathBuf> = entries
        .filter_map(|entry| entry.ok().map(|e| e.path()))
        .filter(|path| path.extension().is_some_and(|e| e == "yaml") && reading::counts(path))
        .collect();
    paths.sort();
    Ok(paths)
}

fn bytes(path: &Path) -> Result<Vec<u8>, ConfigError> {
    built_in::read(path).map_err(|e| ConfigError::new(path, format!("cannot read: {e}")))
}
