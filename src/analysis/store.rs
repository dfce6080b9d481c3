//! Where the statistics of runs come from: measured once per run and invocation, and kept
//! on disk under the hash of what they were made from.
//!
//! A kept file is named by the SHA-256 over the program's own source, the configuration,
//! how runs are read, the run's folder, and the hash of each of its files. Whatever of
//! these changes, the name changes, so nothing has to be thrown away to be right. A kept
//! file can be made on another machine from the same tree (`trapcheck measure`).

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::files::write_beside;
use crate::hash::sha256_hex;
use crate::limits;
use crate::reading::{self, Bounded};
use crate::run::{LoadOptions, Problem, Run, RunFiles};
use crate::setup::{Configs, RegistrationFile};
use crate::sim::campaign::Job;
use crate::sim::directory::{config_yaml, to_run};
use crate::sim::simulate;

use super::score::Unreadable;
use super::statistics::RunStatistics;

/// SHA-256 over this program's source.
pub const PROGRAM: &str = env!("TRAPCHECK_SOURCE_SHA256");

/// A run's statistics, or why it has none.
pub type Measured = Result<Arc<RunStatistics>, Unreadable>;

/// Measures runs, each once.
#[derive(Debug)]
pub struct Store<'a> {
    configs: &'a Configs,
    load: LoadOptions,
    also: Option<&'a RegistrationFile>,
    kept: Option<PathBuf>,
    measured: Mutex<BTreeMap<PathBuf, Measured>>,
    listings: Mutex<BTreeMap<PathBuf, String>>,
    not_kept: Mutex<Vec<KeepError>>,
}

/// Why a run's statistics could not be kept.
#[derive(Debug, thiserror::Error)]
pub enum KeepError {
    /// They cannot be written down.
    #[error("{}: {source}", dir.display())]
    Encode {
        /// The run.
        dir: PathBuf,
        /// Why.
        source: rmp_serde::encode::Error,
    },
    /// The file cannot be written.
    #[error("{}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

impl<'a> Store<'a> {
    /// A store that keeps nothing on disk.
    pub fn new(configs: &'a Configs) -> Self {
        Self {
            configs,
            load: LoadOptions::default(),
            also: None,
            kept: None,
            measured: Mutex::default(),
            listings: Mutex::default(),
            not_kept: Mutex::default(),
        }
    }

    /// The same, reading runs in another way.
    #[must_use]
    pub fn reading(self, load: LoadOptions) -> Self {
        Self { load, ..self }
    }

    /// The same, measuring also what a registration outside the configuration asks for.
    #[must_use]
    pub fn also_for(self, registration: Option<&'a RegistrationFile>) -> Self {
        Self { also: registration, ..self }
    }

    /// The same, keeping statistics in a folder.
    #[must_use]
    pub fn kept_in(self, folder: Option<&Path>) -> Self {
        Self { kept: folder.map(Path::to_owned), ..self }
    }

    /// The files of every run that was read, with their hashes.
    pub fn listings(&self) -> BTreeMap<PathBuf, String> {
        self.listings.lock().map(|all| all.clone()).unwrap_or_default()
    }

    /// What could not be kept: measured all the same, and measured again next time.
    pub fn not_kept(&self) -> Vec<KeepError> {
        self.not_kept.lock().map(|mut all| std::mem::take(&mut *all)).unwrap_or_default()
    }

    /// The statistics in kept files, without their runs, in their order. They are good only
    /// for the program and the configuration that they were made with.
    pub fn kept(&self, files: &[PathBuf]) -> Vec<Measured> {
        files.par_iter().map(|file| self.open(file)).collect()
    }

    fn open(&self, file: &Path) -> Measured {
        let unusable = |dir: &Path, message: &str| {
            let problems = vec![Problem::new(file, message)];
            Err(Unreadable { dir: dir.into(), problems })
        };
        let Some(kept) = read_kept(file) else {
            let message = "not the kept statistics of a run, or damaged: measure it again";
            return unusable(file, message);
        };
        let dir = &kept.statistics.dir;
        if kept.program != PROGRAM {
            return unusable(dir, "kept by another version of this program: measure it again");
        }
        if kept.configs != self.configs.sha256 {
            return unusable(dir, "kept under another configuration: measure it again");
        }
        let asked = self.also.filter(|file| self.configs.bound_by(&file.sha256).is_none());
        match asked {
            Some(file) if kept.also.as_ref() != Some(&file.sha256) => {
                let name = &file.registration.name;
                unusable(
                    dir,
                    &format!(
                        "kept without what registration {name} asks for: put it into configs/registrations and measure again"
                    ),
                )
            }
            _ => Ok(Arc::new(kept.statistics)),
        }
    }

    /// The statistics of run directories, in their order; `done` is called once per run.
    pub fn runs(&self, dirs: &[PathBuf], done: impl Fn() + Sync) -> Vec<Measured> {
        dirs.par_iter()
            .map(|dir| {
                let measured = self.once(dir, || self.read(dir));
                done();
                measured
            })
            .collect()
    }

    /// The statistics of runs that are simulated here, in their order.
    pub fn simulated(&self, jobs: &[Job<'_>], done: impl Fn() + Sync) -> Vec<Measured> {
        jobs.par_iter()
            .map(|job| {
                let dir = Path::new("simulated").join(&job.dir);
                let measured = self.once(&dir, || self.simulate(job, &dir));
                done();
                measured
            })
            .collect()
    }

    /// Two threads that want the same run at the same time both make it: a lock held that
    /// long would stop all others.
    fn once(&self, dir: &Path, make: impl FnOnce() -> Measured) -> Measured {
        let there = self.measured.lock().ok().and_then(|m| m.get(dir).cloned());
        if let Some(measured) = there {
            return measured;
        }
        let measured = make();
        if let Ok(mut all) = self.measured.lock() {
            all.insert(dir.to_owned(), measured.clone());
        }
        measured
    }

    fn read(&self, dir: &Path) -> Measured {
        let files = RunFiles::read(dir, &self.configs.layouts);
        let listing = files.listing();
        if let Ok(mut all) = self.listings.lock() {
            all.insert(dir.to_owned(), listing.clone());
        }
        self.kept_or(dir, &listing, || {
            let run = Run::load_files(dir, files, &self.load)
                .map_err(|problems| Unreadable { dir: dir.into(), problems: problems.0 })?;
            RunStatistics::of(run, self.configs, self.also)
        })
    }

    fn simulate(&self, job: &Job<'_>, dir: &Path) -> Measured {
        let unusable = |message: String| {
            let problem = Problem::new(dir, message);
            Unreadable { dir: dir.into(), problems: vec![problem] }
        };
        let config = config_yaml(&job.spec, &job.label).map_err(|e| unusable(e.to_string()))?;
        self.kept_or(dir, &config, || {
            let simulated = simulate(&job.spec).map_err(|e| unusable(e.to_string()))?;
            let mut run = to_run(&simulated, &job.spec, &job.label);
            run.dir = dir.into();
            RunStatistics::of(run, self.configs, self.also)
        })
    }

    fn kept_or(
        &self,
        dir: &Path,
        inputs: &str,
        make: impl FnOnce() -> Result<RunStatistics, Unreadable>,
    ) -> Measured {
        let file = self.kept.as_ref().map(|folder| folder.join(self.file_name(dir, inputs)));
        if let Some(kept) = file.as_deref().and_then(read_kept) {
            return Ok(Arc::new(kept.statistics));
        }
        let made = make()?;
        if let Some(file) = file
            && let Err(error) =
                keep(&file, &made, &self.configs.sha256, self.also.map(|file| file.sha256.clone()))
            && let Ok(mut all) = self.not_kept.lock()
        {
            all.push(error);
        }
        Ok(Arc::new(made))
    }

    fn file_name(&self, dir: &Path, inputs: &str) -> String {
        let also = self.also.map_or("", |file| file.sha256.as_str());
        let named = format!(
            "program {PROGRAM}\nconfigs {}\nalso {also}\nreading {:?}\nrun {}\n{inputs}",
            self.configs.sha256,
            self.load,
            dir.display()
        );
        format!("{}.{ENDING}", sha256_hex(named.as_bytes()))
    }
}

/// The ending of a kept file.
const ENDING: &str = "run";

/// The kept files under some paths, in order of path.
pub fn find_kept<P: AsRef<Path>>(paths: &[P]) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = paths
        .iter()
        .flat_map(|path| reading::walk(path.as_ref()).flatten())
        .filter(|entry| entry.file_type().is_file())
        .map(walkdir::DirEntry::into_path)
        .filter(|path| path.extension().is_some_and(|ending| ending == ENDING))
        .collect();
    found.sort();
    found.dedup();
    found
}

/// What a kept file holds.
#[derive(Serialize, Deserialize)]
struct Kept<S> {
    /// SHA-256 of the program's source that measured.
    program: String,
    /// SHA-256 of the configuration it measured under.
    configs: String,
    /// SHA-256 of a registration outside the configuration that was measured for as well.
    also: Option<String>,
    /// What it measured.
    statistics: S,
}

/// The statistics in a file; `None` when there is none, or it is damaged.
fn read_kept(file: &Path) -> Option<Kept<RunStatistics>> {
    let packed = reading::bytes(file).ok()?;
    let unpacked = zstd::Decoder::with_buffer(packed.as_slice()).ok()?;
    let mut bytes = Vec::new();
    Bounded::new(unpacked, limits::KEPT_BYTES).read_to_end(&mut bytes).ok()?;
    rmp_serde::from_slice(&bytes).ok()
}

/// Writes statistics to a file, packed and with a checksum.
fn keep(
    file: &Path,
    statistics: &RunStatistics,
    configs: &str,
    also: Option<String>,
) -> Result<(), KeepError> {
    let encode = |source| KeepError::Encode { dir: statistics.dir.clone(), source };
    let kept = Kept { program: PROGRAM.into(), configs: configs.into(), also, statistics };
    let bytes = rmp_serde::to_vec_named(&kept).map_err(encode)?;
    let pack = || -> std::io::Result<Vec<u8>> {
        let mut packer = zstd::Encoder::new(Vec::new(), 1)?;
        packer.include_checksum(true)?;
        std::io::Write::write_all(&mut packer, &bytes)?;
        packer.finish()
    };
    pack()
        .and_then(|packed| write_beside(file, &packed))
        .map_err(|source| KeepError::Write { path: file.into(), source })
}
