//! What one run brings to a test: who it is, whether it may vote, what was measured.

use std::path::PathBuf;

use crate::analysis::score::Binding;
use crate::measure::goodput::{SessionTime, UnloadedTurns, session_times};
use crate::measure::plan_identity::{PlanIdentity, plan_identity};
use crate::measure::queue::{QueueMeasures, longest_queue, pool_occupancy, queue};
use crate::measure::rescue::{self, ControlMeasures, RescueMeasures};
use crate::measure::rolling::{Rolled, follow_up_hits, mean_first_token_s};
use crate::measure::treatment::{Treatment, treatment};
use crate::measure::trigger::{TriggerMeasures, trigger};
use crate::measure::{RunMeasures, Share, measure, population, span};
use crate::rule::mechanism::{detector_alarms, engine_alarms};
use crate::rule::state::{Load, RunState, judge};
use crate::run::{Meta, Run, RunStatus, SourceFile};
use crate::setup::registration::{Status, Test};
use crate::setup::{Protocol, Span};

use super::Context;
use super::decide::role;

/// What a run is to a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The test is about it.
    Subject,
    /// The test compares with it.
    Control,
    /// Neither.
    None,
}

impl Role {
    /// The words of the output.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Subject => "subject",
            Self::Control => "control",
            Self::None => "",
        }
    }
}

/// One run, as a test sees it.
#[derive(Debug, Clone)]
pub struct Evidence {
    pub dir: PathBuf,
    pub meta: Meta,
    pub sources: Vec<SourceFile>,
    pub binding: Binding,
    pub role: Role,
    /// Why it does not count, if it does not.
    pub set_aside: Option<String>,
    pub treatment: Treatment,
    pub measures: RunMeasures,
    pub load: Option<Load>,
    /// Its state under the paired test's rule.
    pub state: Option<RunState>,
    pub plan: PlanIdentity,
    pub burst_start_s: f64,
    pub extra: Extra,
}

/// What a kind of test asks for beyond the window.
#[derive(Debug, Clone)]
pub enum Extra {
    None,
    /// The queue from empty, and the base arrivals over the whole run in lambda_ref.
    Queue {
        queue: Option<QueueMeasures>,
        realized: f64,
    },
    Rescue {
        rescue: Option<Box<RescueMeasures>>,
        control: Option<Box<ControlMeasures>>,
    },
    Cut {
        slope_per_s: Option<f64>,
        sign_slopes: Vec<Option<f64>>,
        plan_rate_per_s: f64,
    },
    Mirror(MirrorMeasures),
    QueueLimit {
        queue_max: Option<f64>,
        token_hit: Option<f64>,
    },
    Mechanism {
        kv_usage: Option<f64>,
        detector: Vec<f64>,
        engine: Option<Vec<f64>>,
    },
    Rolling(Vec<Rolled<Share>>),
    Trigger(Option<TriggerMeasures>),
    Goodput {
        sessions: Vec<SessionTime>,
        unloaded: UnloadedTurns,
    },
}

/// The mirror test's measurements.
#[derive(Debug, Clone, Copy)]
pub struct MirrorMeasures {
    pub blackout: f64,
    pub lull: f64,
    pub wave_s: Option<f64>,
    pub slope_per_s: Option<f64>,
    pub plan_rate_per_s: f64,
    pub mean_prompt_tokens: Option<f64>,
}

impl Evidence {
    /// Whether it has a vote or is compared with.
    pub fn counts(&self) -> bool {
        self.role != Role::None && self.set_aside.is_none()
    }

    pub fn name(&self) -> String {
        self.dir.display().to_string()
    }

    pub fn multiple(&self) -> f64 {
        self.meta.rate.multiple.unwrap_or(f64::NAN)
    }

    /// The place it claims: arm, rate and seed.
    pub fn place(&self) -> String {
        format!("{} rate {:.2} seed {}", self.meta.arm, self.multiple(), self.meta.seed)
    }
}

/// Measures a run for the registration's test.
pub fn gather(run: Run, context: &Context<'_>) -> Evidence {
    let registration = &context.file.registration;
    // A control may be of another cell than the test's, with a protocol of its own.
    let protocol =
        context.configs.of_cell(&run.meta.cell).map_or(context.protocol, |(_, _, own)| own);
    let measures = measure(&run, protocol);
    let load = run.meta.rate.lambda.map(|lambda_per_s| Load {
        lambda_per_s,
        lambda_ref_per_s: registration.lambda_ref_per_s,
        all_miss_tokens_per_s: registration.all_miss_tokens_per_s.unwrap_or(f64::NAN),
    });
    let treatment = treatment(&run);
    let binding = bind(&run.meta, context);
    let role = role(&registration.test, &run.meta, &treatment, registration, protocol);
    let set_aside = unusable(&run.meta, role, &binding, context);
    let extra = extra(&run, &measures, context, protocol, &treatment);
    Evidence {
        state: load.map(|load| judge(&measures, load, &registration.rule)),
        plan: plan_identity(&run),
        burst_start_s: protocol.paired.burst.start_s,
        dir: run.dir,
        meta: run.meta,
        sources: run.sources,
        binding,
        role,
        set_aside,
        treatment,
        measures,
        load,
        extra,
    }
}

/// How a run stands to the registration. A control may be bound to one that the
/// registration names.
fn bind(meta: &Meta, context: &Context<'_>) -> Binding {
    let registration = &context.file.registration;
    let Some(bound) = &meta.registration else {
        return Binding::Unbound(registration.name.clone());
    };
    if bound.sha256 == context.file.sha256 {
        return match registration.status {
            Status::Filled => Binding::Bound(registration.name.clone()),
            status => Binding::NotDecisive(registration.name.clone(), status),
        };
    }
    if context.file.restates(&bound.sha256) {
        return Binding::Restated(registration.name.clone());
    }
    match context.configs.bound_by(&bound.sha256).map(|file| &file.registration) {
        Some(parent) if registration.controls_of.contains(&parent.name) => match parent.status {
            Status::Filled => Binding::Bound(parent.name.clone()),
            status => Binding::NotDecisive(parent.name.clone(), status),
        },
        _ => {
            let restated = context.configs.registrations.values().find(|file| {
                file.restates(&bound.sha256)
                    && registration.controls_of.contains(&file.registration.name)
            });
            restated.map_or_else(
                || Binding::Elsewhere(bound.sha256.clone()),
                |file| Binding::Restated(file.registration.name.clone()),
            )
        }
    }
}

/// Why a run that has a role does not count.
fn unusable(meta: &Meta, role: Role, binding: &Binding, context: &Context<'_>) -> Option<String> {
    if role == Role::None {
        return None;
    }
    let registration = &context.file.registration;
    let controls_elsewhere = matches!(binding, Binding::Bound(name) if *name != registration.name)
        && role == Role::Subject;
    let belongs = !matches!(binding, Binding::Elsewhere(_)) && !controls_elsewhere;
    if !belongs && !registration.test.of_other_tests() {
        return Some(binding.words());
    }
    if meta.status == RunStatus::Failed {
        return Some("the run failed".into());
    }
    let rated = |m: f64| registration.rates.iter().any(|r| (r - m).abs() < 1e-6);
    if !registration.rates.is_empty() && !meta.rate.multiple.is_some_and(rated) {
        return Some("its rate is not registered".into());
    }
    if !registration.seeds.is_empty() && !registration.seeds.contains(&meta.seed) {
        return Some(format!("seed {} is not registered", meta.seed));
    }
    None
}

fn extra(
    run: &Run,
    measures: &RunMeasures,
    context: &Context<'_>,
    protocol: &Protocol,
    treatment: &Treatment,
) -> Extra {
    let registration = &context.file.registration;
    let lambda_ref = registration.lambda_ref_per_s;
    let whole = Span::new(0.0, run.meta.duration_s);
    let from_empty = || Extra::Queue {
        queue: queue(run, protocol),
        realized: span::base_arrivals_per_s(run, whole) / lambda_ref,
    };
    let reached = |end_s: f64| run.meta.duration_s >= end_s - 1e-6;
    let backlog = || population::in_system(run);
    let bin_s = protocol.bins.backlog_s;
    match &registration.test {
        Test::Paired | Test::Endpoints(_) | Test::ThreeWay(_) | Test::TrapLaw(_) => Extra::None,
        Test::Edge(_) | Test::Replicate(_) => from_empty(),
        Test::Rescue(rule) => Extra::Rescue {
            rescue: rescue::rescue(run, rule, protocol.paired.window_s.end_s).map(Box::new),
            control: rescue::control(run, rule, protocol.paired.window_s.end_s).map(Box::new),
        },
        Test::Cut(test) => {
            let backlog = backlog();
            let slope = |window: Span| {
                reached(window.end_s)
                    .then(|| span::backlog_slope_per_s(&backlog, window, bin_s))
                    .flatten()
            };
            Extra::Cut {
                slope_per_s: slope(test.slope_window_s),
                sign_slopes: test.arms.iter().map(|a| slope(a.sign_window_s)).collect(),
                plan_rate_per_s: span::base_arrivals_per_s(run, test.slope_window_s),
            }
        }
        Test::Mirror(test) => {
            let done = |window: Span| {
                span::completions(run, window) as f64 / window.length_s() / lambda_ref
            };
            Extra::Mirror(MirrorMeasures {
                blackout: done(test.blackout_s),
                lull: done(test.lull_s),
                wave_s: span::burst_wave_s(run),
                slope_per_s: reached(test.slope_window_s.end_s)
                    .then(|| span::backlog_slope_per_s(&backlog(), test.slope_window_s, bin_s))
                    .flatten(),
                plan_rate_per_s: span::base_arrivals_per_s(run, test.slope_window_s),
                mean_prompt_tokens: measures.window.as_ref().and_then(|w| w.mean_prompt_tokens),
            })
        }
        Test::QueueLimit(_) => Extra::QueueLimit {
            queue_max: longest_queue(run),
            token_hit: reached(measures.window_span.end_s)
                .then(|| span::token_hit_fraction(run, measures.window_span))
                .flatten(),
        },
        Test::Mechanism(rule) => {
            let hits = follow_up_hits(run, 0.0, rule.detector_over_s, rule.every_s);
            let waits = mean_first_token_s(run, 0.0, rule.engine_over_s, rule.every_s);
            let known = run.turns.iter().any(|t| t.t_first_s.is_some());
            Extra::Mechanism {
                kv_usage: pool_occupancy(run, measures.window_span),
                detector: detector_alarms(&hits, rule),
                engine: known.then(|| engine_alarms(&waits, rule)),
            }
        }
        Test::Persistence(rule) => {
            let from_s = trigger_start(treatment, protocol);
            // What is seen after an intervention says nothing about the trap itself.
            let until_s = intervention(run, treatment).unwrap_or(f64::INFINITY);
            let windows = follow_up_hits(run, from_s, rule.window_s, rule.step_s);
            Extra::Rolling(windows.into_iter().filter(|w| w.end_s <= until_s).collect())
        }
        Test::Trigger(rule) => Extra::Trigger(trigger(run, rule.dose)),
        Test::Goodput(_) => {
            Extra::Goodput { sessions: session_times(run), unloaded: UnloadedTurns::of(run) }
        }
    }
}

/// When what may have caused a trap began: the burst, or the first slowed tool call.
fn trigger_start(treatment: &Treatment, protocol: &Protocol) -> f64 {
    match treatment.slowed {
        Some(slowed) if treatment.burst_sessions == 0 => slowed.span_s.start_s,
        _ => protocol.paired.burst.start_s,
    }
}

/// When something was done about the trap: a cap engaged in the run, or arrivals stopped.
fn intervention(run: &Run, treatment: &Treatment) -> Option<f64> {
    let engaged = run.meta.gate.and_then(|g| g.engage_s).filter(|t| *t > 0.0);
    let stopped = treatment.refused.map(|r| r.span_s.start_s);
    [engaged, stopped].into_iter().flatten().min_by(f64::total_cmp)
}
