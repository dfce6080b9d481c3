//! SQL over tables: the derived ones, configurations, published numbers, and a run's own.
//!
//! polars answers a statement; which rows of which tables the answer rests on is found by
//! asking each of its parts for the rows it takes. The same statement gives the same bytes:
//! where SQL leaves the order of rows open, they are sorted.

pub mod campaign;
mod frame;
mod plan;
mod session;
mod statement;
pub mod tables;
mod trace;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use polars::prelude::PolarsError;
use serde::Deserialize;

use crate::hash::SourceFile;
use crate::setup::ConfigError;
use crate::table::{Cell, Column, Heading, Row, Table};
pub use session::{Frames, Session};
pub use statement::Statement;

/// Where the named sets of rows are defined, relative to the project's folder.
pub const VIEWS: &str = "analysis/numbers/views.yaml";

/// The column that says which row of its table a row is; never part of an answer.
const ROW: &str = "_row";

/// A named set of rows of one table: a selection that is written once.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct View {
    /// Its name.
    pub name: String,
    /// What its rows are, in a sentence.
    pub says: String,
    /// `select * from TABLE where ...`, of a table or of a view above it.
    pub query: String,
}

/// What a statement may name: tables, and views of them.
#[derive(Debug, Default)]
pub struct Database {
    tables: BTreeMap<String, Table>,
    views: Vec<View>,
}

/// Rows of one table that an answer rests on.
#[derive(Debug, Clone, PartialEq)]
pub struct RowsRead {
    /// The table.
    pub table: String,
    /// The rows that were taken, as places from 0.
    pub rows: BTreeSet<usize>,
    /// How many rows the table has.
    pub of: usize,
}

/// What a statement was answered with.
#[derive(Debug)]
pub struct Answer {
    /// A column per expression, a row per row; numbers with as many digits as they have.
    pub table: Table,
    /// What it rests on, in order of table.
    pub read: Vec<RowsRead>,
    /// The rows of `read` with the values that tell which row of the answer they made.
    taken: Vec<Taken>,
}

/// Rows that a part of a statement takes from a table.
#[derive(Debug)]
struct Taken {
    table: String,
    of: usize,
    /// The columns of the answer in which a row has the values that stand beside a place.
    tells: Vec<usize>,
    rows: Vec<(usize, Vec<Cell>)>,
}

impl Answer {
    /// What one row of the answer rests on, in order of table: of rows that are grouped or
    /// listed its own, and all of what is taken for the answer as a whole.
    pub(crate) fn read_by(&self, row: &Row) -> Vec<RowsRead> {
        let own = reads(&self.taken, |taken, values| {
            let mut pairs = taken.tells.iter().zip(values);
            pairs.all(|(place, value)| row.cells.get(*place) == Some(value))
        });
        // Other rows of the answer are from that table, this one is not.
        let is_of_others =
            |own: &RowsRead, all: &RowsRead| own.rows.is_empty() && !all.rows.is_empty();
        let read = own.into_iter().zip(&self.read);
        read.filter(|(own, all)| !is_of_others(own, all)).map(|(own, _)| own).collect()
    }
}

/// What is taken, table by table; of each the rows that `is_of` keeps.
fn reads(taken: &[Taken], is_of: impl Fn(&Taken, &[Cell]) -> bool) -> Vec<RowsRead> {
    let mut read: BTreeMap<&str, RowsRead> = BTreeMap::new();
    for part in taken {
        let of = || RowsRead { table: part.table.clone(), rows: BTreeSet::new(), of: part.of };
        let own = part.rows.iter().filter(|(_, values)| is_of(part, values));
        read.entry(&part.table).or_insert_with(of).rows.extend(own.map(|(place, _)| *place));
    }
    read.into_values().collect()
}

/// Why a statement has no answer.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct QueryError(String);

impl QueryError {
    /// What is said where polars gave up without a word.
    pub(crate) fn failed() -> Self {
        Self("the SQL engine failed on this statement".into())
    }
}

impl From<PolarsError> for QueryError {
    fn from(error: PolarsError) -> Self {
        let (PolarsError::ColumnNotFound(message)
        | PolarsError::SQLInterface(message)
        | PolarsError::SQLSyntax(message)
        | PolarsError::SchemaMismatch(message)
        | PolarsError::InvalidOperation(message)
        | PolarsError::ComputeError(message)) = &error
        else {
            return Self(error.to_string());
        };
        Self(message.lines().next().unwrap_or_default().to_owned())
    }
}

/// The views of a project, in the order of the file; none where the file is not there.
///
/// # Errors
/// A file that cannot be used.
pub fn views(path: &Path) -> Result<Vec<View>, ConfigError> {
    #[derive(Default, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct File {
        views: Vec<View>,
    }
    let file: File = if path.exists() { crate::configs::yaml(path)? } else { File::default() };
    Ok(file.views)
}

/// The tables and views that a statement names, whatever they are.
///
/// # Errors
/// It is not one `select`.
pub fn named(sql: &str) -> Result<BTreeSet<String>, QueryError> {
    Ok(Statement::parse(sql)?.names)
}

impl Database {
    /// Nothing but these views, in this order.
    pub fn new(views: Vec<View>) -> Self {
        Self { tables: BTreeMap::new(), views }
    }

    /// Takes a table in, under its own name.
    pub fn add(&mut self, table: Table) {
        self.tables.insert(table.name.clone(), table);
    }

    /// Its tables, in order of name.
    pub fn tables(&self) -> impl Iterator<Item = &Table> {
        self.tables.values()
    }

    /// The table that a name stands for, through views.
    ///
    /// # Errors
    /// A view that is not a selection from one table or view above it.
    pub fn table_of(&self, name: &str) -> Result<String, QueryError> {
        let Some(place) = self.views.iter().position(|view| view.name == name) else {
            return Ok(name.to_owned());
        };
        let of = named(&self.views[place].query)?;
        let mut of = of.iter();
        match (of.next(), of.next()) {
            (Some(one), None) if !self.views[place..].iter().any(|view| view.name == *one) => {
                self.table_of(one)
            }
            _ => {
                let message = "a view selects from one table, or from one view above it";
                Err(QueryError(format!("{VIEWS}: {name}: {message}")))
            }
        }
    }

    /// Every file that the rows of an answer come from, in order of path.
    pub fn sources(&self, read: &[RowsRead]) -> BTreeSet<SourceFile> {
        let rows = |read: &RowsRead| {
            let table = &self.tables[&read.table];
            let rows: Vec<_> = read.rows.iter().filter_map(|row| table.rows.get(*row)).collect();
            rows.into_iter().flat_map(|row| row.sources.iter().cloned())
        };
        read.iter().flat_map(rows).collect()
    }

    /// Answers one `select`.
    ///
    /// # Errors
    /// It is none, names what there is not, or cannot be computed.
    pub fn answer(&self, sql: &str) -> Result<Answer, QueryError> {
        let statement = Statement::parse(sql)?;
        self.knows(&statement)?;
        self.frames([&statement])?.ask(|session| session.answer(&statement))?
    }
}

/// What tables there are, or what columns one of them has: for people who look.
pub mod listing {
    use super::{Cell, Column, Database, Heading, Table, View};
    use crate::table::Col;

    /// Each table and view: its rows, and what they are.
    pub fn tables(database: &Database) -> Table {
        let columns: &[Col<(String, String, Option<u64>)>] = &[
            Heading("table", "", "Its name in a statement").key(|of| Cell::text(&of.0)),
            Heading("rows", "rows", "How many it has; none for a view")
                .new(|of| of.2.map_or(Cell::Empty, Cell::Count)),
            Heading("holds", "", "What its rows are").new(|of| Cell::text(&of.1)),
        ];
        let of_table = |table: &Table| {
            (table.name.clone(), table.title.clone(), Some(table.rows.len() as u64))
        };
        let of_view = |view: &View| (view.name.clone(), format!("view: {}", view.says), None);
        let rows = database.tables().map(of_table).chain(database.views.iter().map(of_view));
        let title = "Tables and views that a statement may name";
        let rows: Vec<_> = rows.collect();
        Table::of("tables", title, columns, rows, |of| (of.0.clone(), Vec::new()))
    }

    /// Each column of a table: its unit, and what its values are.
    pub fn columns(table: &Table) -> Table {
        let columns: &[Col<Column>] = &[
            Heading("column", "", "Its name in a statement").key(|of| Cell::text(&*of.name)),
            Heading("unit", "", "Its unit; none for words and ratios")
                .new(|of| if of.unit.is_empty() { Cell::Empty } else { Cell::text(&*of.unit) }),
            Heading("meaning", "", "What its values are").new(|of| Cell::text(&*of.meaning)),
        ];
        let title = format!("Columns of {}: {}", table.name, table.title);
        let rows = super::frame::columns_of(table);
        Table::of("columns", title, columns, rows, |of| (of.name.to_string(), Vec::new()))
    }
}

#[cfg(test)]
mod tests;
