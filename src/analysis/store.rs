//! Where the statistics of runs come from: measured once per run and invocation, and kept
//! on disk under the hash of what they were made from.
//!
//! A kept file is named by the SHA-256 over the program's own source, the configuration,
//! how runs are read, the run's folder, and the hash of each of its files. Whatever of
//! these changes, the name changes, so nothing has to be thrown away to be right. A kept
//! file can be made on another machine from the same tree (`trapcheck measure`). What was
//! taken from one was not recomputed: the store tells of how many runs ([`Trust`]).

mod kept;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use crate::campaign::CampaignRun;
use crate::directory::{LoadOptions, RunFiles};
use crate::files::FileError;
use crate::run::Problem;
use crate::setup::{Configs, RegistrationFile};
use crate::sim::directory::{config_yaml, to_measure};
use crate::sim::simulate_to_measure;
use rayon::prelude::*;

use super::statistics::RunStatistics;
use super::statistics::Unreadable;
use kept::Origin;

pub use crate::judged::Measured;
pub use kept::{Refused, find_kept};

/// SHA-256 over the library's source.
pub(crate) const PROGRAM: &str = env!("TRAPCHECK_SOURCE_SHA256");
/// The folder that a run is said to lie in which was simulated here and lies nowhere.
pub(crate) const SIMULATED: &str = "simulated";

/// Measures runs, each once.
#[derive(Debug)]
pub struct Store<'a> {
    configs: &'a Configs,
    load: LoadOptions,
    also: Option<&'a RegistrationFile>,
    kept: Option<PathBuf>,
    measured: Mutex<BTreeMap<PathBuf, Measured>>,
    trust: Mutex<Trust>,
    not_kept: Mutex<Vec<FileError>>,
}

/// What a store took from kept files instead of measuring, and what it would not take.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trust {
    /// Runs whose statistics were not recomputed; what they were measured from has the
    /// hashes it had then.
    pub same_inputs: BTreeSet<PathBuf>,
    /// Runs whose statistics were not recomputed, and which are not here to compare with.
    pub not_here: BTreeSet<PathBuf>,
    /// Kept files of runs that were measured again instead, and why.
    pub refused: BTreeMap<PathBuf, Refused>,
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
            trust: Mutex::default(),
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

    /// What was taken from kept files so far, and what was refused.
    pub fn trust(&self) -> Trust {
        self.trust.lock().map(|trust| trust.clone()).unwrap_or_default()
    }

    fn note(&self, add: impl FnOnce(&mut Trust)) {
        if let Ok(mut trust) = self.trust.lock() {
            add(&mut trust);
        }
    }

    /// What could not be kept: measured all the same, and measured again next time.
    pub fn not_kept(&self) -> Vec<FileError> {
        self.not_kept.lock().map(|mut all| std::mem::take(&mut *all)).unwrap_or_default()
    }

    /// The statistics in kept files, in their order. They are good only for the program and
    /// the configuration that they were made with; where their run is here, its files must
    /// be the ones they were measured from.
    pub fn kept(&self, files: &[PathBuf]) -> Vec<Measured> {
        files.par_iter().map(|file| self.open(file)).collect()
    }

    fn open(&self, file: &Path) -> Measured {
        let unusable = |dir: &Path, message: String| {
            let problems = vec![Problem::new(file, message)];
            Err(Unreadable { dir: dir.into(), problems })
        };
        let (origin, statistics) = match kept::read(file) {
            Some(Ok(kept)) => kept,
            Some(Err(refused)) => return unusable(file, refused.to_string()),
            None => return unusable(file, Refused::Damaged.to_string()),
        };
        let dir = &origin.run;
        if origin.configs != self.configs.sha256 {
            return unusable(dir, "kept under another configuration: measure it again".into());
        }
        let asked = self.also.filter(|file| self.configs.bound_by(&file.sha256).is_none());
        if let Some(asked) = asked.filter(|asked| origin.also.as_ref() != Some(&asked.sha256)) {
            let name = &asked.registration.name;
            return unusable(
                dir,
                format!(
                    "kept without what registration {name} asks for: put it into configs/registrations and measure again"
                ),
            );
        }
        let is_here = dir.is_dir();
        if is_here && RunFiles::read(dir, &self.configs.layouts).listing() != origin.inputs {
            let message = "the run's files changed after it was kept: measure it again";
            return unusable(dir, message.into());
        }
        self.note(|trust| {
            let runs = if is_here { &mut trust.same_inputs } else { &mut trust.not_here };
            runs.insert(dir.clone());
        });
        Ok(Arc::new(statistics))
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
    pub fn simulated(&self, runs: &[CampaignRun<'_>], done: impl Fn() + Sync) -> Vec<Measured> {
        runs.par_iter()
            .map(|run| {
                let dir = Path::new(SIMULATED).join(&run.dir);
                let measured = self.once(&dir, || self.simulate(run, &dir));
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
        self.kept_or(dir, listing, || {
            let run = crate::directory::load_files(dir, files, &self.load)
                .map_err(|problems| Unreadable { dir: dir.into(), problems: problems.0 })?;
            RunStatistics::of(run, self.configs, self.also)
        })
    }

    fn simulate(&self, run: &CampaignRun<'_>, dir: &Path) -> Measured {
        let unusable = |message: String| {
            let problem = Problem::new(dir, message);
            Unreadable { dir: dir.into(), problems: vec![problem] }
        };
        let config = config_yaml(&run.spec, &run.label).map_err(|e| unusable(e.to_string()))?;
        self.kept_or(dir, config, || {
            let simulated = simulate_to_measure(&run.spec).map_err(|e| unusable(e.to_string()))?;
            let mut made = to_measure(&simulated, &run.spec, &run.label);
            made.dir = dir.into();
            RunStatistics::of(made, self.configs, self.also)
        })
    }

    /// The statistics that are kept of a run with these inputs, or else made and kept.
    fn kept_or(
        &self,
        dir: &Path,
        inputs: String,
        make: impl FnOnce() -> Result<RunStatistics, Unreadable>,
    ) -> Measured {
        let Some(folder) = &self.kept else { return Ok(Arc::new(make()?)) };
        let origin = Origin {
            program: PROGRAM.into(),
            configs: self.configs.sha256.clone(),
            also: self.also.map(|file| file.sha256.clone()),
            reading: format!("{:?}", self.load),
            run: dir.into(),
            inputs,
        };
        let file = folder.join(origin.file_name());
        match kept::read(&file) {
            Some(Ok((_, statistics))) => {
                self.note(|trust| _ = trust.same_inputs.insert(dir.into()));
                return Ok(Arc::new(statistics));
            }
            Some(Err(why)) => self.note(|trust| _ = trust.refused.insert(file, why)),
            None => {}
        }
        let made = make()?;
        if let Err(error) = kept::write(folder, &origin, &made)
            && let Ok(mut all) = self.not_kept.lock()
        {
            all.push(error);
        }
        Ok(Arc::new(made))
    }
}
