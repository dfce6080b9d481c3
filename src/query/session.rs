//! Statements over tables: frames and views are made once, for one statement or a thousand.

use std::borrow::Cow;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

use polars::prelude::{Column as PolarsColumn, DataFrame, IntoLazy, PolarsError, Series};
use polars::sql::SQLContext;
use polars_core::ALLOW_RAYON_THREADS;
use sqlparser::ast::Value;

use super::plan::collect;
use super::statement::{Part, Prepared, Statement};
use super::{Answer, Database, QueryError, ROW, Taken, VIEWS, frame, reads};
use crate::nearest::unknown;
use crate::table::Table;

/// Tables as frames.
#[derive(Debug, Clone)]
pub struct Frames<'a> {
    database: &'a Database,
    tables: BTreeMap<String, DataFrame>,
    /// Those that stand in place of others.
    replaced: BTreeSet<String>,
    /// What selects in place of a value give that name none of the replaced.
    values: Arc<Mutex<Values>>,
}

/// By the select, its value.
type Values = BTreeMap<String, Value>;

/// What can be asked of frames, on one thread.
pub struct Session<'a> {
    frames: &'a Frames<'a>,
    context: SQLContext,
    /// The same with the place of each row; made when it is asked for.
    with_places: Option<SQLContext>,
    /// What selects in place of a value gave, which name one of the replaced tables.
    values: Values,
}

impl Database {
    /// The tables that statements name, as frames.
    ///
    /// # Errors
    /// A table that there is not, or a view that is none.
    pub fn frames<'s>(
        &self,
        statements: impl IntoIterator<Item = &'s Statement>,
    ) -> Result<Frames<'_>, QueryError> {
        let names: BTreeSet<&String> = statements.into_iter().flat_map(|s| &s.names).collect();
        let mut tables = BTreeMap::new();
        for name in names {
            let of = self.table_of(name)?;
            let table = self.tables.get(&of).ok_or_else(|| self.no_table(name))?;
            if let Entry::Vacant(free) = tables.entry(of) {
                free.insert(frame::of_table(table)?);
            }
        }
        let (replaced, values) = (BTreeSet::new(), Arc::default());
        Ok(Frames { database: self, tables, replaced, values })
    }

    /// That there is no table or view of a name, with the one that was meant.
    pub(crate) fn no_table(&self, name: &str) -> QueryError {
        let known = self.tables.keys().chain(self.views.iter().map(|view| &view.name));
        QueryError(unknown("table", name, "the tables and views", known.map(String::as_str)))
    }

    /// Whether every name of a statement stands for a table.
    ///
    /// # Errors
    /// One that does not, with the one that was meant.
    pub fn knows(&self, statement: &Statement) -> Result<(), QueryError> {
        let is_known = |name: &&String| {
            self.table_of(name).is_ok_and(|table| self.tables.contains_key(&table))
        };
        let is_view = |name: &&String| self.views.iter().any(|view| view.name == **name);
        match statement.names.iter().find(|name| !is_known(name)) {
            Some(name) if is_view(&name) => {
                let table = self.table_of(name)?;
                Err(QueryError(format!("{VIEWS}: {name}: {}", self.no_table(&table))))
            }
            Some(name) => Err(self.no_table(name)),
            None => Ok(()),
        }
    }
}

impl Frames<'_> {
    /// The same frames with the rows of `tables` in place of those of their names. Columns
    /// stay as they were: one that these tables do not have, or have nothing in, is null.
    ///
    /// # Errors
    /// Two columns of one name.
    pub fn with(&self, tables: &[Table]) -> Result<Self, QueryError> {
        let mut frames = self.clone();
        for table in tables {
            if let Some(like) = self.tables.get(&table.name) {
                let frame = like_columns(&frame::of_table(table)?, like)?;
                frames.tables.insert(table.name.clone(), frame);
                frames.replaced.insert(table.name.clone());
            }
        }
        Ok(frames)
    }

    /// Asks on a thread of its own. polars adds up in one piece per thread of its pool: here
    /// it is given none, so that sums are the same everywhere.
    ///
    /// # Errors
    /// A view that cannot be made, or a thread that cannot be started.
    pub fn ask<T: Send>(
        &self,
        work: impl FnOnce(&mut Session<'_>) -> T + Send,
    ) -> Result<T, QueryError> {
        std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().name(crate::directory::PARQUET_THREAD.into());
            let worker = thread
                .spawn_scoped(scope, || {
                    ALLOW_RAYON_THREADS.set(false);
                    let context = self.context(&self.tables)?;
                    let (with_places, values) = (None, Values::new());
                    let mut session = Session { frames: self, context, with_places, values };
                    Ok::<T, QueryError>(work(&mut session))
                })
                .map_err(|e| QueryError(format!("cannot start a thread: {e}")))?;
            let failed = |_| Err(QueryError::failed());
            worker.join().unwrap_or_else(failed)
        })
    }

    /// Tables and the views of them, ready for statements.
    fn context(&self, tables: &BTreeMap<String, DataFrame>) -> Result<SQLContext, QueryError> {
        let mut context = SQLContext::new();
        for (name, frame) in tables {
            context.register(name, frame.clone().lazy());
        }
        let database = self.database;
        let is_of_these =
            |name: &str| database.table_of(name).is_ok_and(|table| tables.contains_key(&table));
        for view in database.views.iter().filter(|view| is_of_these(&view.name)) {
            let frame = context.execute(&view.query).and_then(collect);
            let frame = frame.map_err(|error| {
                let error = self.explain(error, &BTreeSet::from([view.name.clone()]));
                QueryError(format!("{VIEWS}: {}: {error}", view.name))
            })?;
            context.register(&view.name, frame.lazy());
        }
        Ok(context)
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
            .filter_map(|name| self.database.tables.get(&self.database.table_of(name).ok()?))
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

/// A frame with the columns of another one, and those of its own after them.
fn like_columns(frame: &DataFrame, like: &DataFrame) -> Result<DataFrame, QueryError> {
    let height = frame.height();
    let mut columns: Vec<PolarsColumn> = Vec::new();
    for column in like.columns() {
        let own = frame.columns().iter().find(|own| own.name() == column.name());
        let own = own.filter(|own| own.null_count() < height || own.dtype() == column.dtype());
        columns.push(match own {
            Some(own) => own.clone(),
            None => Series::full_null(column.name().clone(), height, column.dtype()).into(),
        });
    }
    let is_new = |own: &&PolarsColumn| like.columns().iter().all(|c| c.name() != own.name());
    columns.extend(frame.columns().iter().filter(is_new).cloned());
    Ok(DataFrame::new(height, columns)?)
}

impl Session<'_> {
    /// Answers a statement, and says which rows the answer rests on.
    ///
    /// # Errors
    /// It cannot be computed.
    pub fn answer(&mut self, statement: &Statement) -> Result<Answer, QueryError> {
        let prepared = self.prepare(statement)?;
        let frame = self.collect(&prepared.sql, &statement.names)?;
        let taken = self.taken(&prepared)?;
        Ok(Answer { table: frame::to_table(&frame), read: reads(&taken, |_, _| true), taken })
    }

    /// Answers a statement.
    ///
    /// # Errors
    /// It cannot be computed.
    pub fn rows(&mut self, statement: &Statement) -> Result<Table, QueryError> {
        let mut value = |sql: &str, of: &[Part]| self.value(sql, of, &statement.names);
        let sql = statement.sql(&mut value)?;
        Ok(frame::to_table(&self.collect(&sql, &statement.names)?))
    }

    fn prepare<'s>(&mut self, statement: &'s Statement) -> Result<Cow<'s, Prepared>, QueryError> {
        if let Some(fixed) = &statement.fixed {
            return Ok(Cow::Borrowed(fixed));
        }
        let mut value = |sql: &str, of: &[Part]| self.value(sql, of, &statement.names);
        statement.prepare(&mut value).map(Cow::Owned)
    }

    /// The value that a select gives; each is asked once, and of tables that are not replaced
    /// once for all that stand in place of others.
    fn value(
        &mut self,
        sql: &str,
        of: &[Part],
        names: &BTreeSet<String>,
    ) -> Result<Value, QueryError> {
        let frames = self.frames;
        let is_kept = |name: &String| {
            frames.database.table_of(name).is_ok_and(|table| {
                // What the statement defines itself is not among its names.
                names.contains(name) && !frames.replaced.contains(&table)
            })
        };
        let is_for_all = of.iter().all(|part| is_kept(&part.name));
        let kept = match is_for_all {
            true => frames.values.lock().ok().and_then(|values| values.get(sql).cloned()),
            false => self.values.get(sql).cloned(),
        };
        if let Some(value) = kept {
            return Ok(value);
        }
        let frame = self.collect(sql, names)?;
        let value = frame::value(&frame)?;
        if !is_for_all {
            self.values.insert(sql.to_owned(), value.clone());
        } else if let Ok(mut values) = frames.values.lock() {
            values.insert(sql.to_owned(), value.clone());
        }
        Ok(value)
    }

    /// polars panics on some statements, which must cost their answer only.
    fn collect(&mut self, sql: &str, names: &BTreeSet<String>) -> Result<DataFrame, QueryError> {
        let context = &mut self.context;
        let ask = || context.execute(sql).and_then(collect);
        match catch_unwind(AssertUnwindSafe(ask)) {
            Ok(frame) => frame.map_err(|error| self.frames.explain(error, names)),
            Err(_) => {
                self.context = self.frames.context(&self.frames.tables)?;
                Err(QueryError::failed())
            }
        }
    }

    /// The rows that each part of a statement takes from its tables.
    fn taken(&mut self, prepared: &Prepared) -> Result<Vec<Taken>, QueryError> {
        let frames = self.frames;
        let context = match &mut self.with_places {
            Some(context) => context,
            none => {
                let mut tables = frames.tables.clone();
                for frame in tables.values_mut() {
                    *frame = frame::with_places(frame)?;
                }
                none.insert(frames.context(&tables)?)
            }
        };
        let mut asked = |sql: &str| {
            let ask = || context.execute(sql).and_then(collect).ok();
            catch_unwind(AssertUnwindSafe(ask)).ok().flatten()
        };
        let mut taken = Vec::new();
        for part in &prepared.parts {
            let table = frames.database.table_of(&part.name)?;
            let of = frames.database.tables.get(&table).map_or(0, |table| table.rows.len());
            // A part that depends on what is around it is not to be asked alone: all rows.
            let (rows, tells) = match asked(&part.rows) {
                Some(rows) => (Some(rows), part.tells.clone()),
                None => (asked(&format!("select {ROW} from {}", part.name)), Vec::new()),
            };
            let rows = rows.as_ref().map(frame::places).unwrap_or_default();
            taken.push(Taken { table, of, tells, rows });
        }
        Ok(taken)
    }
}
