//! Making an analysis' tables and figures, in memory.

use std::path::{Path, PathBuf};

use crate::figure::output::render;
use crate::figure::{Figure, FigureError};
use crate::hash::sha256_hex;
use crate::run::{Problem, SourceFile, find_runs_by};
use crate::setup::configs::yaml_files;
use crate::setup::yaml::ConfigError;
use crate::setup::{Configs, RegistrationFile};
use crate::table::theory::Prediction;
use crate::table::{self, Table};

use super::draw;
use super::replay::replay_runs;
use super::score::{ScoreOptions, Scoring, score};
use super::simulated::{SimulatedError, simulated_runs};
use super::spec::{Analysis, FigureSpec, TableKind};
use super::theory_tables::{TheoryTableError, TheoryTables};

/// Folders of a project, relative to it.
pub const RESULTS: &str = "results";
/// Where analyses are declared.
pub const ANALYSES: &str = "analysis";
/// Where derived tables go.
pub const DERIVED: &str = "paper/derived";
/// Where figures go.
pub const FIGURES: &str = "figures";

/// An analysis that cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum AnalysisError {
    /// A configuration file cannot be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The pinned registration is another file now.
    #[error("{}: its SHA-256 is {found}, analysis {analysis} pins {expected}: the registration changed after it was bound", path.display())]
    Unbound {
        /// The analysis.
        analysis: String,
        /// The registration.
        path: PathBuf,
        /// What its bytes hash to.
        found: String,
        /// What the analysis pins.
        expected: String,
    },
    /// Runs could not be simulated.
    #[error(transparent)]
    Simulated(#[from] SimulatedError),
    /// A table of the theory could not be made.
    #[error(transparent)]
    Theory(#[from] TheoryTableError),
    /// A figure has no input.
    #[error("figure {name}: {error}")]
    NoFigure {
        /// The figure.
        name: String,
        /// What it lacks.
        error: draw::DrawError,
    },
    /// A figure could not be drawn.
    #[error("figure {name}: {error}")]
    Figure {
        /// The figure.
        name: String,
        /// What went wrong.
        error: FigureError,
    },
}

/// An analysis with its inputs read and judged.
#[derive(Debug, Clone)]
pub struct Evaluated {
    /// What was asked for.
    pub analysis: Analysis,
    /// The file that asked.
    pub spec: SourceFile,
    /// The registration that judged, if any.
    pub registration: Option<RegistrationFile>,
    /// Its runs.
    pub scoring: Scoring,
    /// Configuration files its results depend on.
    pub configs: Vec<SourceFile>,
    /// Globs that name no run.
    pub idle_globs: Vec<String>,
}

/// A file to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputFile {
    /// Where, relative to the project's folder.
    pub path: PathBuf,
    /// What.
    pub bytes: Vec<u8>,
}

/// A figure's files and where its data come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FigureFiles {
    /// Its file stem.
    pub name: String,
    /// svg, pdf, png and csv.
    pub files: Vec<OutputFile>,
    /// The files its data were read from.
    pub sources: Vec<SourceFile>,
}

/// What there is to analyse in a project.
#[derive(Debug)]
pub struct Project {
    /// Its configuration.
    pub configs: Configs,
    /// Its analyses with their files, in order of name.
    pub analyses: Vec<(PathBuf, Analysis)>,
    /// Run directories under `results/`.
    pub runs: Vec<PathBuf>,
    /// What could not be looked at.
    pub problems: Vec<Problem>,
}

impl Project {
    /// Reads configuration and analyses and finds the runs.
    ///
    /// # Errors
    /// A configuration or analysis file that cannot be used.
    pub fn open(configs: &Path) -> Result<Self, ConfigError> {
        let configs = Configs::load(configs)?;
        let analyses = yaml_files(Path::new(ANALYSES))?
            .into_iter()
            .map(|path| Analysis::load(&path).map(|analysis| (path, analysis)))
            .collect::<Result<Vec<_>, _>>()?;
        let found = find_runs_by(&[RESULTS], &configs.layouts);
        Ok(Self { configs, analyses, runs: found.runs, problems: found.problems })
    }

    /// Reads and judges the runs of one analysis; `done` is called once per run.
    ///
    /// # Errors
    /// The pinned registration changed or cannot be used.
    pub fn evaluate(
        &self,
        path: &Path,
        analysis: &Analysis,
        done: impl Fn() + Sync,
    ) -> Result<Evaluated, AnalysisError> {
        let registration = analysis
            .registration
            .as_ref()
            .map(|pinned| {
                let file = RegistrationFile::load(&pinned.file)?;
                if file.sha256 == pinned.sha256 {
                    return Ok(file);
                }
                Err(AnalysisError::Unbound {
                    analysis: analysis.name.clone(),
                    path: file.path,
                    found: file.sha256,
                    expected: pinned.sha256.clone(),
                })
            })
            .transpose()?;
        let (selected, idle) = analysis.select(&self.runs);
        let dirs: Vec<PathBuf> = selected.into_iter().cloned().collect();
        let options =
            ScoreOptions { registration: registration.as_ref(), ..ScoreOptions::default() };
        let mut scoring = score(&dirs, &self.configs, &options, done);
        if let Some(campaign) = &analysis.simulate {
            scoring.runs.extend(simulated_runs(campaign, &self.configs)?);
        }
        Ok(Evaluated {
            spec: hashed(path)?,
            configs: self.configs_of(&scoring, registration.as_ref())?,
            idle_globs: idle.into_iter().map(str::to_owned).collect(),
            analysis: analysis.clone(),
            registration,
            scoring,
        })
    }

    /// The cells, workloads, protocols and the registration behind a scoring.
    fn configs_of(
        &self,
        scoring: &Scoring,
        registration: Option<&RegistrationFile>,
    ) -> Result<Vec<SourceFile>, ConfigError> {
        let dir = Path::new("configs");
        let file = |kind: &str, name: &str| dir.join(kind).join(format!("{name}.yaml"));
        let mut paths: Vec<PathBuf> = Vec::new();
        for run in &scoring.runs {
            if let Some((cell, workload, protocol)) = self.configs.of_cell(&run.meta.cell) {
                paths.push(file("cells", &cell.name));
                paths.push(file("workloads", &workload.name));
                paths.push(file("protocols", &protocol.name));
            }
        }
        paths.extend(registration.map(|r| r.path.clone()));
        paths.sort();
        paths.dedup();
        paths.iter().map(|path| hashed(path)).collect()
    }
}

/// A file with its hash.
///
/// # Errors
/// It cannot be read.
pub fn hashed(path: &Path) -> Result<SourceFile, ConfigError> {
    let bytes =
        std::fs::read(path).map_err(|e| ConfigError::new(path, format!("cannot read: {e}")))?;
    Ok(SourceFile { path: path.into(), sha256: sha256_hex(&bytes) })
}

impl Evaluated {
    /// Its tables, each named after the analysis.
    ///
    /// # Errors
    /// A table of the theory that cannot be made.
    pub fn tables(&self, configs: &Configs) -> Result<Vec<Table>, AnalysisError> {
        let mut theory = TheoryTables::new(configs);
        let named = |table: Table| {
            let name = self.analysis.table_stem(&table.name);
            Table { name, ..table }
        };
        let kinds = &self.analysis.tables;
        kinds.iter().map(|kind| self.table(*kind, configs, &mut theory).map(named)).collect()
    }

    fn table(
        &self,
        kind: TableKind,
        configs: &Configs,
        theory: &mut TheoryTables<'_>,
    ) -> Result<Table, AnalysisError> {
        let runs = &self.scoring.runs;
        Ok(match kind {
            TableKind::Runs => table::runs::table(runs),
            TableKind::Paired => {
                let verdicts: Vec<_> =
                    self.registration.iter().filter_map(|r| self.scoring.verdict_of(r)).collect();
                table::paired::table(&verdicts, runs)
            }
            TableKind::TrapCheck => table::trap_check::table(runs),
            TableKind::Calibration => table::calibration::table(runs, configs),
            TableKind::ClosedCurve => table::closed_curve::table(runs, configs),
            TableKind::FromEmpty => table::from_empty::table(runs),
            TableKind::ModelValues => theory.values()?,
            TableKind::ModelValuesSummary => theory.summary()?,
            TableKind::ModelTraps => theory.predicted(Prediction::Traps)?,
            TableKind::ModelFromEmpty => theory.predicted(Prediction::FromEmpty)?,
            TableKind::ModelCuts => theory.predicted(Prediction::Corollary3)?,
            TableKind::ModelMirror => theory.predicted(Prediction::Mirror)?,
            TableKind::ModelWindows => theory.predicted(Prediction::Windows)?,
            TableKind::ModelCrossings => theory.predicted(Prediction::Crossings)?,
            TableKind::SimAgainstEngine => {
                let replay = replay_runs(runs, configs, self.registration.as_ref());
                table::sim_against_engine::table(replay.as_ref())
            }
            TableKind::PairedRanges => table::paired_ranges::table(runs),
            TableKind::ArmCounts => table::arm_counts::table(runs),
            TableKind::Burst => table::burst::table(runs),
            TableKind::ClientCost => table::client_cost::table(runs),
            TableKind::LoopVariables => table::loop_variables::table(runs),
        })
    }

    /// One of its figures, rendered.
    ///
    /// # Errors
    /// It cannot be drawn.
    pub fn figure(
        &self,
        spec: &FigureSpec,
        configs: &Configs,
    ) -> Result<FigureFiles, AnalysisError> {
        let failed = |error| AnalysisError::Figure { name: spec.name.clone(), error };
        let (figure, sources) = draw::draw(&self.scoring.runs, spec, configs)
            .map_err(|error| AnalysisError::NoFigure { name: spec.name.clone(), error })?;
        let files = figure_files(&spec.name, &figure).map_err(failed)?;
        Ok(FigureFiles { name: spec.name.clone(), files, sources })
    }
}

/// A figure's svg, pdf, png and csv under `figures/`.
///
/// # Errors
/// It cannot be drawn.
pub fn figure_files(name: &str, figure: &Figure) -> Result<Vec<OutputFile>, FigureError> {
    let rendered = render(&figure.drawing)?;
    let csv = figure.data.to_csv()?;
    let file = |ending: &str, bytes: Vec<u8>| OutputFile {
        path: Path::new(FIGURES).join(format!("{name}.{ending}")),
        bytes,
    };
    Ok(vec![
        file("svg", rendered.svg.into_bytes()),
        file("pdf", rendered.pdf),
        file("png", rendered.png),
        file("csv", csv.into_bytes()),
    ])
}

/// A table's csv file.
pub fn table_file(table: &Table) -> OutputFile {
    OutputFile {
        path: Path::new(DERIVED).join(format!("{}.csv", table.name)),
        bytes: table.to_csv().into_bytes(),
    }
}
