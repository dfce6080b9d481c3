//! Goodput lost against NOBURST of the same plan (D2, App. D).

use crate::judged::verdict::{Verdict, VerdictRun};

use super::about_run::with_identity;
use super::{Col, Heading, Table};

const COLUMNS: &[Col<VerdictRun>] = &[
    Heading("lost_after_burst", "", "Share of NOBURST's goodput lost in the hour after the burst")
        .known(4, |run| run.goodput_lost[0]),
    Heading("lost_in_window", "", "Share of NOBURST's goodput lost in the window")
        .known(4, |run| run.goodput_lost[1]),
];

/// The table: a row per run that has a control.
pub fn table(verdict: &Verdict) -> Table {
    let title =
        "Share of NOBURST's goodput that is lost, in the hour after the burst and in the window";
    let with_control =
        |run: &&VerdictRun| run.role == "subject" && run.goodput_lost != [None, None];
    let rows = verdict.runs.iter().filter(with_control);
    super::about_run::table("goodput", title, &with_identity(COLUMNS), rows)
}
