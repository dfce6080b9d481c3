//! `trapcheck simulate`: one simulated run, as a run directory.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::ValueEnum;

use trapcheck::campaign;
use trapcheck::directory::write::{TableFormat, write_with};
use trapcheck::name::PlainName;
use trapcheck::setup::{Batching, Scheduling};
use trapcheck::sim::directory::{Label, config_yaml, to_run};
use trapcheck::sim::{Options, RunSpec, simulate};

use super::arm::ArmArgs;
use super::plan::cell;
use super::project;
use super::register::unknown as registration_unknown;

/// Simulate one run and write its directory
///
/// The engine is a continuous-batching simulator with the cell's iteration costs; where the
/// cell's workload consists of sessions, in the ways of its own engine (docs/knee.md).
/// The directory says source: simulator, and its config.yaml holds every value that
/// its bytes depend on. A directory that is there already is not overwritten.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  trapcheck simulate --cell sglang-300k --arm burst --rate 1.65 --seed 0 --out my-run
  trapcheck simulate --cell sglang-300k --arm rescue --cap 20 --from 1800 --rate 1.35 --out my-run
  trapcheck simulate --cell sglang-300k --workload mirror --arm burst --rate 1.5 --out my-run
  trapcheck score my-run

Exit codes: 0 written; 2 bad usage or input")]
pub struct Args {
    /// The cell, with iteration costs
    #[arg(long, value_name = "NAME")]
    cell: String,
    /// Another workload (a name in configs/workloads), for which lambda_ref is model F's
    #[arg(long, value_name = "NAME")]
    workload: Option<String>,
    #[command(flatten)]
    arm: ArmArgs,
    /// Arrival rate in multiples of lambda_ref (not for closed arms)
    #[arg(long, value_name = "MULTIPLE")]
    rate: Option<f64>,
    /// The plan's seed
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// The run directory to make
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Registration that binds the run (a name in configs/registrations)
    #[arg(long, value_name = "NAME")]
    registration: Option<String>,
    #[command(flatten)]
    engine: EngineArgs,
    /// Form of the tables
    #[arg(long, value_enum, default_value_t)]
    tables: Tables,
    /// Folder of cells, protocols, workloads and registrations
    #[arg(long, value_name = "DIR", default_value = "configs")]
    configs: PathBuf,
}

/// How the engine is modelled.
#[derive(Debug, clap::Args)]
struct EngineArgs {
    /// How prefill and decode share an iteration [default: mixed; of sessions, the engine's own]
    #[arg(long, value_enum)]
    batching: Option<BatchingArg>,
    /// Order of admission, if not the cell's
    #[arg(long, value_enum)]
    scheduling: Option<SchedulingArg>,
    /// Longest prefix first however many wait (stock: first come, first served beyond 128)
    #[arg(long)]
    no_lpm_fallback: bool,
    /// Multiplies the costs per token (b, c_p, c_d)
    #[arg(long, value_name = "FACTOR")]
    token_cost_factor: Option<f64>,
    /// Keep a finished session's KV as idle cache
    #[arg(long)]
    keep_finished: bool,
    /// Seconds between two samples of the engine's gauges
    #[arg(long, value_name = "SECONDS", default_value_t = 5.0)]
    sample: f64,
    /// Check the engine's invariants at every pass
    #[arg(long)]
    check: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum BatchingArg {
    Separate,
    Mixed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum SchedulingArg {
    Fcfs,
    Lpm,
}

/// Form of a run's tables.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Tables {
    /// Apache Parquet, zstd inside
    #[default]
    Parquet,
    /// Plain csv
    Csv,
    /// csv behind gzip
    CsvGz,
    /// csv behind zstd
    CsvZst,
}

impl From<Tables> for TableFormat {
    fn from(tables: Tables) -> Self {
        match tables {
            Tables::Parquet => Self::Parquet,
            Tables::Csv => Self::Csv,
            Tables::CsvGz => Self::CsvGz,
            Tables::CsvZst => Self::CsvZst,
        }
    }
}

impl EngineArgs {
    /// What is not given is `stock`.
    fn options(&self, stock: Options) -> Options {
        Options {
            batching: match self.batching {
                Some(BatchingArg::Separate) => Batching::Separate,
                Some(BatchingArg::Mixed) => Batching::Mixed,
                None => stock.batching,
            },
            scheduling: self.scheduling.map(|s| match s {
                SchedulingArg::Fcfs => Scheduling::Fcfs,
                SchedulingArg::Lpm => Scheduling::Lpm,
            }),
            lpm_fallback: if self.no_lpm_fallback { None } else { stock.lpm_fallback },
            token_cost_factor: self.token_cost_factor,
            keep_finished: self.keep_finished || stock.keep_finished,
            sample_s: self.sample,
            check: self.check,
            ..stock
        }
    }
}

/// Runs the command.
///
/// # Errors
/// A name that there is not, a run that makes no sense, a directory that is there
/// or cannot be written.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let configs = project::configs(&args.configs)?;
    let (cell, workload, protocol) = cell(&configs, &args.cell, args.workload.as_deref())?;
    let (arm, protocol) = args.arm.under(protocol)?;
    let registration = args
        .registration
        .as_ref()
        .map(|name| {
            campaign::registration(name, &configs)
                .with_context(|| registration_unknown(name, &configs))
        })
        .transpose()?;
    if args.out.exists() {
        bail!("{} is there already; a run is never overwritten", args.out.display());
    }
    let spec = RunSpec {
        cell,
        workload,
        protocol: &protocol,
        arm: &arm,
        multiple: args.rate,
        seed: args.seed,
        options: args.engine.options(Options::stock(cell, workload)),
    };
    let called = args.out.file_name().and_then(|name| name.to_str());
    let run_id = PlainName::new(called.unwrap_or_default())
        .with_context(|| {
            format!("--out {}: the run is called as its folder is", args.out.display())
        })?
        .to_string();
    let label = Label { run_id, registration };
    let simulated = simulate(&spec)?;
    let run = to_run(&simulated, &spec, &label);
    let config = config_yaml(&spec, &label)?;
    write_with(&run, &args.out, args.tables.into(), &[("config.yaml", &config)])?;
    let counts = &run.meta.counts;
    eprintln!(
        "wrote {}: {} sessions, {} completed, {} turns in {} s (simulated)",
        args.out.display(),
        counts.sessions_arrived,
        counts.sessions_completed,
        counts.turns,
        run.meta.duration_s
    );
    Ok(ExitCode::SUCCESS)
}
