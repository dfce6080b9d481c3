//! `trapcheck model`: what the theory says about a cell at a load.

pub mod plot;
mod published;
mod select;

use std::process::ExitCode;

use clap::Subcommand;

use super::output::{self, Print};
pub use plot::Plot;
use select::{AtLoad, Which};
use trapcheck::analysis::draw::theory as draw;
use trapcheck::table::answers::rescue::Backlog;
use trapcheck::table::{Table, answers};

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
    Table(published::Args),
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
    at: AtLoad,
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
    at: AtLoad,
    /// When arrivals are cut, s
    #[arg(long = "at", default_value_t = answers::drain::CUT_AT_S, value_name = "SECONDS")]
    cut_at: f64,
    /// What they are cut to, in multiples of lambda_ref; by default 1.18, 1.1, 1.05, 1.02, 1
    /// and 0.9 of lambda_miss, as far as these are cuts
    #[arg(long, value_delimiter = ',', value_name = "MULTIPLES")]
    to: Vec<f64>,
    /// How far to follow the backlog, s
    #[arg(long, default_value_t = answers::drain::FOLLOWED_UNTIL_S, value_name = "SECONDS")]
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
    at: AtLoad,
    /// When arrivals stop, s
    #[arg(long = "at", default_value_t = answers::drain::STOP_AT_S, value_name = "SECONDS")]
    stop_at: f64,
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
    at: AtLoad,
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
    at: AtLoad,
    /// When the cap is engaged, s
    #[arg(
        long,
        default_value_t = answers::rescue::ENGAGE_AT_S,
        value_name = "SECONDS",
        conflicts_with = "backlog"
    )]
    engage_at: f64,
    /// Sessions seen in the system, those that wait included, with the cap engaged now
    #[arg(long, value_name = "SESSIONS")]
    backlog: Option<f64>,
    /// How long the gate has to stay empty before release, s
    #[arg(long, default_value_t = answers::rescue::HOLD_S, value_name = "SECONDS")]
    hold: f64,
    /// Caps to look at; by default a spread of the rescuing ones
    #[arg(long, value_delimiter = ',', value_name = "SESSIONS")]
    cap: Vec<f64>,
    #[command(flatten)]
    print: Print,
}

/// Runs the command.
///
/// # Errors
/// A cell, rate or file that cannot be used.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    match &args.ask {
        Ask::Trap(args) => {
            let (theory, lambda) = args.at.solved()?;
            let tables = answers::trap::trap(&theory, lambda, args.roots)?;
            args.plot.write(|| Ok(draw::mix(&theory, lambda, "Turns served in the trap")?))?;
            show(&tables, &args.print)
        }
        Ask::Cut(args) => {
            let (theory, lambda) = args.at.solved()?;
            let times = (args.cut_at, args.until);
            let rates = answers::drain::cuts(&theory, lambda, &args.to);
            let tables = answers::drain::cut(&theory, lambda, times, &rates)?;
            args.plot.write(|| Ok(draw::after_change(&theory, lambda, times, &rates)?))?;
            show(&tables, &args.print)
        }
        Ask::Stop(args) => {
            let (theory, lambda) = args.at.solved()?;
            let tables = answers::drain::stop(&theory, lambda, args.stop_at)?;
            args.plot.write(|| {
                let burst = theory.burst(lambda);
                let until =
                    args.stop_at + burst.work_left_s(&theory.model_f, lambda, args.stop_at)?;
                Ok(draw::after_change(&theory, lambda, (args.stop_at, until), &[0.0])?)
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
            let (theory, lambda) = args.at.solved()?;
            let remaining_s = answers::burst::remaining_horizon_s(&theory.paired);
            let horizon_s = args.horizon.unwrap_or(remaining_s);
            show(&answers::burst::burst(&theory, lambda, horizon_s, &args.sessions)?, &args.print)
        }
        Ask::Rescue(args) => {
            let (theory, lambda) = args.at.solved()?;
            let backlog = match args.backlog {
                Some(sessions) => Backlog::Seen { sessions },
                None => Backlog::AfterTheBurst { engage_s: args.engage_at },
            };
            let tables = answers::rescue::rescue(&theory, lambda, backlog, args.hold, &args.cap)?;
            show(&tables, &args.print)
        }
        Ask::Table(args) => published::table(args),
    }
}

/// Prints tables: one after the other for people, one object for machines.
fn show(tables: &[Table], print: &Print) -> anyhow::Result<ExitCode> {
    output::tables("model", tables, *print)?;
    Ok(ExitCode::SUCCESS)
}
