//! `trapcheck plan`: write and explain an arrival plan.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;

use trapcheck::files::write_beside;
use trapcheck::plan::{Kind, Plan};
use trapcheck::setup::{ArmSpec, Cell, Configs, Workload};
use trapcheck::sim::{Options, RunSpec, plan_of};
use trapcheck::table::fixed;

use super::arm::ArmArgs;
use super::output;
use super::project;

/// Write the arrival plan of a run, and say what is in it
///
/// A plan is a pure function of workload, seed, rate and arm, the same bytes on
/// every machine. For one seed, the arrivals at a lower rate are a subset of those
/// at a higher one, and the i-th session is the same at every rate and in every arm.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  trapcheck plan --cell sglang-300k --arm burst --rate 1.65 --seed 0 --out plan.csv
  trapcheck plan --cell sglang-300k --arm closed --population 32

Exit codes: 0 written or explained; 2 bad usage or input")]
pub struct Args {
    /// The cell, whose workload, protocol and lambda_ref are used
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
    /// The seed
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Write plan.csv here; - is stdout
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Folder of cells, protocols, workloads and registrations
    #[arg(long, value_name = "DIR", default_value = "configs")]
    configs: PathBuf,
}

/// Runs the command.
///
/// # Errors
/// A cell that there is not, an arm or a rate that makes no sense, or a file that
/// cannot be written.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let configs = project::configs(&args.configs)?;
    let (cell, workload, protocol) = cell(&configs, &args.cell, args.workload.as_deref())?;
    let (arm, protocol) = args.arm.under(protocol)?;
    let spec = RunSpec {
        cell,
        workload,
        protocol: &protocol,
        arm: &arm,
        multiple: args.rate,
        seed: args.seed,
        options: Options::default(),
    };
    let plan = plan_of(&spec)?;
    match &args.out {
        Some(path) if path.as_os_str() == "-" => output::print(&plan.to_csv())?,
        path => {
            if let Some(path) = path {
                write_beside(path, plan.to_csv().as_bytes())
                    .with_context(|| format!("cannot write {}", path.display()))?;
                eprintln!("wrote {}", path.display());
            }
            output::print(&explain(&plan, &spec))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// A cell of the project with its workload, or another one, and its protocol; what is to be said
/// of its sessions is said.
///
/// # Errors
/// There is none of that name, or its recorded sessions are not to be had.
pub fn cell<'a>(
    configs: &'a Configs,
    name: &str,
    workload: Option<&str>,
) -> anyhow::Result<(&'a Cell, &'a Workload, &'a trapcheck::setup::Protocol)> {
    let name = configs.playing(name, workload).map_err(anyhow::Error::msg)?;
    let found = configs.cell(&name).map_err(anyhow::Error::msg)?;
    configs.notes_of(&name).iter().for_each(|note| eprintln!("{note}"));
    Ok(found)
}

fn explain(plan: &Plan, spec: &RunSpec<'_>) -> String {
    let schedule = spec.arm.schedule(spec.protocol);
    let mut text = format!(
        "SHA-256 {}\n{} of {}, seed {}, workload {}, {} s\n",
        plan.sha256(),
        spec.arm.arm(),
        spec.cell.name,
        plan.seed,
        spec.workload.name,
        schedule.horizon_s,
    );
    // Writing to a String cannot fail.
    let _ = match (spec.arm.population(), spec.multiple) {
        (Some(n), _) => writeln!(
            text,
            "closed population of {n}; a session starts when another ends, {} are drawn",
            plan.sessions.iter().filter(|s| s.kind != Kind::Subagent).count()
        ),
        (None, multiple) => {
            let rate = multiple.unwrap_or_default() * spec.cell.lambda_ref_per_s;
            writeln!(text, "nominal rate {} sessions/s", fixed(rate, 6))
        }
    };
    if let ArmSpec::Cut { from_s, multiple } = spec.arm {
        let _ = writeln!(text, "thinned to {multiple} lambda_ref from {from_s} s on");
    }
    for kind in [Kind::Base, Kind::Burst, Kind::Subagent] {
        text.push_str(&of_kind(plan, kind, spec.workload));
    }
    text
}

fn of_kind(plan: &Plan, kind: Kind, workload: &Workload) -> String {
    let sessions: Vec<_> = plan.sessions.iter().filter(|s| s.kind == kind).collect();
    if sessions.is_empty() {
        return String::new();
    }
    let n = sessions.len() as f64;
    let turns: u64 = sessions.iter().map(|s| u64::from(s.turns())).sum();
    let tokens: u64 = sessions
        .iter()
        .flat_map(|s| (1..=s.turns()).map(|k| s.turn(k, workload).prompt_tokens))
        .sum();
    let tool_s: f64 = sessions.iter().flat_map(|s| &s.tool_s).sum();
    let expected = match kind {
        Kind::Subagent => String::new(),
        _ => format!(", {} expected", fixed(workload.survival().iter().sum(), 2)),
    };
    let arrivals: Vec<f64> = sessions.iter().filter_map(|s| s.t_arrival_s).collect();
    let when = match (arrivals.first(), arrivals.last()) {
        (Some(first), Some(last)) => format!(" in [{}, {}] s", fixed(*first, 1), fixed(*last, 1)),
        _ => String::new(),
    };
    let calls = turns.saturating_sub(sessions.len() as u64).max(1);
    format!(
        "{kind}: {} sessions{when}, {turns} turns ({} per session{expected}), {} prompt tokens \
         per session, tool calls of {} s on average\n",
        sessions.len(),
        fixed(turns as f64 / n, 2),
        fixed(tokens as f64 / n, 0),
        fixed(tool_s / calls as f64, 2),
    )
}
