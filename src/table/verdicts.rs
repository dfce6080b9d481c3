//! Every registered test over the same runs: the outcomes, the label of each run, and the
//! clauses that decided it.

use crate::judged::verdict::{Verdict, VerdictRun};

use super::about_run::AboutRun;
use super::verdict::{Judged, Outcome, counted};
use super::{Cell, Col, Heading, Table};

/// The outcomes: a row per test, its group empty, and one per group.
pub fn verdicts(verdicts: &[Verdict]) -> Table {
    let columns = [
        &[
            Heading("registration", "", "The registration that judges, by its name or hash")
                .key(Outcome::registration),
            Heading("test", "", "The registered test").key(Outcome::test),
            Heading("cell", "", "Engine, GPU, model and pool, as named in configs/cells")
                .key(|of: &Outcome<'_>| Cell::text(&of.verdict.registration.registration.cell)),
            Heading("source", "", "What made the runs: engine or simulator").key(Outcome::source),
            Heading("group", "", "A rate or an arm of the test; empty for the test as a whole")
                .key(|of| of.group.map_or(Cell::Empty, |group| Cell::text(&group.name))),
            Heading("rate_multiple", "lambda_ref", "The group's nominal arrival rate")
                .key(|of| Cell::optional(of.group.and_then(|group| group.rate), 2)),
        ],
        &Outcome::verdict()[..],
        &[
            Heading("runs_used", "", "Runs that count")
                .count(|of| counted(of.verdict).count() as u64),
            Heading("not_used", "", "Runs that were set aside").new(|of| match of.group {
                None => Cell::Count(of.verdict.outcome.set_aside.len() as u64),
                Some(_) => Cell::Empty,
            }),
        ],
    ]
    .concat();
    let title = "Registered tests: how each comes out over these runs";
    let rows = verdicts.iter().flat_map(Outcome::all);
    Table::of("verdicts", title, &columns, rows, Outcome::identity)
}

/// The columns that identify a run under a verdict, its role among them.
fn identity<'a>() -> Vec<Col<Judged<'a>>> {
    [
        &Judged::identity()[..],
        &[Heading("role", "", "What the run is to the test: subject or control").key(Judged::role)],
    ]
    .concat()
}

fn key(of: &Judged<'_>) -> String {
    format!("{}/{}", of.verdict.registration.registration.name, of.dir())
}

/// The counted runs of every test with their labels.
pub fn labels(verdicts: &[Verdict]) -> Table {
    let columns = [
        &identity()[..],
        &[
            Heading("label", "", "The run's label under the rule").new(Judged::label),
            Heading("decided_by", "", "Quantity of the clause that decided")
                .new(|of| of.clause(|c| Cell::text(c.quantity))),
            Heading("because", "", "Why, in a sentence").new(Judged::because),
        ],
    ]
    .concat();
    let of_test = |verdict| counted(verdict).map(move |run| Judged::deciding(verdict, run));
    let title = "Registered tests: the label of each run";
    let rows = verdicts.iter().flat_map(of_test);
    Table::of("labels", title, &columns, rows, |of| (key(of), of.sources()))
}

/// The clauses that a run was asked: those that decide, then the others.
fn asked<'a>(verdict: &'a Verdict, run: &'a VerdictRun) -> impl Iterator<Item = Judged<'a>> {
    let row = move |(place, clause), word| Judged {
        run,
        verdict,
        clause: Some(clause),
        weight: (word, place),
    };
    let deciding = run.labelled.iter().flat_map(|labelled| &labelled.clauses).enumerate();
    let secondary = run.secondary.iter().enumerate();
    deciding.map(move |c| row(c, "deciding")).chain(secondary.map(move |c| row(c, "secondary")))
}

/// What every label was decided by, a row per clause; secondary checks too.
pub fn clauses(verdicts: &[Verdict]) -> Table {
    let columns = [
        &identity()[..],
        &[
            Heading("weight", "", "Whether the clause is deciding or secondary")
                .key(|of| Cell::text(of.weight.0)),
            Heading("clause", "", "The clause's quantity")
                .key(|of| of.clause(|c| Cell::text(c.quantity))),
            Heading("unit", "", "Unit of measured, bounds and margin")
                .key(|of| of.clause(|c| Cell::text(c.unit))),
            Heading("measured", "see unit", "What the clause measured")
                .new(|of| of.clause(|c| Cell::known(c.measured, 4))),
        ],
        &Judged::needs(),
        &[
            Heading("holds", "", "Whether the clause holds")
                .new(|of| Cell::yes_no(of.clause.and_then(|clause| clause.holds))),
            Heading("margin", "see unit", "How far inside the bounds; negative outside")
                .new(|of| of.clause(|c| Cell::known(c.margin(), 4))),
        ],
    ]
    .concat();
    let of_test = |verdict| counted(verdict).flat_map(move |run| asked(verdict, run));
    let title = "Registered tests: the clauses behind each label";
    Table::of("clauses", title, &columns, verdicts.iter().flat_map(of_test), |of| {
        (format!("{}/{}/{}", key(of), of.weight.0, of.weight.1), of.sources())
    })
}
