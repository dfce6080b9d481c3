//! `meta.json` and `config.yaml` of a driven run.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::client::records::ClientRun;
use crate::driver::{Driven, Ended};
use crate::plan::Plan;
use crate::run::{
    Canary, Counts, Engine, Gate, GateEventKind, Gpu, Meta, Rate, RunStatus, SessionStatus, Source,
    TurnStatus,
};
use crate::setup::{ArmSpec, Cell, Protocol, Stated};
use crate::sim::RunSpec;
use crate::sim::directory::{Label, tick};

/// What was found out about the engine before the run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Found {
    /// Its interface.
    pub interface: &'static str,
    /// Its version, or the cell's where it does not say.
    pub version: String,
    /// The name of its model in its interface.
    pub model: String,
    /// M, tokens, as it reports it; the cell's where it does not say.
    pub pool_tokens: u64,
    /// Whether it leaves out counts of 0 cached tokens, which are 0 then.
    pub zero_is_absent: bool,
    /// The canary.
    #[serde(skip)]
    pub canary: Canary,
}

/// Everything a driven run was asked to be, in the order it is written.
#[derive(Serialize)]
struct Config<'a> {
    client: &'static str,
    #[serde(flatten)]
    label: &'a Label,
    arm: &'a ArmSpec,
    #[serde(skip_serializing_if = "Option::is_none")]
    multiple: Option<f64>,
    seed: u64,
    sample_s: f64,
    timeout_s: u64,
    engine: &'a Found,
    cell: Cell,
    workload: Stated,
    protocol: Protocol,
}

/// `config.yaml` of a driven run.
///
/// # Errors
/// A value that YAML cannot hold.
pub fn config_yaml(
    spec: &RunSpec<'_>,
    label: &Label,
    found: &Found,
    timeout_s: u64,
) -> Result<String, serde_yaml::Error> {
    let none = BTreeMap::new;
    let text = serde_yaml::to_string(&Config {
        client: env!("CARGO_PKG_VERSION"),
        label,
        arm: spec.arm,
        multiple: spec.multiple,
        seed: spec.seed,
        sample_s: spec.options.sample_s,
        timeout_s,
        engine: found,
        cell: Cell { sources: none(), ..spec.cell.clone() },
        workload: spec.workload.stated(),
        protocol: Protocol { sources: none(), ..spec.protocol.clone() },
    })?;
    Ok(format!("# A run of a real engine, as it was asked for.\n{text}"))
}

/// What is known when a run starts at `start_unix`, Unix seconds.
pub fn opening(
    spec: &RunSpec<'_>,
    label: &Label,
    found: &Found,
    plan: &Plan,
    start_unix: f64,
) -> Meta {
    let cell = spec.cell;
    Meta {
        format: 1,
        run_id: label.run_id.clone(),
        source: Source::Engine,
        cell: cell.name.clone(),
        engine: Engine { name: cell.engine.name.clone(), version: found.version.clone() },
        model: Some(cell.model.clone()),
        gpu: Some(Gpu { name: cell.gpu.clone(), memory_mib: None }),
        pool_tokens: found.pool_tokens,
        prefix_caching: spec.arm.prefix_caching(),
        arm: spec.arm.arm(),
        seed: spec.seed,
        rate: rate(spec),
        population: spec.arm.population().map(u64::from),
        duration_s: 0.0,
        horizon_s: spec.arm.schedule(spec.protocol).horizon_s,
        status: RunStatus::Truncated,
        start_unix: Some(start_unix),
        end_unix: None,
        host: None,
        job_id: None,
        replica: None,
        shared_prefix_tokens: Some(0),
        code: None,
        registration: label.registration.clone(),
        gate: gate(spec.arm),
        plan_sha256: Some(plan.sha256()),
        canary: Some(found.canary),
        counts: Counts::default(),
    }
}

/// What is known when it has ended.
pub fn closing(meta: &Meta, driven: &Driven) -> Meta {
    let first = |kind| driven.run.gate.iter().find(|g| g.event == kind).map(|g| tick(g.t_s));
    let gate = meta.gate.map(|gate| Gate {
        engage_s: first(GateEventKind::Engage),
        release_s: first(GateEventKind::Release),
        ..gate
    });
    Meta {
        duration_s: tick(driven.duration_s),
        status: match driven.ended {
            Ended::Horizon => RunStatus::Completed,
            _ => RunStatus::Truncated,
        },
        end_unix: meta.start_unix.map(|start| start + tick(driven.duration_s)),
        gate,
        counts: counts(&driven.run),
        ..meta.clone()
    }
}

fn rate(spec: &RunSpec<'_>) -> Rate {
    match spec.multiple.filter(|_| spec.arm.population().is_none()) {
        None => Rate::default(),
        Some(multiple) => Rate {
            multiple: Some(multiple),
            lambda_ref: Some(spec.cell.lambda_ref_per_s),
            lambda: Some(multiple * spec.cell.lambda_ref_per_s),
        },
    }
}

fn gate(arm: &ArmSpec) -> Option<Gate> {
    let (ArmSpec::Capped { cap } | ArmSpec::Rescue { cap, .. }) = *arm else { return None };
    Some(Gate { n_cap: cap.into(), engage_s: None, release_s: None })
}

fn counts(run: &ClientRun) -> Counts {
    let with = |status| run.sessions.iter().filter(|s| s.status == status).count() as u64;
    let errors = run.turns.iter().filter(|t| matches!(t.status, TurnStatus::Error(_))).count();
    Counts {
        sessions_arrived: run.sessions.len() as u64,
        sessions_completed: with(SessionStatus::Completed),
        sessions_failed: with(SessionStatus::Failed),
        turns: run.turns.len() as u64,
        request_errors: errors as u64,
    }
}

/// A reason to end, in the words of `meta.json`.
pub fn reason(ended: &Ended) -> String {
    match ended {
        Ended::Horizon => "horizon".into(),
        Ended::Stopped => "stopped".into(),
        Ended::Decided(why) => format!("decided: {why}"),
        Ended::UsedUp => "plan used up".into(),
        Ended::NotWritten => "could not be written".into(),
    }
}
