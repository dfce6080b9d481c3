//! A workload of sessions in the simulator beside the theory: stuck runs against model F, closed
//! populations against the entry model.

use crate::figure::Figure;
use crate::figure::session_law::{Predicted, SessionLaw, session_law};
use crate::judged::score::ScoredRun;
use crate::model::{ModelError, Theory};
use crate::setup::Configs;

use super::closed_curve;
use super::spec::FigureSpec;
use super::theorem::{self, Asked, Check};

/// States of the entry model that are drawn.
const STEPS: usize = 240;

/// The runs of one cell, solved, with model F's lines over the loads of `asked`.
///
/// # Errors
/// A cell without iteration costs.
pub fn draw<'a>(
    runs: &'a [ScoredRun],
    spec: &FigureSpec,
    asked: &Asked<'_>,
    theory: &Theory,
    configs: &Configs,
) -> Result<(Figure, Vec<&'a ScoredRun>), ModelError> {
    let Check { input: mut check, stuck: mut used, .. } =
        theorem::check(runs, spec, asked, configs);
    let closed_runs = closed_curve::of_cells(runs, asked.cells);
    let closed = closed_curve::points(closed_runs.iter().copied(), Some(theory.means.mean_turns));
    let curve = theory.curve()?;
    let onset_n = curve.model().onset().population();
    let most = closed.iter().map(|p| f64::from(p.n)).fold(onset_n, f64::max);
    let least = closed.iter().map(|p| f64::from(p.n)).fold(onset_n, f64::min);
    let predicted = (0..=STEPS).map(|i| {
        let n = least * libm::pow(most / least, i as f64 / STEPS as f64);
        let state = curve.state(n);
        let hit_fraction = curve.model().followup_share() * state.hit_probability;
        Predicted { n, hit_fraction, sessions_per_s: state.mu_per_s }
    });
    check.note = format!(
        "{} Sessions: {}. {}",
        check.note,
        theory.workload.name,
        closed_curve::runs_note(&closed_runs)
    );
    let input = SessionLaw {
        check,
        closed,
        predicted: predicted.collect(),
        crossing_n: curve.half_hit_crossing().map(|state| state.population),
        onset_n: Some(onset_n),
    };
    used.extend(closed_runs);
    Ok((session_law(&input), used))
}
