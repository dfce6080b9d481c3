//! Where stability from an empty engine ends, per cell: in nominal rates and in the rates
//! that the plans realized (E0b, App. E.3, Table 13).

use std::collections::BTreeMap;

use crate::judged::ScoredRun;
use crate::rule::stability::{FromEmptyRun, judge, nominal_edge, realized_edge};
use crate::setup::registration::test::Stability;

use super::{Cell, Column, Row, Table};

const COLUMNS: &[Column] = &[
    Column::key("cell", ""),
    Column::key("source", ""),
    Column::new("runs", ""),
    Column::new("stable", "runs"),
    Column::new("highest_stable_nominal", "lambda_ref"),
    Column::new("lowest_unstable_nominal", "lambda_ref"),
    Column::new("highest_stable_realized", "lambda_ref"),
    Column::new("lowest_unstable_realized", "lambda_ref"),
    Column::new("monotone_nominal", ""),
    Column::new("monotone_realized", ""),
];

/// The table; runs whose queue is unknown are left out of the counts.
pub fn table(runs: &[ScoredRun]) -> Table {
    let mut groups: BTreeMap<(&str, &str), Vec<(&ScoredRun, FromEmptyRun)>> = BTreeMap::new();
    for run in runs.iter().filter(|run| run.meta.arm == "e0b") {
        if let Some(from_empty) = from_empty(run) {
            let key = (run.meta.cell.as_str(), run.meta.source.word());
            groups.entry(key).or_default().push((run, from_empty));
        }
    }
    Table {
        name: "edges".into(),
        title: "The edge of stability from empty".into(),
        columns: COLUMNS.to_vec(),
        rows: groups.iter().map(|(key, group)| row(*key, group)).collect(),
    }
}

fn from_empty(run: &ScoredRun) -> Option<FromEmptyRun> {
    let stable = match judge(run.queue.as_ref(), &Stability::default()).label {
        "STABLE" => true,
        "UNSTABLE" => false,
        _ => return None,
    };
    let realized = run.measures.whole.base_arrivals_per_s / run.load?.lambda_ref_per_s;
    Some(FromEmptyRun { nominal: run.meta.rate.multiple?, realized, stable })
}

fn row((cell, source): (&str, &str), group: &[(&ScoredRun, FromEmptyRun)]) -> Row {
    let runs: Vec<FromEmptyRun> = group.iter().map(|(_, run)| *run).collect();
    let (nominal, realized) = (nominal_edge(&runs), realized_edge(&runs));
    let yes = |x: bool| Cell::text(if x { "yes" } else { "no" });
    Row {
        key: format!("{cell}/{source}"),
        cells: vec![
            Cell::text(cell),
            Cell::text(source),
            Cell::Count(runs.len() as u64),
            Cell::Count(runs.iter().filter(|run| run.stable).count() as u64),
            Cell::optional(nominal.largest_stable, 2),
            Cell::optional(nominal.first_unstable, 2),
            Cell::optional(realized.largest_stable, 3),
            Cell::optional(realized.first_unstable, 3),
            yes(nominal.monotone),
            yes(realized.monotone),
        ],
        sources: group.iter().flat_map(|(run, _)| run.sources.clone()).collect(),
    }
}
