//! The theory's tables as part of an analysis: published values are read only to
//! stand beside ours, and every row is tied to the cells it was computed from.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::model::Theory;
use crate::run::SourceFile;
use crate::setup::Configs;
use crate::setup::yaml::ConfigError;
use crate::table::model_extras;
use crate::table::model_values::{self, AnsweredValue, Printed};
use crate::table::theory::{Prediction, PredictionError, predict};
use crate::table::{Row, Table};

use crate::configs::hashed;

/// Where the published values lie.
pub const PUBLISHED: &str = "paper/published";

/// Why a table of the theory could not be made.
#[derive(Debug, thiserror::Error)]
pub enum TheoryTableError {
    /// A file cannot be read.
    #[error(transparent)]
    File(#[from] ConfigError),
    /// A published file is not what it should be.
    #[error("{}: {message}", path.display())]
    Published {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        message: String,
    },
    /// The models have no answer.
    #[error(transparent)]
    Prediction(#[from] PredictionError),
    /// A cell cannot be solved.
    #[error("{0}")]
    Unsolved(String),
}

/// Makes the theory's tables; what several of them need is computed once.
pub struct TheoryTables<'a> {
    configs: &'a Configs,
    theories: OnceCell<BTreeMap<String, Theory>>,
    ready: OnceCell<Ready>,
}

struct Ready {
    printed: Printed,
    compared: Vec<AnsweredValue>,
    sources: Vec<SourceFile>,
}

impl<'a> TheoryTables<'a> {
    /// For a configuration; nothing is computed yet.
    pub fn new(configs: &'a Configs) -> Self {
        Self { configs, theories: OnceCell::new(), ready: OnceCell::new() }
    }

    /// Every published model value beside ours.
    ///
    /// # Errors
    /// A published file or a cell that cannot be used.
    pub fn values(&self) -> Result<Table, TheoryTableError> {
        let ready = self.ready()?;
        Ok(ready.with_sources(model_values::table(&ready.compared)))
    }

    /// How many of them match, by what they rest on.
    ///
    /// # Errors
    /// As [`Self::values`].
    pub fn summary(&self) -> Result<Table, TheoryTableError> {
        let ready = self.ready()?;
        Ok(ready.with_sources(model_values::summary(&ready.compared)))
    }

    /// One of the theory's own tables.
    ///
    /// # Errors
    /// As [`Self::values`], or a model without an answer.
    pub fn predicted(&self, which: Prediction) -> Result<Table, TheoryTableError> {
        let ready = self.ready()?;
        Ok(ready.with_sources(predict(which, self.theories()?, &ready.printed)?))
    }

    /// What is said of the models in passing.
    ///
    /// # Errors
    /// As [`Self::values`], or a model without an answer.
    pub fn extras(&self) -> Result<Table, TheoryTableError> {
        Ok(self.ready()?.with_sources(model_extras::table(self.theories()?)?))
    }

    /// Every cell's models.
    ///
    /// # Errors
    /// A cell that cannot be solved.
    pub fn theories(&self) -> Result<&BTreeMap<String, Theory>, TheoryTableError> {
        if let Some(theories) = self.theories.get() {
            return Ok(theories);
        }
        let theories = model_values::solve(self.configs)
            .map_err(|e| TheoryTableError::Unsolved(e.to_string()))?;
        Ok(self.theories.get_or_init(|| theories))
    }

    fn ready(&self) -> Result<&Ready, TheoryTableError> {
        if let Some(ready) = self.ready.get() {
            return Ok(ready);
        }
        let ready = Ready::read(self.theories()?)?;
        Ok(self.ready.get_or_init(|| ready))
    }
}

impl Ready {
    fn read(theories: &BTreeMap<String, Theory>) -> Result<Self, TheoryTableError> {
        let dir = Path::new(PUBLISHED);
        let read = |name: &str| -> Result<(String, SourceFile), TheoryTableError> {
            let path = dir.join(name);
            let source = hashed(&path)?;
            let text = crate::reading::text(&path)
                .map_err(|e| ConfigError::new(&path, format!("cannot read: {e}")))?;
            Ok((text, source))
        };
        let wrong = |name: &str, message: String| TheoryTableError::Published {
            path: dir.join(name),
            message,
        };
        let (cells, cells_source) = read("cells.yaml")?;
        let (tables, tables_source) = read("tables.yaml")?;
        let (values, values_source) = read("model_values.json")?;
        let printed = Printed::parse(&cells, &tables).map_err(|e| wrong("", e.to_string()))?;
        let published =
            model_values::parse(&values).map_err(|e| wrong("model_values.json", e.to_string()))?;
        let compared = model_values::compare(&published, theories, &printed);
        let mut sources = vec![cells_source, tables_source, values_source];
        for theory in theories.values() {
            let file = |kind: &str, name: &str| format!("configs/{kind}/{name}.yaml");
            sources.push(hashed(Path::new(&file("cells", &theory.cell.name)))?);
            sources.push(hashed(Path::new(&file("workloads", &theory.workload.name)))?);
        }
        sources.sort();
        sources.dedup();
        Ok(Self { printed, compared, sources })
    }

    fn with_sources(&self, table: Table) -> Table {
        let rows = table.rows.into_iter().map(|row| Row { sources: self.sources.clone(), ..row });
        Table { rows: rows.collect(), ..table }
    }
}
