//! `trapcheck knee`: how many sessions fit on an engine, and where it falls off.

mod against;
mod plot;
mod which;

use std::process::ExitCode;

use anyhow::{Context, bail};
use indicatif::ProgressBar;
use rayon::prelude::*;
use trapcheck_answers::knee::Predicted;
use trapcheck_answers::search::{self, Search, Simulate};

use super::model::plot::Plot;
use super::output::{self, Format, Print};
use super::workload::SessionsArgs;
use super::{progress, project};
use against::AgainstArgs;
use trapcheck::knee::{Levels, Outcome, Question, Start};
use trapcheck::setup::{Cell as Engine, Configs, Workload};
use trapcheck::sim::SimError;
use trapcheck::table::Table;
use which::EngineArgs;

/// How many sessions fit on an engine, and where it falls off
///
/// Simulates closed populations of the sessions, from an empty engine and from a trap, over
/// several seeds, and looks for where hits fall: up to which population every seed is good, from
/// which on every seed is trapped, and between which both states persist. The cap to set is the
/// largest population that is good from both starts. Everything here is simulated but for the
/// two lines that say theory.
#[derive(Debug, clap::Args)]
#[command(
    allow_negative_numbers = true,
    after_help = "Examples:
  trapcheck knee --cell sglang-300k --workload standard
  trapcheck knee --sessions traces.csv.gz --gap-limit 60 --pool-tokens 3250000 --prefill-rate 20000
  trapcheck knee --sessions traces.csv.gz --cell sglang-native --plot knee.svg
  trapcheck knee --cell sglang-300k --workload standard --population 16,24,32,48 --seeds 10
  trapcheck knee --cell sglang-300k --workload standard --host-tokens 600000 --host-load-rate 100000
  trapcheck knee --cell vllm-cpu-tiny-30k-recorded --workload vllm-cpu-recorded --ramp 2 \\
      --against results/vllm-cpu-recorded

Exit codes: 0 answered; 2 bad usage or input"
)]
pub struct Args {
    #[command(flatten)]
    sessions: SessionsArgs,
    #[command(flatten)]
    engine: EngineArgs,
    #[command(flatten)]
    against: AgainstArgs,
    /// Populations to simulate; by default they are searched
    #[arg(long, value_delimiter = ',', value_name = "SESSIONS")]
    population: Vec<u32>,
    /// The largest population to look at
    #[arg(long, value_name = "SESSIONS", default_value_t = 1024)]
    most: u32,
    /// Seeds per population
    #[arg(long, value_name = "N", default_value_t = 5)]
    seeds: u64,
    /// The first seed
    #[arg(long, value_name = "N", default_value_t = 0)]
    first_seed: u64,
    /// Time before what is measured, s (App. E.3: 900)
    #[arg(long, value_name = "SECONDS", default_value_t = 900.0)]
    warm_up: f64,
    /// Time that is measured, s (App. E.3: 1800)
    #[arg(long, value_name = "SECONDS", default_value_t = 1800.0)]
    window: f64,
    /// A run is good from this share of hits on
    #[arg(long, value_name = "SHARE", default_value_t = Levels::default().good)]
    good: f64,
    /// A run is trapped below this share of hits
    #[arg(long, value_name = "SHARE", default_value_t = Levels::default().trapped)]
    trapped: f64,
    /// Host memory behind the pool, tokens: also say what it moves the fall to
    #[arg(long, value_name = "TOKENS", requires = "host_load_rate")]
    host_tokens: Option<u64>,
    /// Tokens per second that are loaded from it
    #[arg(long, value_name = "RATE", requires = "host_tokens")]
    host_load_rate: Option<f64>,
    #[command(flatten)]
    plot: Plot,
    #[command(flatten)]
    print: Print,
}

/// Runs the command.
///
/// # Errors
/// A cell, workload, file or value that cannot be used, or a run that cannot be simulated.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let search = args.search();
    search.check()?;
    let configs = project::configs(&args.engine.configs)?;
    let engine = args.engine.engine(&configs)?;
    let (workload, notes) = args.workload(&configs, &engine.cell)?;
    notes.iter().for_each(|note| eprintln!("{note}"));
    if args.against.is_asked() {
        let table = args.against.table(args, &configs, &engine, &workload)?;
        return shown(&args.print, "knee-against", &[table], &notes);
    }
    let question = search.question(&engine, &workload);
    let in_parallel = InParallel(progress::bar(0, "simulating"));
    let found = search.answer(&question, &in_parallel)?;
    in_parallel.0.finish_and_clear();
    let predicted = predicted(&question);
    let tables = search.tables(&question, &found, predicted);
    args.plot.write(|| {
        Ok(plot::figure(
            &question,
            &found.knee,
            found.with_host.as_ref(),
            predicted.map(|p| p.onset),
        ))
    })?;
    shown(&args.print, "knee", &tables, &notes)
}

/// Prints tables; as csv the last of them.
fn shown(
    print: &Print,
    answer: &str,
    tables: &[Table],
    notes: &[String],
) -> anyhow::Result<ExitCode> {
    match print.format {
        Format::Table => {
            let text: Vec<String> = tables
                .iter()
                .map(|table| format!("{}\n{}", table.title, output::grid_of(table, print.width())))
                .collect();
            output::show(&text.join("\n"))?;
        }
        Format::Json => {
            let named = tables.iter().map(|table| (table.name.as_str(), table.to_json()));
            let notes = ("notes", serde_json::json!(notes));
            output::print(&output::json(answer, named.chain([notes]))?)?;
        }
        Format::Csv => output::print(&tables.last().context("a table")?.to_csv())?,
    }
    Ok(ExitCode::SUCCESS)
}

impl Args {
    fn search(&self) -> Search {
        Search {
            population: self.population.clone(),
            most: self.most,
            seeds: self.seeds,
            first_seed: self.first_seed,
            warm_up: self.warm_up,
            window: self.window,
            good: self.good,
            trapped: self.trapped,
            host_tokens: self.host_tokens,
            host_load_rate: self.host_load_rate,
        }
    }

    /// The sessions that were asked for, else the cell's own.
    fn workload(
        &self,
        configs: &Configs,
        cell: &Engine,
    ) -> anyhow::Result<(Workload, Vec<String>)> {
        let own =
            configs.has_workload(&cell.workload).then(|| self.sessions.or_named(&cell.workload));
        let asked = own.as_ref().unwrap_or(&self.sessions);
        match asked.chosen(configs, cell.pool_tokens)? {
            Some(chosen) => Ok((chosen.workload, chosen.notes)),
            None => bail!("give the sessions: --sessions FILE or --workload NAME"),
        }
    }
}

/// Populations in parallel, their seeds too; in order whatever was first.
struct InParallel(ProgressBar);

impl Simulate for InParallel {
    fn outcomes(
        &self,
        question: &Question<'_>,
        start: Start,
        runs: &[(u32, u64)],
    ) -> Result<Vec<Outcome>, SimError> {
        self.0.inc_length(runs.len() as u64);
        let outcomes = runs
            .par_iter()
            .map(|(n, seed)| question.run(*n, start, *seed).inspect(|_| self.0.inc(1)))
            .collect::<Vec<_>>();
        outcomes.into_iter().collect()
    }
}

/// The entry model's answer; what keeps it from one is said.
fn predicted(question: &Question<'_>) -> Option<Predicted> {
    if question.workload.recorded.as_ref().is_some_and(|r| r.subagents_in_all() > 0) {
        eprintln!("the theory beside it is of the sessions alone, without their subagents");
    }
    match search::predicted(question) {
        Ok(predicted) => Some(predicted),
        Err(why) => {
            eprintln!("no theory beside it: {why}");
            None
        }
    }
}
