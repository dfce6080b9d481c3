//! Everything under `configs/`, read once.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::built_in;
use super::layout::Layout;
use super::registration::{RegistrationFile, Status, Test};
use super::yaml::ConfigError;
use super::{Cell, Protocol, Workload};
use crate::hash::sha256_hex;
use crate::name::PlainName;
use crate::nearest::unknown;
use crate::reading;

/// The configuration of a project. Each map is by name.
#[derive(Debug, Clone, Default)]
pub struct Configs {
    /// Cells.
    pub cells: BTreeMap<String, Cell>,
    /// Workloads.
    pub workloads: BTreeMap<String, Workload>,
    /// Protocols.
    pub protocols: BTreeMap<String, Protocol>,
    /// Registrations.
    pub registrations: BTreeMap<String, RegistrationFile>,
    /// Layouts of run directories, in order of name.
    pub layouts: Vec<Arc<Layout>>,
    /// SHA-256 over the names and hashes of all files these were read from: whatever is
    /// computed from a run is computed under these.
    pub sha256: String,
}

/// The folders that are read.
const FOLDERS: [&str; 4] = ["cells", "workloads", "protocols", "registrations"];

impl Configs {
    /// Reads `dir` and checks that every name it refers to is there.
    ///
    /// # Errors
    /// The first file that cannot be used, or a directory that is not there.
    pub fn load(dir: &Path) -> Result<Self, ConfigError> {
        if !dir.is_dir() && dir != Path::new(built_in::FOLDER) {
            let message = "no such directory; run in the project's folder or pass --configs DIR";
            return Err(ConfigError::new(dir, message));
        }
        let configs = Self {
            cells: each(&dir.join("cells"), Cell::load, |cell| &cell.name)?,
            workloads: each(&dir.join("workloads"), Workload::load, |workload| &workload.name)?,
            protocols: each(&dir.join("protocols"), Protocol::load, |protocol| &protocol.name)?,
            registrations: each(&dir.join("registrations"), RegistrationFile::load, |file| {
                &file.registration.name
            })?,
            layouts: Layout::load_all(dir)?,
            sha256: listing_sha256(dir)?,
        };
        configs.check_names(dir)?;
        Ok(configs)
    }

    /// The workload and the protocol of a cell.
    pub fn of_cell(&self, name: &str) -> Option<(&Cell, &Workload, &Protocol)> {
        let cell = self.cells.get(name)?;
        Some((cell, self.workloads.get(&cell.workload)?, self.protocols.get(&cell.protocol)?))
    }

    /// The registrations of the paired test that a cell has, in order of name.
    pub fn paired_of_cell<'a>(&'a self, cell: &str) -> impl Iterator<Item = &'a RegistrationFile> {
        self.registrations.values().filter(move |file| {
            file.registration.cell == cell && file.registration.test == Test::Paired
        })
    }

    /// The registration that judges a cell's runs where they are bound to none; `None` where
    /// the cell has none. A FILLED one goes before restatements of the same rule.
    ///
    /// # Errors
    /// Several fit: which one judges is the user's choice, not the alphabet's.
    pub fn paired_rule_of_cell(
        &self,
        cell: &str,
    ) -> Result<Option<&RegistrationFile>, Vec<&RegistrationFile>> {
        let fit: Vec<_> = self.paired_of_cell(cell).collect();
        let states = |a: &RegistrationFile| a.registration.states_the_rule_of(&fit[0].registration);
        let mut filled = fit.iter().filter(|file| file.registration.status == Status::Filled);
        match (fit.as_slice(), filled.next(), filled.next()) {
            ([], ..) => Ok(None),
            ([only], ..) => Ok(Some(only)),
            (_, Some(filled), None) if fit.iter().all(|file| states(file)) => Ok(Some(filled)),
            _ => Err(fit),
        }
    }

    /// The registration whose bytes have this hash.
    pub fn bound_by(&self, sha256: &str) -> Option<&RegistrationFile> {
        self.registrations.values().find(|file| file.sha256 == sha256)
    }

    fn check_names(&self, dir: &Path) -> Result<(), ConfigError> {
        for (name, cell) in &self.cells {
            let path = dir.join("cells").join(format!("{name}.yaml"));
            let missing = |what: &str, value: &str, known: Vec<&String>| {
                let known = known.into_iter().map(String::as_str);
                ConfigError::new(&path, unknown(what, value, &format!("{what}s/"), known))
            };
            if !self.workloads.contains_key(&cell.workload) {
                return Err(missing("workload", &cell.workload, self.workloads.keys().collect()));
            }
            if !self.protocols.contains_key(&cell.protocol) {
                return Err(missing("protocol", &cell.protocol, self.protocols.keys().collect()));
            }
        }
        for file in self.registrations.values() {
            let cell = &file.registration.cell;
            if !self.cells.contains_key(cell) {
                let known = self.cells.keys().map(String::as_str);
                return Err(ConfigError::new(&file.path, unknown("cell", cell, "cells/", known)));
            }
        }
        Ok(())
    }
}

fn listing_sha256(dir: &Path) -> Result<String, ConfigError> {
    let mut listing = String::new();
    for folder in FOLDERS {
        for path in yaml_files(&dir.join(folder))? {
            let bytes = built_in::read(&path)
                .map_err(|e| ConfigError::new(&path, format!("cannot read: {e}")))?;
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            listing += &format!("{}  {folder}/{name}\n", sha256_hex(&bytes));
        }
    }
    Ok(sha256_hex(listing.as_bytes()))
}

/// Every `.yaml` in a directory, by its stem, which must be the name it states.
pub(super) fn each<T>(
    dir: &Path,
    load: impl Fn(&Path) -> Result<T, ConfigError>,
    name: impl Fn(&T) -> &String,
) -> Result<BTreeMap<String, T>, ConfigError> {
    let mut found = BTreeMap::new();
    for path in yaml_files(dir)? {
        let item = load(&path)?;
        check_name(&path, name(&item))?;
        found.insert(name(&item).clone(), item);
    }
    Ok(found)
}

/// Checks the name that a file states: a plain one, and the file's stem.
pub fn check_name(path: &Path, name: &str) -> Result<(), ConfigError> {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    if name != stem {
        let message = format!("name: expected {stem}, the file's stem, found {name}");
        return Err(ConfigError::new(path, message));
    }
    PlainName::new(name).map_err(|e| ConfigError::new(path, format!("name: {e}")))?;
    Ok(())
}

/// The `.yaml` files of a directory that are not hidden, sorted; none when it is not there.
pub fn yaml_files(dir: &Path) -> Result<Vec<PathBuf>, ConfigError> {
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
