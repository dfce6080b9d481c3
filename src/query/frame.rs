//! A table as a polars data frame, and an answer as a table.
//!
//! Numbers are not rounded. What is unknown and what does not apply are both null.

use std::borrow::Cow;

use polars::prelude::{AnyValue, Column as PolarsColumn, DataFrame, DataType, NamedFrom, Series};

use super::statement::literal;
use super::{QueryError, ROW};
use crate::digits::{decimals, rounded};
use crate::table::{Cell, Column, Row, Table};
use sqlparser::ast::Value;

/// The columns that a table has as a frame: one that holds ranges is two, as in csv.
pub(crate) fn columns_of(table: &Table) -> Vec<Column> {
    let with = |column: &Column, end: &str, which: &str| Column {
        name: Cow::Owned(format!("{}_{end}", column.name)),
        meaning: Cow::Owned(format!("{}: the {which}", column.meaning)),
        ..column.clone()
    };
    let split = |(i, column): (usize, &Column)| match table.is_range(i) {
        true => vec![with(column, "least", "least"), with(column, "most", "greatest")],
        false => vec![column.clone()],
    };
    table.columns.iter().enumerate().flat_map(split).collect()
}

/// Their names.
pub fn names_of(table: &Table) -> Vec<String> {
    columns_of(table).into_iter().map(|column| column.name.into_owned()).collect()
}

/// A table's rows as a frame.
///
/// # Errors
/// Two columns of one name.
pub fn of_table(table: &Table) -> Result<DataFrame, QueryError> {
    Ok(DataFrame::new(table.rows.len(), columns(table))?)
}

/// A frame with the place of each row in [`ROW`]: to ask which are taken.
///
/// # Errors
/// It has such a column.
pub(crate) fn with_places(frame: &DataFrame) -> Result<DataFrame, QueryError> {
    let places: Vec<i64> = (0..).take(frame.height()).collect();
    Ok(frame.hstack(&[Series::new(ROW.into(), places).into()])?)
}

/// What says which row this is has the digits that are printed, so that `rate_multiple = 1.35`
/// finds it; findings have all of theirs.
fn columns(table: &Table) -> Vec<PolarsColumn> {
    let mut names = names_of(table).into_iter();
    let mut columns: Vec<PolarsColumn> = Vec::new();
    for (i, column) in table.columns.iter().enumerate() {
        let cell = |row: &Row| match row.cells.get(i) {
            Some(Cell::Number(x, digits)) if column.is_key => {
                Cell::Number(rounded(*x, *digits), *digits)
            }
            Some(cell) => cell.clone(),
            None => Cell::Empty,
        };
        let cells: Vec<Cell> = table.rows.iter().map(cell).collect();
        let mut push = |cells: &[Cell]| {
            columns.push(series(&names.next().unwrap_or_default(), cells.iter()).into());
        };
        if table.is_range(i) {
            for end in 0..2 {
                push(&cells.iter().map(|cell| end_of(cell, end)).collect::<Vec<_>>());
            }
        } else {
            push(&cells);
        }
    }
    columns
}

/// One end of a range, as the number that is printed; of anything else that itself.
fn end_of(cell: &Cell, end: usize) -> Cell {
    match cell {
        Cell::Range(ends) => Cell::Number(ends[end].value(), 0),
        other => other.clone(),
    }
}

/// Whole numbers where all are, numbers where all are, else words. Numbers that are printed with
/// a power of ten are words in a table, and numbers here.
fn series<'a>(name: &str, cells: impl Iterator<Item = &'a Cell> + Clone) -> Series {
    let power = |cell: &Cell| match cell {
        Cell::Text(text) if text.contains('e') => {
            text.parse::<f64>().ok().filter(|x| x.is_finite())
        }
        _ => None,
    };
    let is_text =
        |cell: &Cell| matches!(cell, Cell::Text(_) | Cell::Range(_)) && power(cell).is_none();
    let is_number = |cell: &Cell| matches!(cell, Cell::Number(..)) || power(cell).is_some();
    let large = |cell: &Cell| matches!(cell, Cell::Count(n) if i64::try_from(*n).is_err());
    let nothing = |cell: &Cell| matches!(cell, Cell::Unknown | Cell::Empty);
    if cells.clone().any(is_text) {
        let words = cells.map(|cell| (!nothing(cell)).then(|| cell.print()));
        return Series::new(name.into(), words.collect::<Vec<Option<String>>>());
    }
    if cells.clone().any(|cell| is_number(cell) || large(cell)) || cells.clone().all(nothing) {
        let numbers = cells.map(|cell| match cell {
            Cell::Number(x, _) => Some(*x),
            Cell::Count(n) => Some(*n as f64),
            other => power(other),
        });
        return Series::new(name.into(), numbers.collect::<Vec<Option<f64>>>());
    }
    let counts = cells.map(|cell| match cell {
        Cell::Count(n) => i64::try_from(*n).ok(),
        _ => None,
    });
    Series::new(name.into(), counts.collect::<Vec<Option<i64>>>())
}

/// The places that a frame's first column names, each with what stands beside it.
pub fn places(frame: &DataFrame) -> Vec<(usize, Vec<Cell>)> {
    let Some((column, others)) = frame.columns().split_first() else { return Vec::new() };
    let place = |i| {
        let place = column.get(i).ok()?.extract::<usize>()?;
        let beside = others.iter().map(|other| other.get(i).map_or(Cell::Empty, cell));
        Some((place, beside.collect()))
    };
    (0..column.len()).filter_map(place).collect()
}

/// An answer as a table.
pub(crate) fn to_table(frame: &DataFrame) -> Table {
    let columns = frame.columns();
    let named = |column: &PolarsColumn| Column {
        name: Cow::Owned(column.name().to_string()),
        unit: Cow::Borrowed(""),
        meaning: Cow::Borrowed(""),
        is_key: false,
    };
    let row = |i: usize| Row {
        key: (i + 1).to_string(),
        cells: columns.iter().map(|column| column.get(i).map_or(Cell::Empty, cell)).collect(),
        sources: Vec::new(),
    };
    Table {
        name: "answer".into(),
        title: "Answer".into(),
        columns: columns.iter().map(named).collect(),
        rows: (0..frame.height()).map(row).collect(),
    }
}

/// The one value that a select gives in place of a value; null where it gives no row.
///
/// # Errors
/// It gives more than one.
pub fn value(frame: &DataFrame) -> Result<Value, QueryError> {
    let (rows, columns) = frame.shape();
    if columns != 1 || rows > 1 {
        let found = format!("found {rows} rows of {columns}");
        let why = format!("a select in place of a value gives one value, {found}");
        return Err(QueryError(why));
    }
    let value = frame.columns().first().and_then(|column| column.get(0).ok());
    Ok(match value.map_or(Cell::Empty, cell) {
        Cell::Number(x, _) => literal(x),
        Cell::Count(n) => Value::Number(n.to_string(), false),
        Cell::Text(text) => Value::SingleQuotedString(text),
        _ => Value::Null,
    })
}

/// A value of an answer, with as many digits as it has. A number that is none (1/0) is
/// unknown.
fn cell(value: AnyValue<'_>) -> Cell {
    match value {
        AnyValue::Null => Cell::Empty,
        AnyValue::Boolean(yes) => Cell::yes_no(Some(yes)),
        AnyValue::String(text) => Cell::text(text),
        AnyValue::StringOwned(text) => Cell::text(text.as_str()),
        value if value.dtype().is_integer() => match value.extract::<u64>() {
            Some(n) => Cell::Count(n),
            None => Cell::known(value.extract::<f64>(), 0),
        },
        value if value.dtype() == DataType::Float64 || value.dtype() == DataType::Float32 => {
            let x = value.extract::<f64>().filter(|x| x.is_finite());
            x.map_or(Cell::Unknown, |x| Cell::Number(x, digits_of(x)))
        }
        other => Cell::text(other.to_string()),
    }
}

/// Digits after the point of the shortest text that is read back as this number.
fn digits_of(x: f64) -> usize {
    decimals(&x.to_string())
}
