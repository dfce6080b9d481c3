//! Sojourns in the trap against their arrival (Theorem 1(b), App. B): among sessions with
//! similar numbers of turns T the sojourn grows with the arrival time at about E[z^T - 1].

use crate::judged::ScoredRun;
use crate::law::trap_check::Calibration;
use crate::measure::at_burst::Arrival;
use crate::measure::stats;
use crate::setup::{Arm, Span};

use super::about_run::{AboutRun, with_identity};
use super::{Cell, Col, Heading, Table, judged_for_the_paired_test};

/// Arrivals that are used (App. B).
const ARRIVALS: Span = Span::new(2500.0, 7000.0);
/// Numbers of turns that count as similar. The paper does not print its bins; these hold a
/// third to a quarter of the sessions each, up to the paper's longest session.
const BINS: [(usize, usize); 3] = [(1, 5), (6, 15), (16, 60)];

/// A run and what was found in one of the bins.
type Binned<'a> = (&'a ScoredRun, (usize, Growth));

fn columns<'a>() -> Vec<Col<Binned<'a>>> {
    with_identity(&[
        Heading("bin", "", "Sessions by their number of turns")
            .key(|(_, (bin, _))| Cell::Count(*bin as u64 + 1)),
        Heading("least_turns", "turns", "Fewest turns of a session in the bin")
            .key(|(_, (bin, _))| Cell::Count(BINS[*bin].0 as u64)),
        Heading("most_turns", "turns", "Most turns of a session in the bin")
            .key(|(_, (bin, _))| Cell::Count(BINS[*bin].1 as u64)),
        Heading("longest_bin", "", "Whether the bin is that of the longest sessions")
            .key(|(_, (bin, _))| Cell::yes_no(Some(bin + 1 == BINS.len()))),
        Heading("sessions", "sessions", "Sessions in the bin")
            .count(|(_, (_, found))| found.sessions),
        // Fewer than two completed sessions have no slope.
        Heading("sojourn_slope", "s/s", "Growth of the sojourn with the arrival time")
            .optional(4, |(_, (_, found))| found.slope),
        Heading("predicted_slope", "s/s", "That growth by Theorem 1(b)")
            .optional(4, |(_, (_, found))| found.predicted),
        Heading("slope_ratio", "", "Measured over predicted growth")
            .optional(2, |(_, (_, found))| {
                found.slope.zip(found.predicted).map(|(slope, model)| slope / model)
            }),
    ])
}

/// The table, a row per stuck BURST run of the paired test and bin.
pub fn table(runs: &[ScoredRun]) -> Table {
    let stuck = judged_for_the_paired_test(runs)
        .filter(|run| run.meta.arm == Arm::Burst && run.stuck == Some(true));
    let title = "Growth of sojourns with the arrival time, by number of turns";
    Table::of("self_similarity", title, &columns(), stuck.flat_map(bins), |of| {
        (format!("{}/{}", of.dir(), of.1.0 + 1), of.sources())
    })
}

fn bins(run: &ScoredRun) -> Vec<Binned<'_>> {
    let check = run.checks.as_ref().ok().and_then(|checks| {
        checks.iter().find(|c| c.calibration == Calibration::Cell)?.trap.as_ref()
    });
    let Some(z) = check.map(|served| served.trap.z) else { return Vec::new() };
    let found = |(i, turns): (usize, &_)| (run, (i, Growth::of(&run.from_burst, *turns, z)));
    BINS.iter().enumerate().map(found).collect()
}

/// How sojourns of one bin grow with the arrival time.
#[derive(Debug, PartialEq)]
struct Growth {
    /// Completed sessions of the bin.
    sessions: u64,
    /// Least-squares slope of the sojourn on the arrival time, s/s.
    slope: Option<f64>,
    /// Their mean of z^T - 1.
    predicted: Option<f64>,
}

impl Growth {
    fn of(arrivals: &[Arrival], (least, most): (usize, usize), z: f64) -> Self {
        let completed: Vec<(f64, f64, usize)> = arrivals
            .iter()
            .filter(|a| ARRIVALS.holds(a.arrival_s) && (least..=most).contains(&a.turns))
            .filter_map(|a| a.completed_s().map(|end| (a.arrival_s, end - a.arrival_s, a.turns)))
            .collect();
        let sojourns: Vec<(f64, f64)> = completed.iter().map(|(t, s, _)| (*t, *s)).collect();
        let growth: Vec<f64> =
            completed.iter().map(|(.., turns)| libm::pow(z, *turns as f64) - 1.0).collect();
        Self {
            sessions: completed.len() as u64,
            slope: (!sojourns.is_empty())
                .then(|| stats::least_squares(&sojourns))
                .flatten()
                .map(|line| line.slope),
            predicted: stats::mean(&growth),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Kind;

    /// Arrivals every 10 s with `turns` turns that leave at z^turns (t + origin) - origin.
    fn orbit(z: f64, turns: usize, origin_s: f64) -> Vec<Arrival> {
        (0..600)
            .map(|i| 2000.0 + 10.0 * f64::from(i))
            .map(|arrival_s| Arrival {
                arrival_s,
                next_turn: 1,
                turns,
                kind: Kind::Base,
                end_s: Some(libm::pow(z, turns as f64) * (arrival_s + origin_s) - origin_s),
                completed: true,
            })
            .collect()
    }

    #[test]
    fn on_the_affine_orbit_the_sojourn_grows_as_predicted() {
        let growth = Growth::of(&orbit(1.02, 4, 300.0), (1, 5), 1.02);
        assert_eq!(growth.sessions, 450);
        let (slope, predicted) = (growth.slope.unwrap(), growth.predicted.unwrap());
        assert!((slope / predicted - 1.0).abs() < 1e-9, "{slope} {predicted}");
    }

    #[test]
    fn other_bins_and_sessions_that_did_not_complete_are_left_out() {
        assert_eq!(Growth::of(&orbit(1.02, 6, 0.0), (1, 5), 1.02).sessions, 0);
        let mut left = orbit(1.02, 4, 0.0);
        left.iter_mut().for_each(|a| a.completed = false);
        let none = Growth { sessions: 0, slope: None, predicted: None };
        assert_eq!(Growth::of(&left, (1, 5), 1.02), none);
    }
}
