//! The simulator against every simulator number the paper publishes
//! (paper: App. E.3, E.7, E.8, E.12, Fig. 6; project page, figure 11).
//!
//! Rows, bands, runs and thresholds are data (`configs/fidelity/*.yaml`); here
//! they are computed. Single runs scatter widely, so a row averages over its own
//! seeds, which are not the paper's. A row that falls outside its band is
//! reported as such; nothing is adjusted to bring it in.

mod config;
mod rules;
mod statistic;

use std::collections::BTreeMap;

use super::directory::{Label, to_measure};
use super::{RunSpec, SimError, simulate_to_measure};
use crate::configs::Configs;
use crate::measure::closed_curve::crossing;
use crate::measure::measure;
use crate::measure::stats::mean;
use crate::setup::protocol::WarmUp;
use crate::setup::{Cell, Protocol, Workload};
pub use config::{Band, Fidelity, Reduction, RowSpec, RunSet};

/// A computed row.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The row's name.
    pub id: String,
    /// What is compared.
    pub what: String,
    /// What the paper printed, as it printed it.
    pub published: String,
    /// Where.
    pub place: String,
    /// Ours: one value, or the least and the greatest.
    pub ours: Vec<f64>,
    /// The least and the greatest of the runs' own values.
    pub spread: Option<(f64, f64)>,
    /// Where ours should lie.
    pub band: Band,
    /// Whether all of `ours` lies there and no run lacked a value.
    pub inside: bool,
    /// The published value is one that this simulator is known not to give.
    pub known_to_miss: bool,
    /// Runs it averages over.
    pub runs: usize,
    /// Runs that had no such value (a gate that never came off).
    pub without_value: usize,
}

/// How many runs [`report`] makes.
pub fn runs(fidelity: &Fidelity) -> usize {
    fidelity.run_sets.values().map(|set| set.seeds as usize).sum()
}

/// One run of a report: a seed of a run set.
#[derive(Debug)]
pub struct SeedRun<'a> {
    set: &'a Resolved<'a>,
    seed: u64,
    fidelity: &'a Fidelity,
}

/// What one run gives: the statistic of every row that uses its set, by the row's position.
pub type Values = BTreeMap<usize, Option<f64>>;

impl SeedRun<'_> {
    /// Simulates it and evaluates its statistics.
    ///
    /// # Errors
    /// The run failed.
    pub fn values(&self) -> Result<Values, SimError> {
        self.set.values(self.seed, self.fidelity)
    }
}

/// Computes every row. `run` gives the values of each run, in their order, in as many
/// threads as it likes: they are reduced in a fixed order.
///
/// # Errors
/// An unknown name, found before anything runs, or a run that
/// failed (the first in order of set and seed).
pub fn report(
    fidelity: &Fidelity,
    configs: &Configs,
    run: impl FnOnce(&[SeedRun<'_>]) -> Vec<Result<Values, SimError>>,
) -> Result<Vec<Row>, SimError> {
    let sets = fidelity
        .run_sets
        .iter()
        .map(|(name, set)| Resolved::new(name, set, configs))
        .collect::<Result<Vec<_>, _>>()?;
    let seeds = |set: &RunSet| (0..set.seeds).map(|i| set.first_seed + i).collect::<Vec<_>>();
    let of_seeds: Vec<SeedRun<'_>> = sets
        .iter()
        .flat_map(|set| seeds(set.set).into_iter().map(move |seed| SeedRun { set, seed, fidelity }))
        .collect();
    // In order, so that the error reported does not depend on which thread was first.
    let values = run(&of_seeds).into_iter().collect::<Result<Vec<_>, _>>()?;
    let mut by_set: BTreeMap<&str, Vec<Values>> = BTreeMap::new();
    for (of_seed, values) in of_seeds.iter().zip(values) {
        by_set.entry(of_seed.set.name).or_default().push(values);
    }
    Ok(fidelity.rows.iter().enumerate().map(|(i, row)| row_of(i, row, fidelity, &by_set)).collect())
}

/// A run set with its names looked up.
#[derive(Debug)]
struct Resolved<'a> {
    name: &'a str,
    set: &'a RunSet,
    cell: &'a Cell,
    workload: &'a Workload,
    protocol: Protocol,
}

impl<'a> Resolved<'a> {
    fn new(name: &'a str, set: &'a RunSet, configs: &'a Configs) -> Result<Self, SimError> {
        let unknown = |kind: &str, of: &str| SimError::Setup {
            what: format!("run set {name}"),
            message: format!("no {kind} is called {of}"),
        };
        let cell = configs.cells.get(&set.cell).ok_or_else(|| unknown("cell", &set.cell))?;
        let workload = configs
            .workloads
            .get(&cell.workload)
            .ok_or_else(|| unknown("workload", &cell.workload))?;
        let protocol = configs
            .protocols
            .get(&cell.protocol)
            .ok_or_else(|| unknown("protocol", &cell.protocol))?;
        let mut protocol = protocol.clone();
        if let Some(window) = set.window_s {
            let window = WarmUp { warm_up_s: window.start_s, window_s: window.length_s() };
            (protocol.closed, protocol.e0a) = (window, window);
        }
        Ok(Self { name, set, cell, workload, protocol })
    }

    /// Simulates one seed and evaluates the statistic of every row that uses
    /// this set, by the row's position.
    fn values(&self, seed: u64, fidelity: &Fidelity) -> Result<Values, SimError> {
        let spec = RunSpec {
            cell: self.cell,
            workload: self.workload,
            protocol: &self.protocol,
            arm: &self.set.arm,
            multiple: self.set.multiple,
            seed,
            options: self.set.options(),
        };
        let simulated = simulate_to_measure(&spec).map_err(|source| SimError::OfSet {
            set: self.name.to_owned(),
            seed,
            source: Box::new(source),
        })?;
        let label = Label { run_id: self.name.to_owned(), registration: None };
        let run = to_measure(&simulated, &spec, &label);
        let context = statistic::Context {
            run: &run,
            measures: &measure(&run, &self.protocol),
            lambda_ref_per_s: self.cell.lambda_ref_per_s,
            workload: self.workload,
            protocol: &self.protocol,
            rules: &fidelity.rules,
            arm: &self.set.arm,
        };
        let used = |row: &RowSpec| row.runs.iter().any(|set| set == self.name);
        Ok(fidelity
            .rows
            .iter()
            .enumerate()
            .filter(|(_, row)| used(row))
            .map(|(i, row)| (i, statistic::evaluate(&row.statistic, &context)))
            .collect())
    }
}

fn row_of(
    position: usize,
    row: &RowSpec,
    fidelity: &Fidelity,
    by_set: &BTreeMap<&str, Vec<Values>>,
) -> Row {
    let all: Vec<Vec<Option<f64>>> = row
        .runs
        .iter()
        .map(|set| {
            let runs = by_set.get(set.as_str()).map(Vec::as_slice).unwrap_or_default();
            runs.iter().map(|run| run.get(&position).copied().flatten()).collect()
        })
        .collect();
    let runs = all.iter().map(Vec::len).sum();
    let sets: Vec<Vec<f64>> =
        all.iter().map(|set| set.iter().flatten().copied().collect()).collect();
    let without_value = runs - sets.iter().map(Vec::len).sum::<usize>();
    let populations: Vec<f64> = row
        .runs
        .iter()
        .filter_map(|set| fidelity.run_sets.get(set)?.arm.population())
        .map(f64::from)
        .collect();
    let ours = reduce(row.reduce, &sets, &populations);
    let spread = range(&sets.concat());
    let inside =
        !ours.is_empty() && ours.iter().all(|x| row.band.contains(*x)) && without_value == 0;
    Row {
        id: row.id.clone(),
        what: row.what.clone(),
        published: row.published.clone(),
        place: row.place.clone(),
        ours,
        spread,
        band: row.band,
        inside,
        known_to_miss: row.known_to_miss,
        runs,
        without_value,
    }
}

/// Reduces the values of a row's run sets, in order of set and seed.
fn reduce(reduction: Reduction, sets: &[Vec<f64>], populations: &[f64]) -> Vec<f64> {
    let means: Option<Vec<f64>> = sets.iter().map(|set| mean(set)).collect();
    match reduction {
        Reduction::Mean {} => mean(&sets.concat()).into_iter().collect(),
        Reduction::Range {} => {
            range(&sets.concat()).map_or(Vec::new(), |(least, greatest)| vec![least, greatest])
        }
        Reduction::Crossing { level } => {
            let curve =
                |means: Vec<f64>| populations.iter().copied().zip(means).collect::<Vec<_>>();
            means.and_then(|means| crossing(&curve(means), level)).into_iter().collect()
        }
        Reduction::LastOverPeak {} => means
            .and_then(|means| {
                let peak = means.iter().copied().max_by(f64::total_cmp)?;
                Some(means.last()? / peak)
            })
            .into_iter()
            .collect(),
    }
}

fn range(values: &[f64]) -> Option<(f64, f64)> {
    let least = values.iter().copied().min_by(f64::total_cmp)?;
    let greatest = values.iter().copied().max_by(f64::total_cmp)?;
    Some((least, greatest))
}

#[cfg(test)]
mod tests;
