//! Where stability from an empty engine ends, per cell: in nominal rates and in the rates
//! that the plans realized (E0b, App. E.3, Table 13).

use std::collections::BTreeMap;

use crate::judged::ScoredRun;
use crate::rule::edge::{Edge, FromEmptyRun, nominal_edge, realized_edge};
use crate::run::SourceFile;
use crate::setup::Arm;

use super::{Cell, Col, Heading, Table};

/// The runs of a cell from one source.
struct Edges<'a> {
    cell: &'a str,
    source: &'static str,
    runs: Vec<FromEmptyRun>,
    sources: Vec<SourceFile>,
}

impl Edges<'_> {
    fn nominal(&self) -> Edge {
        nominal_edge(&self.runs)
    }

    fn realized(&self) -> Edge {
        realized_edge(&self.runs)
    }
}

/// The table; runs whose queue is unknown are left out of the counts.
pub fn table(runs: &[ScoredRun]) -> Table {
    let columns: &[Col<Edges<'_>>] = &[
        Heading("cell", "", "Engine, GPU, model and pool, as named in configs/cells")
            .key(|of| Cell::text(of.cell)),
        Heading("source", "", "What made the runs: engine or simulator")
            .key(|of| Cell::text(of.source)),
        Heading("runs", "", "Runs that the row counts").count(|of| of.runs.len() as u64),
        Heading("stable", "runs", "Runs that are stable")
            .count(|of| of.runs.iter().filter(|run| run.stable).count() as u64),
        Heading("highest_stable_nominal", "lambda_ref", "Highest nominal rate of a stable run")
            .optional(2, |of| of.nominal().largest_stable),
        Heading("lowest_unstable_nominal", "lambda_ref", "Lowest nominal rate of an unstable run")
            .optional(2, |of| of.nominal().first_unstable),
        Heading("highest_stable_realized", "lambda_ref", "Highest realized rate of a stable run")
            .optional(3, |of| of.realized().largest_stable),
        Heading(
            "lowest_unstable_realized",
            "lambda_ref",
            "Lowest realized rate of an unstable run",
        )
        .optional(3, |of| of.realized().first_unstable),
        Heading("monotone_nominal", "", "Whether no stable run lies above an unstable")
            .new(|of| Cell::yes_no(Some(of.nominal().monotone))),
        Heading(
            "monotone_realized",
            "",
            "Whether no stable run lies above an unstable one, by realized rate",
        )
        .new(|of| Cell::yes_no(Some(of.realized().monotone))),
    ];
    let mut groups: BTreeMap<(&str, &str), Edges<'_>> = BTreeMap::new();
    for run in runs.iter().filter(|run| run.meta.arm == Arm::E0b) {
        if let Some(from_empty) = from_empty(run) {
            let (cell, source) = (run.meta.cell.as_str(), run.meta.source.word());
            let none = || Edges { cell, source, runs: Vec::new(), sources: Vec::new() };
            let group = groups.entry((cell, source)).or_insert_with(none);
            group.runs.push(from_empty);
            group.sources.extend(run.sources.clone());
        }
    }
    Table::of("edges", "The edge of stability from empty", columns, groups.values(), |of| {
        (format!("{}/{}", of.cell, of.source), of.sources.clone())
    })
}

fn from_empty(run: &ScoredRun) -> Option<FromEmptyRun> {
    let realized = run.measures.whole.base_arrivals_per_s / run.load?.lambda_ref_per_s;
    Some(FromEmptyRun { nominal: run.meta.rate.multiple?, realized, stable: run.stable()? })
}
