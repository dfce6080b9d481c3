//! `trapcheck knee`: how many sessions fit on an engine, and where it falls off.

mod against;
mod plot;
mod which;

use std::process::ExitCode;

use anyhow::{Context, bail};
use rayon::prelude::*;

use super::model::plot::Plot;
use super::output::{self, Format, Print};
use super::workload::SessionsArgs;
use super::{progress, project};
use crate::digits::fixed;
use crate::knee::{Found, Levels, Outcome, Question, Rungs, Start};
use crate::model::Theory;
use crate::setup::protocol::WarmUp;
use crate::setup::{Cell as Engine, Configs, Workload};
use crate::sim::SimError;
use crate::sim::options::HostTier;
use crate::table::answers::Fact;
use crate::table::answers::knee::{self as answer, Knee, Predicted};
use crate::table::{Cell, Table};
use against::AgainstArgs;
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
    args.check()?;
    let configs = project::configs(&args.engine.configs)?;
    let engine = args.engine.engine(&configs)?;
    let (workload, notes) = args.workload(&configs, &engine.cell)?;
    notes.iter().for_each(|note| eprintln!("{note}"));
    if args.against.is_asked() {
        let table = args.against.table(args, &configs, &engine, &workload)?;
        return shown(&args.print, "knee-against", &[table], &notes);
    }
    let question = Question {
        cell: &engine.cell,
        workload: &workload,
        protocol: &engine.protocol,
        options: engine.options,
        run: WarmUp { warm_up_s: args.warm_up, window_s: args.window },
        levels: Levels { good: args.good, trapped: args.trapped },
    };
    let knee = args.both_starts(&question)?;
    let with_host = args.host().map(|host| {
        let options = crate::sim::Options { host: Some(host), ..question.options };
        args.both_starts(&Question { options, ..question.clone() })
    });
    let with_host = with_host.transpose()?;
    let predicted = predicted(&question);
    let tables = [
        answer::landmarks(&knee, with_host.as_ref(), predicted, args.sizes(&question)),
        answer::populations(&knee, with_host.as_ref()),
    ];
    args.plot.write(|| {
        Ok(plot::figure(&question, &knee, with_host.as_ref(), predicted.map(|p| p.onset)))
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
    /// The sessions that were asked for, else the cell's own.
    fn workload(
        &self,
        configs: &Configs,
        cell: &Engine,
    ) -> anyhow::Result<(Workload, Vec<String>)> {
        let known = configs.workloads.contains_key(&cell.workload)
            || configs.session_workloads.contains_key(&cell.workload);
        let own = known.then(|| self.sessions.or_named(&cell.workload));
        let asked = own.as_ref().unwrap_or(&self.sessions);
        match asked.chosen(configs, cell.pool_tokens)? {
            Some(chosen) => Ok((chosen.workload, chosen.notes)),
            None => bail!("give the sessions: --sessions FILE or --workload NAME"),
        }
    }

    fn check(&self) -> anyhow::Result<()> {
        for (name, value) in [("--warm-up", self.warm_up), ("--window", self.window)] {
            if !(value > 0.0 && value.is_finite()) {
                bail!("{name}: expected a positive number of seconds, found {value}");
            }
        }
        if !(0.0 < self.trapped && self.trapped <= self.good && self.good <= 1.0) {
            bail!("--trapped and --good: expected 0 < trapped <= good <= 1");
        }
        if self.seeds == 0 || self.most == 0 || self.population.contains(&0) {
            bail!("--seeds, --most and --population: expected at least 1");
        }
        if self.host_load_rate.is_some_and(|rate| !(rate > 0.0 && rate.is_finite())) {
            bail!("--host-load-rate: expected a positive number of tokens/s");
        }
        Ok(())
    }

    fn host(&self) -> Option<HostTier> {
        Some(HostTier { tokens: self.host_tokens?, s_per_token: 1.0 / self.host_load_rate? })
    }

    fn both_starts(&self, question: &Question<'_>) -> anyhow::Result<Knee> {
        let rungs = self.rungs(question);
        let empty = self.look(question, Start::Empty, &rungs)?;
        let trap = self.look(question, Start::Trap, &rungs)?;
        Ok(Knee { empty, trap })
    }

    /// Searched from as many sessions as the pool holds of mean size.
    fn rungs(&self, question: &Question<'_>) -> Rungs {
        if !self.population.is_empty() {
            return Rungs::Given(self.population.clone());
        }
        let means = crate::model::SessionMeans::of(question.workload);
        let recorded = question.workload.recorded.as_ref().map(|r| r.traces.len() as u32);
        let most = recorded.map_or(self.most, |traces| traces.min(self.most));
        let guess = question.cell.pool_tokens as f64 / means.mean_footprint_tokens();
        Rungs::Searched { guess: (guess as u32).clamp(1, most), most }
    }

    /// Populations in parallel, their seeds too; in order whatever was first.
    fn look(&self, ask: &Question<'_>, start: Start, rungs: &Rungs) -> Result<Found, SimError> {
        let bar = progress::bar(0, "simulating");
        let found = Found::search(rungs, |populations| {
            let seeds = self.first_seed..self.first_seed.saturating_add(self.seeds);
            let runs: Vec<(u32, u64)> = populations
                .iter()
                .flat_map(|n| seeds.clone().map(move |seed| (*n, seed)))
                .collect();
            bar.inc_length(runs.len() as u64);
            let outcomes = runs
                .par_iter()
                .map(|(n, seed)| ask.run(*n, start, *seed).inspect(|_| bar.inc(1)))
                .collect::<Vec<_>>();
            let outcomes = outcomes.into_iter().collect::<Result<Vec<Outcome>, _>>()?;
            Ok(outcomes.chunks(self.seeds as usize).map(<[Outcome]>::to_vec).collect())
        });
        bar.finish_and_clear();
        found
    }

    /// What was simulated, in facts.
    fn sizes(&self, question: &Question<'_>) -> Vec<Fact> {
        let (cell, workload) = (question.cell, question.workload);
        let ceiling = workload.recorded.as_ref().map(|recorded| 100.0 * recorded.reuse_ceiling());
        vec![
            ("sessions", Cell::text(&workload.name), ""),
            ("engine", Cell::text(&cell.name), ""),
            ("pool", Cell::Count(cell.pool_tokens), "tokens"),
            ("reuse ceiling", Cell::optional(ceiling, 1), "%"),
            ("seeds", Cell::Count(self.seeds), ""),
            (
                "run",
                Cell::text(format!("{} + {}", fixed(self.warm_up, 0), fixed(self.window, 0))),
                "s",
            ),
        ]
    }
}

/// The entry model's answer; what keeps it from one is said.
fn predicted(question: &Question<'_>) -> Option<Predicted> {
    let answer = Theory::of(question.cell, question.workload).and_then(|theory| {
        let curve = theory.curve()?;
        let half_hit = curve.half_hit_crossing().map(|state| state.population);
        Ok(Predicted { onset: curve.model().onset().population(), half_hit })
    });
    match answer {
        Ok(predicted) => Some(predicted),
        Err(why) => {
            eprintln!("no theory beside it: {why}");
            None
        }
    }
}
