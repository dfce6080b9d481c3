//! `--list` and `--status`: which runs a campaign has, and what there is of them.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

use rayon::prelude::*;

use crate::campaign::{Job, State};
use crate::table::{Cell, Column, Row, Table};

use super::super::output::{self, Print};

/// Prints a row per run.
pub fn list(jobs: &[&Job<'_>], how: Print) -> anyhow::Result<ExitCode> {
    let columns = vec![
        Column::key("run", ""),
        Column::key("test", ""),
        Column::key("cell", ""),
        Column::key("arm", ""),
        Column::key("rate_multiple", "lambda_ref"),
        Column::key("seed", ""),
        Column::key("place", ""),
        Column::key("directory", ""),
    ];
    let row = |job: &&Job<'_>| {
        let planned = &job.planned;
        let cells = vec![
            Cell::text(&planned.id),
            Cell::text(&planned.test.test),
            Cell::text(&planned.test.cell),
            Cell::text(planned.arm.name()),
            Cell::optional(planned.multiple, 2),
            Cell::Count(planned.seed),
            Cell::text(&planned.test.place),
            Cell::text(job.dir.display().to_string()),
        ];
        Row { key: planned.id.clone(), cells, sources: Vec::new() }
    };
    let shown: &[(&str, &str)] = &[
        ("run", "run"),
        ("arm", "arm"),
        ("rate_multiple", "rate"),
        ("seed", "seed"),
        ("place", "place"),
    ];
    print("list", columns, jobs.iter().map(row).collect(), shown, how)?;
    eprintln!("{} runs", jobs.len());
    Ok(ExitCode::SUCCESS)
}

/// Prints a row per test, and the runs that differ; 1 if any is not made.
pub fn status(jobs: &[&Job<'_>], out: &Path, how: Print) -> anyhow::Result<ExitCode> {
    let states = jobs.par_iter().map(|job| job.state(out)).collect::<Result<Vec<_>, _>>()?;
    let mut tests: Vec<&str> = Vec::new();
    let mut counts: BTreeMap<&str, [u64; 3]> = BTreeMap::new();
    for (job, state) in jobs.iter().zip(&states) {
        let test = job.planned.test.test.as_str();
        if !tests.contains(&test) {
            tests.push(test);
        }
        counts.entry(test).or_default()[*state as usize] += 1;
        if *state == State::Differs {
            let dir = out.join(&job.dir);
            eprintln!("differs: {}: not made from the campaign's values", dir.display());
        }
    }
    let columns = vec![
        Column::key("test", ""),
        Column::new("missing", "runs"),
        Column::new("made", "runs"),
        Column::new("differ", "runs"),
    ];
    let row = |test: &&str| {
        let [missing, made, differ] =
            counts.get(test).copied().unwrap_or_default().map(Cell::Count);
        Row {
            key: (*test).to_owned(),
            cells: vec![Cell::text(*test), missing, made, differ],
            sources: Vec::new(),
        }
    };
    let shown: &[(&str, &str)] =
        &[("test", "test"), ("made", "made"), ("missing", "missing"), ("differ", "differ")];
    print("status", columns, tests.iter().map(row).collect(), shown, how)?;
    let made = states.iter().filter(|s| **s == State::Made).count();
    eprintln!("{made} of {} runs are made", jobs.len());
    Ok(ExitCode::from(u8::from(made < jobs.len())))
}

fn print(
    name: &str,
    columns: Vec<Column>,
    rows: Vec<Row>,
    shown: &[(&str, &str)],
    how: Print,
) -> anyhow::Result<()> {
    let table = Table { name: name.into(), title: name.into(), columns, rows };
    output::table(&format!("campaign-{name}"), &table, shown, how)
}
