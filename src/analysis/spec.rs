//! What a file in `analysis/` says: which runs, judged by what, give which outputs.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use crate::law::trap_check::Calibration;
use crate::name::PlainName;
use crate::run::Source;
use crate::setup::ConfigError;
use crate::setup::yaml::check_name;

use super::batches::globs;

/// An analysis as `analysis/<name>.yaml` states it. Paths are relative to the
/// project's folder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
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

/// Published values of the simulator that an analysis computes again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FidelitySpec {
    /// The file that lists them with the runs they need.
    pub file: PathBuf,
    /// The rows.
    pub rows: Vec<String>,
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
    /// Every published model value beside ours.
    ModelValues,
    /// How many of them match, by what they rest on.
    ModelValuesSummary,
    /// Model F at the rates of Table 3.
    ModelTraps,
    /// Model F at the rates of the runs stuck from empty.
    ModelFromEmpty,
    /// Corollary 3.
    ModelCuts,
    /// MIRROR at its nominal rates.
    ModelMirror,
    /// Peak ratios and from-empty edges (Table 13).
    ModelWindows,
    /// 0.5-hit crossings and onsets (Table 20).
    ModelCrossings,
    /// What the paper says of its models in passing.
    ModelExtras,
    /// The simulator's predictions of an engine's runs.
    SimAgainstEngine,
    /// The paired test's arms as ranges over seeds (Table 7).
    PairedRanges,
    /// How many runs of each arm are in which state, and the sign test over seeds.
    ArmCounts,
    /// Runs around the burst: hits before it, backlog after it, the last hit, the drain.
    Burst,
    /// Open runs by bins of 100 s: lowest hits, collapse, burst and queue.
    Bins,
    /// The sessions that arrived with the burst and after it (App. E.7).
    Cohort,
    /// The first alarms of the detector on hits (App. E.5).
    Detector,
    /// What clients paid.
    ClientCost,
    /// Gap, turnover time and their ratio (Table 10).
    LoopVariables,
    /// The trap check summed up per cell and over all (App. B).
    TrapSummary,
    /// All-miss rates per cell, from its cache-off runs.
    CellCalibration,
    /// Peak and half-hit crossing of each cell's closed curve (Tables 13 and 20).
    Crossings,
    /// The edge of stability from empty, per cell (Table 13).
    Edges,
    /// How every registered test comes out over these runs.
    Verdicts,
    /// The label of each run under each registered test.
    Labels,
    /// What each label was decided by, clause by clause.
    Clauses,
    /// The rescue runs with their controls (Tables 8 and 9).
    Rescue,
    /// The runs whose arrivals were cut, against model F (App. C).
    Cut,
    /// The runs of the step-capped workload, against model F (App. C).
    Mirror,
    /// Goodput lost against NOBURST (App. D).
    Goodput,
    /// How long each trap lasted (App. D).
    Persistence,
    /// The simulator against its published values.
    Fidelity,
    /// Every value of every registration, defaults included.
    RuleValues,
    /// The plug-in of the realized arrivals against the slope rule (App. B).
    PlugIn,
    /// Whether each run's trigger had left (App. D).
    Trigger,
    /// How the runs of each dose ended (App. E.6).
    Doses,
    /// Pre-set scores of the trap law on the blind tests (App. C).
    TrapScores,
    /// Sojourns against arrivals in the trap (App. B).
    SelfSimilarity,
    /// Exact intervals from few runs (App. D, E.6).
    Binomial,
    /// Half-hit crossings against the pool (App. F).
    CrossingFit,
    /// Single-phase estimates of a rescue's release (App. F).
    ReleaseEstimates,
    /// Token rates of trapped runs against the round-robin layer (App. E.9).
    TokenRates,
}

impl fmt::Display for TableKind {
    /// The name of the table that it is.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ModelTraps => f.write_str("model_table_3"),
            Self::ModelCuts => f.write_str("model_corollary_3"),
            // Called as in the analysis.
            other => other.serialize(f),
        }
    }
}

/// A figure to draw.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FigureSpec {
    /// File stem of the figure.
    pub name: PlainName,
    /// Title, for the files' own description.
    pub title: String,
    /// Where the runs have to come from, if that matters; what is printed is read from the runs.
    #[serde(default, deserialize_with = "required_source")]
    pub source: Option<Source>,
    /// What is drawn.
    pub draw: Draw,
}

fn required_source<'de, D: Deserializer<'de>>(typed: D) -> Result<Option<Source>, D::Error> {
    let typed = String::deserialize(typed)?;
    let known = [Source::Engine, Source::Simulator].into_iter().find(|s| s.word() == typed);
    known.map(Some).ok_or_else(|| {
        D::Error::custom(format!(
            "expected engine or simulator, what its runs have to be, found \"{typed}\"; what the \
             figure prints of them is read from the runs"
        ))
    })
}

/// What a figure shows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Draw {
    /// Hit fraction and sessions in the system of the paired test's arms (Fig. 1).
    Stampede {
        /// Only runs of this cell.
        #[serde(default)]
        cell: Option<String>,
        /// A column per rate, multiples of lambda_ref.
        rates: Vec<f64>,
    },
    /// Completions and backlog of the step-capped workload (Fig. 4).
    Mirror {
        /// The step-capped cell.
        cell: String,
        /// The standard cell.
        standard: String,
        /// The rate, a multiple of lambda_ref.
        rate: f64,
    },
    /// Stability of runs from an empty engine (Fig. 6).
    FromEmpty {
        /// A panel per cell.
        cells: Vec<String>,
    },
    /// One engine left alone and one rescued, under one plan (page Fig. 11).
    TwoEngines {
        /// The cell.
        cell: String,
        /// The rate, a multiple of lambda_ref.
        rate: f64,
        /// The seed.
        seed: u64,
    },
    /// Trap, rescue and release beside the same seed's controls (Fig. 3).
    Rescue {
        /// A column each.
        columns: Vec<RescueSpec>,
    },
    /// The closed-population curve of each cell (Fig. 5).
    ClosedCurve {
        /// A column each.
        cells: Vec<String>,
    },
    /// Theorem 1 against the stuck runs of some cells (Fig. 2).
    Theorem {
        /// Cells whose stuck runs and model lines are drawn.
        cells: Vec<String>,
        /// The loads the lines span, rho.
        rho: (f64, f64),
        /// Whose lambda_miss the runs are divided by.
        #[serde(default)]
        calibration: Calibration,
        /// How many stuck runs the published figure has: what lacks here is named.
        #[serde(default)]
        published: Option<StuckCounts>,
    },
    /// A workload of sessions in the simulator beside the theory: stuck runs against model F, closed
    /// populations against the entry model (like Figs. 2 and 5).
    SessionLaw {
        /// The cell, whose workload consists of sessions.
        cell: String,
        /// The loads that model F's line spans, rho.
        rho: (f64, f64),
    },
    /// Good against trapped time scales (page Fig. 3).
    TimeScales {},
    /// The turn mix of a trap and the premium over the load (page Figs. 4 and 5).
    TiltedMix {
        /// The cell.
        cell: String,
        /// The rate, a multiple of lambda_ref.
        rate: f64,
    },
    /// Predicted closed-population curves, beside closed runs where there are any (Fig. 8).
    PredictedCurve {
        /// A panel per cell.
        cells: Vec<String>,
    },
    /// A trap whose arrivals are cut (Corollary 3).
    Cuts {
        /// The cell.
        cell: String,
        /// The rate before the cut, a multiple of lambda_ref.
        rate: f64,
        /// When arrivals are cut, s.
        at_s: f64,
        /// How far the backlog is followed, s.
        until_s: f64,
        /// What they are cut to, multiples of lambda_miss.
        to: Vec<f64>,
    },
}

/// Counts of stuck runs, by how they came into the trap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StuckCounts {
    /// After a trigger on a running engine.
    pub triggered: usize,
    /// From an empty engine.
    pub from_empty: usize,
}

/// A column of the rescue figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RescueSpec {
    /// The cell.
    pub cell: String,
    /// The rate, a multiple of lambda_ref.
    pub rate: f64,
    /// The seed shown.
    pub seed: u64,
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
