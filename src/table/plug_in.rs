//! The plug-in and the slope rule: base arrivals of a run's own plan less model F's
//! completions, against the backlog's measured slope and the rule's threshold on it (App. B).

use crate::judged::ScoredRun;
use crate::law::trap_check::Calibration;

use super::runs::slope_threshold;
use super::{Cell, Column, Row, Table, open_run};

const COLUMNS: &[Column] = &[
    Column::new("state", ""),
    Column::new("plug_in_per_s", "sessions/s"),
    Column::new("backlog_slope_per_s", "sessions/s"),
    Column::new("threshold_per_s", "sessions/s"),
    Column::new("margin_per_s", "sessions/s"),
    Column::new("right", ""),
];

/// The table, a row per stuck run for which model F has a trap at the nominal rate, with the
/// cell's own calibration.
pub fn table(runs: &[ScoredRun]) -> Table {
    Table {
        name: "plug_in".into(),
        title: "The plug-in of the realized arrivals against the slope rule".into(),
        columns: open_run::columns(COLUMNS),
        rows: runs.iter().filter(|run| run.stuck == Some(true)).filter_map(row).collect(),
    }
}

fn row(run: &ScoredRun) -> Option<Row> {
    let checks = run.checks.as_ref().ok()?;
    let check = checks.iter().find(|c| c.calibration == Calibration::Cell)?;
    let completions_per_s = check.trap.as_ref()?.trap.completions_per_s;
    let window = run.measures.window.as_ref()?;
    let plug_in = window.base_arrivals_per_s - completions_per_s;
    let slope = window.backlog_slope_per_s;
    // Runs of other arms than the paired test's have no threshold of its rule.
    let threshold = slope_threshold(run);
    let found = vec![
        run.state.as_ref().map_or(Cell::Empty, |s| Cell::text(s.state.word())),
        Cell::Number(plug_in, 5),
        Cell::known(slope, 5),
        Cell::optional(threshold, 5),
        Cell::optional(threshold.map(|line| plug_in - line), 6),
        match (threshold, slope) {
            (Some(line), Some(slope)) => {
                Cell::text(if (slope > line) == (plug_in > line) { "yes" } else { "no" })
            }
            (Some(_), None) => Cell::Unknown,
            (None, _) => Cell::Empty,
        },
    ];
    Some(open_run::row(run, found))
}
