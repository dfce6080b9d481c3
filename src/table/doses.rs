//! How many runs of each dose ended how, in the tests of endpoints (BASIN-1, BASIN-2,
//! TOOLSLOW, SHED; App. E.6).

use crate::judged::verdict::{Verdict, VerdictRun};
use crate::rule::endpoint::Endpoint;
use crate::rule::endpoints::{EndpointTest, Expected, ExpectedDose};

use super::{Cell, Col, Heading, Table};

/// A dose of a test, and the runs that count for it.
struct Dose<'a> {
    verdict: &'a Verdict,
    test: &'a EndpointTest,
    dose: &'a ExpectedDose,
    runs: Vec<&'a VerdictRun>,
}

impl Dose<'_> {
    fn registration(&self) -> &str {
        &self.verdict.registration.registration.name
    }

    /// How many of its runs ended so.
    fn ended(&self, end: Endpoint) -> Cell {
        let found = self.runs.iter().filter_map(|run| Endpoint::of(run.labelled.as_ref()?));
        Cell::Count(found.filter(|found| *found == end).count() as u64)
    }
}

/// The table: a row per dose of each test of endpoints, over the runs that count for it.
pub fn table(verdicts: &[Verdict]) -> Table {
    let columns: &[Col<Dose<'_>>] = &[
        Heading("registration", "", "The registration that judges, by its name or hash")
            .key(|of| Cell::text(of.registration())),
        Heading("source", "", "What made the runs: engine or simulator")
            .key(|of| Cell::text(&of.verdict.sources)),
        Heading("dose", "see unit", "The dose of the test: what is varied")
            .key(|of| Cell::Number(of.dose.dose, 0)),
        Heading("unit", "", "Unit of the dose").key(|of| Cell::text(of.test.dose.words().1)),
        Heading("expect", "", "What was registered for the dose").new(|of| match of.dose.expect {
            Some(Expected::Stuck) => Cell::text(Endpoint::Stuck.word()),
            Some(Expected::Good) => Cell::text(Endpoint::Good.word()),
            None => Cell::Empty,
        }),
        Heading("runs", "runs", "Runs of the dose").count(|of| of.runs.len() as u64),
        Heading("good", "runs", "Runs that ended well").new(|of| of.ended(Endpoint::Good)),
        Heading("stuck", "runs", "Runs that are stuck").new(|of| of.ended(Endpoint::Stuck)),
    ];
    let tests =
        verdicts.iter().filter_map(|verdict| Some((verdict, EndpointTest::of(verdict.test())?)));
    let rows = tests.flat_map(|(verdict, test)| {
        test.doses.iter().map(move |dose| {
            let is_of_dose = |run: &&VerdictRun| run.treatment.is(test.dose, dose.dose);
            Dose { verdict, test, dose, runs: verdict.subjects().filter(is_of_dose).collect() }
        })
    });
    Table::of("doses", "How the runs of each dose ended", columns, rows, |of| {
        let sources = of.runs.iter().flat_map(|run| run.sources.clone()).collect();
        (format!("{}/{}", of.registration(), of.dose.dose), sources)
    })
}
