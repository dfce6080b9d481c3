//! What a run with a cap engaged inside the trap did, before, under and after the cap
//! (App. E.7, Tables 8 and 9).

use serde::{Deserialize, Serialize};

use crate::run::{GateEventKind, Run, SessionStatus, TurnStatus};
use crate::setup::Span;

use super::population::{self, StepFunction};
use super::share::{self, Share};
use super::span;
use super::tiles::tiles;

/// The measurements of a rescue run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RescueMeasures {
    /// Follow-up hits just before t_on.
    pub before: Share,
    /// Outstanding at t_on: in flight, at the gate or paused, sessions.
    pub outstanding_on: f64,
    /// When the gate engaged, as it reports, s.
    pub engaged_s: Option<f64>,
    /// When it was released, s; `None` if it never was.
    pub released_s: Option<f64>,
    /// The gate's cap, sessions.
    pub cap: Option<u64>,
    /// From the release on; `None` if there is none, or the run ends too soon after it.
    pub after: Option<AfterRelease>,
    /// Times the gate paused a session.
    pub pauses: u64,
    /// Sessions that it paused at least once.
    pub sessions_paused: u64,
    /// How long its pauses lasted, by session.
    pub pause: Pauses,
    /// The most sessions waiting at the gate or paused at once.
    pub held_max: f64,
    /// Session-hours of pauses and admission waits.
    pub held_session_hours: f64,
    /// For how long before the release nobody was held, s.
    pub empty_before_release_s: Option<f64>,
    /// Sessions that failed.
    pub sessions_failed: u64,
    /// Sessions that were turned away.
    pub sessions_refused: u64,
    /// Requests that failed.
    pub request_errors: u64,
}

/// How long sessions were paused: waits for admission are none (App. E.7).
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Pauses {
    /// All pauses of all sessions, s.
    pub total_s: f64,
    /// The longest total of one session, s; `None` if none was paused.
    pub longest_s: Option<f64>,
}

impl Pauses {
    /// Sums them up.
    pub fn of(run: &Run) -> Self {
        let paused = || run.sessions.iter().filter(|s| s.pauses > 0).map(|s| s.pause_s);
        Self { total_s: paused().sum(), longest_s: paused().max_by(f64::total_cmp) }
    }
}

/// From the release on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AfterRelease {
    /// The interval: from so long after the release to the end.
    pub span: Span,
    /// Follow-up hits per tile.
    pub tiles: Vec<(Span, Share)>,
    /// Follow-up hits over the interval.
    pub follow_up_hits: Share,
    /// Uncached tokens/s over the interval.
    pub uncached_tokens_per_s: Option<f64>,
    /// Mean outstanding over the interval, sessions.
    pub outstanding_mean: f64,
    /// The most sessions in the system from the release on.
    pub backlog_max: f64,
}

/// A control over a rescue run's intervals.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ControlMeasures {
    /// Follow-up hits from t_on to the end.
    pub since_engage: Share,
    /// Completions of follow-ups, s, and whether each hit; in order of time.
    follow_ups: Vec<(f64, Option<bool>)>,
    outstanding: StepFunction,
}

/// A control over the interval after its rescue run's release (Table 8).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ControlAfter {
    /// Follow-up hits.
    pub follow_up_hits: Share,
    /// Mean outstanding, sessions.
    pub outstanding_mean: f64,
}

impl ControlMeasures {
    /// A control with these follow-up hits and nothing else, for a rule's tests.
    #[cfg(test)]
    pub(crate) fn with_hits(since_engage: Share) -> Self {
        Self {
            since_engage,
            follow_ups: Vec::new(),
            outstanding: StepFunction::from_changes(Vec::new()),
        }
    }

    /// What it did over `span`.
    pub fn over(&self, span: Span) -> ControlAfter {
        let mut follow_up_hits = Share::default();
        let inside = self.follow_ups.iter().filter(|(t, _)| span.holds(*t));
        inside.for_each(|(_, hit)| follow_up_hits.count(*hit));
        ControlAfter { follow_up_hits, outstanding_mean: self.outstanding.mean_over(span) }
    }
}

/// When a rescue run is looked at, s.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RescueTimes {
    /// t_on: when the gate starts to bind.
    pub engage_s: f64,
    /// For how long before it hits are counted.
    pub valid_over_s: f64,
    /// How long after the release the interval after it starts.
    pub settle_s: f64,
    /// Length of a tile of that interval.
    pub tile_s: f64,
    /// When it ends.
    pub end_s: f64,
}

/// Measures a rescue run, which must last to the end of the `times`.
pub fn rescue(run: &Run, times: &RescueTimes) -> RescueMeasures {
    let end_s = times.end_s;
    let outstanding = population::outstanding(run);
    let held = population::held_at_gate(run);
    let of = |kind| run.gate.iter().filter(move |e| e.event == kind);
    let gate = run.meta.gate.as_ref();
    let engaged_s =
        of(GateEventKind::Engage).next().map(|e| e.t_s).or(gate.and_then(|g| g.engage_s));
    let released_s =
        of(GateEventKind::Release).next_back().map(|e| e.t_s).or(gate.and_then(|g| g.release_s));
    let whole = super::whole(run);
    RescueMeasures {
        before: share::follow_up_hits(
            run,
            Span::new(times.engage_s - times.valid_over_s, times.engage_s),
        ),
        outstanding_on: outstanding.at(times.engage_s),
        engaged_s,
        released_s,
        cap: gate.map(|g| g.n_cap),
        after: released_s.and_then(|t| after(run, times, t, &outstanding)),
        pauses: run.sessions.iter().map(|s| s.pauses).sum(),
        sessions_paused: run.sessions.iter().filter(|s| s.pauses > 0).count() as u64,
        pause: Pauses::of(run),
        held_max: held.max_over(Span::new(times.engage_s, end_s)),
        held_session_hours: whole.held_session_hours,
        empty_before_release_s: released_s.and_then(|t| empty_before(run, t)),
        sessions_failed: whole.sessions_failed,
        sessions_refused: run.sessions.iter().filter(|s| s.status == SessionStatus::Refused).count()
            as u64,
        request_errors: run
            .turns
            .iter()
            .filter(|t| matches!(t.status, TurnStatus::Error(_)))
            .count() as u64,
    }
}

fn after(
    run: &Run,
    times: &RescueTimes,
    released_s: f64,
    outstanding: &StepFunction,
) -> Option<AfterRelease> {
    let span = Span::new(released_s + times.settle_s, times.end_s);
    let tiles = tiles(span, times.tile_s);
    if tiles.is_empty() {
        return None;
    }
    Some(AfterRelease {
        span,
        tiles: tiles.into_iter().map(|t| (t, share::follow_up_hits(run, t))).collect(),
        follow_up_hits: share::follow_up_hits(run, span),
        uncached_tokens_per_s: span::uncached_tokens_per_s(run, span),
        outstanding_mean: outstanding.mean_over(span),
        backlog_max: population::in_system(run).max_over(Span::new(released_s, times.end_s)),
    })
}

/// How long both queues had been empty when the gate was released, by its own events.
fn empty_before(run: &Run, released_s: f64) -> Option<f64> {
    let mut emptied_s = None;
    let mut empty = false;
    for event in run.gate.iter().filter(|e| e.t_s <= released_s) {
        let now = event.gated + event.paused == 0;
        if now && !empty {
            emptied_s = Some(event.t_s);
        }
        empty = now;
    }
    emptied_s.filter(|_| empty).map(|t| released_s - t)
}

/// Measures a control from t_on to the end.
pub fn control(run: &Run, since_engage: Span) -> ControlMeasures {
    let mut follow_ups: Vec<(f64, Option<bool>)> = run
        .turns
        .iter()
        .filter(|turn| turn.is_follow_up())
        .filter_map(|turn| turn.served_at_s().map(|t| (t, share::is_hit(turn))))
        .collect();
    follow_ups.sort_by(|a, b| a.0.total_cmp(&b.0));
    ControlMeasures {
        since_engage: share::follow_up_hits(run, since_engage),
        follow_ups,
        outstanding: population::outstanding(run),
    }
}
