//! A simulated run as a run directory (format 1): times to 0.1 ms, what the
//! engine and the client recorded, and `config.yaml`, which holds every value
//! that the bytes depend on.
//!
//! Left out, because a simulated run has none: wall clock, host, job, canary.

pub mod meta;

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Serialize;

use super::{Options, RunSpec, SimRun};
use crate::client::records::SessionRecord;
use crate::plan::{DrawnSession, Plan};
use crate::run::check::rows_counted;
use crate::run::{
    Engine, EngineSample, GateEvent, Meta, PlannedSession, RegistrationRef, Run, RunStatus,
    Session, SessionIndex, Source, Turn,
};
use crate::setup::{ArmSpec, Cell, Protocol, Stated};

/// The engine's name in `meta.json`: a simulated run never carries a real engine's.
pub const ENGINE: &str = "trapcheck-sim";

/// Version of the simulated engine and client. It changes when the same inputs
/// no longer give the same run, and with it every run's `config.yaml`.
pub const VERSION: &str = "1";

/// Digits of a second that are kept: 0.1 ms.
const TICKS_PER_S: f64 = 1e4;

/// What a directory says of a run beside what the simulation gave.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Label {
    /// Its name within its campaign.
    pub run_id: String,
    /// The registration that binds it, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub registration: Option<RegistrationRef>,
}

/// Everything a simulated run's bytes depend on, in the order it is written.
#[derive(Debug, Serialize)]
struct Config<'a> {
    simulator: &'static str,
    #[serde(flatten)]
    label: &'a Label,
    arm: &'a ArmSpec,
    #[serde(skip_serializing_if = "Option::is_none")]
    multiple: Option<f64>,
    seed: u64,
    options: &'a Options,
    cell: Cell,
    workload: Stated,
    protocol: Protocol,
}

/// `config.yaml` of a run: two runs with the same text have the same bytes.
/// Where values come from is left out, so that a better reference changes no run.
///
/// # Errors
/// A value that YAML cannot hold.
pub fn config_yaml(spec: &RunSpec<'_>, label: &Label) -> Result<String, serde_yaml::Error> {
    let none = BTreeMap::new;
    let text = serde_yaml::to_string(&Config {
        simulator: VERSION,
        label,
        arm: spec.arm,
        multiple: spec.multiple,
        seed: spec.seed,
        options: &spec.options,
        cell: Cell { sources: none(), ..spec.cell.clone() },
        workload: spec.workload.stated(),
        protocol: Protocol { sources: none(), ..spec.protocol.clone() },
    })?;
    Ok(format!("# A simulated run, and all it was made from.\n{text}"))
}

/// The run directory's content.
pub fn to_run(simulated: &SimRun, spec: &RunSpec<'_>, label: &Label) -> Run {
    let run = to_measure(simulated, spec, label);
    let sha256 = run.meta.plan_sha256.unwrap_or_else(|| simulated.plan.sha256());
    Run { meta: Meta { plan_sha256: Some(sha256), ..run.meta }, ..run }
}

/// The same to be measured and not to be kept: a closed run's plan may end with the sessions
/// that were needed, so that its hash is unknown.
pub fn to_measure(simulated: &SimRun, spec: &RunSpec<'_>, label: &Label) -> Run {
    let plan: Vec<_> = simulated.plan.sessions.iter().map(planned).collect();
    let (sessions, turns, places) = tables(&simulated.plan, &simulated.sessions, &simulated.turns);
    let gate = simulated
        .gate
        .iter()
        .map(|g| gate_event(g, g.session.and_then(|planned| places[planned.at()])))
        .collect();
    let engine = simulated.engine.iter().map(|e| EngineSample { t_s: tick(e.t_s), ..*e }).collect();
    Run {
        dir: PathBuf::new(),
        meta: meta(simulated, spec, label, &sessions, &turns),
        sessions,
        turns,
        engine,
        gate,
        plan,
        sources: Vec::new(),
        notes: Vec::new(),
    }
}

/// Where in `sessions` the row of each session of the plan is, if it has arrived.
pub type Places = Vec<Option<SessionIndex>>;

/// The rows of `sessions` and `turns` of what a client recorded, and each session's place.
pub fn tables(
    plan: &Plan,
    sessions: &[SessionRecord],
    turns: &[Turn],
) -> (Vec<Session>, Vec<Turn>, Places) {
    debug_assert!(plan.sessions.is_sorted_by_key(|s| (s.kind, s.session)));
    let planned: Vec<_> = sessions.iter().map(|s| plan.place(s.kind, s.session)).collect();
    let mut places = vec![None; plan.sessions.len()];
    for (planned, row) in planned.iter().zip(0..) {
        planned.iter().for_each(|planned| places[*planned] = Some(SessionIndex(row)));
    }
    let of_plan = |planned: &Option<usize>| plan.sessions[(*planned)?].t_arrival_s;
    let rows = sessions.iter().zip(&planned).map(|(s, at)| session(s, of_plan(at))).collect();
    // A turn belongs to a session that arrived.
    let turns = turns.iter().filter_map(|t| Some(turn(t, places[t.session.at()]?))).collect();
    (rows, turns, places)
}

fn meta(
    simulated: &SimRun,
    spec: &RunSpec<'_>,
    label: &Label,
    sessions: &[Session],
    turns: &[Turn],
) -> Meta {
    let engine = Engine { name: ENGINE.into(), version: VERSION.into() };
    let opening = meta::opening(spec, label, Source::Simulator, engine);
    let is_closed = spec.arm.population().is_some();
    Meta {
        plan_sha256: (!is_closed).then(|| simulated.plan.sha256()),
        duration_s: simulated.horizon_s,
        status: RunStatus::Completed,
        gate: opening.gate.map(|gate| meta::gate_as_it_was(gate, &simulated.gate)),
        counts: rows_counted(sessions, turns),
        ..opening
    }
}

/// A planned session as a row of `plan`.
pub fn planned(session: &DrawnSession) -> PlannedSession {
    PlannedSession {
        id: session.session.to_string().into(),
        kind: session.kind,
        t_arrival_s: session.t_arrival_s,
        turns: session.turns().into(),
        tool_s: session.tool_s.clone(),
        recorded: session.trace.as_ref().map(|trace| trace.id.as_str().into()),
        follows: session.started_by.map(|by| by.to_string().into()),
    }
}

/// A session without a planned arrival (a closed run's) has no `t_planned`: it
/// starts when another ends.
pub fn session(s: &SessionRecord, planned_s: Option<f64>) -> Session {
    Session {
        id: s.session.to_string().into(),
        kind: s.kind,
        t_planned_s: planned_s.map(|_| tick(s.t_planned_s)),
        t_admitted_s: s.t_admitted_s.map(tick),
        t_end_s: s.t_end_s.map(tick),
        turns_planned: s.turns_planned.into(),
        turns_done: s.turns_done.into(),
        gate_wait_s: tick(s.gate_wait_s),
        pauses: s.pauses.into(),
        pause_s: tick(s.pause_s),
        status: s.status,
    }
}

/// A recorded turn as a row of `turns`, of the session at this place.
pub fn turn(t: &Turn, session: SessionIndex) -> Turn {
    Turn {
        session,
        t_ready_s: tick(t.t_ready_s),
        t_submit_s: tick(t.t_submit_s),
        t_first_s: t.t_first_s.map(tick),
        t_end_s: t.t_end_s.map(tick),
        tool_s: t.tool_s.map(tick),
        ..t.clone()
    }
}

/// A recorded event as a row of `gate`, of the session at this place.
pub fn gate_event(g: &GateEvent, session: Option<SessionIndex>) -> GateEvent {
    GateEvent { t_s: tick(g.t_s), session, ..*g }
}

/// The nearest whole tick: what the files hold, so that reading a run back gives
/// the run that was written.
pub fn tick(t_s: f64) -> f64 {
    libm::floor(t_s * TICKS_PER_S + 0.5) / TICKS_PER_S
}
