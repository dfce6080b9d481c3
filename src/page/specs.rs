//! The figures of a page of runs that no analysis names: those that there are runs for.

use std::collections::BTreeSet;

use crate::analysis::spec::{Draw, FigureSpec};
use crate::judged::{ScoredRun, Scoring};
use crate::law::trap_check::{Calibration, Entry};
use crate::name::NameError;

use super::real;

/// The least load of a model line, rho.
const FROM: f64 = 1.02;
/// The load that a line reaches at least.
const TO: f64 = 2.0;

/// The stampede of a real engine's runs, and the check of Theorem 1 by the cells' calibration and
/// at each run's own speed.
///
/// # Errors
/// There is none: the names are plain.
pub fn figures_of(scoring: &Scoring) -> Result<Vec<FigureSpec>, NameError> {
    let mut figures = Vec::new();
    let mut add = |name: &str, title: &str, draw: Draw| -> Result<(), NameError> {
        let name = name.parse()?;
        figures.push(FigureSpec { name, title: title.to_owned(), source: None, draw });
        Ok(())
    };
    let shown = real::most(scoring.runs.iter());
    if let Some((first, rate)) = shown.first().and_then(|run| Some((run, run.meta.rate.multiple?)))
    {
        let draw = Draw::Stampede { cell: Some(first.meta.cell.clone()), rates: vec![rate] };
        add("stampede", "The stampede", draw)?;
    }
    let stuck = || {
        let is_compared = |run: &&ScoredRun| Entry::of(&run.meta.arm) != Entry::Changed;
        scoring.runs.iter().filter(|run| run.stuck == Some(true)).filter(is_compared)
    };
    let cells: BTreeSet<&String> = stuck().map(|run| &run.meta.cell).collect();
    if cells.is_empty() {
        return Ok(figures);
    }
    let by = [
        ("theorem", "Theorem 1 against the stuck runs", Calibration::Cell),
        (
            "theorem_run_speed",
            "Theorem 1 against the stuck runs, each at its own speed",
            Calibration::RunSpeed,
        ),
    ];
    for (name, title, calibration) in by {
        let checks = stuck().flat_map(|run| run.checks.iter().flatten());
        let loads = checks.filter(|check| check.calibration == calibration).map(|check| check.rho);
        let to = loads.filter(|rho| rho.is_finite()).fold(TO, f64::max);
        let cells = cells.iter().map(|cell| (*cell).clone()).collect();
        let draw = Draw::Theorem { cells, rho: (FROM, to), calibration, published: None };
        add(name, title, draw)?;
    }
    Ok(figures)
}
