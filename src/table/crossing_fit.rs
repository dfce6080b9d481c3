//! The measured half-hit crossing against the pool: affine in the pool over one GPU's pools,
//! and in proportion to it as one constant for every cell would have it (App. F).

use std::collections::BTreeMap;

use crate::judged::ScoredRun;
use crate::law::interval::student_t;
use crate::measure::stats;
use crate::run::SourceFile;
use crate::setup::Configs;

use super::crossings::{HalfHit, half_hit_crossings};
use super::{Cell, Col, Heading, Table, session_means};

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

/// The crossings of one source of runs.
struct Crossings<'a> {
    source: &'static str,
    points: Vec<Point<'a>>,
    sources: Vec<SourceFile>,
}

impl Crossings<'_> {
    /// Those of the A100 pools.
    fn pools(&self) -> Vec<(f64, f64)> {
        let of_pool = self.points.iter().filter(|point| POOLS.contains(&point.cell));
        of_pool.map(|point| (point.capacity, point.crossing)).collect()
    }

    fn fit(&self) -> Option<Affine> {
        affine(&self.pools())
    }

    /// The intercept's interval.
    fn interval(&self) -> Option<(f64, f64)> {
        let fit = self.fit()?;
        let freedom = self.pools().len() as u64 - 2;
        let width = student_t(freedom, CONFIDENCE)? * fit.intercept_error?;
        Some((fit.intercept - width, fit.intercept + width))
    }

    fn leave_one_out(&self) -> Option<f64> {
        let all: Vec<_> = self.points.iter().map(|p| (p.capacity, p.crossing)).collect();
        leave_one_out(&all)
    }
}

/// The table, a row per source of runs.
pub fn table(runs: &[ScoredRun], configs: &Configs) -> Table {
    let columns: &[Col<Crossings<'_>>] = &[
        Heading("source", "", "What made the runs: engine or simulator")
            .key(|of| Cell::text(of.source)),
        Heading("pools", "cells", "A100 pools that the line was fitted to")
            .count(|of| of.pools().len() as u64),
        Heading(
            "intercept_sessions",
            "sessions",
            "Intercept of half-hit crossing against pool over mean footprint",
        )
        .known(2, |of| of.fit().map(|fit| fit.intercept)),
        Heading("slope", "", "Half-hit crossing against pool over mean footprint")
            .known(3, |of| of.fit().map(|fit| fit.slope)),
        Heading("intercept_standard_error_sessions", "sessions", "Standard error of the intercept")
            .known(2, |of| of.fit().and_then(|fit| fit.intercept_error)),
        Heading("intercept_lower_95_sessions", "sessions", "Lower end of its 95 % interval")
            .known(1, |of| of.interval().map(|i| i.0)),
        Heading("intercept_upper_95_sessions", "sessions", "Upper end of its 95 % interval")
            .known(1, |of| of.interval().map(|i| i.1)),
        Heading("cells", "cells", "Cells that the proportion was fitted to")
            .count(|of| of.points.len() as u64),
        Heading(
            "leave_one_out_mean_error_sessions",
            "sessions",
            "Mean error of the proportion fitted to all other cells",
        )
        .known(2, |of| of.leave_one_out()),
    ];
    let found = half_hit_crossings(runs, configs);
    let mut by_source: BTreeMap<&str, Crossings<'_>> = BTreeMap::new();
    for HalfHit { cell: name, source, sessions, sources } in &found {
        let Some(means) = session_means(configs, name) else { continue };
        let Some((cell, ..)) = configs.of_cell(name) else { continue };
        let capacity = cell.pool_tokens as f64 / means.mean_footprint_tokens();
        let none = || Crossings { source, points: Vec::new(), sources: Vec::new() };
        let all = by_source.entry(source).or_insert_with(none);
        all.points.push(Point { cell: name, capacity, crossing: *sessions });
        all.sources.extend(sources.clone());
    }
    let title = "Half-hit crossings against the pool";
    Table::of("crossing_fit", title, columns, by_source.values(), |of| {
        (of.source.into(), of.sources.clone())
    })
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
