//! Whether the trigger of each run had left before its end, and what hit since (D1, App. D).

use crate::judged::statistics::extra::Extra;
use crate::judged::verdict::{Verdict, VerdictRun};
use crate::measure::trigger::TriggerMeasures;
use crate::setup::registration::Test;

use super::{Cell, Column, Row, Table, open_run, stuck};

const COLUMNS: &[Column] = &[
    Column::new("stuck", ""),
    Column::new("trigger_sessions", "sessions"),
    Column::new("trigger_gone", ""),
    Column::new("present_at_end_sessions", "sessions"),
    Column::new("all_at_end_sessions", "sessions"),
    Column::new("left_before_end_s", "s"),
    Column::new("turns_after", "turns"),
    Column::new("hits_after", "turns"),
    Column::new("last_hit_after_s", "s"),
];

/// The table: a row per run with a trigger, from the verdicts of the trigger tests.
pub fn table(verdicts: &[Verdict]) -> Table {
    let mut rows = Vec::new();
    for verdict in verdicts {
        if let Test::Trigger(rule) = &verdict.registration.registration.test {
            let below = rule.stuck_follow_up_hit_below;
            rows.extend(verdict.subjects().filter_map(|run| row(run, below)));
        }
    }
    Table {
        name: "trigger".into(),
        title: "Whether each run's trigger had left before the end, and the turns since".into(),
        columns: open_run::columns(COLUMNS),
        rows,
    }
}

/// The trigger of a run, as one of the trigger tests measured it.
pub(super) fn of_run<'a>(verdicts: &'a [Verdict], run: &VerdictRun) -> Option<&'a TriggerMeasures> {
    verdicts
        .iter()
        .filter(|v| matches!(v.registration.registration.test, Test::Trigger(_)))
        .flat_map(Verdict::subjects)
        .filter(|other| other.dir == run.dir)
        .find_map(|other| match &other.extra {
            Extra::Trigger(trigger) => trigger.as_ref(),
            _ => None,
        })
}

/// Whether it is gone, in the words of the output.
pub(super) fn gone(trigger: &TriggerMeasures) -> Cell {
    Cell::text(if trigger.present_at_end == 0 { "yes" } else { "no" })
}

fn row(run: &VerdictRun, stuck_below: f64) -> Option<Row> {
    let Extra::Trigger(Some(trigger)) = &run.extra else { return None };
    let after = trigger.turns_after;
    let found = vec![
        stuck(&run.measures, stuck_below),
        Cell::Count(trigger.sessions),
        gone(trigger),
        Cell::Count(trigger.present_at_end),
        Cell::Count(trigger.all_at_end),
        Cell::optional(trigger.before_end_s, 0),
        after.map_or(Cell::Empty, |share| Cell::Count(share.total())),
        match after {
            Some(share) if share.unknown > 0 => Cell::Unknown,
            Some(share) => Cell::Count(share.hits),
            None => Cell::Empty,
        },
        Cell::optional(trigger.last_hit_after_s, 0),
    ];
    Some(open_run::row(run, found))
}
