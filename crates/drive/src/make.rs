//! One run from its first question to its last file.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use tokio::select;
use tokio::sync::Notify;

use crate::client::ClientError;
use crate::client::arm::{self, ArmError};
use crate::driver::{self, Driven, Ended, Load};
use crate::engine::Engine;
use crate::lag::LagSummary;
use crate::meta::{Found, closing, config_yaml, opening, reason};
use crate::plan::{Arrivals, Plan};
use crate::preflight::{self, Facts, PreflightError};
use crate::progress::Now;
use crate::prompts::Tokens;
use crate::record::{Client, Closing, RecordError, Recorder};
use crate::run::Meta;
use crate::sim::directory::Label;
use crate::sim::{RunSpec, SimError, plan_of};

/// A pool this far from the cell's is another cell's.
const POOL_TOLERANCE: f64 = 0.01;

/// How many times lambda_ref a closed run may complete before its plan is used up. The largest
/// measured was 3.9.
const FASTEST: f64 = 20.0;

/// A run to make.
#[derive(Debug, Clone)]
pub struct Job<'a> {
    /// Cell, workload, protocol, arm, rate and seed; of its options, only the time between two
    /// samples is a real engine's.
    pub spec: RunSpec<'a>,
    /// Its name and what binds it.
    pub label: Label,
    /// What prompts are made of.
    pub tokens: Tokens,
}

/// A run that was made.
#[derive(Debug)]
pub struct Made {
    /// Its `meta.json`.
    pub meta: Meta,
    /// Why it ended.
    pub ended: Ended,
    /// How late its requests were begun; `None` if there were none.
    pub lag: Option<LagSummary>,
}

/// A run that could not be made.
#[derive(Debug, thiserror::Error)]
pub enum MakeError {
    /// Values that make no sense.
    #[error(transparent)]
    Spec(#[from] SimError),
    /// An arm that does not fit its schedule.
    #[error(transparent)]
    Arm(#[from] ArmError),
    /// The engine is not fit for it.
    #[error(transparent)]
    Preflight(#[from] PreflightError),
    /// The engine is another one than the cell's.
    #[error("cell {cell}: {message}")]
    OtherEngine {
        /// The cell.
        cell: String,
        /// What differs.
        message: String,
    },
    /// Somebody asked it to end before it had begun.
    #[error("stopped before it began")]
    Stopped,
    /// The client cannot follow the plan.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// The directory cannot be written.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// Its values cannot be written as YAML.
    #[error("config.yaml: {0}")]
    Config(#[from] serde_yaml::Error),
    /// No wall clock.
    #[error("the system's clock is before 1970")]
    Clock,
}

/// Makes a run: asks the engine what it is, sends the canary, drives the load, and writes
/// `dir`, which must not exist. Notified, `stop` ends it, whatever it waits for.
///
/// # Errors
/// [`MakeError`]; nothing is written unless the engine is fit for the run.
pub async fn make(
    job: &Job<'_>,
    mut engine: Engine,
    dir: &Path,
    stop: &Notify,
    watch: impl FnMut(&Now<'_>) -> ControlFlow<String>,
) -> Result<Made, MakeError> {
    let spec = &job.spec;
    let plan = plan_for(spec)?;
    let horizon_s = spec.arm.schedule(spec.protocol).horizon_s;
    let behaviour = arm::behaviour(spec.arm, horizon_s)?;
    let found = select! {
        found = find_out(job, &mut engine) => found?,
        () = stop.notified() => return Err(MakeError::Stopped),
    };
    let config = config_yaml(spec, &job.label, &found, engine.timeout_s)?;
    let since = SystemTime::now().duration_since(UNIX_EPOCH).map_err(|_| MakeError::Clock)?;
    let meta = opening(spec, &job.label, &found, &plan, since.as_millis() as f64 / 1000.0);
    let recorder = Recorder::create(dir, &plan, &meta, &config)?;
    let load = Load {
        plan: &plan,
        workload: spec.workload,
        behaviour,
        horizon_s,
        sample_s: spec.options.sample_s,
        meta: &meta,
        tokens: job.tokens,
    };
    let driven = driver::drive(&load, engine, &recorder, stop, watch).await?;
    close(recorder, &meta, driven)
}

/// The plan that a run follows. A closed one has sessions for an engine that is far faster
/// than its cell, of which each is the same however many are drawn.
///
/// # Errors
/// Values that make no sense.
pub fn plan_for(spec: &RunSpec<'_>) -> Result<Plan, SimError> {
    let plan = plan_of(spec)?;
    let Some(population) = spec.arm.population() else { return Ok(plan) };
    let horizon_s = spec.arm.schedule(spec.protocol).horizon_s;
    let ends = (FASTEST * spec.cell.lambda_ref_per_s * horizon_s).ceil() as u32;
    let sessions = population.saturating_add(ends).max(plan.sessions.len() as u32);
    Ok(Plan::draw(spec.workload, spec.seed, &Arrivals::Closed { sessions })?)
}

fn close(recorder: Recorder, meta: &Meta, driven: Driven) -> Result<Made, MakeError> {
    let (meta, lag) = (closing(meta, &driven), driven.lags.summary());
    let client = Client {
        version: env!("CARGO_PKG_VERSION"),
        ended: reason(&driven.ended),
        lag,
        machine: driven.machine,
    };
    let Driven { run, gate_written, late_s, ended, .. } = driven;
    recorder.close(Closing { run, gate_written, late_s, meta: meta.clone(), client })?;
    Ok(Made { meta, ended, lag })
}

/// Asks the engine what it is, and sends the canary.
async fn find_out(job: &Job<'_>, engine: &mut Engine) -> Result<Found, MakeError> {
    let (cell, arm) = (job.spec.cell, job.spec.arm);
    let facts = preflight::look(engine).await?;
    is_the_cells(job, &facts).map_err(|message| {
        let cell = cell.name.clone();
        MakeError::OtherEngine { cell, message }
    })?;
    if engine.model.is_empty() {
        engine.model = facts.model.clone().unwrap_or_default();
    }
    let canary = preflight::check(engine, job.tokens, arm.prefix_caching()).await?;
    Ok(Found {
        interface: engine.dialect.word(),
        version: facts.version.unwrap_or_else(|| cell.engine.version.clone()),
        model: engine.model.clone(),
        pool_tokens: facts.pool.tokens.unwrap_or(cell.pool_tokens),
        zero_is_absent: engine.zero_is_absent,
        canary,
    })
}

/// The engine has to be the one that the cell describes: what it says of itself decides.
fn is_the_cells(job: &Job<'_>, facts: &Facts) -> Result<(), String> {
    let (cell, arm) = (job.spec.cell, job.spec.arm);
    let expected = cell.pool_tokens as f64;
    if let Some(tokens) = facts.pool.tokens
        && (tokens as f64 - expected).abs() > POOL_TOLERANCE * expected
    {
        return Err(format!(
            "the engine has a pool of {tokens} tokens, the cell one of {}",
            cell.pool_tokens
        ));
    }
    match facts.pool.prefix_caching {
        Some(on) if on != arm.prefix_caching() => Err(format!(
            "arm {} runs with the prefix cache {}, the engine has it {}",
            arm.arm(),
            if on { "off" } else { "on" },
            if on { "on" } else { "off" },
        )),
        _ => Ok(()),
    }
}
