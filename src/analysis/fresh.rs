//! Which analyses need not be made again: those whose inputs and outputs are, byte for
//! byte, what they were when they were last made.
//!
//! Inputs are the program itself, the configuration, the analysis' own file, the published
//! values, the inputs of fills, the campaigns it simulates and every file of every run it
//! names. What was made is noted in the cache folder; without a note, or with another, the
//! analysis is made.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::files::write_beside;
use crate::hash::sha256_hex;
use crate::run::RunFiles;
use crate::setup::layout::Layout;
use crate::setup::yaml::ConfigError;
use crate::table::rule_values::FILLS;

use crate::numbers::ledger::Books;

use super::batches::BATCHES;
use super::outputs::{OutputFile, Project, hashed};
use super::spec::Analysis;
use super::store::PROGRAM;
use super::theory_tables::PUBLISHED;

/// Under which name the ledger is noted; no analysis can have it, since its file is another.
const LEDGER: &str = "numbers";

/// What an analysis was made from, and what it gave.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Note {
    /// SHA-256 over the inputs.
    inputs: String,
    /// The files it wrote and their hashes.
    outputs: BTreeMap<PathBuf, String>,
}

/// Notes of what was made, in a folder.
#[derive(Debug)]
pub struct Fresh {
    folder: PathBuf,
    listings: Mutex<BTreeMap<PathBuf, String>>,
}

impl Fresh {
    /// Notes in `cache`, made when they are first written.
    pub fn new(cache: &Path) -> Self {
        Self { folder: cache.join("analyses"), listings: Mutex::default() }
    }

    /// Whether an analysis need not be made again.
    ///
    /// # Errors
    /// An input that cannot be read.
    pub fn is_up_to_date(
        &self,
        project: &Project,
        path: &Path,
        analysis: &Analysis,
    ) -> Result<bool, ConfigError> {
        self.holds(&analysis.name, || self.inputs(project, path, analysis))
    }

    /// Notes what was made of an analysis. Its runs must not have changed meanwhile.
    ///
    /// # Errors
    /// An input that cannot be read, or a note that cannot be written.
    pub fn note(
        &self,
        project: &Project,
        path: &Path,
        analysis: &Analysis,
        files: &[OutputFile],
    ) -> Result<(), ConfigError> {
        self.write(&analysis.name, self.inputs(project, path, analysis)?, files)
    }

    /// Whether the published tables beside ours need not be made again.
    ///
    /// # Errors
    /// As [`Self::is_up_to_date`].
    pub fn is_ledger_up_to_date(&self, project: &Project) -> Result<bool, ConfigError> {
        self.holds(LEDGER, || self.inputs_of_ledger(project))
    }

    /// Notes the published tables beside ours.
    ///
    /// # Errors
    /// As [`Self::note`].
    pub fn note_ledger(&self, project: &Project, files: &[OutputFile]) -> Result<(), ConfigError> {
        self.write(LEDGER, self.inputs_of_ledger(project)?, files)
    }

    fn holds(
        &self,
        name: &str,
        inputs: impl FnOnce() -> Result<String, ConfigError>,
    ) -> Result<bool, ConfigError> {
        let note = crate::reading::bytes(self.place(name)).ok();
        let Some(note) = note.and_then(|text| serde_json::from_slice::<Note>(&text).ok()) else {
            return Ok(false);
        };
        let as_written = note.outputs.iter().all(|(path, sha256)| {
            crate::reading::bytes(path).is_ok_and(|bytes| sha256_hex(&bytes) == *sha256)
        });
        Ok(as_written && note.inputs == inputs()?)
    }

    fn write(&self, name: &str, inputs: String, files: &[OutputFile]) -> Result<(), ConfigError> {
        let outputs = files.iter().map(|f| (f.path.clone(), sha256_hex(&f.bytes))).collect();
        let place = self.place(name);
        let cannot = |e: std::io::Error| ConfigError::new(&place, format!("cannot write: {e}"));
        let text = serde_json::to_string_pretty(&Note { inputs, outputs })
            .map_err(|e| cannot(e.into()))?;
        write_beside(&place, text.as_bytes()).map_err(cannot)
    }

    /// Every analysis' inputs, the bindings, and every file of settings they may name.
    fn inputs_of_ledger(&self, project: &Project) -> Result<String, ConfigError> {
        let mut listing = String::new();
        for (path, analysis) in &project.analyses {
            listing += &self.inputs(project, path, analysis)?;
        }
        let settings = crate::reading::walk(Path::new("configs")).flatten();
        let settings =
            settings.filter(|e| e.file_type().is_file()).map(walkdir::DirEntry::into_path);
        for file in Books::FILES.iter().map(PathBuf::from).chain(settings) {
            let source = hashed(&file)?;
            listing += &format!("{}  {}\n", source.sha256, source.path.display());
        }
        Ok(sha256_hex(listing.as_bytes()))
    }

    fn place(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.json"))
    }

    fn inputs(
        &self,
        project: &Project,
        path: &Path,
        analysis: &Analysis,
    ) -> Result<String, ConfigError> {
        let selected = project.select(analysis);
        let mut listing = format!("program {PROGRAM}\nconfigs {}\n", project.configs.sha256);
        let mut files = vec![path.to_owned(), PathBuf::from(BATCHES)];
        files.extend(selected.simulated.iter().map(|(campaign, _)| (*campaign).to_owned()));
        files.extend(analysis.fidelity.iter().map(|spec| spec.file.clone()));
        files.extend(analysis.registration.iter().map(|pinned| pinned.file.clone()));
        files.extend(files_in(PUBLISHED));
        files.extend(files_in(FILLS));
        for file in files.iter().filter(|file| file.is_file()) {
            let source = hashed(file)?;
            listing += &format!("{}  {}\n", source.sha256, source.path.display());
        }
        let layouts = &project.configs.layouts;
        let runs: Vec<String> =
            selected.dirs.par_iter().map(|dir| self.listing(dir, layouts)).collect();
        listing += &runs.concat();
        Ok(sha256_hex(listing.as_bytes()))
    }

    /// The files of a run with their hashes, read once per invocation.
    fn listing(&self, dir: &Path, layouts: &[Arc<Layout>]) -> String {
        let there = self.listings.lock().ok().and_then(|all| all.get(dir).cloned());
        there.unwrap_or_else(|| {
            let listing = RunFiles::read(dir, layouts).listing();
            if let Ok(mut all) = self.listings.lock() {
                all.insert(dir.to_owned(), listing.clone());
            }
            listing
        })
    }

    /// Takes over what a store has read already.
    pub fn know(&self, listings: BTreeMap<PathBuf, String>) {
        if let Ok(mut all) = self.listings.lock() {
            all.extend(listings);
        }
    }
}

fn files_in(folder: &str) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.filter_map(|e| Some(e.ok()?.path())).collect();
    paths.sort();
    paths
}
