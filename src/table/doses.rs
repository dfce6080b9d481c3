//! How many runs of each dose ended how, in the tests of endpoints (BASIN-1, BASIN-2,
//! TOOLSLOW, SHED; App. E.6).

use crate::judged::verdict::{Verdict, VerdictRun};
use crate::rule::endpoint::Endpoint;
use crate::setup::registration::Test;
use crate::setup::registration::test::{EndpointTest, Expected, ExpectedDose};

use super::{Cell, Column, Row, Table};

const COLUMNS: &[Column] = &[
    Column::key("registration", ""),
    Column::key("source", ""),
    Column::key("dose", "see unit"),
    Column::key("unit", ""),
    Column::new("expect", ""),
    Column::new("runs", "runs"),
    Column::new("good", "runs"),
    Column::new("stuck", "runs"),
];

/// The table: a row per dose of each test of endpoints, over the runs that count for it.
pub fn table(verdicts: &[Verdict]) -> Table {
    let mut rows = Vec::new();
    for verdict in verdicts {
        if let Test::Endpoints(test) = &verdict.registration.registration.test {
            rows.extend(test.doses.iter().map(|dose| row(verdict, test, dose)));
        }
    }
    Table {
        name: "doses".into(),
        title: "How the runs of each dose ended".into(),
        columns: COLUMNS.to_vec(),
        rows,
    }
}

fn row(verdict: &Verdict, test: &EndpointTest, dose: &ExpectedDose) -> Row {
    let name = &verdict.registration.registration.name;
    let runs: Vec<&VerdictRun> =
        verdict.subjects().filter(|run| run.treatment.is(test.dose, dose.dose)).collect();
    let ended = |end: Endpoint| {
        let is = |run: &&&VerdictRun| {
            run.labelled.as_ref().and_then(Endpoint::of).is_some_and(|found| found == end)
        };
        Cell::Count(runs.iter().filter(is).count() as u64)
    };
    Row {
        key: format!("{name}/{}", dose.dose),
        cells: vec![
            Cell::text(name),
            Cell::text(&verdict.sources),
            Cell::Number(dose.dose, 0),
            Cell::text(test.dose.words().1),
            match dose.expect {
                Some(Expected::Stuck) => Cell::text(Endpoint::Stuck.word()),
                Some(Expected::Good) => Cell::text(Endpoint::Good.word()),
                None => Cell::Empty,
            },
            Cell::Count(runs.len() as u64),
            ended(Endpoint::Good),
            ended(Endpoint::Stuck),
        ],
        sources: runs.iter().flat_map(|run| run.sources.clone()).collect(),
    }
}
