//! The simulator against what the paper publishes of its own (App. E.12, project page).

use crate::run::SourceFile;
use crate::sim::fidelity::Row as Computed;

use super::{Cell, Column, Row, Table};

const COLUMNS: &[Column] = &[
    Column::key("row", ""),
    Column::key("source", ""),
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

/// The table, a row per published value; `sources` are the files that the runs were made
/// from.
pub fn table(rows: &[Computed], sources: &[SourceFile]) -> Table {
    Table {
        name: "fidelity".into(),
        title: "The simulator against its published values".into(),
        columns: COLUMNS.to_vec(),
        rows: rows.iter().map(|computed| row(computed, sources)).collect(),
    }
}

fn row(row: &Computed, sources: &[SourceFile]) -> Row {
    let number = |x: f64| Cell::Number(x, digits(row.band.high));
    let spread = |pick: fn((f64, f64)) -> f64| row.spread.map_or(Cell::Empty, |s| number(pick(s)));
    let verdict = match (row.inside, row.known_to_miss) {
        (true, _) => "inside",
        (false, true) => "outside, as known",
        (false, false) => "outside",
    };
    let cells = vec![
        Cell::text(&row.id),
        Cell::text("simulator"),
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
    Row { key: row.id.clone(), cells, sources: sources.to_vec() }
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
