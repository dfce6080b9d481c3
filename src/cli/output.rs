//! Printing: tables for people, JSON and csv for machines.

use std::fmt;
use std::io::{self, Write};

use clap::ValueEnum;
use comfy_table::{CellAlignment, Table as Screen, presets};

use crate::escape::escaped;
use crate::files::unless_gone;
use crate::table::{Cell, Table};

/// How results are printed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For reading in a terminal
    #[default]
    Table,
    /// For machines, with everything
    Json,
    /// For machines, one row per run
    Csv,
}

/// Prints to stdout. A reader that has gone away is no error.
///
/// # Errors
/// Stdout cannot be written for another reason.
pub fn print(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    unless_gone(stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()))
        .map_err(|e| io::Error::new(e.kind(), format!("cannot write to stdout: {e}")))
}

/// Says something on stderr, on one line. Where stderr cannot be written the work goes on:
/// how it ended is told by the exit code.
pub fn tell(message: fmt::Arguments<'_>) {
    let line = format!("{}\n", escaped(&message.to_string()));
    drop(io::stderr().lock().write_all(line.as_bytes()));
}

/// Lines of text, whatever is in them.
pub fn lines<T: AsRef<str>>(lines: impl IntoIterator<Item = T>) -> String {
    lines.into_iter().map(|line| escaped(line.as_ref()).into_owned() + "\n").collect()
}

/// Some of a table's columns, for a terminal. Names as given, numbers to the right.
pub fn screen(table: &Table, columns: &[(&str, &str)]) -> String {
    let places: Vec<usize> = columns
        .iter()
        .filter_map(|(name, _)| table.columns.iter().position(|c| c.name == *name))
        .collect();
    let rows: Vec<Vec<Cell>> = table
        .rows
        .iter()
        .map(|row| places.iter().map(|i| row.cells[*i].clone()).collect())
        .collect();
    let headings: Vec<&str> = columns.iter().map(|(_, heading)| *heading).collect();
    grid(&headings, &rows)
}

/// All of a table's columns, for a terminal.
pub fn grid_of(table: &Table) -> String {
    let names: Vec<String> = table.columns.iter().map(|c| c.name.replace('_', " ")).collect();
    let headings: Vec<&str> = names.iter().map(String::as_str).collect();
    let rows: Vec<Vec<Cell>> = table.rows.iter().map(|row| row.cells.clone()).collect();
    grid(&headings, &rows)
}

/// A plain table for a terminal.
pub fn grid(headings: &[&str], rows: &[Vec<Cell>]) -> String {
    let mut screen = Screen::new();
    screen.load_style(presets::NOTHING).set_header(headings);
    for row in rows {
        screen.add_row(row.iter().map(Cell::print));
    }
    for (i, column) in screen.column_iter_mut().enumerate() {
        let numeric =
            rows.iter().any(|r| matches!(r.get(i), Some(Cell::Number(..) | Cell::Count(_))));
        if numeric {
            column.set_cell_alignment(CellAlignment::Right);
        }
        column.set_padding((0, 2));
    }
    screen.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}
