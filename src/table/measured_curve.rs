//! A cell's measured closed-population curve: completions by population, from its closed runs.

use crate::judged::ScoredRun;
use crate::measure::closed_curve::{by_population, mean};
use crate::model::rescue::gate_drain_s;
use crate::setup::Arm;

/// Completions of a closed population, sessions/s, linear between the populations that were
/// run and from 0 at none (App. E.4).
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct MeasuredCurve(Vec<(f64, f64)>);

impl MeasuredCurve {
    /// The curve of a cell from runs of one source; repeated populations give their mean.
    /// `None` without a closed run.
    pub fn of(runs: &[ScoredRun], cell: &str, source: &str) -> Option<Self> {
        let closed = runs.iter().filter(|r| {
            r.meta.arm == Arm::Closed && r.meta.cell == cell && r.meta.source.word() == source
        });
        let windows =
            by_population(closed.map(|run| (run.meta.population, run.measures.window.as_ref())));
        let measured: Vec<(f64, f64)> = windows
            .into_iter()
            .filter_map(|(n, at)| Some((n as f64, mean(&at, |w| Some(w.completions_per_s))?)))
            .collect();
        (!measured.is_empty()).then(|| Self::through(measured))
    }

    fn through(measured: Vec<(f64, f64)>) -> Self {
        Self([vec![(0.0, 0.0)], measured].concat())
    }

    /// mu at a population, sessions/s; `None` beyond the largest that was run.
    pub fn mu_per_s(&self, population: f64) -> Option<f64> {
        let inside = |w: &&[(f64, f64)]| w[0].0 <= population && population <= w[1].0;
        let w = self.0.windows(2).find(inside)?;
        Some(w[0].1 + (population - w[0].0) / (w[1].0 - w[0].0) * (w[1].1 - w[0].1))
    }

    /// mu*, the greatest measured rate, sessions/s.
    pub(crate) fn peak_per_s(&self) -> f64 {
        self.0.iter().map(|p| p.1).fold(0.0, f64::max)
    }

    /// n_1: the first population that completes `lambda_per_s`, sessions. `None` where none
    /// does.
    pub fn good_state(&self, lambda_per_s: f64) -> Option<f64> {
        let w = self.0.windows(2).find(|w| w[0].1 <= lambda_per_s && lambda_per_s <= w[1].1)?;
        if w[1].1 == w[0].1 {
            return Some(w[0].0);
        }
        Some(w[0].0 + (lambda_per_s - w[0].1) / (w[1].1 - w[0].1) * (w[1].0 - w[0].0))
    }

    /// How long a cap takes to drain `burst` sessions that join the good state, s:
    /// (n_1 + b - c) / (mu(c) - lambda) (App. E.4). `None` where the curve does not say.
    pub fn gate_drain_s(&self, burst: f64, cap: f64, lambda_per_s: f64) -> Option<f64> {
        let present = self.good_state(lambda_per_s)? + burst;
        gate_drain_s(present, cap, self.mu_per_s(cap)?, lambda_per_s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_linear_from_none_and_between_the_populations_that_were_run() {
        let curve = MeasuredCurve::through(vec![(10.0, 0.2), (20.0, 0.3), (30.0, 0.1)]);
        assert_eq!(curve.mu_per_s(5.0), Some(0.1));
        assert_eq!(curve.mu_per_s(15.0), Some(0.25));
        assert_eq!(curve.mu_per_s(31.0), None);
        assert_eq!(curve.peak_per_s(), 0.3);
    }

    #[test]
    fn the_good_state_is_the_first_population_that_serves_the_load() {
        let curve = MeasuredCurve::through(vec![(10.0, 0.2), (20.0, 0.3), (30.0, 0.1)]);
        assert!((curve.good_state(0.25).unwrap() - 15.0).abs() < 1e-9);
        assert!((curve.good_state(0.15).unwrap() - 7.5).abs() < 1e-9);
        assert_eq!(curve.good_state(0.31), None);
    }

    #[test]
    fn a_gate_drains_what_the_burst_left_above_the_cap_at_the_surplus() {
        let curve = MeasuredCurve::through(vec![(10.0, 0.2), (20.0, 0.3)]);
        // n_1 = 5 at 0.1; 5 + 200 - 20 sessions at 0.3 - 0.1 per s.
        assert!((curve.gate_drain_s(200.0, 20.0, 0.1).unwrap() - 925.0).abs() < 1e-9);
        assert_eq!(curve.gate_drain_s(200.0, 20.0, 0.3), None);
    }
}
