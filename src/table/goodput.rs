//! Goodput lost against NOBURST of the same plan (D2, App. D).

use crate::judged::verdict::Verdict;

use super::{Cell, Column, Table, open_run};

const COLUMNS: &[Column] =
    &[Column::new("lost_after_burst", ""), Column::new("lost_in_window", "")];

/// The table: a row per run that has a control.
pub fn table(verdict: &Verdict) -> Table {
    let rows = verdict
        .runs
        .iter()
        .filter(|run| run.role == "subject" && run.goodput_lost != [None, None])
        .map(|run| open_run::row(run, run.goodput_lost.map(|lost| Cell::known(lost, 4)).to_vec()))
        .collect();
    Table {
        name: "goodput".into(),
        title:
            "Share of NOBURST's goodput that is lost, in the hour after the burst and in the window"
                .into(),
        columns: open_run::columns(COLUMNS),
        rows,
    }
}
