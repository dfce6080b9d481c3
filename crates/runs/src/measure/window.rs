//! One window of one run.

use serde::{Deserialize, Serialize};

use crate::run::{Kind, Run};
use crate::setup::Span;
use crate::setup::protocol::Bins;

use super::share::Share;
use super::{Course, gap, queue, stats};

/// What is measured over a window. Rates are per second of the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WindowMeasures {
    /// The window.
    pub span: Span,
    /// Turns completed in it.
    pub turns: u64,
    /// Share of them that hit (Table 6).
    pub hits: Share,
    /// Share of the follow-ups among them that hit (App. E.7).
    pub follow_up_hits: Share,
    /// Uncached prompt tokens of the completed turns per second (Table 6); `None`
    /// if the cached tokens of any of them are unknown.
    pub uncached_tokens_per_s: Option<f64>,
    /// Mean prompt of the completed turns, tokens (App. B's composition).
    pub mean_prompt_tokens: Option<f64>,
    /// Turns completed per second.
    pub turns_per_s: f64,
    /// Sessions that ended in the window.
    pub completions: u64,
    /// The same per second (D is model F's value).
    pub completions_per_s: f64,
    /// Base sessions that arrived in it, per second: the realized load.
    pub base_arrivals_per_s: f64,
    /// Mean number of sessions in the system.
    pub backlog_mean: f64,
    /// Least-squares slope of the bin means of the sessions in the system,
    /// sessions per second (Table 6).
    pub backlog_slope_per_s: Option<f64>,
    /// Mean outstanding.
    pub outstanding_mean: f64,
    /// Median gap between a session's turns, s.
    pub gap_median_s: Option<f64>,
    /// Trend of the gap's bin medians, s per s (App. B).
    pub gap_slope: Option<f64>,
    /// KV written per second: uncached prompt tokens plus completion tokens (App. E.9).
    pub churn_tokens_per_s: Option<f64>,
    /// *R_M* = M / churn, the pool's turnover time, s (App. E.9).
    pub turnover_s: Option<f64>,
    /// Median gap over R_M (Table 10).
    pub gap_over_turnover: Option<f64>,
    /// Median of a turn's latency, submission to last token, s.
    pub latency_median_s: Option<f64>,
    /// Its 90th percentile, s.
    pub latency_p90_s: Option<f64>,
    /// Cached over prompt tokens of the completed turns (App. E.8).
    pub token_hit_fraction: Option<f64>,
    /// Mean tool time before the completed follow-ups, s: the gap's part that is no latency
    /// (App. E.9).
    pub tool_time_mean_s: Option<f64>,
    /// Mean share of the pool that admitted requests hold (App. D, E.5).
    pub pool_occupancy: Option<f64>,
}

impl WindowMeasures {
    /// Measures `span` of a run of this course.
    pub(super) fn of(run: &Run, span: Span, bins: &Bins, course: &Course) -> Self {
        let Course { backlog, outstanding, of_session, gaps } = course;
        let length_s = span.length_s();
        let served: Vec<_> = run
            .turns
            .iter()
            .filter(|turn| turn.served_at_s().is_some_and(|t| span.holds(t)))
            .collect();
        let prompts: Vec<f64> = served.iter().map(|t| t.prompt_tokens as f64).collect();
        let mut latencies: Vec<f64> =
            served.iter().filter_map(|t| t.t_end_s.map(|end| end - t.t_submit_s)).collect();
        let uncached: Option<u64> =
            served.iter().map(|t| t.cached_tokens.map(|c| t.prompt_tokens - c)).sum();
        let decoded: Option<u64> = served.iter().map(|t| t.completion_tokens).sum();
        let churn = uncached.zip(decoded).map(|(u, d)| (u + d) as f64 / length_s);
        let gap_median_s = gap::median_gap_s(gaps, span);
        let turnover_s =
            churn.filter(|c| *c > 0.0).map(|churn| run.meta.pool_tokens as f64 / churn);
        let ended = super::span::completions(run, span);
        let arrived = run
            .sessions
            .iter()
            .filter(|s| s.kind == Kind::Base && s.t_arrival_s().is_some_and(|t| span.holds(t)))
            .count();
        Self {
            span,
            turns: served.len() as u64,
            hits: Share::of(served.iter().copied()),
            follow_up_hits: Share::of(served.iter().copied().filter(|t| t.is_follow_up())),
            uncached_tokens_per_s: uncached.map(|u| u as f64 / length_s),
            mean_prompt_tokens: stats::mean(&prompts),
            turns_per_s: served.len() as f64 / length_s,
            completions: ended,
            completions_per_s: ended as f64 / length_s,
            base_arrivals_per_s: arrived as f64 / length_s,
            backlog_mean: backlog.mean_over(span),
            backlog_slope_per_s: stats::least_squares(&backlog.bin_means(span, bins.backlog_s))
                .map(|line| line.slope),
            outstanding_mean: outstanding.mean_over(span),
            gap_median_s,
            gap_slope: gap::slope(gaps, span, bins.gap_s),
            churn_tokens_per_s: churn,
            turnover_s,
            gap_over_turnover: gap_median_s.zip(turnover_s).map(|(gap, turnover)| gap / turnover),
            latency_median_s: stats::quantile_of(&mut latencies, 0.5),
            latency_p90_s: stats::quantile_of(&mut latencies, 0.9),
            token_hit_fraction: super::span::token_hit_fraction(run, span),
            tool_time_mean_s: gap::mean_tool_time_s(run, of_session, span),
            pool_occupancy: queue::pool_occupancy(run, span),
        }
    }
}
