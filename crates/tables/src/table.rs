//! A table: rows of cells under columns that say what they are.
//!
//! Columns are declared once, each with its cell ([`Col`]). csv, Markdown, LaTeX and JSON come
//! from the same cells ([`form`]), with the same stated digits, but for JSON, whose numbers are
//! not rounded.

mod column;
pub mod form;

use std::borrow::Cow;

use crate::digits::{Rounded, fixed};
use crate::escape::escaped;
use crate::hash::SourceFile;
pub use column::{Col, Heading};

/// One column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Its name in csv and JSON, with the unit where it has one.
    pub name: Cow<'static, str>,
    /// Its unit; empty for words and ratios.
    pub unit: Cow<'static, str>,
    /// What its values are, in a sentence.
    pub meaning: Cow<'static, str>,
    /// Whether it says which row this is, rather than what was found.
    pub is_key: bool,
}

/// One value.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// Words.
    Text(String),
    /// A whole number.
    Count(u64),
    /// A number, with the digits after the point it is printed with.
    Number(f64, usize),
    /// From the least to the greatest.
    Range([Rounded; 2]),
    /// The data cannot say.
    Unknown,
    /// The question does not arise for this row.
    Empty,
}

/// One row.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// What identifies it within its table.
    pub key: String,
    /// A value per column.
    pub cells: Vec<Cell>,
    /// The files it was computed from.
    pub sources: Vec<SourceFile>,
}

/// A table.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// Its name: a file stem.
    pub name: String,
    /// What it shows.
    pub title: String,
    /// Its columns.
    pub columns: Vec<Column>,
    /// Its rows, in the order they are printed.
    pub rows: Vec<Row>,
}

impl Cell {
    /// Words.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// A number that may be unknown.
    pub fn known(value: Option<f64>, digits: usize) -> Self {
        value.map_or(Self::Unknown, |x| Self::Number(x, digits))
    }

    /// A number that may not apply.
    pub fn optional(value: Option<f64>, digits: usize) -> Self {
        value.map_or(Self::Empty, |x| Self::Number(x, digits))
    }

    /// From one whole number to another.
    pub fn whole_numbers(ends: [u64; 2]) -> Self {
        Self::Range(ends.map(|end| Rounded::new(end as f64, 0)))
    }

    /// Yes or no, where it can be told.
    pub fn yes_no(value: Option<bool>) -> Self {
        value.map_or(Self::Unknown, |yes| Self::text(if yes { "yes" } else { "no" }))
    }

    /// As it is printed everywhere: on one line, whatever is in it.
    pub fn print(&self) -> String {
        match self {
            Self::Text(text) => escaped(text).into_owned(),
            Self::Count(n) => n.to_string(),
            Self::Number(x, digits) => fixed(*x, *digits),
            Self::Range([least, greatest]) => format!("{least} to {greatest}"),
            Self::Unknown => "unknown".into(),
            Self::Empty => String::new(),
        }
    }
}

impl Table {
    /// Where a column stands.
    pub fn place(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    /// Whether a column holds ranges: in csv these are two columns.
    pub fn is_range(&self, place: usize) -> bool {
        self.rows.iter().any(|row| matches!(row.cells.get(place), Some(Cell::Range(..))))
    }
}

impl Column {
    /// Name and unit for readers, on two lines; a unit that the name ends with is said once.
    pub fn heading(&self) -> String {
        let said = match &*self.unit {
            "s" => "_s",
            "sessions" => "_sessions",
            "tokens" => "_tokens",
            "%" => "_percent",
            unit if unit.ends_with("/s") => "_per_s",
            _ => "",
        };
        let words = self.name.strip_suffix(said).unwrap_or(&self.name).replace('_', " ");
        if self.unit.is_empty() { words } else { format!("{words}\n({})", self.unit) }
    }
}
