//! What a kind of test asks of a run beyond the window: its queue from empty, the time
//! after a release, slopes after a cut, the lull and the wave, rolling hits, goodput.

use serde::{Deserialize, Serialize};

use crate::judged::verdict::Role;
use crate::measure::alarm::{Alarm, first_alarm};
use crate::measure::goodput::{SessionTime, UnloadedTurns, session_times};
use crate::measure::queue::{QueueMeasures, longest_queue, queue};
use crate::measure::rescue::{self, ControlMeasures, RescueMeasures};
use crate::measure::rolling::{self, Rolled, follow_up_hits, mean_first_token_s};
use crate::measure::treatment::Treatment;
use crate::measure::trigger::{TriggerMeasures, trigger};
use crate::measure::{RunMeasures, Share, population, span};
use crate::rule::mechanism::{detector_alarms, engine_alarms};
use crate::rule::rescue::first_recovered_s;
use crate::run::Run;
use crate::setup::registration::test::Test;
use crate::setup::{Arm, Protocol, Registration, Span};

/// What a kind of test asks for beyond the window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Extra {
    /// Nothing.
    None,
    /// Edge tests.
    Queue {
        /// The queue from empty; `None` if it is unknown.
        queue: Option<QueueMeasures>,
        /// The base arrivals over the whole run, in lambda_ref.
        realized: f64,
    },
    /// Rescue tests.
    Rescue {
        /// Of a subject, before, under and after the cap; `None` if the run ends too early.
        rescue: Option<Box<RescueMeasures>>,
        /// Of a control, over any interval.
        control: Option<Box<ControlMeasures>>,
        /// When RECOVERED first held after the engage, seen every tick of the gate over
        /// the time before it, s; `None` if it never did before the release.
        recovered_s: Option<f64>,
    },
    /// Cut tests.
    Cut {
        /// Backlog slope over the test's slope window, sessions/s.
        slope_per_s: Option<f64>,
        /// The same over the sign window of each of the test's arms.
        sign_slopes: Vec<Option<f64>>,
        /// Base arrivals of the plan over the slope window, sessions/s.
        plan_rate_per_s: f64,
    },
    /// The mirror test.
    Mirror(MirrorMeasures),
    /// The test without LPM's fallback.
    QueueLimit {
        /// The longest queue, requests.
        queue_max: Option<f64>,
        /// Share of prompt tokens that were cached, over the window.
        token_hit: Option<f64>,
    },
    /// The mechanism checks.
    Mechanism {
        /// Largest share of the pool in use over the window.
        kv_usage: Option<f64>,
        /// When the detector on hits alarms, s.
        detector: Vec<f64>,
        /// When the engine-side one does, s; `None` where first tokens are unknown.
        engine: Option<Vec<f64>>,
        /// The first alarm of the detector on hits from the burst on.
        first_alarm: Option<Alarm>,
    },
    /// Persistence: follow-up hits over rolling windows after the trigger.
    Rolling(Vec<Rolled<Share>>),
    /// Whether the trigger is still there.
    Trigger(Option<TriggerMeasures>),
    /// Goodput.
    Goodput {
        /// The base sessions and how long they took.
        sessions: Vec<SessionTime>,
        /// Least latency by turn number.
        unloaded: UnloadedTurns,
    },
}

/// The mirror test's measurements.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct MirrorMeasures {
    /// Completions over the blackout, in lambda_ref.
    pub blackout: f64,
    /// Completions over the lull, in lambda_ref.
    pub lull: f64,
    /// Median completion time of the burst's sessions, s.
    pub wave_s: Option<f64>,
    /// Backlog slope over the test's slope window, sessions/s.
    pub slope_per_s: Option<f64>,
    /// Base arrivals of the plan over it, sessions/s.
    pub plan_rate_per_s: f64,
    /// Mean prompt over the evaluation window, tokens.
    pub mean_prompt_tokens: Option<f64>,
}

/// Measures on a run what a registration's test asks of its role.
pub fn extra(
    run: &Run,
    measures: &RunMeasures,
    registration: &Registration,
    protocol: &Protocol,
    treatment: &Treatment,
    role: Role,
) -> Extra {
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
        Test::Rescue(rule) => {
            let end_s = protocol.paired.window_s.end_s;
            let rescue = (role == Role::Subject).then(|| rescue::rescue(run, rule, end_s));
            let rescue = rescue.flatten();
            let over_s = protocol.paired.last_s;
            let capped = rescue.as_ref().and_then(|r| Some(Span::new(r.engaged_s?, r.released_s?)));
            let recovered_s = capped.and_then(|capped| {
                let looks = rolling::hits(run, capped.start_s - over_s, over_s, rule.tick_s);
                let outstanding = population::outstanding(run);
                first_recovered_s(&looks, &outstanding, capped, over_s, &registration.rule)
            });
            let control = (role == Role::Control).then(|| rescue::control(run, rule, end_s));
            Extra::Rescue {
                recovered_s,
                rescue: rescue.map(Box::new),
                control: control.flatten().map(Box::new),
            }
        }
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
            token_hit: measures.window.as_ref().and_then(|w| w.token_hit_fraction),
        },
        Test::Mechanism(rule) => {
            let hits = follow_up_hits(run, 0.0, rule.detector_over_s, rule.every_s);
            let waits = mean_first_token_s(run, 0.0, rule.engine_over_s, rule.every_s);
            let known = run.turns.iter().any(|t| t.t_first_s.is_some());
            let held = |t: f64| run.meta.gate.map(|_| population::held_at_gate(run).at(t));
            let burst_s = protocol.paired.burst.start_s;
            Extra::Mechanism {
                kv_usage: measures.window.as_ref().and_then(|w| w.pool_occupancy),
                first_alarm: first_alarm(&hits, rule.detector_hit_below, burst_s, held),
                detector: detector_alarms(&hits, rule),
                engine: known.then(|| engine_alarms(&waits, rule)),
            }
        }
        Test::Persistence(rule) => {
            let from_s = trigger_start(&run.meta.arm, treatment, protocol);
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

/// When what may have caused a trap began: the burst, the first slowed tool call, or the
/// start of a run from empty.
fn trigger_start(arm: &Arm, treatment: &Treatment, protocol: &Protocol) -> f64 {
    match treatment.slowed {
        _ if *arm == Arm::E0b => 0.0,
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
