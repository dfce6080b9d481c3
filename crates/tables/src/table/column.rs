//! Columns that say how their cells come from what a row is about.
//!
//! A table is declared once: each column gives its name, its unit, its meaning and its cell.
//! Nothing is matched up by position.

use std::borrow::{Borrow, Cow};

use super::{Cell, Column, Row, Table};
use crate::hash::SourceFile;

/// What stands above a column: its name, its unit (empty for words and ratios) and what its
/// values are, in a sentence. How a column's declaration begins.
#[derive(Debug, Clone, Copy)]
pub struct Heading(pub &'static str, pub &'static str, pub &'static str);

/// A column of a table with a row per `T`: what stands above it, and how its cell comes from
/// what the row is about.
#[derive(Debug)]
pub struct Col<T> {
    heading: Heading,
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

impl Heading {
    /// A finding of any kind.
    #[expect(clippy::new_ret_no_self, reason = "a heading begins the declaration of a column")]
    pub const fn new<T>(self, of: fn(&T) -> Cell) -> Col<T> {
        Col { heading: self, is_key: false, of: Of::Cell(of) }
    }

    /// What says which row this is.
    pub const fn key<T>(self, of: fn(&T) -> Cell) -> Col<T> {
        Col { heading: self, is_key: true, of: Of::Cell(of) }
    }

    /// A whole number.
    pub const fn count<T>(self, of: fn(&T) -> u64) -> Col<T> {
        Col { heading: self, is_key: false, of: Of::Count(of) }
    }

    /// A number that every row has.
    pub const fn number<T>(self, digits: usize, of: fn(&T) -> f64) -> Col<T> {
        Col { heading: self, is_key: false, of: Of::Number(of, digits) }
    }

    /// A number that may be unknown.
    pub const fn known<T>(self, digits: usize, of: fn(&T) -> Option<f64>) -> Col<T> {
        Col { heading: self, is_key: false, of: Of::Known(of, digits) }
    }

    /// A number that may not apply.
    pub const fn optional<T>(self, digits: usize, of: fn(&T) -> Option<f64>) -> Col<T> {
        Col { heading: self, is_key: false, of: Of::Optional(of, digits) }
    }

    /// The heading of a column of findings.
    pub const fn column(self) -> Column {
        let Self(name, unit, meaning) = self;
        let [name, unit, meaning] =
            [Cow::Borrowed(name), Cow::Borrowed(unit), Cow::Borrowed(meaning)];
        Column { name, unit, meaning, is_key: false }
    }
}

impl<T> Col<T> {
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
        Column { is_key: self.is_key, ..self.heading.column() }
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

    /// This table with more columns to the right, filled from `rows`, one for each row it has.
    pub fn beside<T>(
        mut self,
        columns: &[Col<T>],
        rows: impl IntoIterator<Item: Borrow<T>>,
    ) -> Self {
        self.columns.extend(columns.iter().map(Col::heading));
        for (row, of) in self.rows.iter_mut().zip(rows) {
            row.cells.extend(columns.iter().map(|column| column.cell(of.borrow())));
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_stands_under_the_column_that_it_is_declared_with() {
        let columns: &[Col<f64>] = &[
            Heading("x", "s", "X").key(|x| Cell::Number(*x, 1)),
            Heading("square", "s2", "Its square").number(2, |x| x * x),
            Heading("root", "", "Its root").known(1, |x| (*x >= 0.0).then(|| x.sqrt())),
            Heading("inverse", "1/s", "Its inverse").optional(1, |x| (*x != 0.0).then(|| 1.0 / x)),
            Heading("whole", "s", "Its whole part").count(|x| x.abs() as u64),
        ];
        let table = Table::of("t", "T", columns, [4.0, 0.0, -1.5], |x| (x.to_string(), vec![]));
        let csv = "x,square,root,inverse,whole\n\
                   4.0,16.00,2.0,0.2,4\n\
                   0.0,0.00,0.0,,0\n\
                   -1.5,2.25,unknown,-0.7,1\n";
        assert_eq!(table.to_csv(), csv);
        assert_eq!(table.rows[2].key, "-1.5");
        let said = |column: &Column| [&column.name, &column.unit, &column.meaning].map(Cow::clone);
        assert_eq!(said(&table.columns[1]), ["square", "s2", "Its square"]);
        assert_eq!([0, 1].map(|i| table.columns[i].is_key), [true, false]);
    }
}
