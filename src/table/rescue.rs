//! The rescue runs one by one, with their controls over the same interval after the
//! release (Tables 8 and 9), from a rescue test's verdict.

use crate::analysis::verdict::{Verdict, VerdictRun};

use super::{Cell, Column, Row, Table};

const COLUMNS: &[Column] = &[
    Column { name: "run", unit: "" },
    Column { name: "source", unit: "" },
    Column { name: "rate_multiple", unit: "lambda_ref" },
    Column { name: "seed", unit: "" },
    Column { name: "label", unit: "" },
    Column { name: "cap_sessions", unit: "sessions" },
    Column { name: "engaged_s", unit: "s" },
    Column { name: "outstanding_at_engage_sessions", unit: "sessions" },
    Column { name: "released_s", unit: "s" },
    Column { name: "sessions_paused", unit: "sessions" },
    Column { name: "held_most_sessions", unit: "sessions" },
    Column { name: "backlog_most_after_sessions", unit: "sessions" },
    Column { name: "delay_session_hours", unit: "session-hours" },
    Column { name: "follow_up_hit_fraction_after", unit: "" },
    Column { name: "lowest_tile_after", unit: "" },
    Column { name: "outstanding_mean_after_sessions", unit: "sessions" },
    Column { name: "burst_follow_up_hit_fraction_after", unit: "" },
    Column { name: "burst_outstanding_mean_after_sessions", unit: "sessions" },
    Column { name: "noburst_follow_up_hit_fraction_after", unit: "" },
    Column { name: "noburst_outstanding_mean_after_sessions", unit: "sessions" },
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
    let rescue = run.rescue.as_ref()?;
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
