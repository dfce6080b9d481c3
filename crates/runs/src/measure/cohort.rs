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
    /// Median time from arrival to end of those that completed, s; `None` if none did.
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
    let mut sessions = 0;
    let mut durations = Vec::new();
    for session in run.sessions.iter().filter(|session| session.was_in_system()) {
        let Some(from_s) = session.t_arrival_s().filter(|t| arrived.holds(*t)) else { continue };
        sessions += 1;
        let ended = session.t_end_s.filter(|_| session.status == SessionStatus::Completed);
        durations.extend(ended.map(|t| t - from_s));
    }
    (sessions > 0).then(|| Cohort {
        sessions,
        median_duration_s: stats::median(&durations),
        unfinished: sessions - durations.len() as u64,
    })
}
