//! What a file in `analysis/` says: which runs, judged by what, give which outputs.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::setup::ConfigError;
use crate::setup::yaml::check_name;

use super::batches::globs;
pub use super::draw::spec::{Draw, FigureSpec, RescueSpec, StuckCounts};
pub use super::fidelity_table::FidelitySpec;
pub use super::tables::TableKind;

/// An analysis as `analysis/<name>.yaml` states it. Paths are relative to the
/// project's folder.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Analysis {
    /// Its name; equals the file's stem and starts the name of each table.
    pub name: String,
    /// What it shows.
    pub title: String,
    /// What its tables' file names start with, instead of its name and `_`.
    #[serde(default)]
    pub prefix: Option<String>,
    /// The registration that judges its runs, pinned by hash.
    #[serde(default)]
    pub registration: Option<PinnedFile>,
    /// The file that names the cells and registrations it reads; all there are, without one.
    #[serde(default)]
    pub reads: Option<PathBuf>,
    /// Run directories, as globs; `*` stays within one folder. None for the theory's
    /// own tables.
    #[serde(default)]
    pub runs: Vec<String>,
    /// Batches of runs, by name, each from wherever it is (`configs/batches.yaml`).
    #[serde(default)]
    pub batches: Vec<String>,
    /// A campaign whose runs are all simulated when the analysis is made, beside those read.
    #[serde(default)]
    pub simulate: Option<PathBuf>,
    /// Published values of the simulator, and which of them are computed again.
    #[serde(default)]
    pub fidelity: Option<FidelitySpec>,
    /// The tables to derive.
    #[serde(default)]
    pub tables: Vec<TableKind>,
    /// The figures to draw.
    #[serde(default)]
    pub figures: Vec<FigureSpec>,
}

/// A file that must not have changed.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PinnedFile {
    /// Its path.
    pub file: PathBuf,
    /// SHA-256 of its bytes.
    pub sha256: String,
}

impl Analysis {
    /// Reads and checks an analysis.
    ///
    /// # Errors
    /// As [`crate::configs::yaml`], a name that is not the file's stem, or a glob that is none.
    pub fn load(path: &Path) -> Result<Self, ConfigError> {
        let analysis: Self = crate::configs::yaml(path)?;
        check_name(path, &analysis.name)?;
        for glob in &analysis.runs {
            globs(std::slice::from_ref(glob))
                .map_err(|e| ConfigError::new(path, format!("runs: {e}")))?;
        }
        Ok(analysis)
    }

    /// The file stem of one of its tables.
    pub fn table_stem(&self, table: TableKind) -> String {
        match &self.prefix {
            Some(prefix) => format!("{prefix}{table}"),
            None => format!("{}_{table}", self.name),
        }
    }

    /// Of the given run directories those it names, in the given order; and the
    /// globs that name none.
    pub fn select<'a>(&self, dirs: &'a [PathBuf]) -> (Vec<&'a PathBuf>, Vec<&str>) {
        let matches = |of: &[String], dir: &Path| globs(of).is_ok_and(|set| set.is_match(dir));
        let selected = dirs.iter().filter(|dir| matches(&self.runs, dir)).collect();
        let idle = self
            .runs
            .iter()
            .filter(|glob| !dirs.iter().any(|dir| matches(std::slice::from_ref(*glob), dir)))
            .map(String::as_str)
            .collect();
        (selected, idle)
    }
}
