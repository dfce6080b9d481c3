//! Runs made by hand for the verdicts' tests: a session every 1/lambda seconds, 15 turns
//! each, that hit at once in the good state and miss slowly in the trap.

use std::path::PathBuf;

use crate::run::{
    Counts, Engine, EngineSample, Gate, GateEvent, GateEventKind, Gpu, Kind, Meta, PlannedSession,
    Rate, RegistrationRef, Run, RunStatus, Session, SessionIndex, SessionStatus, Source, Turn,
    TurnStatus,
};
use crate::setup::Span;

const LAMBDA_REF: f64 = 0.071534;
const TURNS: u64 = 15;

/// What a made-up run is like.
#[derive(Debug, Clone)]
pub(crate) struct MadeUp {
    pub arm: &'static str,
    pub cell: &'static str,
    pub multiple: f64,
    pub seed: u64,
    pub bound_to: Option<String>,
    pub source: Source,
    pub burst: u64,
    /// From when to when every turn misses and sessions pile up.
    pub trapped: Option<Span>,
    /// Arrivals in it are refused.
    pub refused: Option<Span>,
    /// Tool calls that start in it take so much longer.
    pub slowed: Option<(Span, f64)>,
    pub duration_s: f64,
    /// Engage and release of a gate.
    pub gate: Option<(f64, f64)>,
    /// Requests waiting at the end, rising linearly over the last half.
    pub queue: f64,
    /// Part of its directory's name.
    pub suffix: &'static str,
}

impl MadeUp {
    pub fn new(arm: &'static str, seed: u64) -> Self {
        Self {
            arm,
            cell: "sglang-300k",
            multiple: 1.35,
            seed,
            bound_to: None,
            source: Source::Engine,
            burst: if matches!(arm, "burst" | "capped" | "rescue" | "shed") { 200 } else { 0 },
            trapped: None,
            refused: None,
            slowed: None,
            duration_s: 8700.0,
            gate: None,
            queue: 0.0,
            suffix: "",
        }
    }

    /// Trapped from the burst to the end.
    pub fn trapped(self) -> Self {
        Self { trapped: Some(Span::new(1200.0, f64::INFINITY)), ..self }
    }

    pub fn run(&self) -> Run {
        let mut run = empty(self);
        let lambda = self.multiple * LAMBDA_REF;
        let base = (self.duration_s * lambda) as u64;
        // The seed moves the arrivals a little, so that plans differ.
        let offset_s = 1.0 + self.seed as f64;
        for i in 0..base {
            add(&mut run, self, Kind::Base, i, offset_s + i as f64 / lambda);
        }
        for i in 0..self.burst {
            add(&mut run, self, Kind::Burst, i, 1200.0 + 60.0 * i as f64 / self.burst as f64);
        }
        run
    }
}

fn add(run: &mut Run, like: &MadeUp, kind: Kind, i: u64, arrival_s: f64) {
    let trapped = like.trapped.filter(|span| span.holds(arrival_s));
    // Three base sessions in ten stay until the trap ends, and, if it ends, so does half
    // of the burst.
    let stays = trapped.filter(|span| match kind {
        Kind::Base | Kind::Subagent => i % 10 < 3,
        Kind::Burst => span.end_s.is_finite() && i.is_multiple_of(2),
    });
    let planned_tool_s = 1.0;
    run.plan.push(PlannedSession {
        id: i.to_string().into(),
        kind,
        t_arrival_s: Some(arrival_s),
        turns: TURNS,
        tool_s: vec![planned_tool_s; TURNS as usize - 1],
        recorded: None,
        follows: None,
    });
    let refused = like.refused.is_some_and(|span| span.holds(arrival_s));
    let index = SessionIndex(run.sessions.len() as u32);
    let mut session = Session {
        id: i.to_string().into(),
        kind,
        t_planned_s: Some(arrival_s),
        t_admitted_s: (!refused).then_some(arrival_s),
        t_end_s: None,
        turns_planned: TURNS,
        turns_done: 0,
        gate_wait_s: 0.0,
        pauses: 0,
        pause_s: 0.0,
        status: if refused { SessionStatus::Refused } else { SessionStatus::Running },
    };
    let mut t = arrival_s;
    // At the all-miss rate of 11,243 tokens/s, whatever the load.
    let prompt_tokens = (11_243.0 / (like.multiple * LAMBDA_REF * 14.7)) as u64;
    for number in (1..=TURNS).take_while(|_| !refused) {
        if t >= like.duration_s {
            break;
        }
        let latency_s = if trapped.is_some() { 20.0 } else { 0.5 };
        let last = number == TURNS;
        let end_s = match stays {
            Some(span) if last => span.end_s,
            _ => t + latency_s,
        };
        let served = end_s < like.duration_s;
        let slow = like.slowed.filter(|(span, _)| span.holds(end_s)).map_or(0.0, |s| s.1);
        let cached = if number > 1 && trapped.is_none() { prompt_tokens - 551 } else { 0 };
        run.turns.push(Turn {
            session: index,
            number,
            t_ready_s: t,
            t_submit_s: t,
            t_first_s: served.then_some(end_s - 0.1),
            t_end_s: served.then_some(end_s),
            prompt_tokens,
            cached_tokens: served.then_some(cached),
            completion_tokens: served.then_some(100),
            tool_s: (served && !last).then_some(planned_tool_s + slow),
            status: if served { TurnStatus::Ok } else { TurnStatus::UnfinishedAtHorizon },
        });
        if !served {
            break;
        }
        session.turns_done += 1;
        if last {
            session.t_end_s = Some(end_s);
            session.status = SessionStatus::Completed;
        }
        t = end_s + planned_tool_s + slow;
    }
    run.sessions.push(session);
}

fn empty(like: &MadeUp) -> Run {
    let event =
        |t_s, event| GateEvent { t_s, event, session: None, admitted: 0, gated: 0, paused: 0 };
    let lambda = like.multiple * LAMBDA_REF;
    let gauge = |i: u32| {
        let t_s = 5.0 * f64::from(i);
        let late = ((t_s / like.duration_s) - 0.5).max(0.0);
        EngineSample {
            t_s,
            running: Some(1),
            waiting: Some((2.0 * late * like.queue) as u64),
            kv_used_tokens: Some(285_000),
            kv_evictable_tokens: None,
            kv_total_tokens: Some(300_000),
            prompt_tokens_total: None,
            cached_tokens_total: None,
            generation_tokens_total: None,
            preemptions_total: None,
        }
    };
    Run {
        dir: PathBuf::from(format!(
            "made-up/agentload_{}/x{:.2}_s{}{}",
            like.arm, like.multiple, like.seed, like.suffix
        )),
        meta: Meta {
            format: 1,
            run_id: "made-up".into(),
            source: like.source,
            cell: like.cell.into(),
            engine: Engine { name: "sglang".into(), version: "0.5.22".into() },
            model: None,
            gpu: Some(Gpu { name: "A100 80GB PCIe".into(), memory_mib: None }),
            pool_tokens: 300_000,
            prefix_caching: true,
            arm: like.arm.into(),
            seed: like.seed,
            rate: Rate {
                multiple: Some(like.multiple),
                lambda_ref: Some(LAMBDA_REF),
                lambda: Some(lambda),
            },
            population: None,
            duration_s: like.duration_s,
            horizon_s: 8700.0,
            status: if like.duration_s < 3000.0 {
                RunStatus::Truncated
            } else {
                RunStatus::Completed
            },
            start_unix: None,
            end_unix: None,
            host: None,
            job_id: None,
            replica: None,
            shared_prefix_tokens: None,
            code: None,
            registration: like.bound_to.as_ref().map(|sha256| RegistrationRef {
                file: "x.yaml".into(),
                sha256: sha256.clone(),
                status: "FILLED".into(),
            }),
            gate: like.gate.map(|(engage, release)| Gate {
                n_cap: 20,
                engage_s: Some(engage),
                release_s: Some(release),
            }),
            plan_sha256: None,
            canary: None,
            counts: Counts::default(),
        },
        sessions: Vec::new(),
        turns: Vec::new(),
        engine: (0..=(like.duration_s / 5.0) as u32).map(gauge).collect(),
        gate: like.gate.map_or_else(Vec::new, |(engage, release)| {
            vec![
                event(engage, GateEventKind::Engage),
                GateEvent { paused: 1, ..event(engage + 1.0, GateEventKind::Pause) },
                event(release - 305.0, GateEventKind::Resume),
                event(release, GateEventKind::Release),
            ]
        }),
        plan: Vec::new(),
        sources: Vec::new(),
        notes: Vec::new(),
    }
}
