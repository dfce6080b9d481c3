//! Peak and half-hit crossing of each cell's closed-population curve, with what is
//! registered from it (Tables 13 and 20, App. E.3, App. F).

use std::collections::BTreeMap;

use crate::judged::ScoredRun;
use crate::measure::closed_curve::{by_population, half_hit_crossing, mean};
use crate::measure::{WindowMeasures, stats};
use crate::run::SourceFile;
use crate::setup::{Arm, Configs};

use super::{Cell, Col, Heading, Table, session_means};

/// The cap is the smallest population whose rate is at least this share of the peak's; the
/// plateau is those of completed rates within it ("within 5% of the measured peak").
const CAP_SHARE: f64 = 0.95;

/// The closed runs of a cell, as one curve.
struct Curve<'a> {
    cell: &'a str,
    source: &'static str,
    closed: &'a [&'a ScoredRun],
    points: BTreeMap<u64, Point>,
    /// The population with the greatest turns-based rate, and the largest.
    peak: (u64, Point),
    largest: (u64, Point),
    /// lambda_ref, sessions/s.
    reference: Option<f64>,
}

impl<'a> Curve<'a> {
    fn of(
        (cell, source): (&'a str, &'static str),
        closed: &'a [&'a ScoredRun],
        reference: Option<f64>,
        configs: &Configs,
    ) -> Option<Self> {
        let points = points(closed, session_means(configs, cell)?.mean_turns);
        let turns = |p: &Point| p.turns_based_per_s;
        let own = |(n, point): (&u64, &Point)| (*n, *point);
        let peak = points.iter().max_by(|a, b| turns(a.1).total_cmp(&turns(b.1))).map(own)?;
        let largest = points.last_key_value().map(own)?;
        Some(Self { cell, source, closed, points, peak, largest, reference })
    }

    /// The greatest completed rate, sessions/s.
    fn peak_completed_per_s(&self) -> f64 {
        let rates = self.points.values().map(|point| point.completed_per_s);
        rates.max_by(f64::total_cmp).unwrap_or(f64::NAN)
    }

    fn over_reference(&self, per_s: f64) -> Option<f64> {
        self.reference.map(|reference| per_s / reference)
    }

    /// Populations on the plateau of completed rates.
    fn plateau(&self) -> impl DoubleEndedIterator<Item = u64> {
        let least = CAP_SHARE * self.peak_completed_per_s();
        self.points.iter().filter(move |(_, p)| p.completed_per_s >= least).map(|(n, _)| *n)
    }

    /// The smallest population whose rate is at least a share of the peak's.
    fn cap(&self) -> Option<u64> {
        let least = CAP_SHARE * self.peak.1.turns_based_per_s;
        self.points.iter().find(|(_, p)| p.turns_based_per_s >= least).map(|(n, _)| *n)
    }
}

fn columns<'a>() -> Vec<Col<Curve<'a>>> {
    vec![
        Heading("cell", "", "Engine, GPU, model and pool, as named in configs/cells")
            .key(|of| Cell::text(of.cell)),
        Heading("source", "", "What made the runs: engine or simulator")
            .key(|of| Cell::text(of.source)),
        Heading("populations", "", "Populations that were run").count(|of| of.points.len() as u64),
        Heading(
            "half_hit_crossing_sessions",
            "sessions",
            "Half-hit crossing: population at which half of the turns hit",
        )
        .known(1, |of| crossing(&of.points, |point| point.hits)),
        Heading(
            "half_token_hit_crossing_sessions",
            "sessions",
            "Population at which half of the prompt tokens hit",
        )
        .known(1, |of| crossing(&of.points, |point| point.token_hits)),
        Heading("peak_population", "sessions", "Population at which the session rate peaks")
            .count(|of| of.peak.0),
        Heading("peak_turns_based_per_s", "sessions/s", "Peak session rate, by turns")
            .number(4, |of| of.peak.1.turns_based_per_s),
        Heading("peak_completed_per_s", "sessions/s", "Peak session rate, by completed sessions")
            .number(4, |of| of.peak_completed_per_s()),
        Heading("peak_ratio_turns", "lambda_ref", "Peak rate by turns")
            .known(2, |of| of.over_reference(of.peak.1.turns_based_per_s)),
        Heading("peak_ratio_completed", "lambda_ref", "Peak rate by completed sessions")
            .known(2, |of| of.over_reference(of.peak_completed_per_s())),
        Heading("cap_population", "sessions", "First population whose rate comes near the peak")
            .new(|of| of.cap().map_or(Cell::Unknown, Cell::Count)),
        Heading("largest_population", "sessions", "Largest population that was run")
            .count(|of| of.largest.0),
        Heading("largest_over_peak_turns", "", "Rate at the largest population over the peak")
            .number(3, |of| of.largest.1.turns_based_per_s / of.peak.1.turns_based_per_s),
        Heading("largest_over_lambda_ref", "", "Rate at the largest population over lambda_ref")
            .known(3, |of| of.over_reference(of.largest.1.turns_based_per_s)),
        Heading("plateau_from_sessions", "sessions", "First population with a rate near the peak")
            .new(|of| of.plateau().next().map_or(Cell::Unknown, Cell::Count)),
        Heading("plateau_to_sessions", "sessions", "Last population with a rate near the peak")
            .new(|of| of.plateau().next_back().map_or(Cell::Unknown, Cell::Count)),
    ]
}

/// The table: a row per cell. lambda_ref is that of the cell's own cache-off runs of the
/// smallest population, else of the reference cell's; unknown without either.
pub fn table(runs: &[ScoredRun], configs: &Configs) -> Table {
    let groups = closed_runs(runs);
    let curves = groups.iter().filter_map(|(key, closed)| {
        Curve::of(*key, closed, reference(runs, key.0, key.1, configs), configs)
    });
    let title = "Closed-population curves: half-hit crossing, peak, cap";
    Table::of("crossings", title, &columns(), curves, |of| {
        let sources = of.closed.iter().flat_map(|run| run.sources.clone()).collect();
        (format!("{}/{}", of.cell, of.source), sources)
    })
}

/// The closed runs by cell and source.
fn closed_runs(runs: &[ScoredRun]) -> BTreeMap<(&str, &'static str), Vec<&ScoredRun>> {
    let mut groups: BTreeMap<_, Vec<&ScoredRun>> = BTreeMap::new();
    for run in runs.iter().filter(|run| run.meta.arm == Arm::Closed) {
        groups.entry((run.meta.cell.as_str(), run.meta.source.word())).or_default().push(run);
    }
    groups
}

/// A cell's measured half-hit crossing.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct HalfHit {
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
pub(crate) fn half_hit_crossings(runs: &[ScoredRun], configs: &Configs) -> Vec<HalfHit> {
    let found = |(&(cell, source), closed): (&(&str, &'static str), &Vec<&ScoredRun>)| {
        let points = points(closed, session_means(configs, cell)?.mean_turns);
        Some(HalfHit {
            cell: cell.to_owned(),
            source,
            sessions: crossing(&points, |point| point.hits)?,
            sources: closed.iter().flat_map(|run| run.sources.clone()).collect(),
        })
    };
    closed_runs(runs).iter().filter_map(found).collect()
}

/// Where a share falls through one half, sessions.
fn crossing(points: &BTreeMap<u64, Point>, of: fn(&Point) -> Option<f64>) -> Option<f64> {
    let curve: Vec<(f64, f64)> =
        points.iter().filter_map(|(n, point)| Some((*n as f64, of(point)?))).collect();
    half_hit_crossing(&curve)
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

#[derive(Clone, Copy)]
struct Point {
    turns_based_per_s: f64,
    completed_per_s: f64,
    hits: Option<f64>,
    token_hits: Option<f64>,
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
