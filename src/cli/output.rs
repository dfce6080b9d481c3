//! Printing: tables for people, JSON and csv for machines (`docs/output.md`).

mod colour;
mod grid;

use std::borrow::Borrow;
use std::fmt;
use std::io::{self, IsTerminal, Write};

use clap::ValueEnum;

pub use grid::Width;
pub use trapcheck_answers::print::{json, lines};

use grid::grid;
use trapcheck::escape::escaped;
use trapcheck::files::unless_gone;
use trapcheck::table::{Cell, Col, Table};

/// How results are printed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For reading in a terminal
    #[default]
    Table,
    /// For machines, with everything (docs/output.md)
    Json,
    /// For machines, one line per row (docs/output.md)
    Csv,
}

/// How a command's answer is printed.
#[derive(Debug, Clone, Copy, Default, clap::Args)]
pub struct Print {
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// Print every column, however many characters that takes; 80 do otherwise
    #[arg(long)]
    pub wide: bool,
}

impl Print {
    /// How wide a table for people may be. The same in a pipe as on a terminal of any size.
    pub const fn width(self) -> Width {
        if self.wide { Width::All } else { Width::Page }
    }
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

/// Prints what people read: states in colour, where that is a terminal that shows colour.
///
/// # Errors
/// As [`print`].
pub fn show(text: &str) -> io::Result<()> {
    if colour::is_wanted(io::stdout().is_terminal(), |name| std::env::var_os(name)) {
        print(&colour::of_states(text))
    } else {
        print(text)
    }
}

/// Prints a table in the format asked for: for people these of its columns, with the
/// headings given, the most important ones first.
///
/// # Errors
/// As [`print`].
pub fn table(
    command: &str,
    table: &Table,
    columns: &[(&str, &str)],
    how: Print,
) -> anyhow::Result<()> {
    match how.format {
        Format::Table => show(&screen(table, columns, how.width()))?,
        Format::Json => print(&json(command, [(table.name.as_str(), table.to_json())])?)?,
        Format::Csv => print(&table.to_csv())?,
    }
    Ok(())
}

/// Prints tables in the format asked for: one after the other for people, each under its title,
/// one object for programs.
///
/// # Errors
/// As [`print`].
pub fn tables(command: &str, tables: &[Table], how: Print) -> anyhow::Result<()> {
    let text = |table: &Table| format!("{}\n{}", table.title, grid_of(table, how.width()));
    match how.format {
        Format::Table => show(&tables.iter().map(text).collect::<Vec<_>>().join("\n"))?,
        Format::Json => {
            let named = tables.iter().map(|table| (table.name.as_str(), table.to_json()));
            print(&json(command, named)?)?;
        }
        Format::Csv => print(&tables.iter().map(Table::to_csv).collect::<Vec<_>>().join("\n"))?,
    }
    Ok(())
}

/// Some of a table's columns, for people. Names as given, numbers to the right.
pub fn screen(table: &Table, columns: &[(&str, &str)], width: Width) -> String {
    let places: Vec<(usize, &str)> =
        columns.iter().filter_map(|(name, heading)| Some((table.place(name)?, *heading))).collect();
    let rows: Vec<Vec<Cell>> = table
        .rows
        .iter()
        .map(|row| places.iter().map(|(i, _)| row.cells[*i].clone()).collect())
        .collect();
    let headings: Vec<&str> = places.iter().map(|(_, heading)| *heading).collect();
    grid(&headings, &rows, width)
}

/// A table for people alone, by its declared columns.
pub fn rows<T>(
    columns: &[Col<T>],
    rows: impl IntoIterator<Item: Borrow<T>>,
    width: Width,
) -> String {
    grid_of(&Table::of("", "", columns, rows, |_| Default::default()), width)
}

/// All of a table's columns, for people; units under the names.
pub fn grid_of(table: &Table, width: Width) -> String {
    let headings: Vec<String> = table.columns.iter().map(|column| column.heading()).collect();
    let headings: Vec<&str> = headings.iter().map(String::as_str).collect();
    let rows: Vec<Vec<Cell>> = table.rows.iter().map(|row| row.cells.clone()).collect();
    grid(&headings, &rows, width)
}
