//! The sessions that arrived with the burst or while it was worked off, of every run of an
//! open arm (App. E.7).

use crate::judged::ScoredRun;
use crate::measure::cohort::Cohort;

use super::about_run::with_identity;
use super::{Col, Heading, Table};

/// The table. A session that did not complete counts as longer than all others, so that a
/// median among these is unknown.
pub fn table(runs: &[ScoredRun]) -> Table {
    let columns: Vec<Col<(&ScoredRun, &Cohort)>> = with_identity(&[
        Heading("cohort_sessions", "sessions", "Arrivals within 1800 s of the burst's start")
            .count(|(_, cohort)| cohort.sessions),
        Heading("median_duration_s", "s", "Median time from arrival to completion of these")
            .known(0, |(_, cohort)| cohort.median_duration_s),
        Heading("unfinished_fraction", "", "Share of these that did not complete")
            .number(4, |(_, cohort)| cohort.unfinished as f64 / cohort.sessions as f64),
    ]);
    let title = "Sessions that arrived within 1800 s of the burst's start: time to completion";
    let rows = runs.iter().filter_map(|run| Some((run, run.cohort.as_ref()?)));
    super::about_run::table("cohort", title, &columns, rows)
}
