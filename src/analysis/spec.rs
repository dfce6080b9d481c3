//! What a file in `analysis/` says: which runs, judged by what, give which outputs.

use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use serde::{Deserialize, Serialize};

use crate::setup::yaml::{self, ConfigError};

/// An analysis as `analysis/<name>.yaml` states it. Paths are relative to the
/// project's folder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Analysis {
    /// Its name; equals the file's stem and starts the name of each output.
    pub name: String,
    /// What it shows.
    pub title: String,
    /// The registration that judges its runs, pinned by hash.
    #[serde(default)]
    pub registration: Option<PinnedFile>,
    /// Run directories, as globs; `*` stays within one folder.
    pub runs: Vec<String>,
    /// The tables to derive.
    #[serde(default)]
    pub tables: Vec<TableKind>,
    /// The figures to draw.
    #[serde(default)]
    pub figures: Vec<FigureSpec>,
}

/// A file that must not have changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PinnedFile {
    /// Its path.
    pub file: PathBuf,
    /// SHA-256 of its bytes.
    pub sha256: String,
}

/// The tables an analysis can derive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TableKind {
    /// Measurements and state per run.
    Runs,
    /// The paired test.
    Paired,
    /// Stuck runs against model F.
    TrapCheck,
    /// Cache-off runs.
    Calibration,
    /// The closed-population curve.
    ClosedCurve,
    /// Runs from an empty engine.
    FromEmpty,
    /// The paired test's arms as ranges over seeds (Table 7).
    PairedRanges,
    /// How many runs of each arm are in which state, and the sign test over seeds.
    ArmCounts,
    /// Runs around the burst: hits before it, backlog after it, the last hit, the drain.
    Burst,
    /// What clients paid.
    ClientCost,
    /// Gap, turnover time and their ratio (Table 10).
    LoopVariables,
}

/// A figure to draw.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum FigureSpec {
    /// Hit fraction and sessions in the system of the paired test's arms (Fig. 1).
    Stampede {
        /// File stem of the figure.
        name: String,
        /// Title, for the file's own description.
        title: String,
        /// The rates shown, multiples of lambda_ref, a column each.
        rates: Vec<f64>,
        /// What the runs are, printed in the figure.
        source: String,
    },
}

impl FigureSpec {
    /// File stem of the figure.
    pub fn name(&self) -> &str {
        match self {
            Self::Stampede { name, .. } => name,
        }
    }
}

impl Analysis {
    /// Reads and checks an analysis.
    ///
    /// # Errors
    /// As [`yaml::load`], a name that is not the file's stem, or a glob that is none.
    pub fn load(path: &Path) -> Result<Self, ConfigError> {
        let analysis: Self = yaml::load(path)?;
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        if analysis.name != stem {
            let message =
                format!("name: expected {stem}, the file's stem, found {}", analysis.name);
            return Err(ConfigError::new(path, message));
        }
        for glob in &analysis.runs {
            matcher(std::slice::from_ref(glob))
                .map_err(|e| ConfigError::new(path, format!("runs: {e}")))?;
        }
        Ok(analysis)
    }

    /// Of the given run directories those it names, in the given order; and the
    /// globs that name none.
    pub fn select<'a>(&self, dirs: &'a [PathBuf]) -> (Vec<&'a PathBuf>, Vec<&str>) {
        let matches =
            |globs: &[String], dir: &Path| matcher(globs).is_ok_and(|set| set.is_match(dir));
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

fn matcher(globs: &[String]) -> Result<GlobSet, globset::Error> {
    let mut set = GlobSetBuilder::new();
    for glob in globs {
        set.add(GlobBuilder::new(glob).literal_separator(true).build()?);
    }
    set.build()
}
