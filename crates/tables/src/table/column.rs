//! Columns that say how their cells come from what a row is about.
//!
//! A table is declared once: each column gives its name, its unit and its cell. Nothing is
//! matched up by position.

use std::borrow::{Borrow, Cow};

use super::{Cell, Column, Row, Table};
use crate::hash::SourceFile;

/// A column of a table with a row per `T`: its name, its unit (empty for words and ratios)
/// and how its cell comes from what the row is about.
#[derive(Debug)]
pub struct Col<T> {
    name: &'static str,
    unit: &'static str,
    meaning: &'static str,
    is_key: bool,
    of: Of<T>,
}

/// How a cell comes from what its row is about; a number with its digits after the point.
#[derive(Debug)]
enum Of<T> {
    Cell(fn(&T) -> Cell),
    Count(fn(&T) -> u64),
    Number(fn(&T) -> f64, usize),
    Known(fn(&T) -> Option<f64>, usize),
    Optional(fn(&T) -> Option<f64>, usize),
}

impl<T> Clone for Of<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Of<T> {}

impl<T> Clone for Col<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Col<T> {}

impl<T> Col<T> {
    const fn with(name: &'static str, unit: &'static str, is_key: bool, of: Of<T>) -> Self {
        Self { name, unit, meaning: "", is_key, of }
    }

    /// This column, with what its values are in a sentence.
    pub const fn means(self, meaning: &'static str) -> Self {
        Self { meaning, ..self }
    }

    /// A finding of any kind.
    pub const fn new(name: &'static str, unit: &'static str, of: fn(&T) -> Cell) -> Self {
        Self::with(name, unit, false, Of::Cell(of))
    }

    /// What says which row this is.
    pub const fn key(name: &'static str, unit: &'static str, of: fn(&T) -> Cell) -> Self {
        Self::with(name, unit, true, Of::Cell(of))
    }

    /// A whole number.
    pub const fn count(name: &'static str, unit: &'static str, of: fn(&T) -> u64) -> Self {
        Self::with(name, unit, false, Of::Count(of))
    }

    /// A number that every row has.
    pub const fn number(
        name: &'static str,
        unit: &'static str,
        digits: usize,
        of: fn(&T) -> f64,
    ) -> Self {
        Self::with(name, unit, false, Of::Number(of, digits))
    }

    /// A number that may be unknown.
    pub const fn known(
        name: &'static str,
        unit: &'static str,
        digits: usize,
        of: fn(&T) -> Option<f64>,
    ) -> Self {
        Self::with(name, unit, false, Of::Known(of, digits))
    }

    /// A number that may not apply.
    pub const fn optional(
        name: &'static str,
        unit: &'static str,
        digits: usize,
        of: fn(&T) -> Option<f64>,
    ) -> Self {
        Self::with(name, unit, false, Of::Optional(of, digits))
    }

    /// Its cell of a row.
    pub fn cell(&self, of: &T) -> Cell {
        match self.of {
            Of::Cell(cell) => cell(of),
            Of::Count(count) => Cell::Count(count(of)),
            Of::Number(number, digits) => Cell::Number(number(of), digits),
            Of::Known(number, digits) => Cell::known(number(of), digits),
            Of::Optional(number, digits) => Cell::optional(number(of), digits),
        }
    }

    fn heading(&self) -> Column {
        let Self { name, unit, meaning, is_key, .. } = *self;
        let [name, unit, meaning] = [name, unit, meaning].map(Cow::Borrowed);
        Column { name, unit, meaning, is_key }
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
            Col::number("square", "s2", 2, |x| x * x),
            Col::known("root", "", 1, |x| (*x >= 0.0).then(|| x.sqrt())),
            Col::optional("inverse", "1/s", 1, |x| (*x != 0.0).then(|| 1.0 / x)),
            Col::count("whole", "s", |x| x.abs() as u64),
        ];
        let table = Table::of("t", "T", columns, [4.0, 0.0, -1.5], |x| (x.to_string(), vec![]));
        let csv = "x,square,root,inverse,whole\n\
                   4.0,16.00,2.0,0.2,4\n\
                   0.0,0.00,0.0,,0\n\
                   -1.5,2.25,unknown,-0.7,1\n";
        assert_eq!(table.to_csv(), csv);
        assert_eq!(table.rows[2].key, "-1.5");
        assert_eq!(table.columns[..2], [Column::key("x", "s"), Column::new("square", "s2")]);
    }
}
