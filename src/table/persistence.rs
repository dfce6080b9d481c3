//! How long each trap lasted (D5, App. D): runs with a trigger, and beside them the runs from
//! empty, whose trigger is their start.

use crate::judged::statistics::RunStatistics;
use crate::judged::verdict::{Verdict, VerdictRun};
use crate::rule::persistence::{PersistenceTest, TrapLife, life};
use crate::rule::test::TestMeasures;
use crate::setup::Arm;

use super::about_run::{AboutRun, with_identity};
use super::{Cell, Col, Heading, Table, stuck, trigger};

/// A run and its trap.
struct Trap<'a> {
    stuck: Cell,
    trigger_gone: Cell,
    life: TrapLife,
    /// The length of the rule's window, s.
    window_s: f64,
    run: &'a VerdictRun,
}

impl AboutRun for Trap<'_> {
    fn run(&self) -> &RunStatistics {
        self.run
    }
}

impl Trap<'_> {
    /// How long it lasted, s; `None` without one.
    fn lasted_s(&self) -> Option<f64> {
        self.life.trapped_from_s.map(|_| self.life.trapped_s)
    }

    /// When a follow-up last hit, s.
    fn last_hit_s(&self) -> Option<f64> {
        let bins = &self.run.measures.series.follow_up_hits;
        bins.iter().rev().find(|(_, share)| share.hits > 0).map(|(t, _)| *t)
    }
}

fn columns<'a>() -> Vec<Col<Trap<'a>>> {
    with_identity(&[
        Heading("label", "", "The run's label under the rule").new(|trap: &Trap<'a>| {
            trap.run.labelled.as_ref().map_or(Cell::Empty, |l| Cell::text(l.label))
        }),
        Heading("stuck", "", "Whether its follow-up hit fraction is below the threshold")
            .new(|trap| trap.stuck.clone()),
        Heading("trigger_gone", "", "Whether every session of the trigger had left")
            .new(|trap| trap.trigger_gone.clone()),
        Heading("onset_s", "s", "End of the trap's first window")
            .optional(0, |trap| trap.life.trapped_from_s),
        Heading("trapped_s", "s", "How long it stayed trapped").optional(0, |trap| trap.lasted_s()),
        Heading(
            "trapped_since_window_start_s",
            "s",
            "How long it stayed trapped, the first window included",
        )
        .optional(0, |trap| trap.lasted_s().map(|s| s + trap.window_s)),
        Heading("escapes", "", "1 if the trap ended")
            .count(|trap| u64::from(trap.life.escape_s.is_some())),
        Heading("escaped_s", "s", "When the trap ended").optional(0, |trap| trap.life.escape_s),
        Heading("highest_hit_after_onset", "", "Highest follow-up hit fraction of a later window")
            .optional(3, |trap| trap.life.highest),
        Heading("last_hit_s", "s", "When the last turn hit").optional(0, |trap| trap.last_hit_s()),
        Heading("last_hit_after_trigger_s", "s", "From the trigger's leaving to the last hit")
            .optional(0, |trap| {
                let from_empty = trap.run.meta.arm == Arm::E0b;
                let began_s = if from_empty { 0.0 } else { trap.run.burst_start_s };
                trap.last_hit_s().map(|t| t - began_s)
            }),
    ])
}

/// The table: a row per run with a trigger or from empty. `verdicts` are those of all tests:
/// the trigger's say whether it had left. Nothing for a test of another kind.
pub fn table(verdict: &Verdict, verdicts: &[Verdict]) -> Option<Table> {
    let rule = PersistenceTest::of(verdict.test())?;
    let stuck_below = verdict.registration.registration.rule.stuck_follow_up_hit_below;
    let rows = verdict.runs.iter().filter(|run| !run.role.is_empty()).filter_map(|run| {
        let Some(TestMeasures::Persistence(windows)) = &run.for_test else { return None };
        Some(Trap {
            stuck: stuck(&run.measures, stuck_below),
            trigger_gone: trigger::of_run(verdicts, run).map_or(Cell::Empty, trigger::gone),
            life: life(windows, rule),
            window_s: rule.window_s,
            run,
        })
    });
    let title = "Traps from their onset to the run's end or an intervention";
    Some(super::about_run::table("persistence", title, &columns(), rows))
}
