//! What a row reads from each run.

use serde::{Deserialize, Serialize};

use crate::measure::{RunMeasures, queue, share, span};
use crate::rule::endpoint::{self, Endpoint};
use crate::rule::rescue::RescueTest;
use crate::rule::{Load, stability, state};
use crate::run::{GateEventKind, Run};
use crate::setup::{ArmSpec, Protocol, Span, Workload};

use super::rules::Rules;

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
    /// 1 if STUCK (App. E.6).
    Stuck {},
    /// 1 if RECOVERED (Table 6); for NOBURST that is "good".
    Recovered {},
    /// 1 if GOOD (App. E.6).
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
pub(super) struct Context<'a> {
    pub run: &'a Run,
    /// What was measured over its windows.
    pub measures: &'a RunMeasures,
    pub lambda_ref_per_s: f64,
    pub workload: &'a Workload,
    pub protocol: &'a Protocol,
    /// What counts as what.
    pub rules: &'a Rules,
    pub arm: &'a ArmSpec,
}

/// Reads `statistic` from a run.
pub(super) fn evaluate(statistic: &Statistic, context: &Context<'_>) -> Option<f64> {
    let Context { run, measures, rules, .. } = *context;
    let window = measures.window_span;
    let hits = || share::hits(run, window).value();
    let indicator = |yes: bool| f64::from(u8::from(yes));
    let ended = |is: Endpoint| Some(indicator(endpoint_of(context)? == is));
    match *statistic {
        Statistic::UncachedTokenRate { window_s, over } => {
            Some(span::uncached_tokens_per_s(run, window_s.unwrap_or(window))? / over)
        }
        Statistic::TokenCapacity {} => {
            Some(span::uncached_tokens_per_s(run, window)? / session_tokens(context.workload))
        }
        Statistic::Completions { window_s, over } => {
            let window = window_s.unwrap_or(window);
            Some(span::completions(run, window) as f64 / window.length_s() / over)
        }
        Statistic::HitFraction {} => hits(),
        Statistic::TokenHitFraction {} => span::token_hit_fraction(run, window),
        Statistic::MeanPrompt { over } => Some(span::mean_prompt_tokens(run, window)? / over),
        Statistic::ZeroHits {} => hits().map(|hits| indicator(hits == 0.0)),
        Statistic::Stuck {} => ended(Endpoint::Stuck),
        Statistic::Recovered {} => {
            state::is_recovered(measures.last.as_ref()?, &rules.paired).map(indicator)
        }
        Statistic::Good {} => ended(Endpoint::Good),
        Statistic::Stable {} => {
            let queue = queue::queue(run, context.protocol);
            stability::is_stable(queue.as_ref(), &rules.stability).map(indicator)
        }
        Statistic::Rescued {} => rescued(context).map(indicator),
        Statistic::ReleaseTime {} => {
            run.gate.iter().find(|row| row.event == GateEventKind::Release).map(|row| row.t_s)
        }
        Statistic::BurstMedianCompletion {} => span::burst_wave_s(run),
    }
}

/// E\[W\]: prompt tokens of a whole session.
fn session_tokens(workload: &Workload) -> f64 {
    let survival = workload.survival();
    let weighted = survival.iter().enumerate();
    weighted.map(|(i, g)| g * workload.prompt_tokens(i + 1) as f64).sum()
}

fn endpoint_of(context: &Context<'_>) -> Option<Endpoint> {
    let Context { run, measures, rules, .. } = *context;
    let load = Load {
        lambda_per_s: run.meta.rate.lambda?,
        lambda_ref_per_s: context.lambda_ref_per_s,
        all_miss_tokens_per_s: rules.all_miss_tokens_per_s,
    };
    Endpoint::of(&endpoint::judge(measures, load, &rules.endpoints, &rules.paired))
}

/// Whether it is RESCUED; not in an arm without a rescue gate.
fn rescued(context: &Context<'_>) -> Option<bool> {
    let Context { run, measures, rules, .. } = *context;
    let ArmSpec::Rescue { engage_s, .. } = *context.arm else { return Some(false) };
    let rule = RescueTest { engage_s, ..rules.rescue };
    let all_miss = Some(rules.all_miss_tokens_per_s);
    rule.is_rescued(run, measures.last.as_ref()?, all_miss, &rules.paired)
}
