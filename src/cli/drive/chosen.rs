//! Which runs were asked for.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use trapcheck::campaign::{CampaignRun, campaign_runs};
use trapcheck::name::PlainName;
use trapcheck::nearest::unknown;
use trapcheck::setup::{Campaign, Configs, PairedThresholds, RegistrationFile};
use trapcheck::sim::directory::Label;
use trapcheck::sim::{Options, RunSpec};

use super::super::plan::cell;
use super::super::project;
use super::Args;

/// A run to make.
pub struct Chosen<'a> {
    /// What is run.
    pub spec: RunSpec<'a>,
    /// Its name and its registration.
    pub label: Label,
    /// Its directory.
    pub dir: PathBuf,
    /// The thresholds by which the live line speaks of it.
    pub rule: PairedThresholds,
}

/// Hands the runs that were asked for to `work`.
///
/// # Errors
/// A name that there is not, values that make no sense; and what `work` fails with.
pub fn choose<T>(
    args: &Args,
    configs: &Configs,
    work: impl FnOnce(Vec<Chosen<'_>>) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    if let Some(name) = &args.cell {
        return single(args, configs, name, work);
    }
    let file = match (&args.registered, &args.config) {
        (Some(registration), _) => campaign_of(registration, &args.configs, configs)?,
        (None, Some(config)) => config.clone(),
        (None, None) => bail!("expected --config, --registered or --cell"),
    };
    let campaign = trapcheck::configs::read(&project::config_file(&file), Campaign::parse)?;
    if args.registered.is_some()
        && let Some(test) = campaign.tests.iter().find(|test| test.registration.is_none())
    {
        bail!("{}: test {}: expected a registration that binds it", file.display(), test.test);
    }
    let all =
        campaign_runs(&campaign, configs, |options| Options { sample_s: args.sample, ..options })?;
    all.iter().try_for_each(CampaignRun::check)?;
    let known = |id: &String| all.iter().any(|run| run.planned.id == *id);
    if let Some(id) = args.run.iter().find(|id| !known(id)) {
        let ids = all.iter().map(|run| run.planned.id.as_str());
        bail!("{} (--list lists them)", unknown("run", id, "", ids));
    }
    let registered = |run: &CampaignRun<'_>| {
        let name = run.planned.test.registration.as_ref()?;
        Some(&configs.registrations.get(name)?.registration)
    };
    let wanted = |run: &&CampaignRun<'_>| args.run.is_empty() || args.run.contains(&run.planned.id);
    let wanted: Vec<&CampaignRun<'_>> = all.iter().filter(wanted).collect();
    project::tell_sessions(configs, &wanted);
    let chosen = wanted.into_iter().map(|run| Chosen {
        spec: run.spec.clone(),
        label: run.label.clone(),
        dir: args.out.join(&run.dir),
        rule: registered(run).map(|r| r.rule).unwrap_or_default(),
    });
    work(chosen.collect())
}

fn single<T>(
    args: &Args,
    configs: &Configs,
    name: &str,
    work: impl FnOnce(Vec<Chosen<'_>>) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let (cell, workload, protocol) = cell(configs, name, None)?;
    let arm = args.arm.as_ref().context("expected --arm")?.arm()?;
    let called = args.out.file_name().and_then(|name| name.to_str());
    let run_id = PlainName::new(called.unwrap_or_default())
        .with_context(|| {
            format!("--out {}: the run is called as its folder is", args.out.display())
        })?
        .to_string();
    let options = Options { sample_s: args.sample, ..Options::default() };
    let (multiple, seed) = (args.rate, args.seed);
    let spec = RunSpec { cell, workload, protocol, arm: &arm, multiple, seed, options };
    trapcheck::sim::plan_of(&spec)?;
    let label = Label { run_id, registration: None };
    let (dir, rule) = (args.out.clone(), PairedThresholds::default());
    work(vec![Chosen { spec, label, dir, rule }])
}

/// The campaign that lists a registration's runs: the one of its name, in the same folder of
/// configuration.
fn campaign_of(file: &Path, folder: &Path, configs: &Configs) -> anyhow::Result<PathBuf> {
    let registration =
        trapcheck::configs::read(&project::config_file(file), RegistrationFile::parse)?;
    let name = &registration.registration.name;
    let same = configs.registrations.get(name).map(|known| &known.sha256);
    if same != Some(&registration.sha256) {
        bail!("{}: expected a registration of the project (--configs)", file.display());
    }
    Ok(folder.join("campaigns").join(format!("{name}.yaml")))
}
