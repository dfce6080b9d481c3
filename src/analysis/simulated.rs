//! Runs that an analysis simulates as it is made: a campaign's, or some tests of it, in
//! memory. Their sources are the campaign and the configuration they were made from.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::campaign::{CampaignRun, campaign_runs};
use crate::run::SourceFile;
use crate::setup::yaml::ConfigError;
use crate::setup::{Campaign, Configs};

use super::error::AnalysisError;
use super::statistics::RunStatistics;
use super::store::{Measured, Store};
use crate::configs::hashed;

/// Simulates and measures the runs of a campaign that are `wanted`, in its order.
///
/// # Errors
/// A campaign, a cell or a run that cannot be used.
pub fn simulated_runs(
    path: &Path,
    configs: &Configs,
    store: &Store<'_>,
    wanted: impl Fn(&CampaignRun<'_>) -> bool,
    expect: impl Fn(usize),
    done: impl Fn() + Sync,
) -> Result<Vec<Measured>, AnalysisError> {
    let campaign = crate::configs::read(path, Campaign::parse)?;
    let mut jobs = campaign_runs(&campaign, configs, |options| options)?;
    jobs.retain(wanted);
    jobs.iter().try_for_each(CampaignRun::check)?;
    expect(jobs.len());
    let measured = store.simulated(&jobs, done);
    let sourced = |(job, measured): (&CampaignRun<'_>, Measured)| match measured {
        Ok(statistics) => {
            let sources = sources(job, path)?;
            Ok(Ok(Arc::new(RunStatistics { sources, ..(*statistics).clone() })))
        }
        Err(unreadable) => Ok(Err(unreadable)),
    };
    jobs.iter().zip(measured).map(sourced).collect()
}

fn sources(job: &CampaignRun<'_>, campaign: &Path) -> Result<Vec<SourceFile>, ConfigError> {
    let file = |kind: &str, name: &str| PathBuf::from(format!("configs/{kind}/{name}.yaml"));
    let paths = [
        campaign.to_owned(),
        file("cells", &job.spec.cell.name),
        file("protocols", &job.spec.protocol.name),
        file("workloads", &job.spec.cell.workload),
    ];
    paths.iter().map(|path| hashed(path)).collect()
}
