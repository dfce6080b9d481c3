//! Whether the trigger of each run had left before its end, and what hit since (D1, App. D).

use crate::judged::verdict::{Verdict, VerdictRun};
use crate::measure::trigger::TriggerMeasures;
use crate::rule::test::TestMeasures;
use crate::rule::trigger::TriggerTest;

use super::about_run::with_identity;
use super::{Cell, Col, Heading, Table, stuck};

/// A run, its trigger, and below which hit fraction it is stuck.
type Triggered<'a> = (&'a VerdictRun, (&'a TriggerMeasures, f64));

fn columns<'a>() -> Vec<Col<Triggered<'a>>> {
    with_identity(&[
        Heading("stuck", "", "Whether its follow-up hit fraction is below the threshold")
            .new(|(run, (_, below))| stuck(&run.measures, *below)),
        Heading("trigger_sessions", "sessions", "Sessions of the trigger")
            .count(|(_, (trigger, _))| trigger.sessions),
        Heading("trigger_gone", "", "Whether every session of the trigger had left")
            .new(|(_, (trigger, _))| gone(trigger)),
        Heading(
            "present_at_end_sessions",
            "sessions",
            "Sessions of the trigger still there at the end",
        )
        .count(|(_, (trigger, _))| trigger.present_at_end),
        Heading("all_at_end_sessions", "sessions", "All sessions there at the end")
            .count(|(_, (trigger, _))| trigger.all_at_end),
        Heading("left_before_end_s", "s", "How long before the end the last of them left")
            .optional(0, |(_, (trigger, _))| trigger.before_end_s),
        Heading("turns_after", "turns", "Turns completed since the last of them left").new(
            |(_, (trigger, _))| {
                trigger.turns_after.map_or(Cell::Empty, |share| Cell::Count(share.total()))
            },
        ),
        Heading("hits_after", "turns", "Hits since the last of them left").new(
            |(_, (trigger, _))| match trigger.turns_after {
                Some(share) if share.unknown > 0 => Cell::Unknown,
                Some(share) => Cell::Count(share.hits),
                None => Cell::Empty,
            },
        ),
        Heading("last_hit_after_s", "s", "From the last of them leaving to the last hit")
            .optional(0, |(_, (trigger, _))| trigger.last_hit_after_s),
    ])
}

/// The table: a row per run with a trigger, from the verdicts of the trigger tests.
pub fn table(verdicts: &[Verdict]) -> Table {
    let rows = verdicts.iter().flat_map(|verdict| {
        let below = TriggerTest::of(verdict.test()).map(|rule| rule.stuck_follow_up_hit_below);
        verdict.subjects().filter_map(move |run| Some((run, (measured(run)?, below?))))
    });
    let title = "Whether each run's trigger had left before the end, and the turns since";
    super::about_run::table("trigger", title, &columns(), rows)
}

/// The trigger of a run, as one of the trigger tests measured it.
pub(super) fn of_run<'a>(verdicts: &'a [Verdict], run: &VerdictRun) -> Option<&'a TriggerMeasures> {
    verdicts
        .iter()
        .flat_map(Verdict::subjects)
        .filter(|other| other.dir == run.dir)
        .find_map(measured)
}

fn measured(run: &VerdictRun) -> Option<&TriggerMeasures> {
    match &run.for_test {
        Some(TestMeasures::Trigger(trigger)) => Some(trigger),
        _ => None,
    }
}

/// Whether it is gone, in the words of the output.
pub(super) fn gone(trigger: &TriggerMeasures) -> Cell {
    Cell::yes_no(Some(trigger.present_at_end == 0))
}
