//! `trapcheck model`: what the theory says about a cell at a load.

mod plot;
mod select;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::{Subcommand, ValueEnum};

use super::output::{self, Format, Print};
use super::project;
use crate::analysis::draw::theory as draw;
use crate::model::Theory;
use crate::table::answers::rescue::Backlog;
use crate::table::model_values::{self, Printed, compare, parse};
use crate::table::theory::Prediction;
use crate::table::{Table, answers, theory};
pub use plot::Plot;
use select::{Load, Which};

/// Ask the theory: the trap, a cut, a stop, the curve, a burst, a rescue
///
/// Model F says what an engine does once every turn misses: how fast the gap between turns
/// and the backlog grow, what completes, which turns are served. The entry model says how it
/// gets there and which session caps bring it back.
#[derive(Debug, clap::Args)]
#[command(
    allow_negative_numbers = true,
    after_help = "Examples:
  trapcheck model trap --cell sglang-300k --rate 1.65
  trapcheck model cut --cell sglang-300k --rate 1.65 --to 1.15,0.85
  trapcheck model stop --cell sglang-300k --rate 1.35 --at 1800
  trapcheck model curve --cell h200-300k
  trapcheck model burst --cell sglang-300k --rate 1.65
  trapcheck model rescue --cell sglang-native --rate 4 --engage-at 2100 --cap 64
  trapcheck model table

Exit codes: 0 answered; 1 of model table, a value does not come out; 2 bad usage or input"
)]
pub struct Args {
    #[command(subcommand)]
    ask: Ask,
}

#[derive(Debug, Subcommand)]
enum Ask {
    Trap(TrapArgs),
    Cut(CutArgs),
    Stop(StopArgs),
    Curve(CurveArgs),
    Burst(BurstArgs),
    Rescue(RescueArgs),
    Table(TableArgs),
}

/// What a trapped engine will look like at a load
#[derive(Debug, clap::Args)]
#[command(
    allow_negative_numbers = true,
    after_help = "Examples:
  trapcheck model trap --cell sglang-300k --rate 1.65
  trapcheck model trap --cell vllm-300k --rho 1.02 --format json
  trapcheck model trap --cell sglang-300k --rate 1.65 --plot mix.svg
  trapcheck model trap --fixed-s 0.15 --per-token-us 85 --mean-turns 15 --max-turns 60 \\
      --first-prompt 2000 --tool-output 550 --decoded 100 --sessions-per-s 0.1

Exit codes: 0 answered; 2 bad usage or input, or a question without an answer"
)]
struct TrapArgs {
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    load: Load,
    /// Also find the other roots behind the transient, however many turns there are (time grows
    /// as the cube of their number; up to 100 turns theta is shown unasked)
    #[arg(long)]
    roots: bool,
    #[command(flatten)]
    plot: Plot,
    #[command(flatten)]
    print: Print,
}

/// What cutting arrivals does to a trap (Corollary 3)
///
/// Backlogs follow the exact all-miss fluid after the paper's burst of 200 sessions in 60 s at
/// 1200 s. Whether the trap clears does not depend on what it completes: only a cut below
/// lambda_miss empties it.
#[derive(Debug, clap::Args)]
#[command(
    allow_negative_numbers = true,
    after_help = "Examples:
  trapcheck model cut --cell sglang-300k --rate 1.65 --to 1.15,0.85 --at 2400
  trapcheck model cut --cell sglang-300k --rate 1.65        Corollary 3's own cuts

Exit codes: 0 answered; 2 bad usage or input, or a question without an answer"
)]
struct CutArgs {
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    load: Load,
    /// When arrivals are cut, s
    #[arg(long, default_value_t = 5000.0, value_name = "SECONDS")]
    at: f64,
    /// What they are cut to, in multiples of lambda_ref; by default 1.18, 1.1, 1.05, 1.02, 1
    /// and 0.9 of lambda_miss, as far as these are cuts
    #[arg(long, value_delimiter = ',', value_name = "MULTIPLES")]
    to: Vec<f64>,
    /// How far to follow the backlog, s
    #[arg(long, default_value_t = 30_000.0, value_name = "SECONDS")]
    until: f64,
    #[command(flatten)]
    plot: Plot,
    #[command(flatten)]
    print: Print,
}

/// How long arrivals have to stop for a trap to clear
#[derive(Debug, clap::Args)]
#[command(
    allow_negative_numbers = true,
    after_help = "Examples:
  trapcheck model stop --cell sglang-300k --rate 1.35 --at 1800

Exit codes: 0 answered; 2 bad usage or input, or a question without an answer"
)]
struct StopArgs {
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    load: Load,
    /// When arrivals stop, s
    #[arg(long, default_value_t = 1800.0, value_name = "SECONDS")]
    at: f64,
    #[command(flatten)]
    plot: Plot,
    #[command(flatten)]
    print: Print,
}

/// The throughput of a closed population: peak, crossing, onset, folds
///
/// With the averaged peak (layer H1) and the rate up to which a run from empty stays good
/// (layer H2), which bound the metastable window.
#[derive(Debug, clap::Args)]
#[command(
    allow_negative_numbers = true,
    after_help = "Examples:
  trapcheck model curve --cell sglang-300k
  trapcheck model curve --cell h200-300k --population 32,40,52
  trapcheck model curve --cell sglang-300k --tool-mean-s 60     slower tools
  trapcheck model curve --a-s 0.012 --b-s-per-token 7e-5 --pool 400000 --batching mixed \\
      --mean-turns 15 --max-turns 60 --first-prompt 2000 --tool-output 550 --decoded 100

Exit codes: 0 answered; 2 bad usage or input, or a question without an answer"
)]
struct CurveArgs {
    #[command(flatten)]
    which: Which,
    /// Populations to show; by default a spread up to past the onset
    #[arg(long, value_delimiter = ',', value_name = "SESSIONS")]
    population: Vec<f64>,
    /// Length of a run from empty, for its edge (H2), s; by default the cell's protocol's
    #[arg(long, value_name = "SECONDS")]
    from_empty: Option<f64>,
    #[command(flatten)]
    plot: Plot,
    #[command(flatten)]
    print: Print,
}

/// Which bursts of fresh sessions leave a run stuck (layers H2 and H3)
#[derive(Debug, clap::Args)]
#[command(
    allow_negative_numbers = true,
    after_help = "Examples:
  trapcheck model burst --cell sglang-300k --rate 1.65
  trapcheck model burst --cell sglang-300k --rate 1.65 --sessions 25,40,50,60,100

Exit codes: 0 answered; 2 bad usage or input, or a question without an answer"
)]
struct BurstArgs {
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    load: Load,
    /// Bursts to look at; by default a spread around the critical one
    #[arg(long, value_delimiter = ',', value_name = "SESSIONS")]
    sessions: Vec<f64>,
    /// Time after the burst, s; by default 5050 on the paper's protocol (fitted to its runs),
    /// else to the run's end
    #[arg(long, value_name = "SECONDS")]
    horizon: Option<f64>,
    #[command(flatten)]
    print: Print,
}

/// Which session caps rescue at a load, and when they can be released
///
/// Answers in one line, then cap by cap. The backlog is what the protocol's burst leaves by
/// --engage-at, or what was seen (--backlog).
#[derive(Debug, clap::Args)]
#[command(
    allow_negative_numbers = true,
    after_help = "Examples:
  trapcheck model rescue --cell sglang-300k --rate 1.65
  trapcheck model rescue --cell sglang-native --rate 4 --engage-at 2100 --cap 48,64
  trapcheck model rescue --cell sglang-300k --rate 1.65 --backlog 240

Exit codes: 0 answered; 2 bad usage or input, or a question without an answer"
)]
struct RescueArgs {
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    load: Load,
    /// When the cap is engaged, s
    #[arg(long, default_value_t = 1800.0, value_name = "SECONDS", conflicts_with = "backlog")]
    engage_at: f64,
    /// Sessions seen in the system, those that wait included, with the cap engaged now
    #[arg(long, value_name = "SESSIONS")]
    backlog: Option<f64>,
    /// How long the gate has to stay empty before release, s
    #[arg(long, default_value_t = 300.0, value_name = "SECONDS")]
    hold: f64,
    /// Caps to look at; by default a spread of the rescuing ones
    #[arg(long, value_delimiter = ',', value_name = "SESSIONS")]
    cap: Vec<f64>,
    #[command(flatten)]
    print: Print,
}

/// Every published model value beside ours, or one of the theory's tables
#[derive(Debug, clap::Args)]
#[command(
    allow_negative_numbers = true,
    after_help = "Examples:
  trapcheck model table                     what matches, and each value that does not
  trapcheck model table --all
  trapcheck model table --format csv > model_values.csv
  trapcheck model table --show corollary-3

Exit codes: 0 all well; 1 a value that rests on the text alone does not come out to its printed
digit; 2 bad usage or input"
)]
struct TableArgs {
    /// Which table
    #[arg(long, value_enum, default_value_t)]
    show: Show,
    /// List every value, not only those that do not match
    #[arg(long)]
    all: bool,
    /// Folder of cells and workloads
    #[arg(long, value_name = "DIR", default_value = "configs")]
    configs: PathBuf,
    /// Folder of published values
    #[arg(long, value_name = "DIR", default_value = "paper/published")]
    published: PathBuf,
    #[command(flatten)]
    print: Print,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum Show {
    /// Published model values and ours
    #[default]
    Values,
    /// Table 3's predictions
    Traps,
    /// Predictions for the runs stuck from empty (App. B)
    FromEmpty,
    /// Corollary 3 on the 300k cell
    #[value(name = "corollary-3")]
    Corollary3,
    /// MIRROR at its nominal rates
    Mirror,
    /// Peak ratios and from-empty edges (Table 13)
    Windows,
    /// 0.5-hit crossings and onsets (Table 20)
    Crossings,
}

impl Show {
    const fn prediction(self) -> Option<Prediction> {
        match self {
            Self::Values => None,
            Self::Traps => Some(Prediction::Traps),
            Self::FromEmpty => Some(Prediction::FromEmpty),
            Self::Corollary3 => Some(Prediction::Corollary3),
            Self::Mirror => Some(Prediction::Mirror),
            Self::Windows => Some(Prediction::Windows),
            Self::Crossings => Some(Prediction::Crossings),
        }
    }
}

/// Runs the command.
///
/// # Errors
/// A cell, rate or file that cannot be used.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    match &args.ask {
        Ask::Trap(args) => {
            let theory = args.which.theory()?;
            let lambda = args.load.per_s(&theory)?;
            let tables = answers::trap::trap(&theory, lambda, args.roots)?;
            args.plot.write(|| Ok(draw::mix(&theory, lambda, "Turns served in the trap")?))?;
            show(&tables, &args.print)
        }
        Ask::Cut(args) => {
            let theory = args.which.theory()?;
            let (lambda, times) = (args.load.per_s(&theory)?, (args.at, args.until));
            let rates = cuts(args, &theory, lambda);
            let tables = answers::drain::cut(&theory, lambda, times, &rates)?;
            args.plot.write(|| Ok(draw::after_change(&theory, lambda, times, &rates)?))?;
            show(&tables, &args.print)
        }
        Ask::Stop(args) => {
            let theory = args.which.theory()?;
            let lambda = args.load.per_s(&theory)?;
            let tables = answers::drain::stop(&theory, lambda, args.at)?;
            args.plot.write(|| {
                let until =
                    args.at + theory.burst(lambda).work_left_s(&theory.model_f, lambda, args.at)?;
                Ok(draw::after_change(&theory, lambda, (args.at, until), &[0.0])?)
            })?;
            show(&tables, &args.print)
        }
        Ask::Curve(args) => {
            let theory = args.which.theory()?;
            let populations = if args.population.is_empty() {
                answers::curve::populations(&theory)?
            } else {
                args.population.clone()
            };
            let from_empty_s = args.from_empty.unwrap_or(theory.from_empty_s);
            let tables = answers::curve::curve(&theory, &populations, from_empty_s)?;
            args.plot.write(|| {
                let title = "Predicted closed-population curve";
                let source = format!("Entry model of cell {}", theory.cell.name);
                Ok(draw::curves(&[(&theory, Vec::new())], title, &source)?)
            })?;
            show(&tables, &args.print)
        }
        Ask::Burst(args) => {
            let theory = args.which.theory()?;
            let lambda = args.load.per_s(&theory)?;
            let remaining_s = answers::burst::remaining_horizon_s(&theory.paired);
            let horizon_s = args.horizon.unwrap_or(remaining_s);
            show(&answers::burst::burst(&theory, lambda, horizon_s, &args.sessions)?, &args.print)
        }
        Ask::Rescue(args) => {
            let theory = args.which.theory()?;
            let lambda = args.load.per_s(&theory)?;
            let backlog = match args.backlog {
                Some(sessions) => Backlog::Seen { sessions },
                None => Backlog::AfterTheBurst { engage_s: args.engage_at },
            };
            let tables = answers::rescue::rescue(&theory, lambda, backlog, args.hold, &args.cap)?;
            show(&tables, &args.print)
        }
        Ask::Table(args) => table(args),
    }
}

/// Rates to cut `lambda_per_s` to, in sessions/s.
fn cuts(args: &CutArgs, theory: &Theory, lambda_per_s: f64) -> Vec<f64> {
    if args.to.is_empty() {
        let capacity = theory.model_f.lambda_miss_per_s();
        let cuts = theory::COROLLARY_3_CUTS.map(|cut| cut * capacity);
        return cuts.into_iter().filter(|rate| *rate < lambda_per_s).collect();
    }
    args.to.iter().map(|multiple| theory.rate_per_s(*multiple)).collect()
}

fn table(args: &TableArgs) -> anyhow::Result<ExitCode> {
    let configs = project::configs(&args.configs)?;
    let read = |name: &str| {
        let path = args.published.join(name);
        crate::reading::text(&path).with_context(|| format!("cannot read {}", path.display()))
    };
    let printed = Printed::parse(&read("cells.yaml")?, &read("tables.yaml")?)?;
    let theories = model_values::solve(&configs)?;
    if let Some(which) = args.show.prediction() {
        return show(&[theory::predict(which, &theories, &printed)?], &args.print);
    }
    let published = parse(&read("model_values.json")?).context("model_values.json")?;
    let rows = compare(&published, &theories, &printed);
    let full = model_values::table(&rows);
    let summary = model_values::summary(&rows);
    match args.print.format {
        Format::Table if args.all => show(&[summary, full], &args.print)?,
        Format::Table => show(&[summary, model_values::misses(&rows)], &args.print)?,
        Format::Json | Format::Csv => show(&[full], &args.print)?,
    };
    let holds = rows
        .iter()
        .filter(|row| row.published.basis == "text")
        .all(|row| row.matches() == Some(true));
    Ok(if holds { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// Prints tables: one after the other for people, one object for machines.
fn show(tables: &[Table], print: &Print) -> anyhow::Result<ExitCode> {
    match print.format {
        Format::Table => {
            let text = |table: &Table| {
                format!("{}\n{}", table.title, output::grid_of(table, print.width()))
            };
            output::show(&tables.iter().map(text).collect::<Vec<_>>().join("\n"))?;
        }
        Format::Json => {
            let named = tables.iter().map(|table| (table.name.as_str(), table.to_json()));
            output::print(&output::json("model", named)?)?;
        }
        Format::Csv => {
            output::print(&tables.iter().map(Table::to_csv).collect::<Vec<_>>().join("\n"))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
