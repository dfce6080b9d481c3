//! Goodput lost against NOBURST of the same plan (D2, App. D).

use crate::judged::verdict::{Verdict, VerdictRun};

use super::about_run::with_identity;
use super::{Col, Table};

const COLUMNS: &[Col<VerdictRun>] = &[
    Col::known("lost_after_burst", "", 4, |run| run.goodput_lost[0]),
    Col::known("lost_in_window", "", 4, |run| run.goodput_lost[1]),
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
