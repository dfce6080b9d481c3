//! Runs that an analysis simulates instead of reading: a campaign made in memory,
//! scored like any other run, and gone when the analysis is done.

use std::path::{Path, PathBuf};

use rayon::prelude::*;

use crate::run::SourceFile;
use crate::setup::yaml::ConfigError;
use crate::setup::{Campaign, Configs};
use crate::sim::campaign::{CampaignError, Job, jobs};
use crate::sim::directory::to_run;
use crate::sim::simulate;

use super::outputs::hashed;
use super::score::{ScoreOptions, Scored, ScoredRun, score_run};

/// Why the runs could not be made.
#[derive(Debug, thiserror::Error)]
pub enum SimulatedError {
    /// The campaign or a configuration file cannot be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A run of the campaign makes no sense.
    #[error(transparent)]
    Campaign(#[from] CampaignError),
    /// The simulator could not make a run.
    #[error("{id}: {message}")]
    Run {
        /// The run.
        id: String,
        /// What it said.
        message: String,
    },
}

/// Simulates and scores every run of a campaign, in its order. Their sources are the
/// campaign and the configuration they were made from.
///
/// # Errors
/// A campaign, a cell or a run that cannot be used.
pub fn simulated_runs(path: &Path, configs: &Configs) -> Result<Vec<ScoredRun>, SimulatedError> {
    let campaign = Campaign::load(path)?;
    let jobs = jobs(&campaign, configs, |options| options)?;
    let runs: Vec<Result<Option<ScoredRun>, SimulatedError>> =
        jobs.par_iter().map(|job| one(job, path, configs)).collect();
    let runs: Vec<Option<ScoredRun>> = runs.into_iter().collect::<Result<_, _>>()?;
    Ok(runs.into_iter().flatten().collect())
}

fn one(
    job: &Job<'_>,
    campaign: &Path,
    configs: &Configs,
) -> Result<Option<ScoredRun>, SimulatedError> {
    let simulated = simulate(&job.spec)
        .map_err(|e| SimulatedError::Run { id: job.planned.id.clone(), message: e.to_string() })?;
    let file = |kind: &str, name: &str| PathBuf::from(format!("configs/{kind}/{name}.yaml"));
    let paths = [
        campaign.to_owned(),
        file("cells", &job.spec.cell.name),
        file("protocols", &job.spec.protocol.name),
        file("workloads", &job.spec.workload.name),
    ];
    let sources: Vec<SourceFile> = paths.iter().map(|p| hashed(p)).collect::<Result<_, _>>()?;
    let mut run = to_run(&simulated, &job.spec, &job.label);
    run.dir = Path::new("simulated").join(&job.dir);
    run.sources = sources;
    Ok(match score_run(run, configs, &ScoreOptions::default()) {
        Scored::Run(run) => Some(*run),
        Scored::Unreadable(_) => None,
    })
}
