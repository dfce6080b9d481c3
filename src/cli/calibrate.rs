//! `trapcheck calibrate`: what a miss costs, from cache-off runs, into a cell file.

mod log;
mod names;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::ValueEnum;

use trapcheck::digits::{fixed, rounded};
use trapcheck::directory::{LoadOptions, find_runs_by};
use trapcheck::files::write_beside;
use trapcheck::law::CalibrationError;
use trapcheck::law::calibrate::{TurnCostFit, apart, fit, tokens_per_s};
use trapcheck::law::iteration::{self, IterationFit};
use trapcheck::name::PlainName;
use trapcheck::run::Run;
use trapcheck::setup::cell::{Engine, IterationParts};
use trapcheck::setup::{Batching, Cell, Configs, Costs, Protocol, Scheduling, Speed, Workload};

use super::output;

/// Fit the cost of an all-miss turn from cache-off runs and write the cell's file
///
/// Every prompt token of a cache-off run is computed, so a busy server's time is
/// fixed x turns + per token x prompt tokens. The two parts are fitted by
/// non-negative least squares over bins in which the server is saturated. The
/// result goes to configs/cells/<cell>.yaml; an existing file is only replaced
/// with --force, and keeps everything that is not measured here. Warns where rates that
/// should be one are over 5 % apart: by turns and by tokens, of the runs, and lambda_ref
/// by the fit, by the runs and by the file.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  trapcheck calibrate --dry-run results/vllm-cpu/cpu_1_pulled_20261129-125700/agentload_e0a
  trapcheck calibrate --workload standard --protocol paper results/mine/agentload_e0a
  trapcheck calibrate --iterations server.log --dry-run results/mine/agentload_e0a

Exit codes: 0 fitted; 2 bad usage or input, or a cell file that says otherwise")]
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
    /// The engine's log of its iterations (vLLM's with --enable-logging-iteration-details, SGLang's
    /// as it is): an iteration's costs are fitted to it instead of to the runs' turns
    #[arg(long, value_name = "LOG")]
    iterations: Option<PathBuf>,
    /// Tell attention's part of an iteration's cost from the part per token: of runs whose prompts
    /// differ much in length
    #[arg(long, conflicts_with = "iterations")]
    attention: bool,
    /// Where the sessions of a workload of recorded ones lie, if not where its file says
    #[arg(long, value_name = "FILE")]
    sessions: Option<PathBuf>,
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

/// Rates that should be one are warned of where they are further apart, a share.
const APART: f64 = 0.05;

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
    let configs = trapcheck::configs::load(&args.configs)?;
    let runs = read(&args.runs, &configs)?;
    let meta = &runs[0].meta;
    let name = PlainName::new(&meta.cell)
        .with_context(|| format!("{}: cell", runs[0].dir.join("meta.json").display()))?;
    let old = configs.cells.get(name.as_str());
    let (workload, protocol) = names::of(args, &configs, old, meta.pool_tokens)?;
    let workload = &workload;
    let all: Vec<&Run> = runs.iter().collect();
    let fitted = fit(&all, protocol)?;
    let mut cell = cell(args, old, &runs, workload, protocol, &fitted);
    let iterations = match &args.iterations {
        Some(file) => {
            let logged = log::fit(file, &cell)?;
            log::add(&mut cell, &logged, file);
            log::report(&logged)
        }
        None => {
            let fit = if args.attention { iteration::fit_attention } else { iteration::fit_all };
            let iterations = fit(&all);
            add_iteration_costs(&mut cell, &iterations);
            iteration_report(&cell, &iterations)
        }
    };
    cell.check().map_err(|message| anyhow::anyhow!("the fitted cell makes no sense: {message}"))?;
    let text = file_text(&cell)?;
    output::print(&report(&fitted, workload, runs.len()))?;
    output::print(&iterations)?;
    for warning in warnings(&fitted, &cell, old, &runs, (workload, protocol)) {
        eprintln!("warning: {warning}");
    }
    let path = args.configs.join("cells").join(format!("{name}.yaml"));
    if args.dry_run {
        output::print(&format!("\n{}:\n{text}", path.display()))?;
        return Ok(ExitCode::SUCCESS);
    }
    let same = trapcheck::reading::text(&path).is_ok_and(|there| there == text);
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
    let load = |dir| trapcheck::directory::load_by(dir, &configs.layouts, &LoadOptions::default());
    found.runs.iter().map(|dir| Ok(load(dir)?)).collect()
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
    let mean_turns = mean_turns(workload);
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
fn add_iteration_costs(cell: &mut Cell, fitted: &Result<IterationFit, CalibrationError>) {
    cell.sources.retain(|field, _| !field.starts_with("iteration_costs"));
    let (Ok(fit), Batching::Mixed) = (fitted, cell.batching) else { return };
    let parts = fit.parts();
    cell.iteration_costs = Some(IterationParts {
        a_s: rounded(parts.a_s, 6),
        b_s_per_token: rounded(parts.b_s_per_token, 9),
        c_p_s_per_pair: rounded(parts.c_p_s_per_pair, 12),
        c_d_s: rounded(parts.c_d_s, 7),
        ..parts
    });
    let from = cell.sources.get("costs").cloned().unwrap_or_default();
    cell.sources.insert("iteration_costs".into(), from);
    if fit.per_pair_s > 0.0 {
        let why = "a decoded token's pairs cost what a prompt's do: c_p_s_per_pair x 8192";
        cell.sources.insert("iteration_costs.c_d_s".into(), why.into());
    }
    for part in fit.not_told() {
        let why = "not told apart by a cache-off run: part of b_s_per_token";
        cell.sources.insert(format!("iteration_costs.{part}"), why.into());
    }
}

/// What an iteration costs, or why the runs do not say.
fn iteration_report(cell: &Cell, fitted: &Result<IterationFit, CalibrationError>) -> String {
    let without = "so model curve, burst and rescue need --a-s and --b-s-per-token for this cell";
    match (cell.iteration_costs, fitted) {
        (Some(parts), Ok(fit)) => {
            let (attention, names) = if fit.per_pair_s > 0.0 {
                let of_pairs = fixed(parts.c_p_s_per_pair * 1e9, 1);
                (format!(" + {of_pairs} ns per pair of tokens"), ", c_p_s_per_pair, c_d_s")
            } else {
                (String::new(), "")
            };
            format!(
                "An iteration costs {} ms + {} us per token{attention} (iteration_costs: a_s, \
                 b_s_per_token{names})\n\
                 fitted over {} turns' decoding, residual {} % rms; not told, and left 0: {}\n",
                fixed(parts.a_s * 1e3, 2),
                fixed(parts.b_s_per_token * 1e6, 2),
                fit.spans,
                fixed(100.0 * fit.residual_rms, 0),
                fit.not_told().join(", "),
            )
        }
        (_, Err(why)) => format!("What an iteration costs is not known: {why}, {without}\n"),
        (None, Ok(_)) => format!(
            "What an iteration costs is not known: prefill and decode do not share iterations \
             (batching: separate), {without}\n"
        ),
    }
}

fn file_text(cell: &Cell) -> anyhow::Result<String> {
    let body = serde_yaml::to_string(cell)?;
    Ok(format!(
        "# Written by trapcheck calibrate; what is measured is listed under sources.\n{body}"
    ))
}

/// E[T].
fn mean_turns(workload: &Workload) -> f64 {
    workload.survival().iter().sum()
}

/// Prompt tokens of a mean session.
fn session_tokens(workload: &Workload) -> f64 {
    let prompts = workload.survival().into_iter().zip(1..);
    prompts.map(|(g, k)| g * workload.prompt_tokens(k) as f64).sum()
}

/// What does not agree although it should.
fn warnings(
    fitted: &TurnCostFit,
    cell: &Cell,
    old: Option<&Cell>,
    runs: &[Run],
    (workload, protocol): (&Workload, &Protocol),
) -> Vec<String> {
    let by_tokens = fitted.tokens_per_s / session_tokens(workload);
    let lambda_ref = cell.lambda_ref_per_s;
    let far = |a: f64, b: f64| apart(a, b) > APART;
    let percent = |a: f64, b: f64| format!("{} % apart", fixed(100.0 * apart(a, b), 0));
    let mut warnings = Vec::new();
    if far(lambda_ref, by_tokens) {
        warnings.push(format!(
            "the session rate is {} by turns and {} by tokens, {}: the turns in the fitted bins \
             have prompts of {} tokens on average, the workload {} has {}; lambda_ref is the one \
             by turns",
            fixed(lambda_ref, 4),
            fixed(by_tokens, 4),
            percent(lambda_ref, by_tokens),
            fixed(fitted.mean_prompt_tokens, 0),
            workload.name,
            fixed(session_tokens(workload) / mean_turns(workload), 0),
        ));
    }
    let speed = |run| Some((tokens_per_s(run, protocol).filter(|speed| *speed > 0.0)?, run));
    let mut speeds: Vec<(f64, &Run)> = runs.iter().filter_map(speed).collect();
    speeds.sort_by(|a, b| a.0.total_cmp(&b.0));
    if let [(slow, slow_run), .., (fast, fast_run)] = speeds.as_slice()
        && far(*slow, *fast)
    {
        warnings.push(format!(
            "these runs differ in speed, {}: {} tokens/s in {}, {} tokens/s in {}; one fit over \
             both is the cost of neither",
            percent(*slow, *fast),
            fixed(*slow, 0),
            slow_run.dir.display(),
            fixed(*fast, 0),
            fast_run.dir.display(),
        ));
    }
    let own = runs.iter().filter_map(|run| Some((run.meta.rate.lambda_ref?, run)));
    for (own, run) in own {
        let of_file = old.map(|old| ("the cell's file", old.lambda_ref_per_s));
        let others = [Some(("the fit", lambda_ref)), of_file].into_iter().flatten();
        warnings.extend(others.filter(|(_, other)| far(own, *other)).map(|(whose, other)| {
            format!(
                "{} was run with lambda_ref {own}, {whose} has {other}, {}",
                run.dir.display(),
                percent(own, other)
            )
        }));
    }
    if let Some(old) = old.filter(|old| far(old.lambda_ref_per_s, lambda_ref)) {
        warnings.push(format!(
            "the cell's file has lambda_ref {}, the fit {lambda_ref}, {}",
            old.lambda_ref_per_s,
            percent(old.lambda_ref_per_s, lambda_ref)
        ));
    }
    warnings
}

fn report(fitted: &TurnCostFit, workload: &Workload, runs: usize) -> String {
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
        fixed(fitted.turns_per_s / mean_turns(workload), 4),
        fixed(fitted.tokens_per_s / session_tokens(workload), 4),
    )
}
