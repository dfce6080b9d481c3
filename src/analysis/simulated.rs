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
pub(crate) fn simulated_runs(
    path: &Path,
    configs: &Configs,
    store: &Store<'_>,
    wanted: impl Fn(&CampaignRun<'_>) -> bool,
    expect: impl Fn(usize),
    done: impl Fn() + Sync,
) -> Result<Vec<Measured>, AnalysisError> {
    let campaign = crate::configs::read(path, Campaign::parse)?;
    let mut runs = campaign_runs(&campaign, configs, |options| options)?;
    runs.retain(wanted);
    runs.iter().try_for_each(CampaignRun::check)?;
    expect(runs.len());
    let measured = store.simulated(&runs, done);
    let sourced = |(run, measured): (&CampaignRun<'_>, Measured)| match measured {
        Ok(statistics) => {
            let sources = sources(run, path)?;
            Ok(Ok(Arc::new(RunStatistics { sources, ..(*statistics).clone() })))
        }
        Err(unreadable) => Ok(Err(unreadable)),
    };
    runs.iter().zip(measured).map(sourced).collect()
}

fn sources(run: &CampaignRun<'_>, campaign: &Path) -> Result<Vec<SourceFile>, ConfigError> {
    let file = |kind: &str, name: &str| PathBuf::from(format!("configs/{kind}/{name}.yaml"));
    let paths = [
        campaign.to_owned(),
        file("cells", &run.spec.cell.name),
        file("protocols", &run.spec.protocol.name),
        file("workloads", &run.spec.cell.workload),
    ];
    paths.iter().map(|path| hashed(path)).collect()
}
