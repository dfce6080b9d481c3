//! The first alarm of the detector on hits in each run of the mechanism checks (App. E.5).

use crate::judged::verdict::{Verdict, VerdictRun};
use crate::measure::alarm::Alarm;
use crate::rule::test::TestMeasures;

use super::about_run::with_identity;
use super::{Cell, Col, Heading, Table};

/// A run and its first alarm from the burst on.
type Watched<'a> = (&'a VerdictRun, Option<&'a Alarm>);

/// The table; empty for a verdict on another kind of test. A run without an alarm from the
/// burst on, or whose alarm lasts, has no time for it.
pub fn table(verdict: &Verdict) -> Table {
    let columns: Vec<Col<Watched<'_>>> = with_identity(&[
        Heading("first_alarm_after_burst_s", "s", "From the burst to the first alarm")
            .optional(0, |(run, alarm)| alarm.map(|alarm| alarm.at_s - run.burst_start_s)),
        Heading(
            "gate_waiting_at_alarm_sessions",
            "sessions",
            "Sessions held at the gate at the first alarm",
        )
        .optional(0, |(_, alarm)| alarm.and_then(|alarm| alarm.held_at_gate)),
        Heading("lowest_60s_follow_up_hit", "", "Lowest follow-up hit fraction over 60 s")
            .new(|(_, alarm)| alarm.map_or(Cell::Empty, |alarm| Cell::known(alarm.lowest, 3))),
        Heading("alarm_length_s", "s", "How long the first alarm lasted")
            .optional(0, |(_, alarm)| alarm.and_then(|alarm| Some(alarm.ends_s? - alarm.at_s))),
        Heading("above_08_again_after_s", "s", "Until hits are above 0.8 again")
            .optional(0, |(_, alarm)| alarm.and_then(|alarm| Some(alarm.back_s? - alarm.at_s))),
    ]);
    let title = "The detector's first alarm after the burst, over rolling windows of 60 s";
    let rows = verdict.subjects().filter_map(|run| match &run.for_test {
        Some(TestMeasures::Mechanism(found)) => Some((run, found.first_alarm.as_ref())),
        _ => None,
    });
    super::about_run::table("detector", title, &columns, rows)
}
