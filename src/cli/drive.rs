//! `trapcheck drive`: make runs on a real engine.

mod chosen;
mod decide;
mod place;
mod report;
mod rest;

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, bail};
use tokio::sync::Notify;
use trapcheck_drive::address::{Address, ApiKey};
use trapcheck_drive::dialect::Dialect;
use trapcheck_drive::driver::Ended;
use trapcheck_drive::engine::Engine;
use trapcheck_drive::http::Http;
use trapcheck_drive::make::{Made, MakeError, make};
use trapcheck_drive::meta::reason;
use trapcheck_drive::progress::Now;
use trapcheck_drive::prompts::Tokens;

use super::arm::ArmArgs;
use super::{output, project, signals};
use chosen::{Chosen, choose};
use decide::Decider;
use place::Place;
use rest::at_rest;
use trapcheck::setup::Configs;

/// Drive a real engine with the load of a plan, and record the run
///
/// The client is the simulator's, on the wire: sessions arrive by the plan however slow the
/// engine is, and the output of a turn is part of the next prompt. Before a run the cache is
/// emptied, and a canary makes sure that cached tokens are reported and that the flush works.
/// A run directory is written while the run goes on; one that is killed loads as truncated.
/// Ctrl-C closes the run that is under way and ends; before a run it ends at once.
#[derive(Debug, clap::Args)]
// Only one of its own runs needs an arm.
#[command(mut_arg("arm", |arm| arm.required(false)))]
#[command(mut_arg("burst", |arg| arg.help(
    "Sessions of the burst (burst only: a run of another arm keeps its protocol's number, as its \
     registered tests do)"
)))]
#[command(after_help = "Examples:
  trapcheck drive --url http://127.0.0.1:8100 --config configs/campaigns/vllm-cpu-trap.yaml \\
    --out results/mine
  trapcheck drive --url http://127.0.0.1:8100 --cell vllm-cpu-tiny-30k --arm burst --rate 1.5 \\
    --seed 9 --sample 1 --out results/mine/run
  trapcheck drive --url http://127.0.0.1:8100 --out results/vllm-cpu-2 \\
    --registered configs/registrations/vllm-cpu-2.yaml

Exit codes: 0 all made, or ended as decided; 1 a run was ended early for another reason; 2 bad usage
or input, or an engine that no run can be made on")]
pub struct Args {
    /// The engine's address; nothing else is ever connected to
    #[arg(long, value_name = "URL")]
    url: String,
    /// Make the runs of this campaign, one after another; what is there is left alone
    #[arg(long, value_name = "FILE", required_unless_present_any = ["registered", "cell"])]
    config: Option<PathBuf>,
    /// Make the runs that a registration binds: those of the campaign of its name. Refused while
    /// the machine is busy
    #[arg(long, value_name = "FILE", conflicts_with_all = ["config", "cell"])]
    registered: Option<PathBuf>,
    /// Make one run of this cell
    #[arg(long, value_name = "NAME", conflicts_with = "config", requires = "arm")]
    cell: Option<String>,
    #[command(flatten)]
    arm: Option<ArmArgs>,
    /// Arrival rate in multiples of lambda_ref (with --cell; not for closed arms)
    #[arg(long, value_name = "MULTIPLE", requires = "cell")]
    rate: Option<f64>,
    /// The plan's seed (with --cell)
    #[arg(long, value_name = "N", requires = "cell", default_value_t = 0)]
    seed: u64,
    /// The run directory to make (with --cell), or the folder of the runs
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Only this run of the campaign (may be given several times)
    #[arg(long, value_name = "RUN", conflicts_with = "cell")]
    run: Vec<String>,
    /// List the runs and what is there of them, make nothing
    #[arg(long)]
    list: bool,
    /// The model's name in the engine's interface, if not the first it lists
    #[arg(long, value_name = "NAME", default_value = "")]
    model: String,
    /// Environment variable that holds the API key
    #[arg(long, value_name = "VARIABLE")]
    api_key_env: Option<String>,
    /// End a run once nothing that its plan allows could change its state under the paired test's
    /// rule, and record that; refused where a rule looks at more of the run
    #[arg(long)]
    stop_when_decided: bool,
    /// Seconds between two samples of the engine's gauges
    #[arg(long, value_name = "SECONDS", default_value_t = 5.0)]
    sample: f64,
    /// Seconds that a request may take before it is an error
    #[arg(long, value_name = "SECONDS", default_value_t = 3600)]
    timeout: u64,
    /// Token ids that prompts are made of: the first, and the one after the last
    #[arg(long, value_name = "FIRST..END", default_value = "1000..4000", value_parser = tokens)]
    tokens: Tokens,
    /// Folder of cells, protocols, workloads and registrations
    #[arg(long, value_name = "DIR", default_value = "configs")]
    configs: PathBuf,
}

fn tokens(text: &str) -> Result<Tokens, String> {
    let range = text.split_once("..").and_then(|(first, end)| {
        Some(first.trim().parse::<u32>().ok()?..end.trim().parse::<u32>().ok()?)
    });
    let expected = || "expected FIRST..END with at least 100 ids, such as 1000..4000".to_owned();
    range.and_then(Tokens::of).ok_or_else(expected)
}

/// Runs the command.
///
/// # Errors
/// A name that there is not, a run that makes no sense, an engine that is not fit for it, or a
/// directory that is there or cannot be written.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if !(args.sample > 0.0 && args.sample.is_finite()) || args.timeout == 0 {
        bail!("--sample and --timeout: expected a positive number of seconds");
    }
    let configs = project::configs(&args.configs)?;
    choose(args, &configs, |runs| {
        if args.list {
            return list(&runs);
        }
        let deciders = deciders(args, &runs, &configs)?;
        let http = Http::new(Address::parse(&args.url)?, key(args)?);
        let stop = Arc::new(Notify::new());
        let stopper = Arc::clone(&stop);
        signals::on_interrupt(move || stopper.notify_one());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let runs = runs.iter().zip(deciders).collect();
        runtime.block_on(make_all(args, &http, runs, &stop))
    })
}

/// What ends each run before its time, if anything does.
fn deciders<'a>(
    args: &Args,
    runs: &[Chosen<'_>],
    configs: &'a Configs,
) -> anyhow::Result<Vec<Option<Decider<'a>>>> {
    let of = |run| args.stop_when_decided.then(|| Decider::of(run, configs)).transpose();
    runs.iter().map(of).collect()
}

/// The key, which stands in no process list, and in no output of this program.
fn key(args: &Args) -> anyhow::Result<Option<ApiKey>> {
    let Some(name) = &args.api_key_env else { return Ok(None) };
    let key =
        std::env::var(name).with_context(|| format!("--api-key-env {name}: not to be had"))?;
    let expected = || format!("--api-key-env {name}: expected visible ASCII characters, no spaces");
    ApiKey::new(&key).map(Some).with_context(expected)
}

fn list(runs: &[Chosen<'_>]) -> anyhow::Result<ExitCode> {
    let line =
        |run: &Chosen<'_>| format!("{:<10}  {}", Place::of(&run.dir).word(), run.label.run_id);
    output::print(&output::lines(runs.iter().map(line)))?;
    Ok(ExitCode::SUCCESS)
}

async fn make_all(
    args: &Args,
    http: &Http,
    runs: Vec<(&Chosen<'_>, Option<Decider<'_>>)>,
    stop: &Notify,
) -> anyhow::Result<ExitCode> {
    let mut is_first = true;
    for (run, decider) in runs {
        match Place::of(&run.dir) {
            Place::Completed if args.cell.is_none() => {
                eprintln!("there already: {}", run.dir.display());
                continue;
            }
            Place::Unfinished if args.cell.is_none() => {
                let aside = place::set_aside(&run.dir)
                    .with_context(|| format!("cannot set {} aside", run.dir.display()))?;
                eprintln!("not to its end: {}; kept as {}", run.dir.display(), aside.display());
            }
            Place::Free => {}
            _ => bail!("{} is there already; a run is never overwritten", run.dir.display()),
        }
        let made = async {
            if args.registered.is_some() && !at_rest(is_first, stop).await? {
                return Ok(None);
            }
            make_one(args, http, (run, decider), stop).await
        };
        let Some(made) = made.await? else {
            eprintln!("stopped before {} began", run.label.run_id);
            return Ok(ExitCode::from(1));
        };
        is_first = false;
        tell(run, &made);
        if !matches!(made.ended, Ended::Horizon | Ended::Decided(_)) {
            return Ok(ExitCode::from(1));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Makes a run; `None` where it was stopped before it began.
async fn make_one(
    args: &Args,
    http: &Http,
    (run, mut decider): (&Chosen<'_>, Option<Decider<'_>>),
    stop: &Notify,
) -> anyhow::Result<Option<Made>> {
    let name = &run.spec.cell.engine.name;
    let dialect = Dialect::of(name).with_context(|| {
        format!("cell {}: engine {name}: expected vllm or sglang", run.spec.cell.name)
    })?;
    let engine = Engine {
        http: http.clone(),
        dialect,
        model: args.model.clone(),
        zero_is_absent: false,
        timeout_s: args.timeout,
        tokens: args.tokens,
    };
    let mut report = report::Report::new(&run.label.run_id, run.rule);
    let watch = |now: &Now<'_>| {
        report.tell(now);
        decider.as_mut().map_or(ControlFlow::Continue(()), |decider| decider.look(now))
    };
    let made = make(&run.spec, &run.label, engine, &run.dir, stop, watch).await;
    report.finish();
    match made {
        Err(MakeError::Stopped) => Ok(None),
        made => made.map(Some).with_context(|| format!("cannot make {}", run.label.run_id)),
    }
}

fn tell(run: &Chosen<'_>, made: &Made) {
    let counts = &made.meta.counts;
    let lag = made.lag.map_or_else(
        || "nothing was sent".to_owned(),
        |lag| {
            let (median, most) = (1000.0 * lag.p50_s, 1000.0 * lag.p99_s);
            format!("the client was late by {median:.1} ms (median), {most:.1} ms (99 %)")
        },
    );
    eprintln!(
        "wrote {}: {} sessions, {} completed, {} turns, {} errors in {:.0} s ({}); {lag}",
        run.dir.display(),
        counts.sessions_arrived,
        counts.sessions_completed,
        counts.turns,
        counts.request_errors,
        made.meta.duration_s,
        how_it_ended(made),
    );
}

fn how_it_ended(made: &Made) -> String {
    match &made.ended {
        Ended::Decided(_) => reason(&made.ended),
        _ => made.meta.status.word().into(),
    }
}
