//! The engine's queue over a run: how it ends, how it rises, how long it gets (App. E.3, E.8).
//!
//! The engine's own gauge of waiting requests where it reports one; else the requests
//! that have been sent and have no first token yet, which also counts those being
//! prefilled and so is never below the gauge.

use serde::{Deserialize, Serialize};

use crate::run::{Run, TurnStatus};
use crate::setup::{Protocol, Span};

use super::population::StepFunction;
use super::stats;

/// Where a queue was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum QueueSource {
    /// The engine's gauge.
    Engine,
    /// The client: requests without a first token.
    Client,
}

impl QueueSource {
    /// The words of the output.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Engine => "engine's waiting requests",
            Self::Client => "requests without a first token",
        }
    }
}

/// A run's queue.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct QueueMeasures {
    /// Where it was read.
    pub source: QueueSource,
    /// Its mean over the end of the window, requests.
    pub final_mean: f64,
    /// Its fitted rise over the window: least-squares slope times the length, requests;
    /// `None` when there is nothing to fit.
    pub rise: Option<f64>,
    /// Its largest value, requests.
    pub max: f64,
}

/// Measures the queue of a from-empty run over the window of its protocol; `None` when
/// the run ended before that did, or its queue is unknown.
pub fn queue(run: &Run, protocol: &Protocol) -> Option<QueueMeasures> {
    let window = protocol.e0b.window_s;
    if run.meta.duration_s < window.end_s - 1e-6 {
        return None;
    }
    let (source, samples) = samples(run)?;
    let inside = |span: Span| -> Vec<(f64, f64)> {
        // The last sample of a run lies on its end.
        let held = |t: f64| span.holds(t) || (t - span.end_s).abs() < 1e-6;
        samples.iter().copied().filter(|s| held(s.0)).collect()
    };
    let last = inside(window.last(protocol.bins.hit_s.min(window.length_s())));
    Some(QueueMeasures {
        source,
        final_mean: stats::mean(&last.iter().map(|s| s.1).collect::<Vec<_>>())?,
        rise: stats::least_squares(&inside(window)).map(|line| line.slope * window.length_s()),
        max: largest(&samples),
    })
}

/// How long the queue of a run of any arm was, requests.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct QueueLengths {
    /// Where it was read.
    pub source: QueueSource,
    /// Its mean over the run's window; `None` without a sample in it.
    pub window_mean: Option<f64>,
    /// Its largest value from the start of the protocol's burst on; `None` without a sample.
    pub most_after_burst: Option<f64>,
}

/// Measures it; `None` when it is unknown.
pub fn lengths(run: &Run, window: Span, burst_start_s: f64) -> Option<QueueLengths> {
    let (source, samples) = samples(run)?;
    let of = |inside: &dyn Fn(f64) -> bool| -> Vec<f64> {
        samples.iter().filter(|s| inside(s.0)).map(|s| s.1).collect()
    };
    Some(QueueLengths {
        source,
        window_mean: stats::mean(&of(&|t| window.holds(t))),
        most_after_burst: of(&|t| t >= burst_start_s).into_iter().max_by(f64::total_cmp),
    })
}

/// The longest queue of a run of any arm, requests; `None` when it is unknown.
pub(crate) fn longest_queue(run: &Run) -> Option<f64> {
    samples(run).map(|(_, samples)| largest(&samples))
}

fn largest(samples: &[(f64, f64)]) -> f64 {
    samples.iter().map(|s| s.1).fold(0.0, f64::max)
}

/// The queue over time, sampled.
fn samples(run: &Run) -> Option<(QueueSource, Vec<(f64, f64)>)> {
    let gauge: Vec<(f64, f64)> =
        run.engine.iter().filter_map(|s| s.waiting.map(|w| (s.t_s, w as f64))).collect();
    if !gauge.is_empty() {
        return Some((QueueSource::Engine, gauge));
    }
    let sent_s = run.turns.iter().map(|turn| turn.t_submit_s).collect();
    let mut left_s = Vec::with_capacity(run.turns.len());
    for turn in &run.turns {
        left_s.push(match turn.status {
            TurnStatus::Ok => turn.t_first_s?,
            TurnStatus::UnfinishedAtHorizon => continue,
            TurnStatus::Error(_) => turn.t_end_s.or(run.sessions[turn.session.at()].t_end_s)?,
        });
    }
    let queue = StepFunction::counting(sent_s, left_s);
    let whole = Span::new(0.0, run.meta.duration_s);
    Some((QueueSource::Client, queue.bin_means(whole, SAMPLE_S.min(run.meta.duration_s / 100.0))))
}

/// How often the engine's gauges are sampled (App. D), s.
const SAMPLE_S: f64 = 5.0;

/// Mean share of the pool that admitted requests hold over `span` (App. D: SGLang's
/// used and not evictable tokens, vLLM's cache usage), by sample; `None` without samples.
pub fn pool_occupancy(run: &Run, span: Span) -> Option<f64> {
    let shares: Option<Vec<f64>> = run
        .engine
        .iter()
        .filter(|s| span.holds(s.t_s))
        .map(|s| {
            let total = s.kv_total_tokens.unwrap_or(run.meta.pool_tokens);
            s.kv_used_tokens.map(|used| used as f64 / total as f64)
        })
        .collect();
    stats::mean(&shares?)
}
