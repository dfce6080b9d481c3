//! The first alarm of the detector on hits in each run of the mechanism checks (App. E.5).

use crate::judged::statistics::extra::Extra;
use crate::judged::verdict::{Verdict, VerdictRun};

use super::{Cell, Column, Row, Table, open_run};

const COLUMNS: &[Column] = &[
    Column::new("first_alarm_after_burst_s", "s"),
    Column::new("gate_waiting_at_alarm_sessions", "sessions"),
    Column::new("lowest_60s_follow_up_hit", ""),
    Column::new("alarm_length_s", "s"),
    Column::new("above_08_again_after_s", "s"),
];

/// The table; empty for a verdict on another kind of test. A run without an alarm from the
/// burst on, or whose alarm lasts, has no time for it.
pub fn table(verdict: &Verdict) -> Table {
    Table {
        name: "detector".into(),
        title: "The detector's first alarm after the burst, over rolling windows of 60 s".into(),
        columns: open_run::columns(COLUMNS),
        rows: verdict.subjects().filter_map(row).collect(),
    }
}

fn row(run: &VerdictRun) -> Option<Row> {
    let Extra::Mechanism { first_alarm, .. } = &run.extra else { return None };
    let found = match first_alarm {
        Some(alarm) => vec![
            Cell::Number(alarm.at_s - run.burst_start_s, 0),
            Cell::optional(alarm.held_at_gate, 0),
            Cell::known(alarm.lowest, 3),
            Cell::optional(alarm.ends_s.map(|t| t - alarm.at_s), 0),
            Cell::optional(alarm.back_s.map(|t| t - alarm.at_s), 0),
        ],
        None => vec![Cell::Empty; COLUMNS.len()],
    };
    Some(open_run::row(run, found))
}
