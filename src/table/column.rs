//! Columns that say how their cells come from what a row is about.
//!
//! A table is declared once: each column gives its name, its unit and its cell. Nothing is
//! matched up by position.

use std::borrow::{Borrow, Cow};

use super::{Cell, Column, Row, Table};
use crate::run::SourceFile;

/// A column of a table with a row per `T`.
#[derive(Debug)]
pub struct Col<T> {
    name: &'static str,
    unit: &'static str,
    is_key: bool,
    of: fn(&T) -> Cell,
}

impl<T> Clone for Col<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Col<T> {}

impl<T> Col<T> {
    /// A column of findings: its name, its unit (empty for words and ratios) and its cell.
    pub const fn new(name: &'static str, unit: &'static str, of: fn(&T) -> Cell) -> Self {
        Self { name, unit, is_key: false, of }
    }

    /// A column that says which row this is.
    pub const fn key(name: &'static str, unit: &'static str, of: fn(&T) -> Cell) -> Self {
        Self { name, unit, is_key: true, of }
    }

    /// Its cell of a row.
    pub fn cell(&self, of: &T) -> Cell {
        (self.of)(of)
    }

    fn heading(&self) -> Column {
        let (name, unit) = (Cow::Borrowed(self.name), Cow::Borrowed(self.unit));
        Column { name, unit, is_key: self.is_key }
    }
}

impl Table {
    /// A table with a row for each of `rows`; `identity` gives what identifies a row, and the
    /// files it was computed from.
    pub fn of<T>(
        name: &str,
        title: impl Into<String>,
        columns: &[Col<T>],
        rows: impl IntoIterator<Item: Borrow<T>>,
        identity: impl Fn(&T) -> (String, Vec<SourceFile>),
    ) -> Self {
        let row = |of: &T| {
            let (key, sources) = identity(of);
            Row { key, cells: columns.iter().map(|column| column.cell(of)).collect(), sources }
        };
        Self {
            name: name.into(),
            title: title.into(),
            columns: columns.iter().map(Col::heading).collect(),
            rows: rows.into_iter().map(|of| row(of.borrow())).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_stands_under_the_column_that_it_is_declared_with() {
        let columns: &[Col<f64>] = &[
            Col::key("x", "s", |x| Cell::Number(*x, 1)),
            Col::new("square", "s2", |x| Cell::Number(x * x, 2)),
        ];
        let table = Table::of("t", "T", columns, [1.0, 1.5], |x| (format!("at {x}"), Vec::new()));
        assert_eq!(table.to_csv(), "x,square\n1.0,1.00\n1.5,2.25\n");
        assert_eq!(table.rows[1].key, "at 1.5");
        assert_eq!(table.columns, [Column::key("x", "s"), Column::new("square", "s2")]);
    }
}
