//! Readings of one simulated run over a window [start, end).
//!
//! Turns and sessions count where they complete, as in the paper (App. E.7).

use crate::client::records::{SessionRecord, SessionStatus, TurnRecord, TurnStatus};
use crate::setup::Span;

use super::super::SimRun;
use super::thresholds::Thresholds;

/// Turns that completed in the window.
pub(super) fn completed(run: &SimRun, window: Span) -> impl Iterator<Item = &TurnRecord> {
    run.turns.iter().filter(move |turn| {
        turn.status == TurnStatus::Ok && turn.t_end_s.is_some_and(|t| window.holds(t))
    })
}

/// A turn hits if more than half of its prompt was served from cache (Table 6).
pub(super) fn hits(turn: &TurnRecord) -> bool {
    turn.cached_tokens.is_some_and(|cached| 2 * cached > turn.prompt_tokens)
}

/// Share of the turns completed that hit; none without turns.
pub fn hit_fraction(run: &SimRun, window: Span) -> Option<f64> {
    share(completed(run, window).map(hits))
}

/// Share of follow-ups completed (turns after a session's first) that hit.
pub fn followup_hit_fraction(run: &SimRun, window: Span) -> Option<f64> {
    share(completed(run, window).filter(|turn| turn.turn > 1).map(hits))
}

/// Share of the prompt tokens completed that came from cache.
pub fn token_hit_fraction(run: &SimRun, window: Span) -> Option<f64> {
    let (cached, prompt) = completed(run, window).fold((0, 0), |(cached, prompt), turn| {
        (cached + turn.cached_tokens.unwrap_or(0), prompt + turn.prompt_tokens)
    });
    (prompt > 0).then(|| cached as f64 / prompt as f64)
}

/// Uncached prompt tokens of the turns completed, per second.
pub fn uncached_rate(run: &SimRun, window: Span) -> f64 {
    let uncached = |turn: &TurnRecord| turn.prompt_tokens - turn.cached_tokens.unwrap_or(0);
    completed(run, window).map(uncached).sum::<u64>() as f64 / window.length_s()
}

/// Mean prompt of the turns completed, tokens.
pub fn mean_prompt(run: &SimRun, window: Span) -> Option<f64> {
    let (turns, tokens) = completed(run, window)
        .fold((0_u64, 0), |(turns, tokens), turn| (turns + 1, tokens + turn.prompt_tokens));
    (turns > 0).then(|| tokens as f64 / turns as f64)
}

/// Sessions completed per second.
pub fn completion_rate(run: &SimRun, window: Span) -> f64 {
    let ended = |s: &&SessionRecord| {
        s.status == SessionStatus::Completed && s.t_end_s.is_some_and(|t| window.holds(t))
    };
    run.sessions.iter().filter(ended).count() as f64 / window.length_s()
}

/// Requests in flight plus sessions held at the gate or paused, at `t_s`.
pub fn outstanding_at(run: &SimRun, t_s: f64) -> f64 {
    let in_flight = run
        .turns
        .iter()
        .filter(|turn| turn.t_submit_s <= t_s && turn.t_end_s.is_none_or(|end| end > t_s))
        .count();
    let held = run.gate.iter().take_while(|row| row.t_s <= t_s).last();
    (in_flight as u32 + held.map_or(0, |row| row.gated + row.paused)).into()
}

/// Least-squares slope, per second, of the bin means of the sessions in the
/// system (arrived and not ended, those at the gate included).
pub fn backlog_slope(run: &SimRun, window: Span, bin_s: f64) -> Option<f64> {
    let bins = libm::floor(window.length_s() / bin_s + 1e-9) as usize;
    let mut sums = vec![0.0; bins];
    for session in run.sessions.iter().filter(|s| s.status != SessionStatus::Refused) {
        let end_s = session.t_end_s.unwrap_or(run.horizon_s);
        let first = ((session.t_planned_s - window.start_s) / bin_s).max(0.0) as usize;
        for (i, sum) in sums.iter_mut().enumerate().skip(first) {
            let start_s = window.start_s + bin_s * i as f64;
            if start_s >= end_s {
                break;
            }
            let bin = Span { start_s, end_s: start_s + bin_s };
            *sum += overlap_s(bin, session.t_planned_s, end_s);
        }
    }
    let points = sums.iter().enumerate().map(|(i, sum)| (bin_s * i as f64, sum / bin_s));
    least_squares_slope(points)
}

/// Mean of the engine's queue over its samples in the window.
pub fn mean_waiting(run: &SimRun, window: Span) -> Option<f64> {
    let waiting: Vec<f64> = queue(run, window).map(|(_, waiting)| waiting).collect();
    (!waiting.is_empty()).then(|| waiting.iter().sum::<f64>() / waiting.len() as f64)
}

/// Least-squares slope of the engine's queue over its samples, per second.
pub fn queue_slope(run: &SimRun, window: Span) -> Option<f64> {
    least_squares_slope(queue(run, window))
}

fn queue(run: &SimRun, window: Span) -> impl Iterator<Item = (f64, f64)> + Clone + '_ {
    run.engine
        .iter()
        .filter(move |sample| (window.start_s..=window.end_s).contains(&sample.t_s))
        .filter_map(|sample| Some((sample.t_s, sample.waiting? as f64)))
}

fn least_squares_slope(points: impl Iterator<Item = (f64, f64)> + Clone) -> Option<f64> {
    let n = points.clone().count();
    if n < 2 {
        return None;
    }
    let (sum_x, sum_y) = points.clone().fold((0.0, 0.0), |(a, b), (x, y)| (a + x, b + y));
    let (mean_x, mean_y) = (sum_x / n as f64, sum_y / n as f64);
    let (cross, square) = points.fold((0.0, 0.0), |(cross, square), (x, y)| {
        (cross + (x - mean_x) * (y - mean_y), square + (x - mean_x) * (x - mean_x))
    });
    (square > 0.0).then(|| cross / square)
}

fn share(outcomes: impl Iterator<Item = bool>) -> Option<f64> {
    let (yes, all) = outcomes.fold((0_u64, 0_u64), |(yes, all), o| (yes + u64::from(o), all + 1));
    (all > 0).then(|| yes as f64 / all as f64)
}

fn overlap_s(window: Span, start_s: f64, end_s: f64) -> f64 {
    (end_s.min(window.end_s) - start_s.max(window.start_s)).max(0.0)
}

/// RECOVERED: over the last part hits are high, and at the end little is outstanding.
pub(super) fn recovered(run: &SimRun, thresholds: &Thresholds) -> bool {
    let last = Span { start_s: run.horizon_s - thresholds.last_s, end_s: run.horizon_s };
    hit_fraction(run, last).is_some_and(|hit| hit > thresholds.recovered_hit)
        && outstanding_at(run, run.horizon_s) < thresholds.recovered_outstanding
}
