//! What there is to analyse, and an analysis with its runs measured and judged.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::campaign::{CampaignRun, campaign_runs};
use crate::configs::{hashed, yaml_files};
use crate::directory::{Found, find_runs_by};
use crate::run::{Problem, SourceFile};
use crate::setup::yaml::ConfigError;
use crate::setup::{Campaign, Configs, RegistrationFile};

use super::batches::{BATCHES, Batch, Batches, Chosen, RunsOrigin, SimulatedOrigin};
use super::campaign_names::campaign_name;
use super::draw::draw;
use super::error::AnalysisError;
use super::output_files::{ANALYSES, FigureFiles, RESULTS, figure_files};
use super::output_names::OutputNames;
use super::reads::{Reads, Stores};
use super::score::{Scoring, score};
use super::simulated::simulated_runs;
use super::spec::{Analysis, FigureSpec};
use super::statistics::RunStatistics;
use super::store::{Measured, Store};
use super::tables::{Maker, TableKind};
use super::theory_tables::TheoryTables;
use crate::table::Table;

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

/// What there is to analyse in a project.
#[derive(Debug)]
pub struct Project {
    /// Its configuration.
    pub configs: Configs,
    /// The parts of it that analyses read, by the file that names them.
    narrowed: BTreeMap<PathBuf, Configs>,
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
        let mut configs = crate::configs::load(configs)?;
        // What is derived depends on nothing outside the project.
        configs.read_sessions = None;
        let batches = Batches::load(Path::new(BATCHES))?;
        let analyses = yaml_files(Path::new(ANALYSES))?
            .into_iter()
            .map(|path| Analysis::load(&path).map(|analysis| (path, analysis)))
            .collect::<Result<Vec<_>, _>>()?;
        for (path, analysis) in &analyses {
            if let Some(name) = analysis.batches.iter().find(|name| batches.get(name).is_none()) {
                let message = format!("batches: no batch {name} in {BATCHES}");
                return Err(ConfigError::new(path, message));
            }
        }
        let mut narrowed = BTreeMap::new();
        for path in analyses.iter().filter_map(|(_, analysis)| analysis.reads.as_ref()) {
            if !narrowed.contains_key(path) {
                narrowed.insert(path.clone(), Reads::narrowed(path, &configs)?);
            }
        }
        let output_names = OutputNames::of(&analyses)?;
        let Found { runs, problems } = find_runs_by(&[RESULTS], &configs.layouts);
        Ok(Self { configs, narrowed, batches, analyses, output_names, runs, problems })
    }

    /// What an analysis reads of the configuration.
    pub fn configs_for(&self, analysis: &Analysis) -> &Configs {
        let named = analysis.reads.as_ref().and_then(|path| self.narrowed.get(path));
        named.unwrap_or(&self.configs)
    }

    /// A store for each part of the configuration, keeping statistics in a folder if there is
    /// one.
    pub fn stores(&self, kept: Option<&Path>) -> Stores<'_> {
        let narrowed = self.narrowed.iter().map(|(path, configs)| (Some(path), configs));
        Stores::new(narrowed.chain([(None, &self.configs)]), kept)
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
        let configs = self.configs_for(analysis);
        let selected = self.select(analysis);
        expect(selected.dirs.len());
        let mut measured = store.runs(&selected.dirs, &done);
        measured.retain(|run| run.as_ref().map_or(true, |run| selected.holds(run)));
        for (campaign, wanted) in &selected.simulated {
            let holds =
                |run: &CampaignRun<'_>| wanted.is_empty() || wanted.iter().any(|w| w.holds(run));
            measured.extend(simulated_runs(campaign, configs, store, holds, &expect, &done)?);
        }
        let scoring = score(measured.clone(), configs, registration.as_ref());
        if let Some((run, files)) =
            scoring.runs.iter().find_map(|run| Some((run, run.fitting_rules()?)))
        {
            let several = format!(
                "{} fit {} and are not the same rule: pin one with registration: in the analysis",
                files.join(" and "),
                run.dir.display()
            );
            return Err(ConfigError::new(path, several).into());
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
        let all = campaign_runs(&campaign, &self.configs, |options| options)?;
        for run in measured.iter().flatten() {
            let of_run = |(_, _, dirs): &&(&Batch, &RunsOrigin, Vec<PathBuf>)| {
                dirs.binary_search(&run.dir).is_ok()
            };
            let name = selected
                .filters
                .iter()
                .filter(of_run)
                .find_map(|(batch, ..)| campaign_name(run, &batch.tests, &all));
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
            if let Some((cell, _, protocol)) = self.configs.of_cell(&run.meta.cell) {
                paths.push(file("cells", &cell.name));
                paths.push(file("workloads", &cell.workload));
                paths.push(file("protocols", &protocol.name));
            }
        }
        if !analysis.batches.is_empty() {
            paths.push(BATCHES.into());
        }
        paths.extend(registration.map(|r| r.path.clone()));
        paths.extend(analysis.reads.clone());
        paths.sort();
        paths.dedup();
        paths.iter().map(|path| hashed(path)).collect()
    }
}

/// The registration that an analysis pins.
fn pinned(analysis: &Analysis) -> Result<Option<RegistrationFile>, ConfigError> {
    let Some(pinned) = &analysis.registration else { return Ok(None) };
    let file = crate::configs::read(&pinned.file, RegistrationFile::parse)?;
    if file.sha256 == pinned.sha256 {
        return Ok(Some(file));
    }
    let changed = format!(
        "its SHA-256 is {}, analysis {} pins {}: the registration changed after it was bound",
        file.sha256, analysis.name, pinned.sha256
    );
    Err(ConfigError::new(&file.path, changed))
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
    /// Its tables, each named after the analysis.
    ///
    /// # Errors
    /// A table of the theory that cannot be made.
    pub fn tables(&self, configs: &Configs) -> Result<Vec<Table>, AnalysisError> {
        let maker = Maker {
            configs,
            measured: &self.measured,
            scoring: &self.scoring,
            registration: self.registration.as_ref(),
            fidelity: self.analysis.fidelity.as_ref(),
            names: &self.names,
            theory: TheoryTables::new(configs),
            verdicts: OnceCell::new(),
        };
        let named = |kind: &TableKind| {
            Ok(Table { name: self.analysis.table_stem(*kind), ..maker.table(*kind)? })
        };
        self.analysis.tables.iter().map(named).collect()
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
        let failed = |error| AnalysisError::Figure { name: spec.name.to_string(), error };
        let (figure, sources) = draw(&self.scoring.runs, spec, configs).map_err(failed)?;
        let files = figure_files(&spec.name, &figure).map_err(|e| failed(e.into()))?;
        Ok(FigureFiles { name: spec.name.to_string(), files, sources })
    }
}
