//! What a row reads from each run.

use serde::{Deserialize, Serialize};

use crate::plan::Kind;
use crate::setup::Span;
use crate::setup::{ArmSpec, Workload};

use super::super::SimRun;
use super::thresholds::Thresholds;
use super::{reading, rescue};

/// A number read from one run. Without a window it is the protocol's.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "of", deny_unknown_fields)]
pub enum Statistic {
    /// Uncached prompt tokens/s of the turns completed, over `over`.
    UncachedTokenRate {
        /// Another window.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        window_s: Option<Span>,
        /// Divided by this (1).
        #[serde(default = "one")]
        over: f64,
    },
    /// The uncached token rate over E\[W\], the prompt tokens of a whole session:
    /// sessions/s.
    TokenCapacity {},
    /// Sessions completed per second, over `over`.
    Completions {
        /// Another window.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        window_s: Option<Span>,
        /// Divided by this (1).
        #[serde(default = "one")]
        over: f64,
    },
    /// Share of turns completed that hit.
    HitFraction {},
    /// Share of prompt tokens served from cache.
    TokenHitFraction {},
    /// Mean prompt of the turns completed, over `over`.
    MeanPrompt {
        /// Divided by this (1).
        #[serde(default = "one")]
        over: f64,
    },
    /// 1 if no turn hits in the window.
    ZeroHits {},
    /// 1 if the hit fraction lies below the stuck threshold (App. E.6).
    Stuck {},
    /// 1 if RECOVERED (Table 6); for NOBURST that is "good".
    Recovered {},
    /// 1 if RECOVERED, or hits are high and the backlog does not grow (App. E.6).
    Good {},
    /// 1 if stable from empty (App. E.3).
    Stable {},
    /// 1 if VALID, RELEASED and POST-GOOD (App. E.7).
    Rescued {},
    /// When the rescue gate was released, seconds; none if never.
    ReleaseTime {},
    /// Median completion time of the burst's sessions, seconds; none if half of
    /// them never completed.
    BurstMedianCompletion {},
}

fn one() -> f64 {
    1.0
}

/// What a statistic may look at.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    /// The run.
    pub run: &'a SimRun,
    /// The protocol's window.
    pub window: Span,
    /// The cell's lambda_ref, sessions/s.
    pub lambda_ref_per_s: f64,
    /// The cell's workload.
    pub workload: &'a Workload,
    /// The rules' thresholds.
    pub thresholds: &'a Thresholds,
    /// The run's arm.
    pub arm: &'a ArmSpec,
}

/// Reads `statistic` from a run.
pub fn evaluate(statistic: &Statistic, context: &Context<'_>) -> Option<f64> {
    let Context { run, window, thresholds, .. } = *context;
    let hit = || reading::hit_fraction(run, window);
    let indicator = |yes: bool| Some(f64::from(u8::from(yes)));
    match *statistic {
        Statistic::UncachedTokenRate { window_s, over } => {
            Some(reading::uncached_rate(run, window_s.unwrap_or(window)) / over)
        }
        Statistic::TokenCapacity {} => {
            Some(reading::uncached_rate(run, window) / session_tokens(context.workload))
        }
        Statistic::Completions { window_s, over } => {
            Some(reading::completion_rate(run, window_s.unwrap_or(window)) / over)
        }
        Statistic::HitFraction {} => hit(),
        Statistic::TokenHitFraction {} => reading::token_hit_fraction(run, window),
        Statistic::MeanPrompt { over } => Some(reading::mean_prompt(run, window)? / over),
        Statistic::ZeroHits {} => indicator(hit()? == 0.0),
        Statistic::Stuck {} => indicator(hit()? < thresholds.stuck_hit),
        Statistic::Recovered {} => indicator(reading::recovered(run, thresholds)),
        Statistic::Good {} => {
            indicator(reading::recovered(run, thresholds) || quietly_good(context)?)
        }
        Statistic::Stable {} => indicator(stable(context)),
        Statistic::Rescued {} => indicator(rescue::is_rescued(run, context.arm, thresholds)),
        Statistic::ReleaseTime {} => run.released_s(),
        Statistic::BurstMedianCompletion {} => burst_median(run),
    }
}

/// E\[W\]: prompt tokens of a whole session.
fn session_tokens(workload: &Workload) -> f64 {
    let survival = workload.survival();
    let weighted = survival.iter().enumerate();
    weighted.map(|(i, g)| g * workload.prompt_tokens(i + 1) as f64).sum()
}

/// High hits, and a backlog slope of at most half the excess rate.
fn quietly_good(context: &Context<'_>) -> Option<bool> {
    let Context { run, window, thresholds, lambda_ref_per_s, .. } = *context;
    let hit = reading::hit_fraction(run, window)?;
    let slope = reading::backlog_slope(run, window, thresholds.slope_bin_s)?;
    let excess = run.lambda_per_s? - lambda_ref_per_s;
    Some(hit > thresholds.recovered_hit && slope <= 0.5 * excess)
}

/// The final queue is short and the queue rose little over the window.
fn stable(context: &Context<'_>) -> bool {
    let Context { run, window, thresholds, .. } = *context;
    let tail = Span { start_s: run.horizon_s - thresholds.final_queue_s, end_s: run.horizon_s };
    let final_queue = reading::mean_waiting(run, tail);
    let rise = reading::queue_slope(run, window).map(|s| s * (window.end_s - window.start_s));
    final_queue.is_some_and(|queue| queue < thresholds.stable_queue)
        && rise.is_some_and(|rise| rise <= thresholds.stable_rise)
}

fn burst_median(run: &SimRun) -> Option<f64> {
    let mut ends: Vec<f64> = run
        .sessions
        .iter()
        .filter(|s| s.kind == Kind::Burst)
        .map(|s| s.t_end_s.unwrap_or(f64::INFINITY))
        .collect();
    ends.sort_by(f64::total_cmp);
    let (n, half) = (ends.len(), ends.len() / 2);
    let median = match n {
        0 => return None,
        _ if n % 2 == 1 => ends[half],
        _ => (ends[half - 1] + ends[half]) / 2.0,
    };
    median.is_finite().then_some(median)
}
