//! The rescue runs one by one, with their controls over the same interval after the
//! release (Tables 8 and 9), from a rescue test's verdict.

use crate::analysis::statistics::extra::Extra;
use crate::analysis::verdict::{Verdict, VerdictRun};

use super::{Cell, Column, Row, Table};

const COLUMNS: &[Column] = &[
    Column::key("run", ""),
    Column::key("source", ""),
    Column::key("rate_multiple", "lambda_ref"),
    Column::key("seed", ""),
    Column::new("label", ""),
    Column::new("cap_sessions", "sessions"),
    Column::new("engaged_s", "s"),
    Column::new("outstanding_at_engage_sessions", "sessions"),
    Column::new("released_s", "s"),
    Column::new("sessions_paused", "sessions"),
    Column::new("held_most_sessions", "sessions"),
    Column::new("backlog_most_after_sessions", "sessions"),
    Column::new("delay_session_hours", "session-hours"),
    Column::new("follow_up_hit_fraction_after", ""),
    Column::new("lowest_tile_after", ""),
    Column::new("outstanding_mean_after_sessions", "sessions"),
    Column::new("burst_follow_up_hit_fraction_after", ""),
    Column::new("burst_outstanding_mean_after_sessions", "sessions"),
    Column::new("noburst_follow_up_hit_fraction_after", ""),
    Column::new("noburst_outstanding_mean_after_sessions", "sessions"),
];

/// The table; empty for a verdict on another kind of test.
pub fn table(verdict: &Verdict) -> Table {
    Table {
        name: "rescue".into(),
        title: format!("Rescue runs of {}", verdict.registration.registration.name),
        columns: COLUMNS.to_vec(),
        rows: verdict.runs.iter().filter(|r| r.role == "subject").filter_map(row).collect(),
    }
}

fn row(run: &VerdictRun) -> Option<Row> {
    let Extra::Rescue { rescue: Some(rescue), .. } = &run.extra else { return None };
    let after = rescue.after.as_ref();
    let lowest = after.and_then(|a| {
        let values: Option<Vec<f64>> = a.tiles.iter().map(|(_, share)| share.value()).collect();
        values?.into_iter().min_by(f64::total_cmp)
    });
    let key = run.dir.display().to_string();
    let mut cells = vec![
        Cell::text(&key),
        Cell::text(run.meta.source.word()),
        Cell::optional(run.meta.rate.multiple, 2),
        Cell::Count(run.meta.seed),
        run.labelled.as_ref().map_or(Cell::Empty, |l| Cell::text(l.label)),
        rescue.cap.map_or(Cell::Unknown, Cell::Count),
        Cell::known(rescue.engaged_s, 3),
        Cell::Number(rescue.outstanding_on, 0),
        rescue.released_s.map_or(Cell::text("never"), |t| Cell::Number(t, 0)),
        Cell::Count(rescue.sessions_paused),
        Cell::Number(rescue.held_max, 0),
        Cell::optional(after.map(|a| a.backlog_max), 0),
        Cell::Number(rescue.held_session_hours, 1),
        after.map_or(Cell::Empty, |a| Cell::known(a.follow_up_hits.value(), 3)),
        after.map_or(Cell::Empty, |_| Cell::known(lowest, 3)),
        Cell::optional(after.map(|a| a.outstanding_mean), 1),
    ];
    for control in &run.controls_after {
        cells.push(match control {
            Some(control) => Cell::known(control.follow_up_hits.value(), 3),
            None => Cell::Empty,
        });
        cells.push(Cell::optional(control.map(|c| c.outstanding_mean), 1));
    }
    Some(Row { key, cells, sources: run.sources.clone() })
}
