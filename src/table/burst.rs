//! Every run around the burst: hits before it, backlog after it and over the window, the
//! first bin without a hit, and how long a gate took to drain it.

use std::collections::{BTreeMap, BTreeSet};

use crate::analysis::ScoredRun;
use crate::rule::Arm;

use super::measured_curve::MeasuredCurve;
use super::{Cell, Column, Row, Table, open_run};

const COLUMNS: &[Column] = &[
    Column::new("hit_fraction_before", ""),
    Column::new("backlog_before_sessions", "sessions"),
    Column::new("backlog_after_burst_sessions", "sessions"),
    Column::new("backlog_window_mean_sessions", "sessions"),
    Column::new("first_bin_without_hits_s", "s"),
    Column::new("gate_drained_after_s", "s"),
    Column::new("gate_drain_quasi_static_s", "s"),
];

/// The table, a row per run of an open arm.
pub fn table(runs: &[ScoredRun]) -> Table {
    let capped = runs.iter().filter(|run| is_capped(run));
    let curves: Curves<'_> = capped
        .map(|run| (run.meta.cell.as_str(), run.meta.source.word()))
        .collect::<BTreeSet<_>>()
        .into_iter()
        .filter_map(|(cell, source)| Some(((cell, source), MeasuredCurve::of(runs, cell, source)?)))
        .collect();
    Table {
        name: "burst".into(),
        title: "Runs around the burst: before, after, the first bin without a hit, the drain"
            .into(),
        columns: open_run::columns(COLUMNS),
        rows: runs.iter().filter_map(|run| row(run, &curves)).collect(),
    }
}

/// Measured curves by cell and source of runs.
type Curves<'a> = BTreeMap<(&'a str, &'static str), MeasuredCurve>;

fn is_capped(run: &ScoredRun) -> bool {
    Arm::of(&run.meta.arm) == Some(Arm::Capped)
}

/// How long the cell's own measured curve lets the cap drain the burst (App. E.4), s.
fn quasi_static_drain_s(run: &ScoredRun, curves: &Curves<'_>) -> Option<f64> {
    let curve = curves.get(&(run.meta.cell.as_str(), run.meta.source.word()))?;
    let cap = run.meta.gate?.n_cap as f64;
    curve.gate_drain_s(run.treatment.burst_sessions as f64, cap, run.meta.rate.lambda?)
}

fn row(run: &ScoredRun, curves: &Curves<'_>) -> Option<Row> {
    let burst = run.burst.as_ref()?;
    let gated = run.meta.gate.is_some();
    let found = vec![
        Cell::known(burst.hits_before.value(), 3),
        Cell::Number(burst.backlog_before, 0),
        Cell::Number(burst.backlog_after, 0),
        Cell::known(run.measures.window.as_ref().map(|w| w.backlog_mean), 1),
        Cell::optional(burst.no_hits_from_s, 0),
        // A gate that never empties has no drain time; a run without a gate no gate.
        match burst.gate_drained_after_s {
            Some(s) => Cell::Number(s, 0),
            None if gated => Cell::text("never"),
            None => Cell::Empty,
        },
        if is_capped(run) {
            Cell::known(quasi_static_drain_s(run, curves), 0)
        } else {
            Cell::Empty
        },
    ];
    Some(open_run::row(run, found))
}
