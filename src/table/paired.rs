//! The paired test: a row per rate and seed, with the rate's verdict (Tables 1, 7).

use crate::analysis::ScoredRun;
use crate::analysis::score::CellVerdict;
use crate::rule::{Arm, State};
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

/// The table of paired verdicts.
pub fn table(verdicts: &[CellVerdict], runs: &[ScoredRun]) -> Table {
    Table {
        name: "paired".into(),
        title: "Paired test: states per seed and the verdict per rate".into(),
        columns: COLUMNS.to_vec(),
        rows: verdicts.iter().flat_map(|verdict| rows(verdict, runs)).collect(),
    }
}

fn rows(verdict: &CellVerdict, runs: &[ScoredRun]) -> Vec<Row> {
    let state =
        |state: &Option<State>| state.map_or(Cell::text("missing"), |s| Cell::text(s.word()));
    verdict
        .rates
        .iter()
        .flat_map(|rate| rate.seeds.iter().map(move |seed| (rate, seed)))
        .map(|(rate, seed)| Row {
            key: format!("{}/{:.2}/{}", verdict.registration, rate.multiple, seed.seed),
            cells: vec![
                Cell::text(&verdict.cell),
                Cell::text(&verdict.registration),
                Cell::text(verdict.status.word()),
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
            sources: sources(verdict, rate.multiple, seed.seed, runs),
        })
        .collect()
}

fn sources(verdict: &CellVerdict, multiple: f64, seed: u64, runs: &[ScoredRun]) -> Vec<SourceFile> {
    runs.iter()
        .filter(|run| run.meta.cell == verdict.cell && run.meta.seed == seed)
        .filter(|run| run.meta.rate.multiple.is_some_and(|m| (m - multiple).abs() < 1e-6))
        .filter(|run| Arm::of(&run.meta.arm).is_some())
        .flat_map(|run| run.sources.clone())
        .collect()
}
