//! The simulator's published values as a table of an analysis: those that it names, over runs
//! of their own, tied to the files that they were computed from.

use std::path::PathBuf;

use serde::Deserialize;

use super::error::AnalysisError;
use crate::configs::hashed;
use crate::fidelity::{load, report};
use crate::setup::Configs;
use crate::setup::yaml::ConfigError;
use crate::table::{self, Table};

/// Published values of the simulator that an analysis computes again.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FidelitySpec {
    /// The file that lists them with the runs they need.
    pub file: PathBuf,
    /// The rows.
    pub rows: Vec<String>,
}

impl FidelitySpec {
    /// Them beside ours.
    ///
    /// # Errors
    /// A file or a row that is not there; a run that cannot be simulated.
    pub fn table(&self, configs: &Configs) -> Result<Table, AnalysisError> {
        let wanted = load(&self.file)?
            .only(&self.rows)
            .map_err(|message| ConfigError::new(&self.file, message))?;
        let rows = report(&wanted, configs, &|| ())?;
        let mut files = vec![self.file.clone()];
        for set in wanted.run_sets.values() {
            if let Some((cell, _, protocol)) = configs.of_cell(&set.cell) {
                let file =
                    |kind: &str, name: &str| PathBuf::from(format!("configs/{kind}/{name}.yaml"));
                files.push(file("cells", &cell.name));
                files.push(file("workloads", &cell.workload));
                files.push(file("protocols", &protocol.name));
            }
        }
        files.sort();
        files.dedup();
        let sources = files.iter().map(|path| hashed(path)).collect::<Result<Vec<_>, _>>()?;
        Ok(table::fidelity::table(&rows, &sources))
    }
}
