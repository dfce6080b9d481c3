//! `trapcheck calibrate`: what a miss costs, from cache-off runs, into a cell file.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::ValueEnum;

use crate::files::write_beside;
use crate::law::calibrate::{TurnCostFit, fit};
use crate::law::iteration::{self, IterationError, IterationFit, NOT_TOLD};
use crate::run::{LoadOptions, Run, find_runs_by};
use crate::setup::cell::{Engine, IterationParts};
use crate::setup::{Batching, Cell, Configs, Costs, Protocol, Scheduling, Speed, Workload};
use crate::table::fixed;

use super::output;

/// Fit the cost of an all-miss turn from cache-off runs and write the cell's file
///
/// Every prompt token of a cache-off run is computed, so a busy server's time is
/// fixed x turns + per token x prompt tokens. The two parts are fitted by
/// non-negative least squares over bins in which the server is saturated. The
/// result goes to configs/cells/<cell>.yaml; an existing file is only replaced
/// with --force, and keeps everything that is not measured here.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  trapcheck calibrate --dry-run results/vllm-cpu/cpu_1_pulled_20261129-125700/agentload_e0a
  trapcheck calibrate --workload standard --protocol paper results/mine/agentload_e0a")]
pub struct Args {
    /// Cache-off runs of one cell, or folders to search for them
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// Workload of the cell (a name in configs/workloads), if it has no file yet
    #[arg(long, value_name = "NAME")]
    workload: Option<String>,
    /// Protocol of its runs (a name in configs/protocols), if it has no file yet
    #[arg(long, value_name = "NAME")]
    protocol: Option<String>,
    /// How prefill and decode share an iteration, if it has no file yet
    #[arg(long, value_enum, default_value_t = BatchingArg::Mixed)]
    batching: BatchingArg,
    /// Prompt tokens that one iteration may prefill, if it has no file yet
    #[arg(long, value_name = "TOKENS", default_value_t = 8192)]
    chunk_tokens: u64,
    /// Requests that may run at once, if it has no file yet
    #[arg(long, value_name = "REQUESTS", default_value_t = 256)]
    max_running: u64,
    /// Tokens per KV block, if it has no file yet
    #[arg(long, value_name = "TOKENS", default_value_t = 1)]
    block_tokens: u64,
    /// Folder of cells, protocols, workloads and registrations
    #[arg(long, value_name = "DIR", default_value = "configs")]
    configs: PathBuf,
    /// Print the fit and the file, write nothing
    #[arg(long)]
    dry_run: bool,
    /// Replace the cell's file
    #[arg(long)]
    force: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum BatchingArg {
    Separate,
    Mixed,
}

/// Runs the command.
///
/// # Errors
/// Runs that cannot be read or calibrate nothing, a name that there is not, or a
/// cell file that is there already.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let configs = Configs::load(&args.configs)?;
    let runs = read(&args.runs, &configs)?;
    let name = runs[0].meta.cell.clone();
    let old = configs.cells.get(&name);
    let (workload, protocol) = names(args, &configs, old)?;
    let all: Vec<&Run> = runs.iter().collect();
    let fitted = fit(&all, protocol)?;
    let iterations = iteration::fit_all(&all);
    let mut cell = cell(args, old, &runs, workload, protocol, &fitted);
    add_iteration_costs(&mut cell, &iterations);
    cell.check().map_err(|message| anyhow::anyhow!("the fitted cell makes no sense: {message}"))?;
    let text = file_text(&cell)?;
    output::print(&report(&fitted, workload, runs.len()))?;
    output::print(&iteration_report(&cell, &iterations))?;
    let path = args.configs.join("cells").join(format!("{name}.yaml"));
    if args.dry_run {
        output::print(&format!("\n{}:\n{text}", path.display()))?;
        return Ok(ExitCode::SUCCESS);
    }
    let same = std::fs::read_to_string(&path).is_ok_and(|there| there == text);
    if same {
        eprintln!("{} says so already", path.display());
        return Ok(ExitCode::SUCCESS);
    }
    if path.exists() && !args.force {
        bail!("{} is there and says otherwise; --force replaces it", path.display());
    }
    write_beside(&path, text.as_bytes())
        .with_context(|| format!("cannot write {}", path.display()))?;
    eprintln!("wrote {}", path.display());
    Ok(ExitCode::SUCCESS)
}

fn read(paths: &[PathBuf], configs: &Configs) -> anyhow::Result<Vec<Run>> {
    let found = find_runs_by(paths, &configs.layouts);
    if let Some(problem) = found.problems.first() {
        bail!("{problem}");
    }
    if found.runs.is_empty() {
        bail!("no run directory under these paths (a run directory holds a meta.json)");
    }
    let load = |dir| Run::load_by(dir, &configs.layouts, &LoadOptions::default());
    found.runs.iter().map(|dir| Ok(load(dir)?)).collect()
}

/// The workload and protocol: the cell's own, or as asked for.
fn names<'a>(
    args: &Args,
    configs: &'a Configs,
    old: Option<&Cell>,
) -> anyhow::Result<(&'a Workload, &'a Protocol)> {
    let pick = |flag: &str, asked: &Option<String>, own: Option<&String>| {
        asked.as_ref().or(own).cloned().with_context(|| {
            format!("this cell has no file yet: say which {flag} it uses with --{flag} NAME")
        })
    };
    let workload = pick("workload", &args.workload, old.map(|c| &c.workload))?;
    let protocol = pick("protocol", &args.protocol, old.map(|c| &c.protocol))?;
    Ok((
        configs
            .workloads
            .get(&workload)
            .with_context(|| format!("no {workload} in configs/workloads"))?,
        configs
            .protocols
            .get(&protocol)
            .with_context(|| format!("no {protocol} in configs/protocols"))?,
    ))
}

fn cell(
    args: &Args,
    old: Option<&Cell>,
    runs: &[Run],
    workload: &Workload,
    protocol: &Protocol,
    fitted: &TurnCostFit,
) -> Cell {
    let meta = &runs[0].meta;
    let mean_turns: f64 = workload.survival().iter().sum();
    let mut sources: BTreeMap<String, String> = old.map(|c| c.sources.clone()).unwrap_or_default();
    let from: Vec<String> = runs.iter().map(|run| run.dir.display().to_string()).collect();
    let from = from.join(", ");
    for (key, what) in [
        ("costs", "fitted by trapcheck calibrate"),
        ("lambda_ref_per_s", "turns/s over E[T]"),
        ("all_miss_tokens_per_s", "prompt tokens/s"),
    ] {
        sources.insert(key.into(), format!("{what}, cache-off run {from}"));
    }
    let batching = match args.batching {
        BatchingArg::Separate => Batching::Separate,
        BatchingArg::Mixed => Batching::Mixed,
    };
    Cell {
        name: meta.cell.clone(),
        workload: workload.name.clone(),
        protocol: protocol.name.clone(),
        engine: Engine { name: meta.engine.name.clone(), version: meta.engine.version.clone() },
        model: meta.model.clone().unwrap_or_else(|| "unknown".into()),
        gpu: meta.gpu.as_ref().map_or_else(|| "unknown".into(), |g| g.name.clone()),
        pool_tokens: meta.pool_tokens,
        block_tokens: old.map_or(args.block_tokens, |c| c.block_tokens),
        scheduling: old.map_or(Scheduling::Fcfs, |c| c.scheduling),
        batching: old.map_or(batching, |c| c.batching),
        chunk_tokens: old.map_or(args.chunk_tokens, |c| c.chunk_tokens),
        max_running: old.map_or(args.max_running, |c| c.max_running),
        lambda_ref_per_s: rounded(fitted.turns_per_s / mean_turns, 4),
        all_miss_tokens_per_s: Some(rounded(fitted.tokens_per_s, 0)),
        costs: Costs::PerTurn {
            fixed_s: rounded(fitted.fixed_s, 6),
            per_token_s: rounded(fitted.per_token_s, 9),
        },
        iteration_costs: None,
        speed: Speed::Own,
        sources,
    }
}

/// Writes what the runs tell of an iteration's cost beside the cost of a turn, for the entry
/// model (`model curve`, `model rescue`). Only where prefill and decode share iterations: between
/// two tokens of a turn there are others of unknown number where they do not.
fn add_iteration_costs(cell: &mut Cell, fitted: &Result<IterationFit, IterationError>) {
    cell.sources.retain(|field, _| !field.starts_with("iteration_costs"));
    let (Ok(fit), Batching::Mixed) = (fitted, cell.batching) else { return };
    let parts = fit.parts();
    cell.iteration_costs = Some(IterationParts {
        a_s: rounded(parts.a_s, 6),
        b_s_per_token: rounded(parts.b_s_per_token, 9),
        ..parts
    });
    let from = cell.sources.get("costs").cloned().unwrap_or_default();
    cell.sources.insert("iteration_costs".into(), from);
    for part in NOT_TOLD {
        let why = "not told apart by a cache-off run: part of b_s_per_token";
        cell.sources.insert(format!("iteration_costs.{part}"), why.into());
    }
}

/// What an iteration costs, or why the runs do not say.
fn iteration_report(cell: &Cell, fitted: &Result<IterationFit, IterationError>) -> String {
    let without = "so model curve, burst and rescue need --a-s and --b-s-per-token for this cell";
    match (cell.iteration_costs, fitted) {
        (Some(parts), Ok(fit)) => format!(
            "An iteration costs {} ms + {} us per token (iteration_costs: a_s, b_s_per_token)\n\
             fitted over {} turns' decoding, residual {} % rms; not told, and left 0: {}\n",
            fixed(parts.a_s * 1e3, 2),
            fixed(parts.b_s_per_token * 1e6, 2),
            fit.spans,
            fixed(100.0 * fit.residual_rms, 0),
            NOT_TOLD.join(", "),
        ),
        (_, Err(why)) => format!("What an iteration costs is not known: {why}, {without}\n"),
        (None, Ok(_)) => format!(
            "What an iteration costs is not known: prefill and decode do not share iterations \
             (batching: separate), {without}\n"
        ),
    }
}

/// A value with the digits it is stated with.
fn rounded(x: f64, digits: usize) -> f64 {
    fixed(x, digits).parse().unwrap_or(x)
}

fn file_text(cell: &Cell) -> anyhow::Result<String> {
    let body = serde_yaml::to_string(cell)?;
    Ok(format!(
        "# Written by trapcheck calibrate; what is measured is listed under sources.\n{body}"
    ))
}

fn report(fitted: &TurnCostFit, workload: &Workload, runs: usize) -> String {
    let mean_turns: f64 = workload.survival().iter().sum();
    let session_tokens: f64 = workload
        .survival()
        .iter()
        .zip(1..)
        .map(|(g, k)| g * workload.prompt_tokens(k) as f64)
        .sum();
    format!(
        "An all-miss turn of x prompt tokens costs {} s + {} us x\n\
         fitted over {} saturated bins of {} s in {runs} run(s); {} bins left out\n\
         residual {} s rms, {} s at most, per bin\n\
         {} tokens/s, {} turns/s, mean prompt {} tokens\n\
         all-miss session rate: {} by turns (lambda_ref), {} by tokens\n",
        fixed(fitted.fixed_s, 5),
        fixed(fitted.per_token_s * 1e6, 2),
        fitted.bins,
        fixed(fitted.bin_s, 0),
        fitted.idle_bins,
        fixed(fitted.residual_rms_s, 3),
        fixed(fitted.residual_max_s, 3),
        fixed(fitted.tokens_per_s, 0),
        fixed(fitted.turns_per_s, 3),
        fixed(fitted.mean_prompt_tokens, 0),
        fixed(fitted.turns_per_s / mean_turns, 4),
        fixed(fitted.tokens_per_s / session_tokens, 4),
    )
}
