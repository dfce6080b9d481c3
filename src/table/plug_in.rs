//! The plug-in and the slope rule: base arrivals of a run's own plan less model F's
//! completions, against the backlog's measured slope and the rule's threshold on it (App. B).

use crate::judged::ScoredRun;
use crate::law::trap_check::Calibration;

use super::about_run::{AboutRun, state, with_identity};
use super::runs::slope_threshold;
use super::{Cell, Col, Heading, Table};

/// A stuck run, and its realized arrivals less model F's completions, sessions/s.
type PlugIn<'a> = (&'a ScoredRun, f64);

fn columns<'a>() -> Vec<Col<PlugIn<'a>>> {
    with_identity(&[
        Heading("state", "", "State under the paired test's rule; none where no rule applies")
            .new(|(run, _)| state(run)),
        Heading("plug_in_per_s", "sessions/s", "Realized arrivals less model F's completions")
            .number(5, |(_, plug_in)| *plug_in),
        Heading("backlog_slope_per_s", "sessions/s", "Backlog slope over the window")
            .known(5, |of| of.window()?.backlog_slope_per_s),
        // Runs of other arms than the paired test's have no threshold of its rule.
        Heading("threshold_per_s", "sessions/s", "The rule's line on the backlog slope")
            .optional(5, |(run, _)| slope_threshold(run)),
        Heading("margin_per_s", "sessions/s", "Distance of the plug-in slope from that line")
            .optional(6, |(run, plug_in)| slope_threshold(run).map(|line| plug_in - line)),
        Heading("right", "", "Whether plug-in and measured slope lie on the same side").new(
            |(run, plug_in)| {
                let Some(line) = slope_threshold(run) else { return Cell::Empty };
                let slope = run.measures.window.as_ref().and_then(|w| w.backlog_slope_per_s);
                Cell::yes_no(slope.map(|slope| (slope > line) == (*plug_in > line)))
            },
        ),
    ])
}

/// The table, a row per stuck run for which model F has a trap at the nominal rate, with the
/// cell's own calibration.
pub fn table(runs: &[ScoredRun]) -> Table {
    let title = "The plug-in of the realized arrivals against the slope rule";
    let stuck = runs.iter().filter(|run| run.stuck == Some(true));
    super::about_run::table("plug_in", title, &columns(), stuck.filter_map(plug_in))
}

fn plug_in(run: &ScoredRun) -> Option<PlugIn<'_>> {
    let checks = run.checks.as_ref().ok()?;
    let check = checks.iter().find(|c| c.calibration == Calibration::Cell)?;
    let completions_per_s = check.trap.as_ref()?.trap.completions_per_s;
    Some((run, run.measures.window.as_ref()?.base_arrivals_per_s - completions_per_s))
}
