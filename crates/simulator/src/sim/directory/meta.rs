//! `meta.json` of a run that a plan was made for, whatever engine it was.

use super::super::RunSpec;
use super::{Label, tick};
use crate::client::records::{GateEvent, GateEventKind};
use crate::run::{Counts, Engine, Gate, Gpu, Meta, Rate, RunStatus, Source};
use crate::setup::ArmSpec;

/// What is known of a run before its plan is: truncated at 0 s, as far as one can say then.
pub fn opening(spec: &RunSpec<'_>, label: &Label, source: Source, engine: Engine) -> Meta {
    let cell = spec.cell;
    Meta {
        format: 1,
        run_id: label.run_id.clone(),
        source,
        cell: cell.name.clone(),
        engine,
        model: Some(cell.model.clone()),
        gpu: Some(Gpu { name: cell.gpu.clone(), memory_mib: None }),
        pool_tokens: cell.pool_tokens,
        prefix_caching: spec.arm.prefix_caching(),
        arm: spec.arm.arm(),
        seed: spec.seed,
        rate: rate(spec),
        population: spec.arm.population().map(u64::from),
        duration_s: 0.0,
        horizon_s: spec.arm.schedule(spec.protocol).horizon_s,
        status: RunStatus::Truncated,
        start_unix: None,
        end_unix: None,
        host: None,
        job_id: None,
        replica: None,
        shared_prefix_tokens: Some(0),
        code: None,
        registration: label.registration.clone(),
        gate: gate(spec.arm),
        plan_sha256: None,
        canary: None,
        counts: Counts::default(),
    }
}

/// Of a closed run, none.
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

/// The gate of an arm; `None` where it has none.
fn gate(arm: &ArmSpec) -> Option<Gate> {
    let (ArmSpec::Capped { cap } | ArmSpec::Rescue { cap, .. }) = *arm else { return None };
    Some(Gate { n_cap: cap.into(), engage_s: None, release_s: None })
}

/// A gate with the times at which it engaged and let go.
pub fn gate_as_it_was(gate: Gate, events: &[GateEvent]) -> Gate {
    let first = |kind| events.iter().find(|g| g.event == kind).map(|g| tick(g.t_s));
    Gate {
        engage_s: first(GateEventKind::Engage),
        release_s: first(GateEventKind::Release),
        ..gate
    }
}
