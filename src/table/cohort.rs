//! The sessions that arrived with the burst or while it was worked off, of every run of an
//! open arm (App. E.7).

use crate::judged::ScoredRun;

use super::{Cell, Column, Row, Table, open_run};

const COLUMNS: &[Column] = &[
    Column::new("cohort_sessions", "sessions"),
    Column::new("median_duration_s", "s"),
    Column::new("unfinished_fraction", ""),
];

/// The table. A session that did not complete counts as longer than all others, so that a
/// median among these is unknown.
pub fn table(runs: &[ScoredRun]) -> Table {
    Table {
        name: "cohort".into(),
        title: "Sessions that arrived within 1800 s of the burst's start: time to completion"
            .into(),
        columns: open_run::columns(COLUMNS),
        rows: runs.iter().filter_map(row).collect(),
    }
}

fn row(run: &ScoredRun) -> Option<Row> {
    let cohort = run.cohort.as_ref()?;
    let found = vec![
        Cell::Count(cohort.sessions),
        Cell::known(cohort.median_duration_s, 0),
        Cell::Number(cohort.unfinished as f64 / cohort.sessions as f64, 4),
    ];
    Some(open_run::row(run, found))
}
