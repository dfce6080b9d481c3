//! The paired test: a row per rate and seed, with the rate's verdict (Tables 1, 7).

use crate::judged::verdict::{Verdict, VerdictRun};
use crate::rule::State;
use crate::run::SourceFile;

use super::{Cell, Column, Row, Table};

const COLUMNS: &[Column] = &[
    Column::key("cell", ""),
    Column::key("registration", ""),
    Column::key("status", ""),
    Column::key("source", ""),
    Column::key("rate_multiple", "lambda_ref"),
    Column::key("seed", ""),
    Column::new("burst", ""),
    Column::new("noburst", ""),
    Column::new("capped", ""),
    Column::new("all_three_met", ""),
    Column::new("rate_verdict", ""),
    Column::new("seeds_met", "seeds"),
    Column::new("seeds_judged", "seeds"),
    Column::new("decisive", ""),
];

/// The table of the paired test's verdicts.
pub fn table(verdicts: &[Verdict]) -> Table {
    Table {
        name: "paired".into(),
        title: "Paired test: states per seed and the verdict per rate".into(),
        columns: COLUMNS.to_vec(),
        rows: verdicts.iter().flat_map(rows).collect(),
    }
}

fn rows(verdict: &Verdict) -> Vec<Row> {
    let registration = &verdict.registration.registration;
    // The published rule may stand for several cells.
    let rule = match verdict.registration.is_published() {
        true => &registration.cell,
        false => &registration.name,
    };
    let state =
        |state: &Option<State>| state.map_or(Cell::text("missing"), |s| Cell::text(s.word()));
    verdict
        .rates
        .iter()
        .flat_map(|rate| rate.seeds.iter().map(move |seed| (rate, seed)))
        .map(|(rate, seed)| Row {
            key: format!("{rule}/{:.2}/{}", rate.multiple, seed.seed),
            cells: vec![
                Cell::text(&registration.cell),
                Cell::text(&registration.name),
                Cell::text(registration.status.word()),
                Cell::text(&verdict.sources),
                Cell::Number(rate.multiple, 2),
                Cell::Count(seed.seed),
                state(&seed.states[0]),
                state(&seed.states[1]),
                state(&seed.states[2]),
                match seed.met {
                    Some(true) => Cell::text("yes"),
                    Some(false) => Cell::text("no"),
                    None => Cell::Unknown,
                },
                Cell::text(rate.verdict.words()),
                Cell::Count(rate.met),
                Cell::Count(rate.judged),
                Cell::text(if verdict.decisive { "yes" } else { "no" }),
            ],
            sources: sources(verdict, rate.multiple, seed.seed),
        })
        .collect()
}

/// The files of the runs that the verdict counts in one seed of a rate.
fn sources(verdict: &Verdict, multiple: f64, seed: u64) -> Vec<SourceFile> {
    let at_rate =
        |run: &&VerdictRun| run.meta.rate.multiple.is_some_and(|m| (m - multiple).abs() < 1e-6);
    verdict
        .subjects()
        .filter(|run| run.meta.seed == seed)
        .filter(at_rate)
        .flat_map(|run| run.sources.clone())
        .collect()
}
