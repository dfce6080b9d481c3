//! `trapcheck register`: registrations made by formula.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};

use trapcheck::analysis::fill::gather;
use trapcheck::directory::{LoadOptions, find_runs_by};
use trapcheck::files;
use trapcheck::law::fill::{FillAs, fill};
use trapcheck::model::window::FillThresholds;
use trapcheck::name::PlainName;
use trapcheck::nearest;
use trapcheck::run::Run;
use trapcheck::setup::registration::Status;
use trapcheck::setup::registration::inputs::FillInputs;
use trapcheck::setup::{Configs, Registration};
use trapcheck_setup::hash::sha256_hex;

use super::output;
use super::plan::cell;
use super::project;

/// Make registrations, the rules that bind runs before they are made
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  trapcheck register fill --name mine --cell vllm-cpu-tiny-30k results/vllm-cpu
  trapcheck verdict mine results/mine            judge runs by it

Exit codes: as of its subcommand")]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Fill a paired test's registration by formula from a cell's calibration
    ///
    /// From a closed curve, cache-off runs and from-empty runs of one cell (or a small YAML
    /// of them) follow the window, the rates at one and two thirds of it, the cap, its
    /// predicted drain and the thresholds. What the inputs cannot give makes it INCOMPLETE.
    /// An existing file is never overwritten.
    Fill(FillArgs),
}

/// What to fill from, and what to call it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  trapcheck register fill --name mine --cell vllm-cpu-tiny-30k results/vllm-cpu
  trapcheck register fill --name e2 --inputs configs/fill/sglang-300k.yaml --dry-run

Exit codes: 0 FILLED or EXPLORATORY; 1 INCOMPLETE; 2 bad usage or input")]
struct FillArgs {
    /// Closed, cache-off and from-empty runs, or folders to search for them
    #[arg(value_name = "RUN", required_unless_present = "inputs", conflicts_with = "inputs")]
    runs: Vec<PathBuf>,
    /// The inputs, instead of runs
    #[arg(long, value_name = "FILE")]
    inputs: Option<PathBuf>,
    /// The cell whose runs are used
    #[arg(long, value_name = "NAME", required_unless_present = "inputs")]
    cell: Option<String>,
    /// Name of the registration; its file is configs/registrations/<NAME>.yaml
    #[arg(long, value_name = "NAME")]
    name: PlainName,
    /// Mark it EXPLORATORY, and say why
    #[arg(long, value_name = "WHY")]
    exploratory: Option<String>,
    /// Folder of cells, protocols, workloads and registrations
    #[arg(long, value_name = "DIR", default_value = "configs")]
    configs: PathBuf,
    /// Print it, write nothing
    #[arg(long)]
    dry_run: bool,
}

/// Runs the command.
///
/// # Errors
/// Inputs that cannot be used, or a file that is there already.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let Command::Fill(args) = &args.command;
    // What is to be written needs a folder to lie in.
    let configs = match args.dry_run {
        true => project::configs(&args.configs)?,
        false => trapcheck::configs::load(&args.configs)?,
    };
    let inputs = match &args.inputs {
        Some(file) => trapcheck::configs::read(&project::config_file(file), FillInputs::parse)?,
        None => from_runs(args, &configs)?,
    };
    let (_, _, protocol) = cell(&configs, &inputs.cell, None)?;
    let mark = FillAs { name: args.name.to_string(), exploratory: args.exploratory.clone() };
    let registration = fill(&inputs, protocol, &FillThresholds::default(), mark)?;
    registration.check().map_err(|why| anyhow::anyhow!("the fill makes no sense: {why}"))?;
    let text = file_text(&registration)?;
    output::print(&text)?;
    let path = args.configs.join("registrations").join(format!("{}.yaml", args.name));
    if args.dry_run {
        eprintln!("would write {}", path.display());
    } else {
        write_new(&path, text.as_bytes())?;
        eprintln!("wrote {} (SHA-256 {})", path.display(), sha256_hex(text.as_bytes()));
    }
    let why = registration.because.as_deref().unwrap_or("every input is there");
    eprintln!("{}: {why}", registration.status.word());
    let complete = registration.status != Status::Incomplete;
    Ok(if complete { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn from_runs(args: &FillArgs, configs: &Configs) -> anyhow::Result<FillInputs> {
    let name = args.cell.as_deref().context("say which cell with --cell NAME")?;
    let (_, workload, protocol) = cell(configs, name, None)?;
    let found = find_runs_by(&args.runs, &configs.layouts);
    if let Some(problem) = found.problems.first() {
        bail!("{problem}");
    }
    if found.runs.is_empty() {
        bail!("no run directory under these paths (a run directory holds a meta.json)");
    }
    let runs = found
        .runs
        .iter()
        .map(|dir| {
            Ok(trapcheck::directory::load_by(dir, &configs.layouts, &LoadOptions::default())?)
        })
        .collect::<anyhow::Result<Vec<Run>>>()?;
    let gathered = gather(name, &runs, protocol, workload, &configs.from_empty_rules(name).0);
    for why in &gathered.set_aside {
        eprintln!("not used: {why}");
    }
    Ok(gathered.inputs)
}

fn file_text(registration: &Registration) -> anyhow::Result<String> {
    let body = serde_yaml::to_string(registration)?;
    Ok(format!(
        "# Written by trapcheck register fill. Runs bind to these bytes: change nothing, make another.\n{body}"
    ))
}

/// Writes a file that must not be there yet: a registration may have bound runs.
fn write_new(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    files::write_new(path, bytes).map_err(|e| match e.kind() {
        std::io::ErrorKind::AlreadyExists => anyhow::anyhow!(
            "{} is there; a registration is never overwritten: choose another --name",
            path.display()
        ),
        _ => anyhow::anyhow!("cannot write {}: {e}", path.display()),
    })
}

/// What is said of a registration that there is not.
pub fn unknown(name: &str, configs: &Configs) -> String {
    let known = configs.registrations.keys().map(String::as_str);
    nearest::unknown("registration", name, "configs/registrations", known)
}
