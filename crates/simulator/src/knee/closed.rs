//! A closed population that plays recorded sessions in a stated order: as an engine's run did, and
//! measured as that is.

use std::sync::Arc;

use crate::measure::measure;
use crate::plan::Plan;
use crate::run::{EngineSample, Run};
use crate::setup::{Protocol, Trace};
use crate::sim::directory::{Label, to_run};
use crate::sim::{RunSpec, SimError, replay};

use super::{HitState, Levels};

/// What a closed run did over the window of its protocol. Rates are per second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClosedMeasures {
    /// The share of follow-ups that hit (App. E.7).
    pub follow_up_hits: Option<f64>,
    /// Cached over prompt tokens (App. E.8).
    pub token_hits: Option<f64>,
    /// Turns answered.
    pub turns_per_s: f64,
    /// Prompt tokens computed.
    pub uncached_tokens_per_s: Option<f64>,
    /// Median of a request, sent to last token, seconds.
    pub request_s: Option<f64>,
    /// Requests that run, mean of the engine's samples.
    pub running: Option<f64>,
    /// Requests that wait, likewise.
    pub waiting: Option<f64>,
    /// Mean prompt, tokens.
    pub prompt_tokens: Option<f64>,
}

impl ClosedMeasures {
    /// Measures a run, an engine's or a simulated one; `None` where it ended before its window.
    pub fn of(run: &Run, protocol: &Protocol) -> Option<Self> {
        let window = measure(run, protocol).window?;
        let gauge = |of: fn(&EngineSample) -> Option<u64>| {
            let within = run.engine.iter().filter(|sample| window.span.holds(sample.t_s));
            let values: Vec<f64> = within.filter_map(of).map(|x| x as f64).collect();
            crate::measure::stats::mean(&values)
        };
        Some(Self {
            follow_up_hits: window.follow_up_hits.value(),
            token_hits: window.token_hit_fraction,
            turns_per_s: window.turns_per_s,
            uncached_tokens_per_s: window.uncached_tokens_per_s,
            request_s: window.latency_median_s,
            running: gauge(|sample| sample.running),
            waiting: gauge(|sample| sample.waiting),
            prompt_tokens: window.mean_prompt_tokens,
        })
    }

    /// Its state by the hits of follow-ups: a run alone tells these, without the record that it
    /// played.
    pub fn state(&self, levels: Levels) -> Option<HitState> {
        self.follow_up_hits.map(|share| levels.state(share))
    }
}

/// Simulates a closed run that plays `order`, first to last, in place of its seed's order.
///
/// # Errors
/// As [`replay`].
pub fn in_order(spec: &RunSpec<'_>, order: &[Arc<Trace>]) -> Result<Run, SimError> {
    let simulated = replay(spec, Plan::in_order(spec.seed, order))?;
    Ok(to_run(&simulated, spec, &Label { run_id: "closed".into(), registration: None }))
}
