//! `trapcheck campaign`: make the runs of a campaign, on this machine or a cluster.

mod ensemble;
mod report;
mod slurm;
mod status;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, bail};
use trapcheck::campaign::pins::{FILE, Pins};
use trapcheck::campaign::{CampaignRun, Presence, campaign_runs, one_per_thread};
use trapcheck::nearest::unknown;
use trapcheck::setup::Campaign;
use trapcheck::setup::campaign::TableFormat;
use trapcheck::sim::Options;

use super::output::{self, Print};
use super::progress;
use super::project;
use super::simulate::Tables;

/// Make every run of a campaign that is not there yet
///
/// Runs are simulated in parallel and appear whole or not at all; after an
/// interruption, the same command makes what is missing. A run that is there and
/// was made from the same values is left alone. If the folder has a SHA256SUMS,
/// every run is compared with it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  trapcheck campaign configs/campaigns/paper.yaml --out results/sim
  trapcheck campaign configs/campaigns/paper.yaml --only paired --list
  trapcheck campaign configs/campaigns/paper.yaml --status
  trapcheck campaign configs/campaigns/paper.yaml --slurm jobs && sbatch jobs/campaign.sbatch
  trapcheck campaign configs/campaigns/paper.yaml --report
  trapcheck campaign configs/campaigns/ensemble.yaml --ensemble
  trapcheck campaign configs/campaigns/ensemble.yaml --ensemble --sample 2

Exit codes: 0 all made; 1 a run differs from its values or its hash, or with --status is not made;
2 a run could not be made, or bad usage or input")]
pub struct Args {
    /// The campaign
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The folder of its runs
    #[arg(long, value_name = "DIR", default_value = "results/sim")]
    out: PathBuf,
    /// Only the runs of this test (may be given several times)
    #[arg(long, value_name = "TEST")]
    only: Vec<String>,
    /// Only this run (may be given several times)
    #[arg(long, value_name = "RUN")]
    run: Vec<String>,
    /// List the runs, make nothing
    #[arg(long, group = "what")]
    list: bool,
    /// Say what is made, what is missing and what differs, make nothing
    #[arg(long, group = "what")]
    status: bool,
    /// Compare the simulator with every published value, over many runs of its own
    #[arg(long, group = "what")]
    report: bool,
    /// Write a Slurm job array that makes what is missing to DIR, make nothing
    #[arg(long, group = "what", value_name = "DIR")]
    slurm: Option<PathBuf>,
    /// Make what is missing, then write the SHA-256 of every run to SHA256SUMS
    #[arg(long, group = "what")]
    pin: bool,
    /// FILE is an ensemble: make its draws, kept as tables in a folder of its name
    #[arg(long, conflicts_with_all = ["list", "status", "report", "slurm", "only", "run"])]
    ensemble: bool,
    /// With --ensemble: make N of the draws again and compare each row with what is there
    #[arg(long, value_name = "N", requires = "ensemble", conflicts_with = "pin")]
    sample: Option<u64>,
    /// Make again what differs, instead of leaving it
    #[arg(long)]
    replace: bool,
    /// Check the engine's invariants at every pass
    #[arg(long)]
    check: bool,
    /// Form of the tables, if not the campaign's
    #[arg(long, value_enum)]
    tables: Option<Tables>,
    #[command(flatten)]
    print: Print,
    /// What --report compares
    #[arg(long, value_name = "FILE", default_value = "configs/fidelity/paper.yaml")]
    fidelity: PathBuf,
    /// Folder of cells, protocols, workloads and registrations
    #[arg(long, value_name = "DIR", default_value = "configs")]
    configs: PathBuf,
}

/// Runs the command.
///
/// # Errors
/// A configuration that cannot be used, a name that there is not, a run whose
/// values make no sense (before any is made), or a run that could not be written.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if args.ensemble {
        return ensemble::run(args);
    }
    let configs = project::configs(&args.configs)?;
    let campaign = trapcheck::configs::read(&project::config_file(&args.file), Campaign::parse)?;
    if args.report {
        return report::run(args, &configs);
    }
    let all =
        campaign_runs(&campaign, &configs, |options| Options { check: args.check, ..options })?;
    all.iter().try_for_each(CampaignRun::check)?;
    let chosen = chosen(args, &all)?;
    project::tell_sessions(&configs, &chosen);
    if args.list {
        return status::list(&chosen, args.print);
    }
    if args.status {
        return status::status(&chosen, &args.out, args.print);
    }
    if let Some(dir) = &args.slurm {
        return slurm::write(args, &campaign.name, &chosen, dir);
    }
    make(args, args.tables.map_or(campaign.tables, Into::into), &chosen)
}

/// The runs that were asked for, in the campaign's order.
fn chosen<'a>(args: &Args, all: &'a [CampaignRun<'a>]) -> anyhow::Result<Vec<&'a CampaignRun<'a>>> {
    let known = |test: &String| all.iter().any(|run| run.planned.test.test == *test);
    if let Some(test) = args.only.iter().find(|test| !known(test)) {
        let mut tests: Vec<&str> = all.iter().map(|run| run.planned.test.test.as_str()).collect();
        tests.dedup();
        bail!(unknown("test", test, "", tests));
    }
    let known = |id: &String| all.iter().any(|run| run.planned.id == *id);
    if let Some(id) = args.run.iter().find(|id| !known(id)) {
        let ids = all.iter().map(|run| run.planned.id.as_str());
        bail!("{} (--list lists them)", unknown("run", id, "", ids));
    }
    let wanted = |run: &&CampaignRun<'_>| {
        (args.only.is_empty() || args.only.contains(&run.planned.test.test))
            && (args.run.is_empty() || args.run.contains(&run.planned.id))
    };
    Ok(all.iter().filter(wanted).collect())
}

/// What became of a run.
enum Outcome {
    Made,
    WasThere,
    /// Something else is in its place, which was left alone.
    Differs,
    Failed(String),
}

fn make(args: &Args, tables: TableFormat, runs: &[&CampaignRun<'_>]) -> anyhow::Result<ExitCode> {
    let pins = Pins::load(&args.out)
        .with_context(|| format!("cannot use {}", args.out.join(FILE).display()))?;
    let bar = progress::bar(runs.len(), "simulating");
    let threads = rayon::current_num_threads();
    let outcomes: Vec<(Outcome, Option<Pins>)> = one_per_thread(runs, threads, |run| {
        let outcome =
            make_one(args, tables, run).unwrap_or_else(|e| Outcome::Failed(format!("{e:#}")));
        // Hashing reads every file again, so only where it is asked for.
        let hashed = match &outcome {
            Outcome::Made | Outcome::WasThere if args.pin || pins.is_some() => {
                Pins::of_run(&args.out, &run.dir).ok()
            }
            _ => None,
        };
        bar.inc(1);
        (outcome, hashed)
    });
    bar.finish_and_clear();
    let mut bad = 0;
    for (run, (outcome, _)) in runs.iter().zip(&outcomes) {
        match outcome {
            Outcome::Made | Outcome::WasThere => {}
            Outcome::Differs => {
                bad += 1;
                let dir = args.out.join(&run.dir);
                eprintln!("differs: {}: not made from the campaign's values", dir.display());
            }
            Outcome::Failed(why) => eprintln!("failed: {}: {why}", run.planned.id),
        }
    }
    let count = |of: fn(&Outcome) -> bool| outcomes.iter().filter(|(o, _)| of(o)).count();
    let (made, there) =
        (count(|o| matches!(o, Outcome::Made)), count(|o| matches!(o, Outcome::WasThere)));
    let failed = count(|o| matches!(o, Outcome::Failed(_)));
    eprintln!("{made} runs made, {there} were there, {bad} differ, {failed} failed");
    if bad > 0 {
        eprintln!("--replace makes again what differs");
    }
    if failed > 0 {
        return Ok(ExitCode::from(2));
    }
    if args.pin {
        return pin(args, pins.unwrap_or_default(), runs, outcomes, bad);
    }
    if let Some(pins) = &pins {
        bad += compare(pins, runs, &outcomes)?;
    }
    Ok(ExitCode::from(u8::from(bad > 0)))
}

fn make_one(args: &Args, tables: TableFormat, run: &CampaignRun<'_>) -> anyhow::Result<Outcome> {
    match run.presence(&args.out)? {
        Presence::Made => return Ok(Outcome::WasThere),
        Presence::Differs if !args.replace => return Ok(Outcome::Differs),
        Presence::Differs => run.clear(&args.out)?,
        Presence::Missing => {}
    }
    match run.make(&args.out, tables) {
        Ok(()) => Ok(Outcome::Made),
        // Another process was faster.
        Err(_) if run.presence(&args.out)? == Presence::Made => Ok(Outcome::WasThere),
        Err(e) => Err(e.into()),
    }
}

/// Prints what differs from the pins and counts the runs that do.
fn compare(
    pins: &Pins,
    runs: &[&CampaignRun<'_>],
    outcomes: &[(Outcome, Option<Pins>)],
) -> anyhow::Result<usize> {
    let mut lines = Vec::new();
    let mut others = 0;
    for (run, (_, found)) in runs.iter().zip(outcomes) {
        let Some(found) = found else { continue };
        let differences = pins.differences(&run.dir, found);
        others += usize::from(!differences.is_empty());
        lines.extend(differences);
    }
    output::print(&output::lines(lines))?;
    if others > 0 {
        eprintln!("{others} runs are not the ones that {FILE} pins");
    }
    Ok(others)
}

fn pin(
    args: &Args,
    mut pins: Pins,
    runs: &[&CampaignRun<'_>],
    outcomes: Vec<(Outcome, Option<Pins>)>,
    differing: usize,
) -> anyhow::Result<ExitCode> {
    if differing > 0 {
        eprintln!("nothing pinned");
        return Ok(ExitCode::from(1));
    }
    for (run, (_, found)) in runs.iter().zip(outcomes) {
        let found = found
            .with_context(|| format!("cannot read {} again", args.out.join(&run.dir).display()))?;
        pins.replace(&run.dir, found);
    }
    pins.save(&args.out)
        .with_context(|| format!("cannot write {}", args.out.join(FILE).display()))?;
    eprintln!("wrote {}", args.out.join(FILE).display());
    Ok(ExitCode::SUCCESS)
}
