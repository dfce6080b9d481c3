//! The few quantities a rule asks for over a span of its own: completions, backlog
//! slope, prompts, and when a burst's sessions were done (App. C).

use crate::run::{Kind, Run, SessionStatus};
use crate::setup::Span;

use super::population::StepFunction;
use super::stats;

/// Sessions that completed in `span`.
pub fn completions(run: &Run, span: Span) -> u64 {
    let done = |s: &&crate::run::Session| {
        s.was_in_system()
            && s.status == SessionStatus::Completed
            && s.t_end_s.is_some_and(|t| span.holds(t))
    };
    run.sessions.iter().filter(done).count() as u64
}

/// Least-squares slope of the bin means of the sessions in the system, sessions/s.
pub fn backlog_slope_per_s(backlog: &StepFunction, span: Span, bin_s: f64) -> Option<f64> {
    stats::least_squares(&backlog.bin_means(span, bin_s)).map(|line| line.slope)
}

/// Mean prompt of the turns completed in `span`, tokens.
pub fn mean_prompt_tokens(run: &Run, span: Span) -> Option<f64> {
    let prompts: Vec<f64> = run
        .turns
        .iter()
        .filter(|t| t.served_at_s().is_some_and(|at| span.holds(at)))
        .map(|t| t.prompt_tokens as f64)
        .collect();
    stats::mean(&prompts)
}

/// Base arrivals of the plan in `span` per second; of the run where it has no plan.
pub fn base_arrivals_per_s(run: &Run, span: Span) -> f64 {
    let inside = |t: Option<f64>| t.is_some_and(|t| span.holds(t));
    let arrived = if run.plan.is_empty() {
        run.sessions.iter().filter(|s| s.kind == Kind::Base && inside(s.t_planned_s)).count()
    } else {
        run.plan.iter().filter(|p| p.kind == Kind::Base && inside(p.t_arrival_s)).count()
    };
    arrived as f64 / span.length_s()
}

/// The wave: median completion time of the burst's sessions, s. Those that did not
/// complete count as later than all others; `None` when the median is one of them,
/// or there is no burst.
pub fn burst_wave_s(run: &Run) -> Option<f64> {
    let times: Vec<f64> = run
        .sessions
        .iter()
        .filter(|s| s.kind == Kind::Burst)
        .map(|s| match s.status {
            SessionStatus::Completed => s.t_end_s.unwrap_or(f64::INFINITY),
            _ => f64::INFINITY,
        })
        .collect();
    stats::median(&times).filter(|t| t.is_finite())
}

/// How far the backlog's bin means after `from_s` fall below its mean over the
/// reference, as a share of that mean (App. C's dip).
pub fn dip(backlog: &StepFunction, reference: Span, after: Span, bin_s: f64) -> Option<f64> {
    let level = backlog.mean_over(reference);
    let lowest = backlog.bin_means(after, bin_s).into_iter().map(|m| m.1).min_by(f64::total_cmp)?;
    (level > 0.0).then(|| 1.0 - lowest / level)
}

/// Share of the prompt tokens of the turns completed in `span` that came from the
/// cache (App. E.8's token hit fraction); `None` if any is unknown.
pub fn token_hit_fraction(run: &Run, span: Span) -> Option<f64> {
    let served = run.turns.iter().filter(|t| t.served_at_s().is_some_and(|at| span.holds(at)));
    let (mut cached, mut prompt) = (0_u64, 0_u64);
    for turn in served {
        cached += turn.cached_tokens?;
        prompt += turn.prompt_tokens;
    }
    (prompt > 0).then(|| cached as f64 / prompt as f64)
}

/// Uncached prompt tokens of the turns completed in `span` per second; `None` if any
/// is unknown.
pub fn uncached_tokens_per_s(run: &Run, span: Span) -> Option<f64> {
    let uncached: Option<u64> = run
        .turns
        .iter()
        .filter(|t| t.served_at_s().is_some_and(|at| span.holds(at)))
        .map(|t| t.cached_tokens.map(|c| t.prompt_tokens - c))
        .sum();
    uncached.map(|u| u as f64 / span.length_s())
}
