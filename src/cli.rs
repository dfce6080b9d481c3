//! The command line: one file per subcommand. Arguments and printing only.
//!
//! Exit codes: 0 all well; 1 a verification or check did not hold; 2 bad usage
//! or bad input. Data go to stdout, everything else to stderr.

/// A line on stderr. In place of the standard library's, which panics where stderr is full
/// or gone, and lets control characters in names and messages through.
macro_rules! eprintln {
    ($($message:tt)*) => { $crate::cli::output::tell(format_args!($($message)*)) };
}

pub mod arm;
pub mod calibrate;
pub mod campaign;
pub mod completions;
pub mod derive;
pub mod diagnose;
pub mod drive;
pub mod figures;
pub mod import;
pub mod inspect;
pub mod knee;
pub mod man;
pub mod manifest;
pub mod measure;
pub mod model;
pub mod numbers;
pub mod output;
pub mod page;
pub mod plan;
pub mod progress;
pub mod project;
pub mod provenance;
pub mod query;
pub mod register;
pub mod runs;
pub mod score;
pub mod sessions;
pub mod signals;
pub mod simulate;
pub mod sources;
pub mod verdict;
pub mod watch;
pub mod workload;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::{Parser, Subcommand};

/// Is this serving engine trapped, by which rule, and what does the law of the
/// trap say about it?
///
/// trapcheck reads run directories of LLM serving engines under agent load,
/// measures them, judges them by registered rules, checks stuck runs against
/// model F, and writes tables and figures that are tied to their sources.
#[derive(Debug, Parser)]
#[command(version, propagate_version = true, max_term_width = 100)]
#[command(after_help = "Examples:
  trapcheck score results/vllm-cpu          is any of these runs trapped?
  trapcheck diagnose server.log             is my engine trapped, by the files that are there?
  trapcheck inspect results/nova            what is there, and what is wrong with it?
  trapcheck model trap --cell sglang-300k --rate 1.65
                                            what would a trapped engine look like?
  trapcheck knee --cell sglang-300k --workload standard
                                            how many sessions fit, and where does it fall off?
  trapcheck figures                         draw every figure
  trapcheck query --tables                  what can be asked in SQL?
  trapcheck numbers --verify                does every number still follow from its source?
  trapcheck help score                      what can be asked of one command?

Exit codes: 0 all well; 1 a verification or check did not hold; 2 bad usage or input")]
pub struct Cli {
    /// Work in this folder instead of the current one
    #[arg(short = 'C', long = "directory", global = true, value_name = "DIR")]
    directory: Option<PathBuf>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Diagnose(diagnose::Args),
    Watch(watch::Args),
    Import(import::Args),
    Inspect(inspect::Args),
    Score(score::Args),
    Verdict(verdict::Args),
    Register(register::Args),
    Measure(measure::Args),
    Calibrate(calibrate::Args),
    Derive(derive::Args),
    Figures(figures::Args),
    Model(Box<model::Args>),
    Knee(Box<knee::Args>),
    Numbers(numbers::Args),
    Page(page::Args),
    Sources(sources::Args),
    Manifest(manifest::Args),
    Provenance(provenance::Args),
    Query(query::Args),
    Sessions(sessions::Args),
    Plan(plan::Args),
    Simulate(simulate::Args),
    Drive(Box<drive::Args>),
    Campaign(campaign::Args),
    Completions(completions::Args),
    Man(man::Args),
}

/// Runs what was asked for.
///
/// # Errors
/// Bad usage or bad input, with its context.
pub fn run(cli: &Cli) -> anyhow::Result<ExitCode> {
    if let Some(directory) = &cli.directory {
        std::env::set_current_dir(directory)
            .with_context(|| format!("cannot work in {}", directory.display()))?;
    }
    match &cli.command {
        Command::Diagnose(args) => diagnose::run(args),
        Command::Watch(args) => watch::run(args),
        Command::Import(args) => import::run(args),
        Command::Inspect(args) => inspect::run(args),
        Command::Score(args) => score::run(args),
        Command::Verdict(args) => verdict::run(args),
        Command::Register(args) => register::run(args),
        Command::Measure(args) => measure::run(args),
        Command::Calibrate(args) => calibrate::run(args),
        Command::Derive(args) => derive::run(args),
        Command::Figures(args) => figures::run(args),
        Command::Model(args) => model::run(args),
        Command::Knee(args) => knee::run(args),
        Command::Numbers(args) => numbers::run(args),
        Command::Page(args) => page::run(args),
        Command::Sources(args) => sources::run(args),
        Command::Manifest(args) => manifest::run(args),
        Command::Provenance(args) => provenance::run(args),
        Command::Query(args) => query::run(args),
        Command::Sessions(args) => sessions::run(args),
        Command::Plan(args) => plan::run(args),
        Command::Simulate(args) => simulate::run(args),
        Command::Drive(args) => drive::run(args),
        Command::Campaign(args) => campaign::run(args),
        Command::Completions(args) => completions::run(args),
        Command::Man(args) => man::run(args),
    }
}

#[cfg(test)]
mod tests;
