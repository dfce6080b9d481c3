//! The simulator against what the paper publishes of its own (App. E.12, project page).

use crate::run::SourceFile;
use crate::sim::fidelity::Row as Computed;

use super::{Cell, Col, Heading, Table};

const COLUMNS: &[Col<Computed>] = &[
    Heading("row", "", "Which published value").key(|row| Cell::text(&row.id)),
    Heading("source", "", "The simulator").key(|_| Cell::text("simulator")),
    Heading("what", "", "What is counted or compared").key(|row| Cell::text(&row.what)),
    Heading("place", "", "Where the paper states it").key(|row| Cell::text(&row.place)),
    Heading("published", "", "The value as published").key(|row| Cell::text(&row.published)),
    Heading("ours", "", "Our value")
        .new(|row| row.ours.first().map_or(Cell::Unknown, |x| number(row, *x))),
    Heading("ours_greatest", "", "The simulator's greatest value, of a range")
        .new(|row| row.ours.get(1).map_or(Cell::Empty, |x| number(row, *x))),
    Heading("band_low", "", "Lower end of the band that counts as equal")
        .new(|row| number(row, row.band.low)),
    Heading("band_high", "", "Upper end of the band that counts as equal")
        .new(|row| number(row, row.band.high)),
    Heading("verdict", "", "Whether ours is inside or outside the band").new(|row| {
        Cell::text(match (row.inside, row.known_to_miss) {
            (true, _) => "inside",
            (false, true) => "outside, as known",
            (false, false) => "outside",
        })
    }),
    Heading("runs", "runs", "Runs that the row counts").count(|row| row.runs as u64),
    Heading("runs_without_value", "runs", "Runs of these without a value")
        .count(|row| row.without_value as u64),
    Heading("least_run", "", "Least value of a single run")
        .new(|row| row.spread.map_or(Cell::Empty, |s| number(row, s.0))),
    Heading("greatest_run", "", "Greatest value of a single run")
        .new(|row| row.spread.map_or(Cell::Empty, |s| number(row, s.1))),
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
