//! Every registered test over the same runs: the outcomes, the label of each run, and the
//! clauses that decided it.

use crate::judged::verdict::{Verdict, VerdictRun};
use crate::rule::Clause;

use super::verdict::{needs, outcome};
use super::{Cell, Column, Row, Table};

const VERDICTS: &[Column] = &[
    Column::key("registration", ""),
    Column::key("test", ""),
    Column::key("cell", ""),
    Column::key("source", ""),
    Column::key("group", ""),
    Column::key("rate_multiple", "lambda_ref"),
    Column::new("verdict", ""),
    Column::new("because", ""),
    Column::new("decisive", ""),
    Column::new("not_decisive_because", ""),
    Column::new("runs_used", ""),
    Column::new("not_used", ""),
];

/// The outcomes: a row per test, its group empty, and one per group.
pub fn verdicts(verdicts: &[Verdict]) -> Table {
    Table {
        name: "verdicts".into(),
        title: "Registered tests: how each comes out over these runs".into(),
        columns: VERDICTS.to_vec(),
        rows: verdicts.iter().flat_map(rows).collect(),
    }
}

fn rows(verdict: &Verdict) -> Vec<Row> {
    let registration = &verdict.registration.registration;
    let used = counted(verdict).count() as u64;
    let of_test = outcome(verdict);
    let column = |name| of_test.columns.iter().position(|c| c.name == name);
    let cell = |row: &Row, name| column(name).map_or(Cell::Empty, |i| row.cells[i].clone());
    of_test
        .rows
        .iter()
        .enumerate()
        .map(|(i, row)| Row {
            key: row.key.clone(),
            cells: vec![
                Cell::text(&registration.name),
                Cell::text(registration.test.words()),
                Cell::text(&registration.cell),
                Cell::text(&verdict.sources),
                if i == 0 { Cell::Empty } else { cell(row, "group") },
                Cell::optional(rate_of(&cell(row, "group").print()), 2),
                cell(row, "verdict"),
                cell(row, "because"),
                cell(row, "decisive"),
                cell(row, "not_decisive_because"),
                Cell::Count(used),
                if i == 0 {
                    Cell::Count(verdict.outcome.set_aside.len() as u64)
                } else {
                    Cell::Empty
                },
            ],
            sources: row.sources.clone(),
        })
        .collect()
}

/// The rate of a group that is one: `rate 1.35`.
fn rate_of(group: &str) -> Option<f64> {
    group.strip_prefix("rate ")?.parse().ok()
}

fn counted(verdict: &Verdict) -> impl Iterator<Item = &VerdictRun> {
    verdict.runs.iter().filter(|run| !run.role.is_empty() && run.set_aside.is_none())
}

const KEYS: [Column; 8] = [
    Column::key("registration", ""),
    Column::key("run", ""),
    Column::key("source", ""),
    Column::key("cell", ""),
    Column::key("arm", ""),
    Column::key("rate_multiple", "lambda_ref"),
    Column::key("seed", ""),
    Column::key("role", ""),
];

fn identity(verdict: &Verdict, run: &VerdictRun) -> Vec<Cell> {
    vec![
        Cell::text(&verdict.registration.registration.name),
        Cell::text(run.dir.display().to_string()),
        Cell::text(run.meta.source.word()),
        Cell::text(&run.meta.cell),
        Cell::text(&run.meta.arm),
        Cell::optional(run.meta.rate.multiple, 2),
        Cell::Count(run.meta.seed),
        Cell::text(run.role),
    ]
}

/// The counted runs of every test with their labels.
pub fn labels(verdicts: &[Verdict]) -> Table {
    let row = |verdict: &Verdict, run: &VerdictRun| {
        let labelled = run.labelled.as_ref();
        let mut cells = identity(verdict, run);
        cells.extend([
            labelled.map_or(Cell::Empty, |l| Cell::text(l.label)),
            labelled.and_then(|l| l.deciding()).map_or(Cell::Empty, |c| Cell::text(c.quantity)),
            labelled.and_then(|l| l.because.as_ref()).map_or(Cell::Empty, Cell::text),
        ]);
        Row { key: key(verdict, run), cells, sources: run.sources.clone() }
    };
    let found =
        [Column::new("label", ""), Column::new("decided_by", ""), Column::new("because", "")];
    Table {
        name: "labels".into(),
        title: "Registered tests: the label of each run".into(),
        columns: [&KEYS[..], &found[..]].concat(),
        rows: verdicts.iter().flat_map(|v| counted(v).map(move |run| row(v, run))).collect(),
    }
}

/// What every label was decided by, a row per clause; secondary checks too.
pub fn clauses(verdicts: &[Verdict]) -> Table {
    let row = |verdict: &Verdict, run: &VerdictRun, clause: &Clause, weight: &str, i: usize| {
        let mut cells = identity(verdict, run);
        cells.extend([
            Cell::text(weight),
            Cell::text(clause.quantity),
            Cell::text(clause.unit),
            Cell::known(clause.measured, 4),
        ]);
        cells.extend(needs(clause));
        cells.extend([
            match clause.holds {
                Some(true) => Cell::text("yes"),
                Some(false) => Cell::text("no"),
                None => Cell::Unknown,
            },
            Cell::known(clause.margin(), 4),
        ]);
        Row {
            key: format!("{}/{weight}/{i}", key(verdict, run)),
            cells,
            sources: run.sources.clone(),
        }
    };
    let mut rows = Vec::new();
    for verdict in verdicts {
        for run in counted(verdict) {
            let deciding = run.labelled.iter().flat_map(|l| &l.clauses);
            rows.extend(deciding.enumerate().map(|(i, c)| row(verdict, run, c, "deciding", i)));
            let secondary = run.secondary.iter().enumerate();
            rows.extend(secondary.map(|(i, c)| row(verdict, run, c, "secondary", i)));
        }
    }
    let found = [
        Column::key("weight", ""),
        Column::key("clause", ""),
        Column::key("unit", ""),
        Column::new("measured", "see unit"),
        Column::new("needs", ""),
        Column::new("needs_least", "see unit"),
        Column::new("needs_most", "see unit"),
        Column::new("holds", ""),
        Column::new("margin", "see unit"),
    ];
    Table {
        name: "clauses".into(),
        title: "Registered tests: the clauses behind each label".into(),
        columns: [&KEYS[..], &found[..]].concat(),
        rows,
    }
}

fn key(verdict: &Verdict, run: &VerdictRun) -> String {
    format!("{}/{}", verdict.registration.registration.name, run.dir.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_has_a_rate_only_where_it_is_one() {
        assert_eq!(rate_of("rate 1.35"), Some(1.35));
        assert_eq!(rate_of("toolslow rate 1.35"), None);
        assert_eq!(rate_of("rate to come"), None);
    }
}
