//! `trapcheck inspect`: what runs are there, and what is wrong with them.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use rayon::prelude::*;

use crate::run::{LoadOptions, Problems, Run, find_runs_by, layout_of};
use crate::setup::Layout;
use crate::table::{Cell, Column, Row, Table};

use super::output::{self, Print};
use super::progress;
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

const COLUMNS: &[Column] = &[
    Column::key("cell", ""),
    Column::key("arm", ""),
    Column::key("rate_multiple", "lambda_ref"),
    Column::key("population", "sessions"),
    Column::key("seed", ""),
    Column::key("status", ""),
    Column::new("duration_s", "s"),
    Column::new("sessions", "sessions"),
    Column::new("turns", "turns"),
    Column::key("source", ""),
    Column::key("layout", ""),
    Column::key("run", ""),
];

/// Runs the command.
///
/// # Errors
/// A layout that cannot be used, or stdout cannot be written.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let layouts = Layout::load_all(&args.configs)?;
    let found = find_runs_by(&args.paths, &layouts);
    let bar = progress::bar(found.runs.len(), "reading");
    let options = LoadOptions { drop_cut_off: args.drop_cut_off };
    // Of each run only what is printed: all of them together may be large.
    let one = |dir: PathBuf| {
        let run = Run::load_by(&dir, &layouts, &options);
        bar.inc(1);
        (row(&dir, &layouts, run.as_ref().ok()), run.map(|run| (dir, run.notes)))
    };
    let loaded: Vec<_> = found.runs.into_par_iter().map(one).collect();
    bar.finish_and_clear();
    let mut problems = found.problems;
    let mut notes = Vec::new();
    let mut rows = Vec::new();
    for (row, of_run) in loaded {
        rows.push(row);
        match of_run {
            Ok(of_run) => notes.push(of_run),
            Err(Problems(list)) => problems.extend(list),
        }
    }
    let table =
        Table { name: "runs".into(), title: "Runs".into(), columns: COLUMNS.to_vec(), rows };
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

fn row(dir: &Path, layouts: &[Arc<Layout>], run: Option<&Run>) -> Row {
    let layout = layout_of(dir, layouts).ok().flatten();
    let layout = layout.map_or(Cell::Empty, |layout| Cell::text(&layout.name));
    let dir = dir.display().to_string();
    let cells = match run {
        Some(run) => vec![
            Cell::text(&run.meta.cell),
            Cell::text(&run.meta.arm),
            Cell::optional(run.meta.rate.multiple, 2),
            run.meta.population.map_or(Cell::Empty, Cell::Count),
            Cell::Count(run.meta.seed),
            Cell::text(run.meta.status.word()),
            Cell::Number(run.meta.duration_s, 1),
            Cell::Count(run.sessions.len() as u64),
            Cell::Count(run.turns.len() as u64),
            Cell::text(run.meta.source.word()),
            layout,
            Cell::text(&dir),
        ],
        None => {
            let mut cells = vec![Cell::Unknown; COLUMNS.len() - 2];
            cells[5] = Cell::text("unreadable");
            cells.extend([layout, Cell::text(&dir)]);
            cells
        }
    };
    Row { key: dir, cells, sources: Vec::new() }
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
