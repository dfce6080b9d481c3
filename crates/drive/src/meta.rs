//! `meta.json` and `config.yaml` of a driven run.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::driver::{Driven, Ended};
use crate::plan::Plan;
use crate::run::{Canary, Counts, Engine, Meta, RunStatus, Source};
use crate::setup::{ArmSpec, Cell, Protocol, Stated};
use crate::sim::RunSpec;
use crate::sim::directory::{Label, meta, tick};

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
    let engine = Engine { name: spec.cell.engine.name.clone(), version: found.version.clone() };
    Meta {
        pool_tokens: found.pool_tokens,
        start_unix: Some(start_unix),
        plan_sha256: Some(plan.sha256()),
        canary: Some(found.canary),
        ..meta::opening(spec, label, Source::Engine, engine)
    }
}

/// What is known when it has ended.
pub(crate) fn closing(opened: &Meta, driven: &Driven) -> Meta {
    let run = &driven.run;
    Meta {
        duration_s: tick(driven.duration_s),
        status: match driven.ended {
            Ended::Horizon => RunStatus::Completed,
            _ => RunStatus::Truncated,
        },
        end_unix: opened.start_unix.map(|start| start + tick(driven.duration_s)),
        gate: opened.gate.map(|gate| meta::gate_as_it_was(gate, &run.gate)),
        counts: Counts::of(
            run.sessions.iter().map(|s| s.status),
            run.turns.iter().map(|t| &t.status),
        ),
        ..opened.clone()
    }
}

/// How a reason begins where the state of the run was decided.
pub const DECIDED: &str = "decided: ";

/// A reason to end, in the words of `meta.json`.
pub fn reason(ended: &Ended) -> String {
    match ended {
        Ended::Horizon => "horizon".into(),
        Ended::Stopped => "stopped".into(),
        Ended::Decided(why) => format!("{DECIDED}{why}"),
        Ended::UsedUp => "plan used up".into(),
        Ended::NotWritten => "could not be written".into(),
    }
}
