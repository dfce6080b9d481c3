//! The sessions that arrived while the burst was being worked off, and how long each was in
//! the system (App. E.7).

use serde::{Deserialize, Serialize};

use crate::run::{Run, SessionStatus};
use crate::setup::Span;

use super::stats;

/// For how long after the burst's start sessions belong to it, s (App. E.7: arrivals in
/// [1200, 3000) s).
const LENGTH_S: f64 = 1800.0;

/// The cohort of a run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Cohort {
    /// Its sessions, those of the burst included.
    pub sessions: u64,
    /// Median time from arrival to end, s; one that did not complete counts as longer
    /// than all others. `None` if the median is one of them.
    pub median_duration_s: Option<f64>,
    /// Sessions that had not completed at the run's end.
    pub unfinished: u64,
}

/// Measures it; `None` for a run that ends before the last of them could arrive, or in
/// which none did.
pub fn cohort(run: &Run, burst_start_s: f64) -> Option<Cohort> {
    let arrived = Span::new(burst_start_s, burst_start_s + LENGTH_S);
    if run.meta.duration_s < arrived.end_s {
        return None;
    }
    let durations: Vec<f64> = run
        .sessions
        .iter()
        .filter(|s| s.was_in_system())
        .filter_map(|session| {
            let from_s = session.t_arrival_s().filter(|t| arrived.holds(*t))?;
            let ended = session.t_end_s.filter(|_| session.status == SessionStatus::Completed);
            Some(ended.map_or(f64::INFINITY, |t| t - from_s))
        })
        .collect();
    Some(Cohort {
        sessions: durations.len() as u64,
        median_duration_s: Some(stats::median(&durations)?).filter(|t| t.is_finite()),
        unfinished: durations.iter().filter(|t| t.is_infinite()).count() as u64,
    })
}
