//! Peak and half-hit crossing of each cell's closed-population curve, with what is
//! registered from it (Tables 13 and 20, App. E.3, App. F).

use std::collections::BTreeMap;

use crate::judged::ScoredRun;
use crate::measure::closed_curve::{by_population, half_hit_crossing, mean};
use crate::measure::{WindowMeasures, stats};
use crate::run::SourceFile;
use crate::setup::Configs;

use super::{Cell, Column, Row, Table, session_means};

/// The cap is the smallest population whose rate is at least this share of the peak's; the
/// plateau is those of completed rates within it ("within 5% of the measured peak").
const CAP_SHARE: f64 = 0.95;

const COLUMNS: &[Column] = &[
    Column::key("cell", ""),
    Column::key("source", ""),
    Column::new("populations", ""),
    Column::new("half_hit_crossing_sessions", "sessions"),
    Column::new("half_token_hit_crossing_sessions", "sessions"),
    Column::new("peak_population", "sessions"),
    Column::new("peak_turns_based_per_s", "sessions/s"),
    Column::new("peak_completed_per_s", "sessions/s"),
    Column::new("peak_ratio_turns", "lambda_ref"),
    Column::new("peak_ratio_completed", "lambda_ref"),
    Column::new("cap_population", "sessions"),
    Column::new("largest_population", "sessions"),
    Column::new("largest_over_peak_turns", ""),
    Column::new("largest_over_lambda_ref", ""),
    Column::new("plateau_from_sessions", "sessions"),
    Column::new("plateau_to_sessions", "sessions"),
];

/// The table: a row per cell. lambda_ref is that of the cell's own cache-off runs of the
/// smallest population, else of the reference cell's; unknown without either.
pub fn table(runs: &[ScoredRun], configs: &Configs) -> Table {
    let mut groups: BTreeMap<[&str; 2], Vec<&ScoredRun>> = BTreeMap::new();
    for run in runs.iter().filter(|run| run.meta.arm == "closed") {
        groups.entry([&run.meta.cell, run.meta.source.word()]).or_default().push(run);
    }
    let rows = groups.iter().filter_map(|(key, closed)| {
        let reference = reference(runs, key[0], key[1], configs);
        row(key, closed, reference, configs)
    });
    Table {
        name: "crossings".into(),
        title: "Closed-population curves: half-hit crossing, peak, cap".into(),
        columns: COLUMNS.to_vec(),
        rows: rows.collect(),
    }
}

/// A cell's measured half-hit crossing.
#[derive(Debug, Clone, PartialEq)]
pub struct HalfHit {
    /// The cell.
    pub cell: String,
    /// Where its runs come from: `engine` or `simulator`.
    pub source: &'static str,
    /// The population at which half of the turns hit, sessions.
    pub sessions: f64,
    /// The files it was read from.
    pub sources: Vec<SourceFile>,
}

/// The half-hit crossing of every cell whose closed runs pass it.
pub fn half_hit_crossings(runs: &[ScoredRun], configs: &Configs) -> Vec<HalfHit> {
    let mut groups: BTreeMap<(&str, &'static str), Vec<&ScoredRun>> = BTreeMap::new();
    for run in runs.iter().filter(|run| run.meta.arm == "closed") {
        groups.entry((&run.meta.cell, run.meta.source.word())).or_default().push(run);
    }
    let found = |((cell, source), closed): (&(&str, &'static str), &Vec<&ScoredRun>)| {
        let points = points(closed, session_means(configs, cell)?.mean_turns);
        let curve: Vec<(f64, f64)> =
            points.iter().filter_map(|(n, p)| Some((*n as f64, p.hits?))).collect();
        Some(HalfHit {
            cell: (*cell).to_owned(),
            source,
            sessions: half_hit_crossing(&curve)?,
            sources: closed.iter().flat_map(|run| run.sources.clone()).collect(),
        })
    };
    groups.iter().filter_map(found).collect()
}

/// The pool whose lambda_ref is the unit of cells without cache-off runs of their own: "the
/// 300k value of the same GPU" (Table 13).
const REFERENCE_POOL_TOKENS: u64 = 300_000;

/// The measured turns-based lambda_ref that a cell's rates are multiples of, sessions/s: its
/// own, else that of the cell with the reference pool and the same GPU, model and engine.
fn reference(runs: &[ScoredRun], cell: &str, source: &str, configs: &Configs) -> Option<f64> {
    if let Some(own) = measured_reference(runs, cell, source, configs) {
        return Some(own);
    }
    let (this, ..) = configs.of_cell(cell)?;
    let alike = configs.cells.values().filter(|other| {
        other.pool_tokens == REFERENCE_POOL_TOKENS
            && (&other.gpu, &other.model, &other.engine.name, &other.workload)
                == (&this.gpu, &this.model, &this.engine.name, &this.workload)
    });
    alike.filter_map(|other| measured_reference(runs, &other.name, source, configs)).next()
}

fn measured_reference(
    runs: &[ScoredRun],
    cell: &str,
    source: &str,
    configs: &Configs,
) -> Option<f64> {
    let turns = session_means(configs, cell)?.mean_turns;
    let own: Vec<&ScoredRun> = runs
        .iter()
        .filter(|r| !r.meta.prefix_caching && r.meta.cell == cell && r.meta.source.word() == source)
        .collect();
    let least = own.iter().filter_map(|run| run.meta.population).min();
    let windows: Vec<&WindowMeasures> = own
        .iter()
        .filter(|run| run.meta.population == least)
        .filter_map(|run| run.measures.window.as_ref())
        .collect();
    stats::mean(&windows.iter().map(|w| w.turns_per_s / turns).collect::<Vec<_>>())
}

struct Point {
    turns_based_per_s: f64,
    completed_per_s: f64,
    hits: Option<f64>,
    token_hits: Option<f64>,
}

fn row(
    key: &[&str; 2],
    closed: &[&ScoredRun],
    reference: Option<f64>,
    configs: &Configs,
) -> Option<Row> {
    let points = points(closed, session_means(configs, key[0])?.mean_turns);
    let crossing_of = |of: &dyn Fn(&Point) -> Option<f64>| {
        let curve: Vec<(f64, f64)> =
            points.iter().filter_map(|(n, p)| Some((*n as f64, of(p)?))).collect();
        half_hit_crossing(&curve)
    };
    let (peak_n, peak) =
        points.iter().max_by(|a, b| a.1.turns_based_per_s.total_cmp(&b.1.turns_based_per_s))?;
    let completed =
        points.values().map(|p| p.completed_per_s).max_by(f64::total_cmp).unwrap_or(f64::NAN);
    let cap = points
        .iter()
        .find(|(_, p)| p.turns_based_per_s >= CAP_SHARE * peak.turns_based_per_s)
        .map(|(n, _)| *n);
    let mut plateau =
        points.iter().filter(|(_, p)| p.completed_per_s >= CAP_SHARE * completed).map(|(n, _)| *n);
    let plateau_from = plateau.next();
    let plateau_to = plateau.next_back().or(plateau_from);
    let (largest_n, largest) = points.last_key_value()?;
    let mut cells: Vec<Cell> = key.iter().map(|word| Cell::text(*word)).collect();
    cells.extend([
        Cell::Count(points.len() as u64),
        Cell::known(crossing_of(&|p| p.hits), 1),
        Cell::known(crossing_of(&|p| p.token_hits), 1),
        Cell::Count(*peak_n),
        Cell::Number(peak.turns_based_per_s, 4),
        Cell::Number(completed, 4),
        Cell::known(reference.map(|r| peak.turns_based_per_s / r), 2),
        Cell::known(reference.map(|r| completed / r), 2),
        cap.map_or(Cell::Unknown, Cell::Count),
        Cell::Count(*largest_n),
        Cell::Number(largest.turns_based_per_s / peak.turns_based_per_s, 3),
        Cell::known(reference.map(|r| largest.turns_based_per_s / r), 3),
        plateau_from.map_or(Cell::Unknown, Cell::Count),
        plateau_to.map_or(Cell::Unknown, Cell::Count),
    ]);
    let sources = closed.iter().flat_map(|run| run.sources.clone()).collect();
    Some(Row { key: key.join("/"), cells, sources })
}

/// A curve by population, each the mean over its runs.
fn points(closed: &[&ScoredRun], mean_turns: f64) -> BTreeMap<u64, Point> {
    let runs = closed.iter().map(|run| (run.meta.population, run.measures.window.as_ref()));
    by_population(runs).iter().map(|(n, windows)| (*n, point(windows, mean_turns))).collect()
}

/// One population: means over its runs.
fn point(windows: &[&WindowMeasures], mean_turns: f64) -> Point {
    Point {
        turns_based_per_s: mean(windows, |w| Some(w.turns_per_s / mean_turns)).unwrap_or(f64::NAN),
        completed_per_s: mean(windows, |w| Some(w.completions_per_s)).unwrap_or(f64::NAN),
        hits: mean(windows, |w| w.hits.value()),
        token_hits: mean(windows, |w| w.token_hit_fraction),
    }
}
