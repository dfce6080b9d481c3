//! `trapcheck sources`: which of the published data is here.

use std::process::ExitCode;

use anyhow::Context;

use trapcheck::analysis::sources::sources;

use super::output::{self, Format, Print};
use super::project;

/// Say which published batches of runs are here, which are stood in for by simulated runs,
/// and where the missing ones belong
///
/// The rows of the paper's Table 19 that are runs; with --all, every other artifact that the
/// table or the paper's repository names, by its path there: no command reads those.
/// results/nova/README.md says how to put a pull in place.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  trapcheck sources
  trapcheck sources --format csv

Exit codes: 0 said; 2 bad usage or input")]
pub struct Args {
    /// Also list what is not runs: notes, predictions, scripts, registrations of the paper
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    print: Print,
}

/// Runs the command.
///
/// # Errors
/// A configuration or a published file that cannot be used.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let project = project::open()?;
    let table = sources(&project, args.all)?;
    let shown = [
        ("result", "result"),
        ("batch", "batch"),
        ("state", "state"),
        ("runs", "runs"),
        ("from", "from"),
        ("belongs_at", "the pull belongs at"),
    ];
    output::table("sources", &table, &shown, args.print)?;
    if args.print.format == Format::Table {
        let state = table.place("state").context("a table of sources has states")?;
        let count =
            |word: &str| table.rows.iter().filter(|row| row.cells[state].print() == word).count();
        output::print(&format!(
            "\n{} present, {} stood in for by simulated runs, {} missing\n",
            count("present"),
            count("stood in for"),
            count("missing")
        ))?;
    }
    Ok(ExitCode::SUCCESS)
}
