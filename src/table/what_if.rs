//! How runs would come out by another rule, beside how they are judged: a row per run, and
//! a row per rate of the paired test. Nothing in it decides.

use crate::judged::what_if::{Answer, RateWhatIf, RunWhatIf};
use crate::rule::PairedVerdict;

use super::{Cell, Column, Row, Table};

const RUNS: &[Column] = &[
    Column::key("what_if", ""),
    Column::key("run", ""),
    Column::key("source", ""),
    Column::key("cell", ""),
    Column::key("arm", ""),
    Column::key("rate_multiple", "lambda_ref"),
    Column::key("seed", ""),
    Column::new("judged_by", ""),
    Column::new("state_before", ""),
    Column::new("state_what_if", ""),
    Column::new("stuck_before", ""),
    Column::new("stuck_what_if", ""),
    Column::new("changes", ""),
];

/// A row per run that the other rule judges.
pub fn runs(answer: &Answer) -> Table {
    let words = answer.asked.words();
    let row = |asked: &RunWhatIf| {
        let RunWhatIf { run, after } = asked;
        let before = run.state.as_ref();
        let key = run.dir.display().to_string();
        Row {
            cells: vec![
                Cell::text(&words),
                Cell::text(&key),
                Cell::text(run.meta.source.word()),
                Cell::text(&run.meta.cell),
                Cell::text(&run.meta.arm),
                Cell::optional(run.meta.rate.multiple, 2),
                Cell::Count(run.meta.seed),
                run.judged_by.as_ref().map_or(Cell::Empty, Cell::text),
                before.map_or(Cell::Empty, |state| Cell::text(state.state.word())),
                Cell::text(after.state.word()),
                before.map_or(Cell::Empty, |state| Cell::yes_no(state.stuck)),
                Cell::yes_no(after.stuck),
                Cell::yes_no(Some(asked.changes())),
            ],
            key,
            sources: run.sources.clone(),
        }
    };
    Table {
        name: "what_if".into(),
        title: format!("What if {words}: the state of each run, before and after"),
        columns: RUNS.to_vec(),
        rows: answer.runs.iter().map(row).collect(),
    }
}

const RATES: &[Column] = &[
    Column::key("what_if", ""),
    Column::key("cell", ""),
    Column::key("rate_multiple", "lambda_ref"),
    Column::new("judged_by", ""),
    Column::new("verdict_before", ""),
    Column::new("seeds_met_before", "seeds"),
    Column::new("seeds_judged_before", "seeds"),
    Column::new("verdict_what_if", ""),
    Column::new("seeds_met_what_if", "seeds"),
    Column::new("seeds_judged_what_if", "seeds"),
    Column::new("decisive", ""),
];

/// A row per rate of the paired test.
pub fn rates(answer: &Answer) -> Table {
    let words = answer.asked.words();
    let row = |rate: &RateWhatIf| {
        let mut cells = vec![
            Cell::text(&words),
            Cell::text(&rate.cell),
            Cell::Number(rate.multiple, 2),
            rate.before.as_ref().map_or(Cell::Empty, |(name, _)| Cell::text(name)),
        ];
        cells.extend(side(rate.before.as_ref().map(|(_, rate)| rate)));
        cells.extend(side(rate.after.as_ref().map(|(_, rate)| rate)));
        cells.push(Cell::text("no"));
        let key = format!("{}/{:.2}", rate.cell, rate.multiple);
        Row { key, cells, sources: Vec::new() }
    };
    Table {
        name: "what_if_paired".into(),
        title: format!("What if {words}: the paired test, before and after"),
        columns: RATES.to_vec(),
        rows: answer.rates.iter().map(row).collect(),
    }
}

fn side(rate: Option<&PairedVerdict>) -> [Cell; 3] {
    let Some(rate) = rate else { return [Cell::Empty, Cell::Empty, Cell::Empty] };
    [Cell::text(rate.verdict.words()), Cell::Count(rate.met), Cell::Count(rate.judged)]
}
