//! Goodput lost against NOBURST of the same plan (D2, App. D).

use crate::analysis::verdict::Verdict;

use super::{Cell, Column, Row, Table};

const COLUMNS: &[Column] = &[
    Column::key("run", ""),
    Column::key("source", ""),
    Column::key("cell", ""),
    Column::key("arm", ""),
    Column::key("rate_multiple", "lambda_ref"),
    Column::key("seed", ""),
    Column::new("lost_after_burst", ""),
    Column::new("lost_in_window", ""),
];

/// The table: a row per run that has a control.
pub fn table(verdict: &Verdict) -> Table {
    let rows = verdict
        .runs
        .iter()
        .filter(|run| run.role == "subject" && run.goodput_lost != [None, None])
        .map(|run| {
            let key = run.dir.display().to_string();
            let mut cells = vec![
                Cell::text(&key),
                Cell::text(run.meta.source.word()),
                Cell::text(&run.meta.cell),
                Cell::text(&run.meta.arm),
                Cell::optional(run.meta.rate.multiple, 2),
                Cell::Count(run.meta.seed),
            ];
            cells.extend(run.goodput_lost.map(|lost| Cell::known(lost, 4)));
            Row { key, cells, sources: run.sources.clone() }
        })
        .collect();
    Table {
        name: "goodput".into(),
        title:
            "Share of NOBURST's goodput that is lost, in the hour after the burst and in the window"
                .into(),
        columns: COLUMNS.to_vec(),
        rows,
    }
}
