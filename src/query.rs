//! SQL over tables: the derived ones, configurations, published numbers, and a run's own.
//!
//! polars answers a statement; which rows of which tables the answer rests on is found by
//! asking each of its parts for the rows it takes. The same statement gives the same bytes:
//! where SQL leaves the order of rows open, they are sorted.

mod frame;
mod statement;
pub mod tables;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use polars::prelude::{DataFrame, IntoLazy, PolarsError};
use polars::sql::SQLContext;
use polars_core::ALLOW_RAYON_THREADS;
use serde::Deserialize;

use crate::hash::SourceFile;
use crate::nearest::unknown;
use crate::setup::ConfigError;
use crate::table::{Column, Heading, Table};
use statement::{Prepared, Statement};

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
pub struct Read {
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
    pub read: Vec<Read>,
}

/// Why a statement has no answer.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct QueryError(String);

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
    Ok(Statement::parse(sql).map_err(QueryError)?.names)
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
    pub fn sources(&self, read: &[Read]) -> BTreeSet<SourceFile> {
        let rows = |read: &Read| {
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
        let statement = Statement::parse(sql).map_err(QueryError)?;
        let known = || self.tables.keys().chain(self.views.iter().map(|view| &view.name));
        let stranger = statement.names.iter().find(|name| !known().any(|k| k == *name));
        if let Some(name) = stranger {
            let list = known().map(String::as_str);
            return Err(QueryError(unknown("table", name, "the tables and views", list)));
        }
        on_a_thread(|| {
            let frames = self.frames(&statement.names)?;
            let mut context = self.context(&frames)?;
            let mut ask = |sql: &str| -> Result<DataFrame, String> {
                let frame = context.execute(sql).and_then(|lazy| lazy.collect());
                frame.map_err(|error| self.explain(error, &statement.names).0)
            };
            let prepared = statement.prepare(|sql| frame::value(&ask(sql)?)).map_err(QueryError)?;
            let frame = ask(&prepared.sql).map_err(QueryError)?;
            Ok(Answer { table: frame::to_table(&frame), read: self.read(&prepared, frames)? })
        })
    }

    /// The tables that names stand for.
    fn frames(&self, names: &BTreeSet<String>) -> Result<BTreeMap<String, DataFrame>, QueryError> {
        let frame = |name: &String| {
            let name = self.table_of(name)?;
            let table = self.tables.get(&name).ok_or_else(|| {
                let known = self.tables.keys().map(String::as_str);
                QueryError(unknown("table", &name, "the tables", known))
            })?;
            let frame = frame::of_table(table)?;
            Ok((name, frame))
        };
        names.iter().map(frame).collect()
    }

    /// Tables and the views of them, ready for statements.
    fn context(&self, tables: &BTreeMap<String, DataFrame>) -> Result<SQLContext, QueryError> {
        let mut context = SQLContext::new();
        for (name, frame) in tables {
            context.register(name, frame.clone().lazy());
        }
        let is_on_the_way =
            |view: &&View| self.table_of(&view.name).is_ok_and(|table| tables.contains_key(&table));
        for view in self.views.iter().filter(is_on_the_way) {
            let frame = context.execute(&view.query).and_then(|lazy| lazy.collect());
            let frame = frame.map_err(|error| {
                let error = self.explain(error, &BTreeSet::from([view.name.clone()]));
                QueryError(format!("{VIEWS}: {}: {error}", view.name))
            })?;
            context.register(&view.name, frame.lazy());
        }
        Ok(context)
    }

    /// The rows that each part of a statement takes from its tables.
    fn read(
        &self,
        prepared: &Prepared,
        mut tables: BTreeMap<String, DataFrame>,
    ) -> Result<Vec<Read>, QueryError> {
        for frame in tables.values_mut() {
            *frame = frame::with_places(frame)?;
        }
        let mut context = self.context(&tables)?;
        let mut asked = |sql: &str| context.execute(sql).and_then(|lazy| lazy.collect()).ok();
        let mut rows: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
        for part in &prepared.parts {
            // A part that depends on what is around it is not to be asked alone: all rows.
            let taken =
                asked(&part.rows).or_else(|| asked(&format!("select {ROW} from {}", part.name)));
            let taken = taken.as_ref().map(frame::places).unwrap_or_default();
            rows.entry(self.table_of(&part.name)?).or_default().extend(taken);
        }
        let read = |(table, rows): (String, BTreeSet<usize>)| {
            let of = self.tables.get(&table).map_or(0, |table| table.rows.len());
            Read { table, rows, of }
        };
        Ok(rows.into_iter().map(read).collect())
    }

    /// An error in the user's words: a column that there is not, with the one that was meant.
    fn explain(&self, error: PolarsError, names: &BTreeSet<String>) -> QueryError {
        let text = error.to_string();
        let is_missing = matches!(error, PolarsError::ColumnNotFound(_))
            || text.contains("unable to find column")
            || text.contains("not found");
        let column = text.split('"').nth(1).or_else(|| text.split('\'').nth(1));
        let columns: BTreeSet<String> = names
            .iter()
            .filter_map(|name| self.tables.get(&self.table_of(name).ok()?))
            .flat_map(frame::names_of)
            .collect();
        match column {
            Some(column) if is_missing && !columns.contains(column) => {
                let place: Vec<&str> = names.iter().map(String::as_str).collect();
                let known = columns.iter().map(String::as_str);
                QueryError(unknown("column", column, &place.join(", "), known))
            }
            _ => error.into(),
        }
    }
}

/// polars panics on some statements, which must cost the answer only. And it adds up in one
/// piece per thread of its pool: here it is given none, so that sums are the same everywhere.
fn on_a_thread<T: Send>(
    work: impl FnOnce() -> Result<T, QueryError> + Send,
) -> Result<T, QueryError> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name(crate::directory::PARQUET_THREAD.into());
        let worker = thread
            .spawn_scoped(scope, || {
                ALLOW_RAYON_THREADS.set(false);
                work()
            })
            .map_err(|e| QueryError(format!("cannot start a thread: {e}")))?;
        let failed = |_| Err(QueryError("the SQL engine failed on this statement".into()));
        worker.join().unwrap_or_else(failed)
    })
}

/// What tables there are, or what columns one of them has: for people who look.
pub mod listing {
    use super::{Column, Database, Heading, Table, View};
    use crate::table::{Cell, Col};

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
