//! How long each trap lasted (D5, App. D).

use crate::analysis::statistics::extra::Extra;
use crate::analysis::verdict::Verdict;
use crate::rule::persistence::life;
use crate::setup::registration::after::PersistenceTest;

use super::{Cell, Column, Row, Table};

const COLUMNS: &[Column] = &[
    Column::key("run", ""),
    Column::key("source", ""),
    Column::key("cell", ""),
    Column::key("arm", ""),
    Column::key("rate_multiple", "lambda_ref"),
    Column::key("seed", ""),
    Column::new("label", ""),
    Column::new("onset_s", "s"),
    Column::new("trapped_s", "s"),
    Column::new("escapes", ""),
    Column::new("escaped_s", "s"),
    Column::new("highest_hit_after_onset", ""),
    Column::new("last_hit_s", "s"),
    Column::new("last_hit_after_trigger_s", "s"),
];

/// The table: a row per run with a trigger.
pub fn table(verdict: &Verdict, rule: &PersistenceTest) -> Table {
    let row = |run: &crate::analysis::verdict::VerdictRun| {
        let Extra::Rolling(windows) = &run.extra else { return None };
        let life = life(windows, rule);
        let last_hit_s = run.measures.series.follow_up_hits.iter().rev().find(|(_, s)| s.hits > 0);
        let since = last_hit_s.map(|(t, _)| t - run.burst_start_s);
        let key = run.dir.display().to_string();
        Some(Row {
            cells: vec![
                Cell::text(&key),
                Cell::text(run.meta.source.word()),
                Cell::text(&run.meta.cell),
                Cell::text(&run.meta.arm),
                Cell::optional(run.meta.rate.multiple, 2),
                Cell::Count(run.meta.seed),
                run.labelled.as_ref().map_or(Cell::Empty, |l| Cell::text(l.label)),
                Cell::optional(life.onset_s, 0),
                Cell::optional(life.onset_s.map(|_| life.trapped_s), 0),
                Cell::Count(u64::from(life.escape_s.is_some())),
                Cell::optional(life.escape_s, 0),
                Cell::optional(life.highest, 3),
                Cell::optional(last_hit_s.map(|(t, _)| *t), 0),
                Cell::optional(since, 0),
            ],
            key,
            sources: run.sources.clone(),
        })
    };
    Table {
        name: "persistence".into(),
        title: "Traps from their onset to the run's end or an intervention".into(),
        columns: COLUMNS.to_vec(),
        rows: verdict.runs.iter().filter(|r| r.role == "subject").filter_map(row).collect(),
    }
}
