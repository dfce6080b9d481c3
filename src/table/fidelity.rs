//! The simulator against what the paper publishes of its own (App. E.12, project page).

use crate::run::SourceFile;
use crate::sim::fidelity::Row as Computed;

use super::{Cell, Col, Table};

const COLUMNS: &[Col<Computed>] = &[
    Col::key("row", "", |row| Cell::text(&row.id)),
    Col::key("source", "", |_| Cell::text("simulator")),
    Col::key("what", "", |row| Cell::text(&row.what)),
    Col::key("place", "", |row| Cell::text(&row.place)),
    Col::key("published", "", |row| Cell::text(&row.published)),
    Col::new("ours", "", |row| row.ours.first().map_or(Cell::Unknown, |x| number(row, *x))),
    Col::new("ours_greatest", "", |row| row.ours.get(1).map_or(Cell::Empty, |x| number(row, *x))),
    Col::new("band_low", "", |row| number(row, row.band.low)),
    Col::new("band_high", "", |row| number(row, row.band.high)),
    Col::new("verdict", "", |row| {
        Cell::text(match (row.inside, row.known_to_miss) {
            (true, _) => "inside",
            (false, true) => "outside, as known",
            (false, false) => "outside",
        })
    }),
    Col::count("runs", "runs", |row| row.runs as u64),
    Col::count("runs_without_value", "runs", |row| row.without_value as u64),
    Col::new("least_run", "", |row| row.spread.map_or(Cell::Empty, |s| number(row, s.0))),
    Col::new("greatest_run", "", |row| row.spread.map_or(Cell::Empty, |s| number(row, s.1))),
];

/// The table, a row per published value; `sources` are the files that the runs were made
/// from.
pub fn table(rows: &[Computed], sources: &[SourceFile]) -> Table {
    let title = "The simulator against its published values";
    Table::of("fidelity", title, COLUMNS, rows, |row| (row.id.clone(), sources.to_vec()))
}

/// With the digits that its band takes.
fn number(row: &Computed, x: f64) -> Cell {
    Cell::Number(x, digits(row.band.high))
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
