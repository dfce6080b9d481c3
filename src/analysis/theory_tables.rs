//! The theory's tables as part of an analysis: published values are read only to
//! stand beside ours, and every row is tied to the cells it was computed from.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::path::Path;

use crate::model::Theory;
use crate::published;
use crate::run::SourceFile;
use crate::setup::Configs;
use crate::setup::yaml::ConfigError;
use crate::table::model_extras;
use crate::table::model_values::{self, AnsweredValue, Printed};
use crate::table::theory::{Prediction, predict};
use crate::table::{Row, Table};

use super::error::AnalysisError;
use crate::configs::hashed;

/// Where the published values lie.
pub const PUBLISHED: &str = "paper/published";

/// Makes the theory's tables; what several of them need is computed once.
pub(crate) struct TheoryTables<'a> {
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
    pub fn values(&self) -> Result<Table, AnalysisError> {
        let ready = self.ready()?;
        Ok(ready.with_sources(model_values::table(&ready.compared)))
    }

    /// How many of them match, by what they rest on.
    ///
    /// # Errors
    /// As [`Self::values`].
    pub fn summary(&self) -> Result<Table, AnalysisError> {
        let ready = self.ready()?;
        Ok(ready.with_sources(model_values::summary(&ready.compared)))
    }

    /// One of the theory's own tables.
    ///
    /// # Errors
    /// As [`Self::values`], or a model without an answer.
    pub fn predicted(&self, which: Prediction) -> Result<Table, AnalysisError> {
        let ready = self.ready()?;
        Ok(ready.with_sources(predict(which, self.theories()?, &ready.printed)?))
    }

    /// What is said of the models in passing.
    ///
    /// # Errors
    /// As [`Self::values`], or a model without an answer.
    pub(crate) fn extras(&self) -> Result<Table, AnalysisError> {
        Ok(self.ready()?.with_sources(model_extras::table(self.theories()?)?))
    }

    /// Every cell's models.
    ///
    /// # Errors
    /// A cell that cannot be solved.
    pub fn theories(&self) -> Result<&BTreeMap<String, Theory>, AnalysisError> {
        if let Some(theories) = self.theories.get() {
            return Ok(theories);
        }
        let theories = model_values::solve(self.configs)?;
        Ok(self.theories.get_or_init(|| theories))
    }

    fn ready(&self) -> Result<&Ready, AnalysisError> {
        if let Some(ready) = self.ready.get() {
            return Ok(ready);
        }
        let ready = Ready::read(self.theories()?)?;
        Ok(self.ready.get_or_init(|| ready))
    }
}

impl Ready {
    fn read(theories: &BTreeMap<String, Theory>) -> Result<Self, AnalysisError> {
        let dir = Path::new(PUBLISHED);
        let read = |name: &str| -> Result<(String, SourceFile), AnalysisError> {
            let path = dir.join(name);
            let source = hashed(&path)?;
            let text = crate::reading::text(&path)
                .map_err(|e| ConfigError::new(&path, format!("cannot read: {e}")))?;
            Ok((text, source))
        };
        let (cells, cells_source) = read("cells.yaml")?;
        let (tables, tables_source) = read("tables.yaml")?;
        let numbers = dir.join("numbers.yaml");
        let printed = Printed::parse(&cells, &tables)?;
        let compared =
            model_values::compare(&published::model_values(&numbers)?, theories, &printed);
        let mut sources = vec![cells_source, tables_source, hashed(&numbers)?];
        for theory in theories.values() {
            let file = |kind: &str, name: &str| format!("configs/{kind}/{name}.yaml");
            sources.push(hashed(Path::new(&file("cells", &theory.cell.name)))?);
            sources.push(hashed(Path::new(&file("workloads", &theory.cell.workload)))?);
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
