//! What a run was like around its burst: before it, just after it, and when the last
//! hit came; and, behind a gate, when the gate had drained it.

use serde::{Deserialize, Serialize};

use crate::run::{Kind, PlannedSession, Run, SessionStatus, Turn};
use crate::setup::{Protocol, Span, Workload};

use super::population::{StepFunction, held_at_gate, in_system};
use super::rolling::first_bin_without_hits;
use super::share::{self, Share};
use super::stretches::Stretches;

/// A run around the protocol's burst. Every run of an open arm has these, so that arms
/// without a burst compare.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct BurstMeasures {
    /// Hits before the burst.
    pub hits_before: Share,
    /// Hits of the follow-ups before the burst.
    pub follow_up_hits_before: Share,
    /// Sessions in the system when the burst starts.
    pub backlog_before: f64,
    /// Sessions in the system when it has arrived.
    pub backlog_after: f64,
    /// Start of the first bin since the burst from which no turn hits to the end of the
    /// run, s; `None` if turns hit to the end.
    pub no_hits_from_s: Option<f64>,
    /// From the burst's start until nobody waits at the gate for the first time after the
    /// burst has arrived, s; `None` without a gate, or if it never empties.
    pub gate_drained_after_s: Option<f64>,
    /// Start of the first 150 s bin since the burst in which fewer than half of the
    /// follow-ups hit, s; `None` if there is none.
    pub first_low_s: Option<f64>,
    /// When the last session of the burst completed, s; `None` if one did not, or there is
    /// no burst.
    pub last_completed_s: Option<f64>,
}

/// The prompt tokens that a plan's burst asks for where every turn misses, over what as many
/// sessions of the workload ask for on average: seeds draw bursts that are not alike. `None`
/// without a burst.
pub fn burst_work_over_nominal(plan: &[PlannedSession], workload: &Workload) -> Option<f64> {
    let tokens = |turns: usize| (1..=turns).map(|k| workload.prompt_tokens(k)).sum::<u64>();
    let burst = plan.iter().filter(|session| session.kind == Kind::Burst);
    let work: Vec<u64> = burst.map(|session| tokens(session.turns as usize)).collect();
    let turns = (1..).zip(workload.survival());
    let mean: f64 = turns.map(|(k, reached)| reached * workload.prompt_tokens(k) as f64).sum();
    let nominal = mean * work.len() as f64;
    (!work.is_empty()).then(|| work.iter().sum::<u64>() as f64 / nominal)
}

/// Width and limit of the frozen exploratory measure of TOOLSLOW-W (App. C): "the first
/// 150 s window below a follow-up hit of 0.5".
const LOW: (f64, f64) = (150.0, 0.5);

/// Measures a run around the burst; `None` when it ends before that has arrived.
pub(crate) fn around_burst(run: &Run, protocol: &Protocol) -> Option<BurstMeasures> {
    let burst = protocol.paired.burst;
    let arrived_s = burst.start_s + burst.length_s;
    if run.meta.duration_s <= arrived_s {
        return None;
    }
    let backlog = in_system(run);
    Some(BurstMeasures {
        hits_before: share::hits(run, Span::new(0.0, burst.start_s)),
        follow_up_hits_before: share::follow_up_hits(run, Span::new(0.0, burst.start_s)),
        backlog_before: backlog.at(burst.start_s),
        backlog_after: backlog.at(arrived_s),
        no_hits_from_s: first_bin_without_hits(run, burst.start_s, protocol.bins.hit_s)
            .map(|bin| bin.start_s),
        gate_drained_after_s: run
            .meta
            .gate
            .and_then(|_| first_empty(&held_at_gate(run), arrived_s, run.meta.duration_s))
            .map(|t| t - burst.start_s),
        first_low_s: Stretches::binned(run, LOW.0, Turn::is_follow_up)
            .within(Span::new(burst.start_s, run.meta.duration_s))
            .first_below(LOW.1)
            .map(|bin| bin.start_s),
        last_completed_s: last_completed_s(run),
    })
}

fn last_completed_s(run: &Run) -> Option<f64> {
    let burst = run.sessions.iter().filter(|s| s.kind == Kind::Burst);
    let ends: Option<Vec<f64>> =
        burst.map(|s| s.t_end_s.filter(|_| s.status == SessionStatus::Completed)).collect();
    ends?.into_iter().max_by(f64::total_cmp)
}

/// The first time from `from_s` on at which a population is 0.
fn first_empty(held: &StepFunction, from_s: f64, until_s: f64) -> Option<f64> {
    if held.at(from_s) <= 0.0 {
        return Some(from_s);
    }
    held.changes(Span::new(from_s, until_s)).find(|(_, value)| *value <= 0.0).map(|(t, _)| t)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gate_has_drained_when_it_is_first_empty() {
        let held =
            StepFunction::from_changes(vec![(10.0, 2.0), (30.0, -1.0), (50.0, -1.0), (60.0, 1.0)]);
        assert_eq!(first_empty(&held, 20.0, 100.0), Some(50.0));
        assert_eq!(first_empty(&held, 55.0, 100.0), Some(55.0));
        assert_eq!(first_empty(&held, 65.0, 100.0), None);
        assert_eq!(first_empty(&held, 20.0, 40.0), None);
    }
}
