//! What says which run a row is about, in the tables of runs of an open arm.

use crate::judged::statistics::RunStatistics;

use super::{Cell, Column, Row};

const KEYS: [Column; 6] = [
    Column::key("run", ""),
    Column::key("source", ""),
    Column::key("cell", ""),
    Column::key("arm", ""),
    Column::key("rate_multiple", "lambda_ref"),
    Column::key("seed", ""),
];

/// The columns that identify a run, then those of what was `found`.
pub fn columns(found: &[Column]) -> Vec<Column> {
    [&KEYS[..], found].concat()
}

/// The row of `run`: its identity, then what was `found`; its sources are the run's.
pub fn row(run: &RunStatistics, found: Vec<Cell>) -> Row {
    let key = run.dir.display().to_string();
    let mut cells = vec![
        Cell::text(&key),
        Cell::text(run.meta.source.word()),
        Cell::text(&run.meta.cell),
        Cell::text(&run.meta.arm),
        Cell::optional(run.meta.rate.multiple, 2),
        Cell::Count(run.meta.seed),
    ];
    cells.extend(found);
    Row { key, cells, sources: run.sources.clone() }
}
