//! A registration's verdict: a row per run with the clause that decided, and a row per
//! group with what was asked of it.

use crate::judged::statistics::RunStatistics;
use crate::judged::verdict::{Verdict, VerdictRun};
use crate::rule::{Clause, Group};
use crate::run::SourceFile;

use super::about_run::{AboutRun, identity};
use super::{Cell, Col, Heading, Table};

/// A run under a verdict, and one of the clauses it was asked.
pub(super) struct Judged<'a> {
    pub run: &'a VerdictRun,
    pub verdict: &'a Verdict,
    pub clause: Option<&'a Clause>,
    /// Whether the clause decides, in a word, and its place among those that do or do not.
    pub weight: (&'static str, usize),
}

impl AboutRun for Judged<'_> {
    fn run(&self) -> &RunStatistics {
        self.run
    }
}

impl<'a> Judged<'a> {
    /// The run by the clause that decided its label.
    pub fn deciding(verdict: &'a Verdict, run: &'a VerdictRun) -> Self {
        let clause = run.labelled.as_ref().and_then(|labelled| labelled.deciding());
        Self { run, verdict, clause, weight: ("deciding", 0) }
    }

    /// The columns that identify it.
    pub fn identity() -> Vec<Col<Self>> {
        let name = |of: &Self| Cell::text(&of.verdict.registration.registration.name);
        [
            &[Heading("registration", "", "The registration that judges, by its name or hash")
                .key(name)],
            &identity()[..],
        ]
        .concat()
    }

    /// What the run is to the test.
    pub fn role(&self) -> Cell {
        Cell::text(self.run.role)
    }

    /// Its label; none where it was not judged.
    pub fn label(&self) -> Cell {
        self.run.labelled.as_ref().map_or(Cell::Empty, |labelled| Cell::text(labelled.label))
    }

    /// Why it has the label.
    pub fn because(&self) -> Cell {
        let because = self.run.labelled.as_ref().and_then(|labelled| labelled.because.as_ref());
        because.map_or(Cell::Empty, Cell::text)
    }

    /// What is said of the clause; nothing without one.
    pub fn clause(&self, said: impl FnOnce(&Clause) -> Cell) -> Cell {
        self.clause.map_or(Cell::Empty, said)
    }

    /// What the clause needs: which side, the least and the greatest value; held or not.
    pub fn needs() -> [Col<Self>; 3] {
        [
            Heading("needs", "", "How it compares: above, at least, below, at most, within")
                .new(|of| of.clause(|clause| Cell::text(clause.needs.sides().0))),
            Heading("needs_least", "see unit", "The clause's lower bound")
                .new(|of| of.clause(|clause| Cell::optional(clause.needs.sides().1, 4))),
            Heading("needs_most", "see unit", "The clause's upper bound")
                .new(|of| of.clause(|clause| Cell::optional(clause.needs.sides().2, 4))),
        ]
    }
}

/// The runs of a verdict: those that count, and those set aside with the reason.
pub fn runs(verdict: &Verdict) -> Table {
    let columns = [
        &Judged::identity()[..],
        &[
            Heading("role", "", "What the run is to the test: subject or control")
                .new(Judged::role),
            Heading("label", "", "The run's label under the rule").new(Judged::label),
            Heading("decided_by", "", "Quantity of the clause that decided")
                .new(|of| of.clause(|c| Cell::text(c.quantity))),
            Heading("measured", "see unit", "What the clause measured")
                .new(|of| of.clause(|c| Cell::known(c.measured, 4))),
        ],
        &Judged::needs(),
        &[
            Heading("margin", "see unit", "How far inside the bounds; negative outside")
                .new(|of| of.clause(|c| Cell::known(c.margin(), 4))),
            Heading("unit", "", "Unit of measured, bounds and margin")
                .new(|of| of.clause(|c| Cell::text(c.unit))),
            Heading("because", "", "Why, in a sentence").new(Judged::because),
            Heading("binding", "", "How the run stands to its registration")
                .new(|of| Cell::text(of.run.binding.words())),
            Heading("counts", "", "Whether the run counts")
                .new(|of| Cell::yes_no(Some(of.run.set_aside.is_none()))),
            Heading("set_aside_because", "", "Why the run does not count")
                .new(|of| of.run.set_aside.as_ref().map_or(Cell::Empty, Cell::text)),
        ],
    ]
    .concat();
    let title = format!("Runs under {}", verdict.registration.registration.name);
    let runs = verdict.runs.iter().filter(|run| !run.role.is_empty());
    super::about_run::table(
        "verdict_runs",
        title,
        &columns,
        runs.map(|run| Judged::deciding(verdict, run)),
    )
}

/// How a test came out, as a whole or in one of its groups.
pub(super) struct Outcome<'a> {
    pub verdict: &'a Verdict,
    /// `None` for the test as a whole.
    pub group: Option<&'a Group>,
    pub word: &'a str,
    pub because: &'a str,
}

impl<'a> Outcome<'a> {
    /// Those of a verdict: the test's, then one per group.
    pub fn all(verdict: &'a Verdict) -> Vec<Self> {
        let of_test = &verdict.outcome;
        let (word, because) = (&of_test.word, &of_test.because);
        let groups = of_test.groups.iter().map(|group| Self {
            verdict,
            group: Some(group),
            word: &group.verdict,
            because: &group.because,
        });
        [Self { verdict, group: None, word, because }].into_iter().chain(groups).collect()
    }

    fn group_name(&self) -> &'a str {
        self.group.map_or("test", |group| &group.name)
    }

    /// What identifies its row, and the files of the runs that count.
    pub fn identity(&self) -> (String, Vec<SourceFile>) {
        let name = &self.verdict.registration.registration.name;
        let sources = counted(self.verdict).flat_map(|run| run.sources.clone());
        (format!("{name}/{}", self.group_name()), sources.collect())
    }

    pub fn registration(&self) -> Cell {
        Cell::text(&self.verdict.registration.registration.name)
    }

    pub fn test(&self) -> Cell {
        Cell::text(self.verdict.registration.registration.test.words())
    }

    pub fn source(&self) -> Cell {
        Cell::text(&self.verdict.sources)
    }

    /// The verdict, why, whether it decides, and why not if it does not.
    pub fn verdict() -> [Col<Self>; 4] {
        [
            Heading("verdict", "", "The outcome in a word").new(|of| Cell::text(of.word)),
            Heading("because", "", "Why, in a sentence").new(|of| Cell::text(of.because)),
            Heading("decisive", "", "Whether the outcome counts for the registration")
                .new(|of| Cell::yes_no(Some(of.verdict.not_decisive_because.is_none()))),
            Heading("not_decisive_because", "", "Why the outcome does not count")
                .new(|of| of.verdict.not_decisive_because.as_ref().map_or(Cell::Empty, Cell::text)),
        ]
    }
}

/// The runs that a verdict counts, controls among them.
pub(super) fn counted(verdict: &Verdict) -> impl Iterator<Item = &VerdictRun> {
    verdict.runs.iter().filter(|run| !run.role.is_empty() && run.set_aside.is_none())
}

/// The outcome of a verdict: a row for the test, then one per group.
pub fn outcome(verdict: &Verdict) -> Table {
    let columns = [
        &[
            Heading("registration", "", "The registration that judges, by its name or hash")
                .key(Outcome::registration),
            Heading("status", "", "Of the registration: FILLED, EXPLORATORY or INCOMPLETE").new(
                |of: &Outcome<'_>| Cell::text(of.verdict.registration.registration.status.word()),
            ),
            Heading("test", "", "The registered test").key(Outcome::test),
            Heading("source", "", "What made the runs: engine or simulator").key(Outcome::source),
            Heading("group", "", "A rate or an arm of the test; the test as a whole")
                .new(|of| Cell::text(of.group_name())),
        ],
        &Outcome::verdict()[..],
    ]
    .concat();
    let title = format!("Verdict of {}", verdict.registration.registration.name);
    Table::of("verdict", title, &columns, Outcome::all(verdict), Outcome::identity)
}
