//! Making an analysis' tables and figures, in memory.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::campaign::{Job, jobs};
use crate::configs::{hashed, yaml_files};
use crate::directory::{Found, find_runs_by};
use crate::fidelity::FidelityError;
use crate::figure::{Figure, FigureError};
use crate::rendering::render;
use crate::run::{Problem, SourceFile};
use crate::setup::yaml::ConfigError;
use crate::setup::{Campaign, Configs, RegistrationFile};
use crate::table::Table;
use crate::table::rule_values::RuleValuesError;

use super::batches::{BATCHES, Batch, Batches, Chosen, RunsOrigin, SimulatedOrigin};
use super::campaign_names::campaign_name;
use super::draw;
use super::output_names::OutputNames;
use super::score::{Scoring, score};
use super::simulated::{SimulatedError, simulated_runs};
use super::spec::{Analysis, FigureSpec};
use super::statistics::RunStatistics;
use super::store::{Measured, Store};
use super::theory_tables::TheoryTableError;
use super::verdict::VerdictError;

/// Folders of a project, relative to it.
pub const RESULTS: &str = "results";
/// Where analyses are declared.
pub const ANALYSES: &str = "analysis";
/// Where the bindings of the numbers lie.
pub const NUMBERS: &str = "analysis/numbers.yaml";
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
    /// Several registrations fit runs that are bound to none.
    #[error("{}: {} fit {run} and are not the same rule: pin one with registration: in the analysis", analysis.display(), files.join(" and "))]
    SeveralRules {
        /// The analysis' file.
        analysis: PathBuf,
        /// The registrations.
        files: Vec<String>,
        /// The first of the runs.
        run: String,
    },
    /// A registration cannot be asked.
    #[error(transparent)]
    Verdict(#[from] VerdictError),
    /// Runs could not be simulated.
    #[error(transparent)]
    Simulated(#[from] SimulatedError),
    /// The simulator's published values could not be computed again.
    #[error(transparent)]
    Fidelity(#[from] FidelityError),
    /// A table of the theory could not be made.
    #[error(transparent)]
    Theory(#[from] TheoryTableError),
    /// The registrations' values could not be listed.
    #[error(transparent)]
    RuleValues(#[from] RuleValuesError),
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
    /// Its runs as they were measured.
    pub measured: Vec<Measured>,
    /// Its runs, judged by the paired test's rule.
    pub scoring: Scoring,
    /// Configuration files its results depend on.
    pub configs: Vec<SourceFile>,
    /// What it names and is not there.
    pub idle: Vec<String>,
    /// What runs that were found in a batch are called in the campaign, by their folder.
    pub names: BTreeMap<String, String>,
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
    /// Where its batches of runs come from.
    pub batches: Batches,
    /// Its analyses with their files, in order of name.
    pub analyses: Vec<(PathBuf, Analysis)>,
    /// What its outputs are called.
    pub output_names: OutputNames,
    /// Run directories under `results/`.
    pub runs: Vec<PathBuf>,
    /// What could not be looked at.
    pub problems: Vec<Problem>,
}

/// The runs that an analysis names.
#[derive(Debug, Default)]
pub struct Selected<'a> {
    /// Run directories, in order of path.
    pub dirs: Vec<PathBuf>,
    /// Filters of those that come from a batch: a run is left out if none holds it.
    filters: Vec<(&'a Batch, &'a RunsOrigin, Vec<PathBuf>)>,
    /// Campaigns to simulate, and which of their runs.
    pub simulated: Vec<(&'a Path, Vec<&'a SimulatedOrigin>)>,
    /// Globs that name nothing.
    pub idle: Vec<String>,
}

impl Project {
    /// Reads configuration and analyses and finds the runs.
    ///
    /// # Errors
    /// A configuration or analysis file that cannot be used; two outputs of one name.
    pub fn open(configs: &Path) -> Result<Self, ConfigError> {
        let configs = crate::configs::load(configs)?;
        let batches = Batches::load(Path::new(BATCHES))?;
        let analyses = yaml_files(Path::new(ANALYSES))?
            .into_iter()
            .filter(|path| path != Path::new(NUMBERS))
            .map(|path| Analysis::load(&path).map(|analysis| (path, analysis)))
            .collect::<Result<Vec<_>, _>>()?;
        for (path, analysis) in &analyses {
            if let Some(name) = analysis.batches.iter().find(|name| batches.get(name).is_none()) {
                let message = format!("batches: no batch {name} in {BATCHES}");
                return Err(ConfigError::new(path, message));
            }
        }
        let output_names = OutputNames::of(&analyses)?;
        let Found { runs, problems } = find_runs_by(&[RESULTS], &configs.layouts);
        Ok(Self { configs, batches, analyses, output_names, runs, problems })
    }

    /// The runs that an analysis names, each batch from the first of its places that is
    /// there.
    pub fn select<'a>(&'a self, analysis: &'a Analysis) -> Selected<'a> {
        let (named, idle) = analysis.select(&self.runs);
        let mut selected = Selected {
            dirs: named.into_iter().cloned().collect(),
            idle: idle.into_iter().map(|glob| format!("{glob} names no run")).collect(),
            ..Selected::default()
        };
        for batch in analysis.batches.iter().filter_map(|name| self.batches.get(name)) {
            match batch.choose(&self.runs) {
                Chosen::Runs(_, origin, dirs) => {
                    selected.dirs.extend(dirs.iter().cloned());
                    selected.filters.push((batch, origin, dirs));
                }
                Chosen::Simulated(_, origin) => selected.simulate(&origin.simulate, origin),
                // Said by `trapcheck sources`: a lasting state, not worth a warning each time.
                Chosen::Missing => {}
            }
        }
        if let Some(campaign) = &analysis.simulate {
            selected.simulated.push((campaign, Vec::new()));
        }
        selected.dirs.sort();
        selected.dirs.dedup();
        selected
    }

    /// Measures and judges the runs of one analysis; `done` is called once per run.
    ///
    /// # Errors
    /// The pinned registration changed or cannot be used.
    pub fn evaluate(
        &self,
        path: &Path,
        analysis: &Analysis,
        store: &Store<'_>,
        expect: impl Fn(usize),
        done: impl Fn() + Sync,
    ) -> Result<Evaluated, AnalysisError> {
        let registration = pinned(analysis)?;
        let selected = self.select(analysis);
        expect(selected.dirs.len());
        let mut measured = store.runs(&selected.dirs, &done);
        measured.retain(|run| run.as_ref().map_or(true, |run| selected.holds(run)));
        for (campaign, wanted) in &selected.simulated {
            let holds = |job: &Job<'_>| wanted.is_empty() || wanted.iter().any(|w| w.holds(job));
            measured.extend(simulated_runs(campaign, &self.configs, store, holds, &expect, &done)?);
        }
        let scoring = score(measured.clone(), &self.configs, registration.as_ref());
        if let Some((run, files)) =
            scoring.runs.iter().find_map(|run| Some((run, run.fitting_rules()?)))
        {
            return Err(AnalysisError::SeveralRules {
                analysis: path.to_owned(),
                files: files.to_vec(),
                run: run.dir.display().to_string(),
            });
        }
        Ok(Evaluated {
            spec: hashed(path)?,
            configs: self.configs_of(&scoring, analysis, registration.as_ref())?,
            names: self.names(&selected, &measured)?,
            idle: selected.idle,
            analysis: analysis.clone(),
            registration,
            measured,
            scoring,
        })
    }

    /// What the runs of the selected batches are called in the campaign.
    fn names(
        &self,
        selected: &Selected<'_>,
        measured: &[Measured],
    ) -> Result<BTreeMap<String, String>, AnalysisError> {
        let mut names = BTreeMap::new();
        if selected.filters.is_empty() {
            return Ok(names);
        }
        let campaign = crate::configs::read(&self.batches.campaign, Campaign::parse)?;
        let jobs =
            jobs(&campaign, &self.configs, |options| options).map_err(SimulatedError::Campaign)?;
        for run in measured.iter().flatten() {
            let of_run = |(_, _, dirs): &&(&Batch, &RunsOrigin, Vec<PathBuf>)| {
                dirs.binary_search(&run.dir).is_ok()
            };
            let name = selected
                .filters
                .iter()
                .filter(of_run)
                .find_map(|(batch, ..)| campaign_name(run, &batch.tests, &jobs));
            if let Some(name) = name {
                names.insert(run.dir.display().to_string(), format!("campaign/{name}"));
            }
        }
        Ok(names)
    }

    /// The cells, workloads, protocols and the registration behind a scoring.
    fn configs_of(
        &self,
        scoring: &Scoring,
        analysis: &Analysis,
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
        if !analysis.batches.is_empty() {
            paths.push(BATCHES.into());
        }
        paths.extend(registration.map(|r| r.path.clone()));
        paths.sort();
        paths.dedup();
        paths.iter().map(|path| hashed(path)).collect()
    }
}

/// The registration that an analysis pins.
fn pinned(analysis: &Analysis) -> Result<Option<RegistrationFile>, AnalysisError> {
    let Some(pinned) = &analysis.registration else { return Ok(None) };
    let file = crate::configs::read(&pinned.file, RegistrationFile::parse)?;
    if file.sha256 == pinned.sha256 {
        return Ok(Some(file));
    }
    Err(AnalysisError::Unbound {
        analysis: analysis.name.clone(),
        path: file.path,
        found: file.sha256,
        expected: pinned.sha256.clone(),
    })
}

impl<'a> Selected<'a> {
    fn simulate(&mut self, campaign: &'a Path, origin: &'a SimulatedOrigin) {
        match self.simulated.iter_mut().find(|(path, _)| *path == campaign) {
            Some((_, origins)) => origins.push(origin),
            None => self.simulated.push((campaign, vec![origin])),
        }
    }

    /// Whether a run that was found belongs to what was named.
    fn holds(&self, run: &RunStatistics) -> bool {
        let mut found = false;
        for (_, origin, dirs) in &self.filters {
            if dirs.binary_search(&run.dir).is_ok() {
                if origin.holds(&run.meta) {
                    return true;
                }
                found = true;
            }
        }
        !found
    }
}

impl Evaluated {
    /// One of its figures, rendered.
    ///
    /// # Errors
    /// It cannot be drawn.
    pub fn figure(
        &self,
        spec: &FigureSpec,
        configs: &Configs,
    ) -> Result<FigureFiles, AnalysisError> {
        let failed = |error| AnalysisError::Figure { name: spec.name.to_string(), error };
        let (figure, sources) = draw::draw(&self.scoring.runs, spec, configs)
            .map_err(|error| AnalysisError::NoFigure { name: spec.name.to_string(), error })?;
        let files = figure_files(&spec.name, &figure).map_err(failed)?;
        Ok(FigureFiles { name: spec.name.to_string(), files, sources })
    }
}

/// A figure's svg, pdf, png and csv under `figures/`.
///
/// # Errors
/// It cannot be drawn.
pub fn figure_files(name: &str, figure: &Figure) -> Result<Vec<OutputFile>, FigureError> {
    let rendered = render(&figure.drawing)?;
    let csv = figure.data.to_csv();
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

/// A table's files under `paper/derived/`: csv, and where people read it, Markdown and
/// LaTeX of the same cells.
pub fn table_files(table: &Table) -> Vec<OutputFile> {
    let file = |ending: &str, text: String| OutputFile {
        path: Path::new(DERIVED).join(format!("{}.{ending}", table.name)),
        bytes: text.into_bytes(),
    };
    let mut files = vec![file("csv", table.to_csv())];
    if table.rows.len() <= MOST_ROWS_TO_READ {
        files.push(file("md", table.to_markdown()));
        files.push(file("tex", table.to_latex()));
    }
    files
}

/// A longer table is data, not reading: it is written as csv only.
const MOST_ROWS_TO_READ: usize = 60;
