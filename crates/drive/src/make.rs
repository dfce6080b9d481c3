//! One run from its first question to its last file.

use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use tokio::select;
use tokio::sync::Notify;

use crate::client::arm;
use crate::driver::{self, Driven, Ended, Load};
use crate::engine::Engine;
use crate::lag::LagSummary;
use crate::meta::{Found, closing, config_yaml, opening, reason};
use crate::plan::{Arrivals, Plan};
use crate::preflight::{self, PreflightError};
use crate::progress::Now;
use crate::record::{ClientFacts, Closing, Recorder};
use crate::run::Meta;
use crate::sim::directory::Label;
use crate::sim::{RunSpec, SimError, plan_of};

/// How many times lambda_ref a closed run may complete before its plan is used up. The largest
/// measured was 3.9.
const FASTEST: f64 = 20.0;

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
    /// Values that make no sense, or a plan that the client cannot follow.
    #[error(transparent)]
    Spec(#[from] SimError),
    /// The engine is not fit for it.
    #[error(transparent)]
    Preflight(#[from] PreflightError),
    /// Somebody asked it to end before it had begun.
    #[error("stopped before it began")]
    Stopped,
    /// The directory, or a file of it, cannot be written.
    #[error("{}: {source}", path.display())]
    Write {
        /// The directory or the file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// No wall clock.
    #[error("the system's clock is before 1970")]
    Clock,
}

/// Makes a run of a cell, workload, protocol, arm, rate and seed: asks the engine what it is,
/// sends the canary, drives the load, and writes `dir`, which must not exist. Of the options,
/// only the time between two samples is a real engine's. Notified, `stop` ends it, whatever it
/// waits for.
///
/// # Errors
/// [`MakeError`]; nothing is written unless the engine is fit for the run.
pub async fn make(
    spec: &RunSpec<'_>,
    label: &Label,
    mut engine: Engine,
    dir: &Path,
    stop: &Notify,
    watch: impl FnMut(&Now<'_>) -> ControlFlow<String>,
) -> Result<Made, MakeError> {
    let plan = plan_for(spec)?;
    let horizon_s = spec.arm.schedule(spec.protocol).horizon_s;
    let behaviour = arm::behaviour(spec.arm, horizon_s).map_err(SimError::from)?;
    let found = select! {
        found = find_out(spec, &mut engine) => found?,
        () = stop.notified() => return Err(MakeError::Stopped),
    };
    let config = config_yaml(spec, label, &found, engine.timeout_s)
        .map_err(|e| not_written(Path::new("config.yaml"))(io::Error::other(e)))?;
    let since = SystemTime::now().duration_since(UNIX_EPOCH).map_err(|_| MakeError::Clock)?;
    let meta = opening(spec, label, &found, &plan, since.as_millis() as f64 / 1000.0);
    let recorder = Recorder::create(dir, &plan, &meta, &config).map_err(not_written(dir))?;
    let load = Load {
        plan: &plan,
        workload: spec.workload,
        behaviour,
        horizon_s,
        sample_s: spec.options.sample_s,
        meta: &meta,
    };
    let driven = driver::drive(&load, engine, &recorder, stop, watch).await;
    close(recorder, &meta, driven.map_err(SimError::from)?).map_err(not_written(dir))
}

/// The plan that a run follows. A closed one has sessions for an engine that is far faster
/// than its cell, of which each is the same however many are drawn.
///
/// # Errors
/// Values that make no sense.
pub(crate) fn plan_for(spec: &RunSpec<'_>) -> Result<Plan, SimError> {
    let plan = plan_of(spec)?;
    let Some(population) = spec.arm.population() else { return Ok(plan) };
    let horizon_s = spec.arm.schedule(spec.protocol).horizon_s;
    let ends = (FASTEST * spec.cell.lambda_ref_per_s * horizon_s).ceil() as u32;
    let sessions = population.saturating_add(ends).max(plan.sessions.len() as u32);
    Ok(Plan::draw(spec.workload, spec.seed, &Arrivals::Closed { sessions })?)
}

fn not_written(path: &Path) -> impl FnOnce(io::Error) -> MakeError {
    move |source| MakeError::Write { path: path.into(), source }
}

fn close(recorder: Recorder, meta: &Meta, driven: Driven) -> io::Result<Made> {
    let (meta, lag) = (closing(meta, &driven), driven.lags.summary());
    let client = ClientFacts {
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
async fn find_out(spec: &RunSpec<'_>, engine: &mut Engine) -> Result<Found, PreflightError> {
    let (cell, arm) = (spec.cell, spec.arm);
    let facts = preflight::look(engine).await?;
    preflight::is_the_cells(cell, arm, &facts)?;
    if engine.model.is_empty() {
        engine.model = facts.model.clone().unwrap_or_default();
    }
    let canary = preflight::check(engine, arm.prefix_caching()).await?;
    Ok(Found {
        interface: engine.dialect.word(),
        version: facts.version.unwrap_or_else(|| cell.engine.version.clone()),
        model: engine.model.clone(),
        pool_tokens: facts.pool.tokens.unwrap_or(cell.pool_tokens),
        zero_is_absent: engine.zero_is_absent,
        canary,
    })
}
