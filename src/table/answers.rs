//! The theory's answers about one cell at one load, as tables of facts: what a trapped
//! engine will look like, what a cut or a stop does, which caps rescue, the curve.

pub mod curve;
pub mod drain;
pub mod rescue;
pub mod trap;

use super::{Cell, Column, Row, Table};

/// A fact: what, how much, in which unit.
type Fact = (&'static str, Cell, &'static str);

fn facts(name: &str, title: String, facts: Vec<Fact>) -> Table {
    let row = |(quantity, value, unit): Fact| Row {
        key: quantity.into(),
        cells: vec![Cell::text(quantity), value, Cell::text(unit)],
        sources: Vec::new(),
    };
    Table {
        name: name.into(),
        title,
        columns: columns(&[("quantity", ""), ("value", ""), ("unit", "")]),
        rows: facts.into_iter().map(row).collect(),
    }
}

fn columns(names: &[(&'static str, &'static str)]) -> Vec<Column> {
    names.iter().map(|(name, unit)| Column::new(name, unit)).collect()
}

fn rows(cells: impl Iterator<Item = Vec<Cell>>) -> Vec<Row> {
    cells.map(|cells| Row { key: cells[0].print(), cells, sources: Vec::new() }).collect()
}
