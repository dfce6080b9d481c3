//! A registration's verdict: a row per run with the clause that decided, and a row per
//! group with what was asked of it.

use crate::judged::verdict::{Verdict, VerdictRun};
use crate::rule::Clause;

use super::{Cell, Column, Row, Table};

const RUNS: &[Column] = &[
    Column::key("registration", ""),
    Column::key("run", ""),
    Column::key("source", ""),
    Column::key("cell", ""),
    Column::key("arm", ""),
    Column::key("rate_multiple", "lambda_ref"),
    Column::key("seed", ""),
    Column::new("role", ""),
    Column::new("label", ""),
    Column::new("decided_by", ""),
    Column::new("measured", "see unit"),
    Column::new("needs", ""),
    Column::new("needs_least", "see unit"),
    Column::new("needs_most", "see unit"),
    Column::new("margin", "see unit"),
    Column::new("unit", ""),
    Column::new("because", ""),
    Column::new("binding", ""),
    Column::new("counts", ""),
    Column::new("set_aside_because", ""),
];

/// The runs of a verdict: those that count, and those set aside with the reason.
pub fn runs(verdict: &Verdict) -> Table {
    Table {
        name: "verdict_runs".into(),
        title: format!("Runs under {}", verdict.registration.registration.name),
        columns: RUNS.to_vec(),
        rows: verdict
            .runs
            .iter()
            .filter(|run| !run.role.is_empty())
            .map(|run| row(verdict, run))
            .collect(),
    }
}

fn row(verdict: &Verdict, run: &VerdictRun) -> Row {
    let key = run.dir.display().to_string();
    let labelled = run.labelled.as_ref();
    let mut cells = vec![
        Cell::text(&verdict.registration.registration.name),
        Cell::text(&key),
        Cell::text(run.meta.source.word()),
        Cell::text(&run.meta.cell),
        Cell::text(&run.meta.arm),
        Cell::optional(run.meta.rate.multiple, 2),
        Cell::Count(run.meta.seed),
        Cell::text(run.role),
        labelled.map_or(Cell::Empty, |l| Cell::text(l.label)),
    ];
    cells.extend(clause(labelled.and_then(|l| l.deciding())));
    cells.push(labelled.and_then(|l| l.because.as_ref()).map_or(Cell::Empty, Cell::text));
    cells.push(Cell::text(run.binding.words()));
    cells.push(Cell::yes_no(Some(run.set_aside.is_none())));
    cells.push(run.set_aside.as_ref().map_or(Cell::Empty, Cell::text));
    Row { key, cells, sources: run.sources.clone() }
}

/// Quantity, value, condition, margin and unit of a clause.
fn clause(clause: Option<&Clause>) -> Vec<Cell> {
    let Some(clause) = clause else { return vec![Cell::Empty; 7] };
    let [needs, least, most] = needs(clause);
    vec![
        Cell::text(clause.quantity),
        Cell::known(clause.measured, 4),
        needs,
        least,
        most,
        Cell::known(clause.margin(), 4),
        Cell::text(clause.unit),
    ]
}

/// What a clause needs: which side, the least and the greatest value; held or not.
pub(super) fn needs(clause: &Clause) -> [Cell; 3] {
    let (word, least, most) = clause.needs.sides();
    [Cell::text(word), Cell::optional(least, 4), Cell::optional(most, 4)]
}

const GROUPS: &[Column] = &[
    Column::key("registration", ""),
    Column::new("status", ""),
    Column::key("test", ""),
    Column::key("source", ""),
    Column::new("group", ""),
    Column::new("verdict", ""),
    Column::new("because", ""),
    Column::new("decisive", ""),
    Column::new("not_decisive_because", ""),
];

/// The outcome of a verdict: a row for the test, then one per group.
pub fn outcome(verdict: &Verdict) -> Table {
    let registration = &verdict.registration.registration;
    let why_not = verdict.not_decisive_because.as_ref();
    let row = |group: &str, word: &str, because: &str| Row {
        key: format!("{}/{group}", registration.name),
        cells: vec![
            Cell::text(&registration.name),
            Cell::text(registration.status.word()),
            Cell::text(registration.test.words()),
            Cell::text(&verdict.sources),
            Cell::text(group),
            Cell::text(word),
            Cell::text(because),
            Cell::yes_no(Some(why_not.is_none())),
            why_not.map_or(Cell::Empty, Cell::text),
        ],
        sources: verdict
            .runs
            .iter()
            .filter(|r| r.set_aside.is_none() && !r.role.is_empty())
            .flat_map(|r| r.sources.clone())
            .collect(),
    };
    let outcome = &verdict.outcome;
    let mut rows = vec![row("test", &outcome.word, &outcome.because)];
    rows.extend(outcome.groups.iter().map(|g| row(&g.name, &g.verdict, &g.because)));
    Table {
        name: "verdict".into(),
        title: format!("Verdict of {}", registration.name),
        columns: GROUPS.to_vec(),
        rows,
    }
}
