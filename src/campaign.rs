//! A campaign's runs as run directories: what is to be made, what is there, and
//! making what is missing.
//!
//! A run is made whole or not at all, so an interrupted campaign is resumed by
//! starting it again. A run that is there is recognised by its `config.yaml`,
//! which holds all that its bytes depend on; it is never overwritten unasked.

pub mod pins;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::directory::write::{TableFormat, is_written, write_with};
use crate::escape::shown;
use crate::files::{FileError, Temporary, folder_of};
use crate::nearest;
use crate::run::RegistrationRef;
use crate::setup::campaign::PlannedRun;
use crate::setup::{Campaign, Configs};
use crate::sim::directory::{Label, config_yaml, to_run};
use crate::sim::{Options, RunSpec, SimError, check_spec, simulate};

/// A run of a campaign, ready to be made.
#[derive(Debug, Clone)]
pub struct CampaignRun<'a> {
    /// What the campaign says of it.
    pub planned: PlannedRun<'a>,
    /// What is simulated.
    pub spec: RunSpec<'a>,
    /// What its directory says of it.
    pub label: Label,
    /// Its directory, relative to the campaign's folder.
    pub dir: PathBuf,
}

/// What there is of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// Nothing.
    Missing,
    /// The run, made from the same values.
    Made,
    /// Something else in its place: made from other values, or no run.
    Differs,
}

/// A campaign that cannot be made as it stands, or a run of it that could not be made.
#[derive(Debug, thiserror::Error)]
pub enum CampaignError {
    /// A name that nothing has, or recorded sessions that are not to be had.
    #[error("test {test}: {message}")]
    Unknown {
        /// The test.
        test: String,
        /// Which name, and which one was meant; or what keeps the sessions from being read.
        message: String,
    },
    /// A run that cannot be simulated.
    #[error("run {id}: {source}")]
    Run {
        /// The run.
        id: String,
        /// Why.
        source: SimError,
    },
    /// The simulation failed.
    #[error(transparent)]
    Sim(#[from] SimError),
    /// A run's directory could not be looked at, cleared or written.
    #[error(transparent)]
    File(#[from] FileError),
}

/// The runs of `campaign` in its order. Whether each can be simulated, [`CampaignRun::check`] says.
///
/// # Errors
/// A cell or registration that is not there, or a cell's recorded sessions that are not.
pub fn campaign_runs<'a>(
    campaign: &'a Campaign,
    configs: &'a Configs,
    options: impl Fn(Options) -> Options,
) -> Result<Vec<CampaignRun<'a>>, CampaignError> {
    campaign.runs().into_iter().map(|planned| campaign_run(planned, configs, &options)).collect()
}

fn campaign_run<'a>(
    planned: PlannedRun<'a>,
    configs: &'a Configs,
    options: &impl Fn(Options) -> Options,
) -> Result<CampaignRun<'a>, CampaignError> {
    let test = planned.test;
    let unknown = |what: &str, name: &str, known: Vec<&str>| CampaignError::Unknown {
        test: test.test.clone(),
        message: nearest::unknown(what, name, &format!("configs/{what}s"), known),
    };
    let of_test = |message| CampaignError::Unknown { test: test.test.clone(), message };
    let (cell, workload, protocol) = configs.cell(&test.cell).map_err(of_test)?;
    let files = || configs.registrations.keys().map(String::as_str).collect();
    let registration = test
        .registration
        .as_ref()
        .map(|name| {
            registration(name, configs).ok_or_else(|| unknown("registration", name, files()))
        })
        .transpose()?;
    let spec = RunSpec {
        cell,
        workload,
        protocol,
        arm: planned.arm,
        multiple: planned.multiple,
        seed: planned.seed,
        options: options(Options::of(&planned, cell, workload)),
    };
    let dir =
        Path::new(&test.test).join(format!("agentload_{}", planned.arm.arm())).join(&planned.id);
    let label = Label { run_id: planned.id.clone(), registration };
    Ok(CampaignRun { planned, spec, label, dir })
}

/// What binds a run to a registration of the project.
pub fn registration(name: &str, configs: &Configs) -> Option<RegistrationRef> {
    let file = configs.registrations.get(name)?;
    Some(RegistrationRef {
        file: format!("configs/registrations/{name}.yaml"),
        sha256: file.sha256.clone(),
        status: file.registration.status.word().into(),
    })
}

/// Applies `work` to every item, on `threads` threads, and answers in order.
///
/// Not rayon: a thread that waits for a table to be written would take up the next
/// run meanwhile, and hundreds of runs would be in memory at once.
pub fn one_per_thread<T: Sync, R: Send>(
    items: &[T],
    threads: usize,
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let (next, results) = (AtomicUsize::new(0), Mutex::new(Vec::with_capacity(items.len())));
    thread::scope(|scope| {
        for _ in 0..threads.clamp(1, items.len().max(1)) {
            scope.spawn(|| {
                while let Some((i, item)) = {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    items.get(i).map(|item| (i, item))
                } {
                    let result = work(item);
                    // Poisoned only by a panic of another thread, which the scope passes on.
                    if let Ok(mut results) = results.lock() {
                        results.push((i, result));
                    }
                }
            });
        }
    });
    let mut results = results.into_inner().unwrap_or_default();
    results.sort_by_key(|(i, _)| *i);
    results.into_iter().map(|(_, result)| result).collect()
}

impl CampaignRun<'_> {
    /// Draws its plan, to find out before it is made what is wrong with it.
    ///
    /// # Errors
    /// Values that make no sense (costs, cap, burst, rate, pool).
    pub fn check(&self) -> Result<(), CampaignError> {
        let wrong = |source| CampaignError::Run { id: self.planned.id.clone(), source };
        check_spec(&self.spec).map_err(wrong)
    }

    fn config_yaml(&self) -> Result<String, FileError> {
        config_yaml(&self.spec, &self.label).map_err(|why| FileError::new("config.yaml", why))
    }

    /// What there is of the run under `out`.
    ///
    /// # Errors
    /// Its place cannot be looked at.
    pub fn presence(&self, out: &Path) -> Result<Presence, CampaignError> {
        let dir = out.join(&self.dir);
        let place = |why: io::Error| FileError::new(&dir, why);
        if !dir.try_exists().map_err(place)? {
            return Ok(Presence::Missing);
        }
        let expected = self.config_yaml()?;
        let same = match crate::reading::text(dir.join("config.yaml")) {
            Ok(there) => there == expected,
            Err(e) if e.kind() == io::ErrorKind::NotFound => false,
            Err(e) => return Err(place(e).into()),
        };
        let whole = dir.join("meta.json").try_exists().map_err(place)?;
        Ok(if same && whole { Presence::Made } else { Presence::Differs })
    }

    /// Simulates the run and writes its directory under `out`, whole or not at all.
    ///
    /// # Errors
    /// The simulation fails, or the directory is there already or cannot be written; nothing of it
    /// is left behind.
    pub fn make(&self, out: &Path, format: TableFormat) -> Result<(), CampaignError> {
        let simulated = simulate(&self.spec)?;
        let run = to_run(&simulated, &self.spec, &self.label);
        let config = self.config_yaml()?;
        let dir = out.join(&self.dir);
        Ok(write_with(&run, &dir, format, &[("config.yaml", &config)])?)
    }

    /// Removes the run that is in this one's place under `out`.
    ///
    /// # Errors
    /// It cannot be removed, or it holds what no run does: somebody else's files stay.
    pub fn clear(&self, out: &Path) -> Result<(), CampaignError> {
        let path = out.join(&self.dir);
        let cleared = only_of_a_run(&path).and_then(|()| {
            // Renamed first, so that no half-removed run is ever taken for one.
            let aside = Temporary::folder(folder_of(&path))?;
            fs::rename(&path, aside.path().join("run"))?;
            aside.remove()
        });
        Ok(cleared.map_err(|why| FileError::new(path, why))?)
    }
}

/// Whether a folder holds only what a written run does.
fn only_of_a_run(dir: &Path) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let is_file = entry.file_type()?.is_file();
        if !is_file || !entry.file_name().to_str().is_some_and(is_written) {
            let message = format!("{} is no file of a run: move it away", shown(&entry.path()));
            return Err(io::Error::other(message));
        }
    }
    Ok(())
}
