//! The ensemble: the simulated runs of some analyses many times over, each time with other
//! plans, kept as tables. It says how a statistic of as many runs as the paper had spreads.
//!
//! A draw is an analysis over simulated runs in memory: the same measuring, judging and
//! tables as for run directories. Draw 0 has the campaign's own seeds. Draw d has seed
//! d * k + s where the campaign has s, so arms that share a plan share one in every draw, and
//! no two draws share any. A run keeps the campaign's folder and seed, so that what names a
//! run of the campaign names its counterpart in every draw.

pub mod arrivals;
pub mod packed;
pub mod stored;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::*;
use serde::Deserialize;

use self::arrivals::{Given, Seeds};
use super::batches::{Chosen, Origin, SimulatedOrigin};
use super::error::AnalysisError;
use super::output_files::RESULTS;
use super::project::{Evaluated, Project};
use super::score::score;
use super::spec::{Analysis, TableKind};
use super::statistics::RunStatistics;
use crate::campaign::{CampaignRun, campaign_runs};
use crate::configs::hashed;
use crate::run::SourceFile;
use crate::setup::{Campaign, ConfigError, Configs};
use crate::sim::directory::to_measure;
use crate::sim::{Options, RunSpec, simulate_to_measure};
use crate::table::Table;

/// Where campaigns' runs are written, relative to the folder of results.
const SIMULATED: &str = "sim";

/// What an ensemble is of, as `configs/campaigns/ensemble.yaml` states it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EnsembleSpec {
    /// The file's stem.
    pub name: String,
    /// How many draws.
    pub draws: u64,
    /// How far apart the seeds of two draws are; above every seed of the campaigns.
    pub seeds_per_draw: u64,
    /// Of which analyses.
    pub analyses: Vec<Asked>,
    /// How the engine is modelled.
    #[serde(default)]
    pub ways: Ways,
    /// What arrived in the paper's runs, which the plans then have as well.
    #[serde(default)]
    pub arrivals: Vec<Given>,
}

/// How an ensemble models the engine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ways {
    /// As the campaign: the paper's simulator.
    #[default]
    Campaign,
    /// The engine in its own ways ([`crate::sim::Options::in_ways_of`]).
    Engine,
}

/// Tables of an analysis.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    /// Its name.
    pub analysis: String,
    /// Which of its tables.
    pub tables: Vec<TableKind>,
}

/// The campaigns that an ensemble's runs are of, by their files.
#[derive(Debug, Default)]
pub struct Campaigns(BTreeMap<PathBuf, Campaign>);

/// An ensemble, ready to be drawn.
#[derive(Debug)]
pub struct Ensemble<'a> {
    project: &'a Project,
    spec: &'a EnsembleSpec,
    members: Vec<Member<'a>>,
    seeds: Seeds<'a>,
}

/// An analysis of the ensemble with the runs that stand in for its batches.
#[derive(Debug)]
struct Member<'a> {
    /// With the tables that are asked for.
    analysis: Analysis,
    file: SourceFile,
    /// Folder and run, in the order in which the analysis reads them.
    runs: Vec<(PathBuf, CampaignRun<'a>)>,
    /// What runs are called in the campaign, by their folder.
    names: BTreeMap<String, String>,
}

impl EnsembleSpec {
    /// Reads and checks the file.
    ///
    /// # Errors
    /// As [`crate::configs::yaml`]; no draw, no seed, or no analysis.
    pub fn load(path: &Path) -> Result<Self, ConfigError> {
        let spec: Self = crate::configs::yaml(path)?;
        crate::setup::yaml::check_name(path, &spec.name)?;
        let most = crate::limits::RUNS as u64;
        if spec.draws == 0 || spec.draws > most {
            let message = format!("draws: expected 1 to {most}, found {}", spec.draws);
            return Err(ConfigError::new(path, message));
        }
        if spec.seeds_per_draw == 0 || spec.seeds_per_draw > most {
            let message = format!("seeds_per_draw: expected 1 to {most}");
            return Err(ConfigError::new(path, message));
        }
        Ok(spec)
    }

    /// How a run is modelled.
    fn options(&self, run: &CampaignRun<'_>) -> Options {
        let campaign = run.spec.options;
        match self.ways {
            Ways::Campaign => campaign,
            Ways::Engine => campaign.in_ways_of(run.spec.cell),
        }
    }
}

impl Campaigns {
    /// The campaigns of a project's batches.
    ///
    /// # Errors
    /// A file that cannot be used.
    pub fn of(project: &Project) -> Result<Self, ConfigError> {
        let origins = project.batches.batches.iter().flat_map(|batch| &batch.from);
        let named = origins.filter_map(|origin| match origin {
            Origin::Simulated(origin) => Some(&origin.simulate),
            Origin::Runs(_) => None,
        });
        let mut campaigns = BTreeMap::new();
        for path in named.chain([&project.batches.campaign]) {
            if !campaigns.contains_key(path) {
                campaigns.insert(path.clone(), crate::configs::read(path, Campaign::parse)?);
            }
        }
        Ok(Self(campaigns))
    }
}

impl<'a> Ensemble<'a> {
    /// Finds the runs of every analysis that `spec`, the content of `file`, asks for.
    ///
    /// # Errors
    /// An analysis or a table that is not there, a seed that two draws would share, a run
    /// that makes no sense.
    pub fn of(
        project: &'a Project,
        file: &Path,
        spec: &'a EnsembleSpec,
        campaigns: &'a Campaigns,
    ) -> Result<Self, AnalysisError> {
        let mut all = BTreeMap::new();
        for (path, campaign) in &campaigns.0 {
            let runs = campaign_runs(campaign, &project.configs, |options| options)?;
            all.insert(path.as_path(), runs);
        }
        let wrong = |message: String| AnalysisError::Config(ConfigError::new(file, message));
        let mut members = Vec::new();
        for asked in &spec.analyses {
            let found = project.analyses.iter().find(|(_, a)| a.name == asked.analysis);
            let (path, analysis) = found.ok_or_else(|| {
                wrong(format!("analyses: there is no analysis {}", asked.analysis))
            })?;
            let lacking = asked.tables.iter().find(|table| !analysis.tables.contains(table));
            if let Some(table) = lacking {
                return Err(wrong(format!("analysis {} has no table {table}", analysis.name)));
            }
            if !analysis.runs.is_empty() || analysis.simulate.is_some() {
                return Err(wrong(format!("analysis {} has runs of no batch", analysis.name)));
            }
            let member = Member::of(project, path, analysis, &asked.tables, &all)?;
            let too_large =
                |(_, run): &&(PathBuf, CampaignRun<'_>)| run.spec.seed >= spec.seeds_per_draw;
            if let Some((_, run)) = member.runs.iter().find(too_large) {
                let (id, k) = (&run.planned.id, spec.seeds_per_draw);
                return Err(wrong(format!("seeds_per_draw: {k} is not above the seed of {id}")));
            }
            members.push(member);
        }
        let runs = members.iter().flat_map(|member| member.runs.iter().map(|(_, run)| run));
        let runs: Vec<&CampaignRun<'_>> = runs.collect();
        let seeds = Seeds::of(&spec.arrivals, &runs, spec.draws, spec.seeds_per_draw)?;
        Ok(Self { project, spec, members, seeds })
    }

    /// How many runs a draw has.
    pub fn runs_per_draw(&self) -> usize {
        self.members.iter().map(|member| member.runs.len()).sum()
    }

    /// A draw's tables, in the order they are asked for; `done` is called once per run.
    ///
    /// # Errors
    /// A run that cannot be simulated or measured, a table that cannot be made.
    pub fn draw(&self, draw: u64, done: &(dyn Fn() + Sync)) -> Result<Vec<Table>, AnalysisError> {
        let mut tables = Vec::new();
        for member in &self.members {
            let configs = self.project.configs_for(&member.analysis);
            let measured = member
                .runs
                .par_iter()
                .map(|(dir, run)| {
                    let measured = self.measured(draw, dir, run, configs);
                    done();
                    measured.map(|statistics| Ok(Arc::new(statistics)))
                })
                .collect::<Result<Vec<_>, _>>()?;
            let evaluated = Evaluated {
                analysis: member.analysis.clone(),
                spec: member.file.clone(),
                registration: None,
                scoring: score(measured.clone(), configs, None),
                measured,
                configs: Vec::new(),
                idle: Vec::new(),
                names: member.names.clone(),
            };
            tables.extend(evaluated.tables(configs)?);
        }
        Ok(tables)
    }

    /// A run of the campaign with the plan of a draw, measured under its own name and seed.
    fn measured(
        &self,
        draw: u64,
        dir: &Path,
        run: &CampaignRun<'_>,
        configs: &Configs,
    ) -> Result<RunStatistics, AnalysisError> {
        let wrong = |why: String| AnalysisError::Draw {
            draw,
            problem: format!("{}: {why}", run.planned.id),
        };
        let own = draw * self.spec.seeds_per_draw + run.spec.seed;
        let seed = self.seeds.get(draw, run).unwrap_or(own);
        let options = self.spec.options(run);
        let simulated = simulate_to_measure(&RunSpec { seed, options, ..run.spec.clone() })
            .map_err(|error| wrong(error.to_string()))?;
        let mut made = to_measure(&simulated, &run.spec, &run.label);
        made.dir = dir.into();
        RunStatistics::of(made, configs, None).map_err(|unreadable| {
            wrong(unreadable.problems.first().map_or_else(String::new, ToString::to_string))
        })
    }
}

impl<'a> Member<'a> {
    /// The runs that stand in for an analysis' batches, whatever else is here: those that are
    /// written by the campaign, in order of folder, then those that are simulated.
    fn of(
        project: &Project,
        path: &Path,
        analysis: &Analysis,
        tables: &[TableKind],
        all: &BTreeMap<&Path, Vec<CampaignRun<'a>>>,
    ) -> Result<Self, AnalysisError> {
        let root = Path::new(RESULTS).join(SIMULATED);
        let written = &all[project.batches.campaign.as_path()];
        let mut written: Vec<(PathBuf, &CampaignRun<'a>)> =
            written.iter().map(|run| (root.join(&run.dir), run)).collect();
        written.sort_by(|(a, _), (b, _)| a.cmp(b));
        let dirs: Vec<PathBuf> = written.iter().map(|(dir, _)| dir.clone()).collect();
        let mut chosen = vec![false; written.len()];
        let mut simulated: Vec<(&Path, Vec<&SimulatedOrigin>)> = Vec::new();
        for batch in analysis.batches.iter().filter_map(|name| project.batches.get(name)) {
            match batch.choose(&dirs) {
                Chosen::Runs(_, _, found) => {
                    for place in found.iter().filter_map(|dir| dirs.binary_search(dir).ok()) {
                        chosen[place] = true;
                    }
                }
                Chosen::Simulated(_, origin) => {
                    match simulated.iter_mut().find(|(path, _)| *path == origin.simulate) {
                        Some((_, origins)) => origins.push(origin),
                        None => simulated.push((&origin.simulate, vec![origin])),
                    }
                }
                Chosen::Missing => {}
            }
        }
        let mut names = BTreeMap::new();
        let mut runs = Vec::new();
        for ((dir, run), _) in written.into_iter().zip(chosen).filter(|(_, chosen)| *chosen) {
            names.insert(dir.display().to_string(), format!("campaign/{}", run.dir.display()));
            runs.push((dir, run.clone()));
        }
        for (campaign, origins) in simulated {
            let holds = |run: &&CampaignRun<'_>| origins.iter().any(|origin| origin.holds(run));
            let named =
                |run: &CampaignRun<'a>| (Path::new("simulated").join(&run.dir), run.clone());
            runs.extend(all[campaign].iter().filter(holds).map(named));
        }
        runs.iter().try_for_each(|(_, run)| run.check())?;
        let analysis = Analysis { tables: tables.to_vec(), ..analysis.clone() };
        Ok(Self { analysis, file: hashed(path)?, runs, names })
    }
}
