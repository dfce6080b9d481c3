//! How long each trap lasted (D5, App. D): runs with a trigger, and beside them the runs from
//! empty, whose trigger is their start.

use crate::judged::statistics::extra::Extra;
use crate::judged::verdict::{Verdict, VerdictRun};
use crate::rule::persistence::life;
use crate::setup::registration::after::PersistenceTest;

use super::{Cell, Column, Table, open_run, stuck, trigger};

const COLUMNS: &[Column] = &[
    Column::new("label", ""),
    Column::new("stuck", ""),
    Column::new("trigger_gone", ""),
    Column::new("onset_s", "s"),
    Column::new("trapped_s", "s"),
    Column::new("trapped_since_window_start_s", "s"),
    Column::new("escapes", ""),
    Column::new("escaped_s", "s"),
    Column::new("highest_hit_after_onset", ""),
    Column::new("last_hit_s", "s"),
    Column::new("last_hit_after_trigger_s", "s"),
];

/// The table: a row per run with a trigger or from empty. `verdicts` are those of all tests:
/// the trigger's say whether it had left.
pub fn table(verdict: &Verdict, rule: &PersistenceTest, verdicts: &[Verdict]) -> Table {
    let stuck_below = verdict.registration.registration.rule.stuck_follow_up_hit_below;
    let row = |run: &VerdictRun| {
        let Extra::Rolling(windows) = &run.extra else { return None };
        let life = life(windows, rule);
        let from_empty = run.meta.arm == "e0b";
        let last_hit_s = run.measures.series.follow_up_hits.iter().rev().find(|(_, s)| s.hits > 0);
        let began_s = if from_empty { 0.0 } else { run.burst_start_s };
        let since = last_hit_s.map(|(t, _)| t - began_s);
        let trapped_s = life.onset_s.map(|_| life.trapped_s);
        let found = vec![
            run.labelled.as_ref().map_or(Cell::Empty, |l| Cell::text(l.label)),
            stuck(&run.measures, stuck_below),
            trigger::of_run(verdicts, run).map_or(Cell::Empty, trigger::gone),
            Cell::optional(life.onset_s, 0),
            Cell::optional(trapped_s, 0),
            Cell::optional(trapped_s.map(|s| s + rule.window_s), 0),
            Cell::Count(u64::from(life.escape_s.is_some())),
            Cell::optional(life.escape_s, 0),
            Cell::optional(life.highest, 3),
            Cell::optional(last_hit_s.map(|(t, _)| *t), 0),
            Cell::optional(since, 0),
        ];
        Some(open_run::row(run, found))
    };
    Table {
        name: "persistence".into(),
        title: "Traps from their onset to the run's end or an intervention".into(),
        columns: open_run::columns(COLUMNS),
        rows: verdict.runs.iter().filter(|r| !r.role.is_empty()).filter_map(row).collect(),
    }
}
