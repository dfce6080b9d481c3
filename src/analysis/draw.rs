//! From scored runs to figures: one file per figure builds its input.
//!
//! A figure never sees a run; it gets what was measured, judged and predicted.

mod closed_curve;
mod rescue;
pub mod run_picture;
mod stampede;
mod theorem;
mod time_scales;

use crate::figure::Figure;
use crate::measure::Share;
use crate::run::SourceFile;
use crate::setup::Configs;

use super::score::ScoredRun;
use super::spec::{Draw, FigureSpec};

/// Draws a figure of these runs, and lists the files behind it.
pub fn draw(runs: &[ScoredRun], spec: &FigureSpec, configs: &Configs) -> (Figure, Vec<SourceFile>) {
    let (figure, used): (Figure, Vec<&ScoredRun>) = match &spec.draw {
        Draw::Stampede { rates } => stampede::draw(runs, spec, rates),
        Draw::Rescue { columns } => rescue::draw(runs, spec, columns, configs),
        Draw::ClosedCurve { cells } => closed_curve::draw(runs, spec, cells, configs),
        Draw::Theorem { cells, rho, calibration } => {
            theorem::draw(runs, spec, &theorem::Lines { cells, rho: *rho }, *calibration, configs)
        }
        Draw::TimeScales {} => time_scales::draw(runs, spec),
    };
    let mut sources: Vec<SourceFile> =
        used.iter().flat_map(|run| run.sources.iter().cloned()).collect();
    sources.sort();
    sources.dedup();
    (figure, sources)
}

/// Whether a run has this rate.
fn at_rate(run: &ScoredRun, rate: f64) -> bool {
    run.meta.rate.multiple.is_some_and(|m| (m - rate).abs() < 1e-6)
}

/// Bins of shares as hit fractions; unknown where a bin cannot say.
fn fractions(shares: &[(f64, Share)]) -> Vec<(f64, Option<f64>)> {
    shares.iter().map(|(t, share)| (*t, share.value())).collect()
}
