//! The measured half-hit crossing against the pool: affine in the pool over one GPU's pools,
//! and in proportion to it as one constant for every cell would have it (App. F).

use std::collections::BTreeMap;

use crate::judged::ScoredRun;
use crate::law::interval::student_t;
use crate::measure::stats;
use crate::run::SourceFile;
use crate::setup::Configs;

use super::crossings::half_hit_crossings;
use super::{Cell, Column, Row, Table, session_means};

const COLUMNS: &[Column] = &[
    Column::key("source", ""),
    Column::new("pools", "cells"),
    Column::new("intercept_sessions", "sessions"),
    Column::new("slope", ""),
    Column::new("intercept_standard_error_sessions", "sessions"),
    Column::new("intercept_lower_95_sessions", "sessions"),
    Column::new("intercept_upper_95_sessions", "sessions"),
    Column::new("cells", "cells"),
    Column::new("leave_one_out_mean_error_sessions", "sessions"),
];

/// The A100 pools of one engine and model (App. F).
const POOLS: [&str; 4] = ["sglang-150k", "sglang-300k", "sglang-600k", "sglang-native"];
/// The confidence of the interval (App. F).
const CONFIDENCE: f64 = 0.95;

/// A cell's pool over its mean footprint, M / E_bar, and its crossing, both in sessions.
struct Point<'a> {
    cell: &'a str,
    capacity: f64,
    crossing: f64,
}

/// The table, a row per source of runs.
pub fn table(runs: &[ScoredRun], configs: &Configs) -> Table {
    let crossings = half_hit_crossings(runs, configs);
    let mut by_source: BTreeMap<&str, (Vec<Point<'_>>, Vec<SourceFile>)> = BTreeMap::new();
    for found in &crossings {
        let Some(means) = session_means(configs, &found.cell) else { continue };
        let Some((cell, ..)) = configs.of_cell(&found.cell) else { continue };
        let capacity = cell.pool_tokens as f64 / means.mean_footprint_tokens();
        let (points, sources) = by_source.entry(found.source).or_default();
        points.push(Point { cell: &found.cell, capacity, crossing: found.sessions });
        sources.extend(found.sources.clone());
    }
    Table {
        name: "crossing_fit".into(),
        title: "Half-hit crossings against the pool".into(),
        columns: COLUMNS.to_vec(),
        rows: by_source
            .into_iter()
            .map(|(source, (points, sources))| row(source, &points, sources))
            .collect(),
    }
}

fn row(source: &str, points: &[Point<'_>], sources: Vec<SourceFile>) -> Row {
    let pools: Vec<(f64, f64)> = points
        .iter()
        .filter(|p| POOLS.contains(&p.cell))
        .map(|p| (p.capacity, p.crossing))
        .collect();
    let fit = affine(&pools);
    let interval = fit.and_then(|fit| {
        let width = student_t(pools.len() as u64 - 2, CONFIDENCE)? * fit.intercept_error?;
        Some((fit.intercept - width, fit.intercept + width))
    });
    let all: Vec<(f64, f64)> = points.iter().map(|p| (p.capacity, p.crossing)).collect();
    Row {
        key: source.into(),
        cells: vec![
            Cell::text(source),
            Cell::Count(pools.len() as u64),
            Cell::known(fit.map(|f| f.intercept), 2),
            Cell::known(fit.map(|f| f.slope), 3),
            Cell::known(fit.and_then(|f| f.intercept_error), 2),
            Cell::known(interval.map(|i| i.0), 1),
            Cell::known(interval.map(|i| i.1), 1),
            Cell::Count(all.len() as u64),
            Cell::known(leave_one_out(&all), 2),
        ],
        sources,
    }
}

/// A fitted line with its intercept's standard error.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Affine {
    intercept: f64,
    slope: f64,
    /// `None` of two points, which leave no residual.
    intercept_error: Option<f64>,
}

fn affine(points: &[(f64, f64)]) -> Option<Affine> {
    if points.len() < 2 {
        return None;
    }
    let line = stats::least_squares(points)?;
    let n = points.len() as f64;
    let mean = points.iter().map(|p| p.0).sum::<f64>() / n;
    let spread: f64 = points.iter().map(|p| (p.0 - mean) * (p.0 - mean)).sum();
    let residual = |p: &(f64, f64)| p.1 - line.intercept - line.slope * p.0;
    let squares: f64 = points.iter().map(|p| residual(p) * residual(p)).sum();
    let intercept_error =
        (points.len() > 2).then(|| (squares / (n - 2.0) * (1.0 / n + mean * mean / spread)).sqrt());
    Some(Affine { intercept: line.intercept, slope: line.slope, intercept_error })
}

/// The mean over cells of how far a crossing lies from the one in proportion to the pool
/// whose constant is fitted to all others (least squares through the origin), sessions.
fn leave_one_out(points: &[(f64, f64)]) -> Option<f64> {
    if points.len() < 2 {
        return None;
    }
    let errors: Vec<f64> = (0..points.len())
        .map(|left_out| {
            let others = || points.iter().enumerate().filter(|(i, _)| *i != left_out);
            let products: f64 = others().map(|(_, (x, y))| x * y).sum();
            let squares: f64 = others().map(|(_, (x, _))| x * x).sum();
            let (capacity, crossing) = points[left_out];
            (products / squares * capacity - crossing).abs()
        })
        .collect();
    stats::mean(&errors)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_found_exactly_and_its_intercept_then_has_no_error() {
        let fit = affine(&[(1.0, 5.0), (2.0, 7.0), (4.0, 11.0)]).unwrap();
        assert!((fit.intercept - 3.0).abs() < 1e-12 && (fit.slope - 2.0).abs() < 1e-12);
        assert!(fit.intercept_error.unwrap() < 1e-12);
        assert_eq!(affine(&[(1.0, 5.0), (2.0, 7.0)]).unwrap().intercept_error, None);
    }

    #[test]
    fn the_intercept_s_error_is_the_textbook_s() {
        // x = 0, 1, 2, 3 and residuals +1, -1, -1, +1: slope 0, intercept 1,
        // s^2 = 4 / 2, error^2 = 2 (1/4 + 2.25 / 5).
        let fit = affine(&[(0.0, 2.0), (1.0, 0.0), (2.0, 0.0), (3.0, 2.0)]).unwrap();
        assert_eq!((fit.slope, fit.intercept), (0.0, 1.0));
        assert!((fit.intercept_error.unwrap() - 1.4_f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn crossings_in_proportion_leave_no_error_and_one_that_is_not_is_missed() {
        assert!(leave_one_out(&[(1.0, 2.0), (2.0, 4.0), (5.0, 10.0)]).unwrap() < 1e-12);
        // Fitted without it, the constant is 2 and the last cell is 5 sessions off.
        let errors = leave_one_out(&[(1.0, 2.0), (1.0, 7.0)]).unwrap();
        assert_eq!(errors, 5.0);
        assert_eq!(leave_one_out(&[(1.0, 2.0)]), None);
    }
}
