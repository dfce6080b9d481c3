//! `--report`: the simulator against every published value of it.

use std::process::ExitCode;

use crate::setup::Configs;
use crate::sim::fidelity::{Fidelity, Row as Computed, report, runs};
use crate::table::{Cell, Column, Row, Table};

use super::super::output::{self, Format};
use super::super::progress;
use super::Args;

const COLUMNS: &[Column] = &[
    Column::key("row", ""),
    Column::key("what", ""),
    Column::key("place", ""),
    Column::key("published", ""),
    Column::new("ours", ""),
    Column::new("ours_greatest", ""),
    Column::new("band_low", ""),
    Column::new("band_high", ""),
    Column::new("verdict", ""),
    Column::new("runs", "runs"),
    Column::new("runs_without_value", "runs"),
    Column::new("least_run", ""),
    Column::new("greatest_run", ""),
];

pub fn run(args: &Args, configs: &Configs) -> anyhow::Result<ExitCode> {
    let fidelity = Fidelity::load(&args.fidelity)?;
    let bar = progress::bar(runs(&fidelity), "simulating");
    let rows = report(&fidelity, configs, &|| bar.inc(1))?;
    bar.finish_and_clear();
    let table = Table {
        name: "fidelity".into(),
        title: "The simulator against its published values".into(),
        columns: COLUMNS.to_vec(),
        rows: rows.iter().map(row).collect(),
    };
    let text = match args.format {
        Format::Json => serde_json::to_string_pretty(&table.to_json())? + "\n",
        Format::Csv => table.to_csv(),
        Format::Table => output::screen(
            &table,
            &[
                ("row", "row"),
                ("published", "published"),
                ("ours", "ours"),
                ("ours_greatest", "to"),
                ("band_low", "band from"),
                ("band_high", "to"),
                ("verdict", "verdict"),
                ("runs", "runs"),
            ],
        ),
    };
    output::print(&text)?;
    let inside = rows.iter().filter(|row| row.inside).count();
    eprintln!("{inside} of {} rows lie in their band, over {} runs", rows.len(), runs(&fidelity));
    Ok(ExitCode::SUCCESS)
}

fn row(row: &Computed) -> Row {
    let number = |x: f64| Cell::Number(x, digits(row.band.high));
    let spread = |pick: fn((f64, f64)) -> f64| row.spread.map_or(Cell::Empty, |s| number(pick(s)));
    let verdict = match (row.inside, row.known_to_miss) {
        (true, _) => "inside",
        (false, true) => "outside, as known",
        (false, false) => "outside",
    };
    let cells = vec![
        Cell::text(&row.id),
        Cell::text(&row.what),
        Cell::text(&row.place),
        Cell::text(&row.published),
        row.ours.first().map_or(Cell::Unknown, |x| number(*x)),
        row.ours.get(1).map_or(Cell::Empty, |x| number(*x)),
        number(row.band.low),
        number(row.band.high),
        Cell::text(verdict),
        Cell::Count(row.runs as u64),
        Cell::Count(row.without_value as u64),
        spread(|s| s.0),
        spread(|s| s.1),
    ];
    Row { key: row.id.clone(), cells, sources: Vec::new() }
}

/// Digits that show a value of this size to about four places.
fn digits(size: f64) -> usize {
    match size {
        x if x >= 1000.0 => 0,
        x if x >= 10.0 => 1,
        x if x >= 0.2 => 3,
        _ => 4,
    }
}
