//! `trapcheck inspect`: what runs are there, and what is wrong with them.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use rayon::prelude::*;

use trapcheck::directory::{LoadOptions, find_runs_by, layout_of};
use trapcheck::run::{Meta, Problems, Run};
use trapcheck::setup::Layout;
use trapcheck::table::{Cell, Col, Heading, Table};

use super::output::{self, Print};
use super::progress;
use super::project;
use super::runs::{tell, tell_notes};

/// List the runs under some paths and every problem found in their files
///
/// Runs of another shape are read by a layout of configs/layouts, which is then named.
/// Exits with 2 if there is a problem. Notes (something unknown or unusual that
/// does not stop a run from being used) are listed with --notes; one that several runs
/// share is said once, with their number.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  trapcheck inspect results/vllm-cpu
  trapcheck inspect --notes --format csv results/nova > runs.csv

Exit codes: 0 every run can be used; 2 a file has a problem, or bad usage")]
pub struct Args {
    /// Run directories, or folders to search for them
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    print: Print,
    /// List notes as well as problems
    #[arg(long)]
    notes: bool,
    /// Print every problem of a file, not only the first 10, and every note of every run
    #[arg(long)]
    all: bool,
    /// Leave out a last line that a crash cut off
    #[arg(long)]
    drop_cut_off: bool,
    /// Folder whose layouts/ say how runs of another shape are read, if it is there
    #[arg(long, value_name = "DIR", default_value = "configs")]
    configs: PathBuf,
}

/// A run directory, and what could be read of it.
struct Inspected {
    dir: PathBuf,
    layout: Option<Arc<Layout>>,
    found: Option<Found>,
}

/// Of a run, what is printed.
struct Found {
    meta: Meta,
    sessions: u64,
    turns: u64,
}

impl Found {
    fn of(run: &Run) -> Self {
        let [sessions, turns] = [run.sessions.len(), run.turns.len()].map(|n| n as u64);
        Self { meta: run.meta.clone(), sessions, turns }
    }
}

impl Inspected {
    /// What is found in the run; unknown where it could not be read.
    fn found(&self, of: impl FnOnce(&Found) -> Cell) -> Cell {
        self.found.as_ref().map_or(Cell::Unknown, of)
    }
}

fn columns() -> Vec<Col<Inspected>> {
    vec![
        Heading("cell", "", "Engine, GPU, model and pool, as named in configs/cells")
            .key(|of| of.found(|run| Cell::text(&run.meta.cell))),
        Heading("arm", "", "What was done to the run: burst, noburst, capped, ...")
            .key(|of| of.found(|run| Cell::text(run.meta.arm.word()))),
        Heading("rate_multiple", "lambda_ref", "Nominal arrival rate; none for closed runs")
            .key(|of| of.found(|run| Cell::optional(run.meta.rate.multiple, 2))),
        Heading("population", "sessions", "Sessions that a closed run keeps running")
            .key(|of| of.found(|run| run.meta.population.map_or(Cell::Empty, Cell::Count))),
        Heading("seed", "", "Seed of the run's plan")
            .key(|of| of.found(|run| Cell::Count(run.meta.seed))),
        Heading("status", "", "How the run ended, or unreadable").key(|of| {
            Cell::text(of.found.as_ref().map_or("unreadable", |run| run.meta.status.word()))
        }),
        Heading("duration_s", "s", "Length of the run")
            .known(1, |of| Some(of.found.as_ref()?.meta.duration_s)),
        Heading("sessions", "sessions", "Rows of its table of sessions")
            .new(|of| of.found(|run| Cell::Count(run.sessions))),
        Heading("turns", "turns", "Rows of its table of turns")
            .new(|of| of.found(|run| Cell::Count(run.turns))),
        Heading("source", "", "What made the runs: engine or simulator")
            .key(|of| of.found(|run| Cell::text(run.meta.source.word()))),
        Heading("layout", "", "The layout it was read by, if its files have another shape")
            .key(|of| of.layout.as_ref().map_or(Cell::Empty, |layout| Cell::text(&layout.name))),
        Heading("run", "", "Path of the run's directory")
            .key(|of| Cell::text(of.dir.display().to_string())),
    ]
}

/// Runs the command.
///
/// # Errors
/// A layout that cannot be used, or stdout cannot be written.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let layouts = trapcheck::configs::layouts(project::configs_folder(&args.configs))?;
    let found = find_runs_by(&args.paths, &layouts);
    let bar = progress::bar(found.runs.len(), "reading");
    let options = LoadOptions { drop_cut_off: args.drop_cut_off };
    // Of each run only what is printed: all of them together may be large.
    let one = |dir: PathBuf| {
        let run = trapcheck::directory::load_by(&dir, &layouts, &options);
        bar.inc(1);
        let row = Inspected {
            layout: layout_of(&dir, &layouts).ok().flatten(),
            found: run.as_ref().ok().map(Found::of),
            dir: dir.clone(),
        };
        (row, run.map(|run| (dir, run.notes)))
    };
    let (rows, of_runs): (Vec<_>, Vec<_>) = found.runs.into_par_iter().map(one).unzip();
    bar.finish_and_clear();
    let mut problems = found.problems;
    let table = Table::of("runs", "Runs", &columns(), rows, |of| {
        (of.dir.display().to_string(), Vec::new())
    });
    let mut notes = Vec::new();
    for of_run in of_runs {
        match of_run {
            Ok(of_run) => notes.push(of_run),
            Err(Problems(list)) => problems.extend(list),
        }
    }
    print(&table, args.print)?;
    if table.rows.is_empty() && problems.is_empty() {
        anyhow::bail!(
            "no run directory under these paths (one holds a meta.json, or fits one of {}/layouts)",
            args.configs.display()
        );
    }
    tell(&problems, "problem", args.all);
    let count: usize = notes.iter().map(|(_, notes)| notes.len()).sum();
    if args.notes {
        tell_notes(notes.iter().map(|(dir, notes)| (dir.as_path(), notes.as_slice())), args.all);
    } else if count > 0 {
        eprintln!("{count} notes; --notes lists them");
    }
    Ok(if problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(2) })
}

/// What people are shown first, and under which heading.
const SHOWN: &[(&str, &str)] = &[
    ("cell", "cell"),
    ("arm", "arm"),
    ("rate_multiple", "rate"),
    ("population", "n"),
    ("seed", "seed"),
    ("layout", "layout"),
    ("run", "run"),
    ("status", "status"),
    ("duration_s", "duration s"),
    ("sessions", "sessions"),
    ("turns", "turns"),
    ("source", "source"),
];

fn print(table: &Table, how: Print) -> anyhow::Result<()> {
    let place = table.place("layout").unwrap_or_default();
    let mapped = table.rows.iter().any(|row| row.cells[place] != Cell::Empty);
    let shown: Vec<_> =
        SHOWN.iter().copied().filter(|(name, _)| mapped || *name != "layout").collect();
    output::table("inspect", table, &shown, how)
}
