//! Runs made by hand for the rules' tests.

use super::state::Load;
use crate::measure::bins::Series;
use crate::measure::{LastMeasures, RunMeasures, Share, WholeMeasures, WindowMeasures};
use crate::setup::Span;

/// SGLang 300k at 1.35 lambda_ref (Table 7): the published slope threshold is 0.0125 /s.
pub const LOAD: Load = Load {
    lambda_per_s: 1.35 * 0.071534,
    lambda_ref_per_s: 0.071534,
    all_miss_tokens_per_s: 11_243.0,
};

/// So many hits and misses, in thousandths.
pub(crate) fn thousandths(hits: u64) -> Share {
    Share { hits, misses: 1000 - hits, unknown: 0 }
}

/// A run that misses every turn at the all-miss rate while its backlog grows.
pub(crate) fn trapped_run() -> RunMeasures {
    let span = Span::new(5700.0, 8700.0);
    let window = WindowMeasures {
        span,
        turns: 4000,
        hits: thousandths(0),
        follow_up_hits: thousandths(0),
        uncached_tokens_per_s: Some(11_300.0),
        mean_prompt_tokens: Some(9300.0),
        turns_per_s: 1.33,
        completions: 250,
        completions_per_s: 0.083,
        base_arrivals_per_s: 0.1,
        backlog_mean: 210.0,
        backlog_slope_per_s: Some(0.0130),
        outstanding_mean: 205.0,
        gap_median_s: Some(170.0),
        gap_slope: Some(0.012),
        churn_tokens_per_s: Some(11_400.0),
        turnover_s: Some(26.3),
        gap_over_turnover: Some(6.5),
        latency_median_s: Some(165.0),
        latency_p90_s: Some(180.0),
        token_hit_fraction: Some(0.0),
        tool_time_mean_s: Some(5.0),
        pool_occupancy: Some(0.7),
    };
    RunMeasures {
        window: Some(window),
        window_span: span,
        last: Some(LastMeasures {
            span: span.last(300.0),
            hits: thousandths(0),
            outstanding_end: 220.0,
        }),
        reach: None,
        whole: WholeMeasures {
            sessions_arrived: 1000,
            sessions_completed: 780,
            sessions_unfinished: 220,
            sessions_failed: 0,
            sessions_held: 0,
            held_mean_s: None,
            held_session_hours: 0.0,
            base_arrivals_per_s: 0.0966,
            hits: thousandths(140),
        },
        burst_start_s: Some(1200.0),
        series: Series::default(),
    }
}
