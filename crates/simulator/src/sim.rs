//! The calibrated simulator: a continuous-batching engine, iteration by
//! iteration, driven by the same client as a real one (paper: App. E.12).
//!
//! Time is exact: requests join between iterations, decoding stretches without
//! a prefill are crossed in closed form, and the same inputs give the same bytes
//! in any thread count. When things coincide, client timers come before the end
//! of an iteration, and equal timers come in the order they were asked for.
//!
//! As the paper has it, a session's KV is reused whole or not at all and waiting
//! prefixes are not refreshed; [`options`] has the engines' own ways beside it.
//! Left out: preemption, block fragmentation and everything a GPU does beside the
//! five fitted costs. A simulated run is never engine data.

pub mod check;
pub mod costs;
pub mod directory;
pub mod engine;
pub mod fidelity;
pub mod kv;
pub mod options;
pub mod run;

use crate::client::arm;
use crate::client::records::{ClientRun, GateEvent, SessionRecord, Turn};
use crate::client::{Behaviour, ClientError};
use crate::limits;
use crate::plan::{Arrivals, DrawnSession, Plan, PlanError};
use crate::run::EngineSample;
use crate::setup::{ArmSpec, Cell, Protocol, TraceTurn, Workload};
use check::Violation;
use engine::EngineSpec;
pub use options::Options;

/// One run to simulate.
#[derive(Debug, Clone, PartialEq)]
pub struct RunSpec<'a> {
    /// Engine, pool and costs.
    pub cell: &'a Cell,
    /// What sessions are like.
    pub workload: &'a Workload,
    /// Durations, burst and windows.
    pub protocol: &'a Protocol,
    /// Arrivals and gate.
    pub arm: &'a ArmSpec,
    /// Arrival rate in multiples of the cell's lambda_ref; none in closed arms.
    pub multiple: Option<f64>,
    /// The plan's seed.
    pub seed: u64,
    /// How the engine is modelled.
    pub options: Options,
}

/// A simulated run: the tables of its run directory, times not yet rounded. The session of a turn
/// or of a gate's event is a place in the plan.
#[derive(Debug, Clone, PartialEq)]
pub struct SimRun {
    /// The plan it followed.
    pub plan: Plan,
    /// Rows of `turns.csv`.
    pub turns: Vec<Turn>,
    /// Rows of `sessions.csv`.
    pub sessions: Vec<SessionRecord>,
    /// Rows of `engine.csv`.
    pub engine: Vec<EngineSample>,
    /// Rows of `gate.csv`; empty when the arm has no gate.
    pub gate: Vec<GateEvent>,
    /// How long the run was, seconds.
    pub horizon_s: f64,
}

/// A run that cannot be simulated, or an engine that broke its own rules.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SimError {
    /// A cell, workload, protocol or run set with a value that makes no sense.
    #[error("{what}: {message}")]
    Setup {
        /// Which, by its name.
        what: String,
        /// What is wrong.
        message: String,
    },
    /// A session that can never be admitted.
    #[error(
        "{kind} session {session} grows to {tokens} tokens of KV, more than the cell's pool of \
         {pool_tokens}: it would block the queue for ever"
    )]
    PoolTooSmall {
        /// Base or burst.
        kind: crate::plan::Kind,
        /// Its number.
        session: u32,
        /// Its largest footprint.
        tokens: u64,
        /// M.
        pool_tokens: u64,
    },
    /// The plan cannot be drawn.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The arm does not fit the protocol, or the client cannot follow the plan.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// An invariant did not hold: a defect of the simulator, not of the input.
    #[error("at {t_s} s: {violation}")]
    Invariant {
        /// When.
        t_s: f64,
        /// Which.
        violation: Violation,
    },
    /// A run of a fidelity report failed.
    #[error("run set {set}, seed {seed}: {source}")]
    OfSet {
        /// The run set.
        set: String,
        /// The seed.
        seed: u64,
        /// Why.
        source: Box<SimError>,
    },
}

impl SimError {
    fn of_cell(cell: &Cell, message: String) -> Self {
        Self::Setup { what: format!("cell {}", cell.name), message }
    }
}

/// Simulates one run.
///
/// # Errors
/// [`SimError`]: before anything runs, when the inputs make no sense; during the
/// run only when a closed plan is used up or an invariant fails.
pub fn simulate(spec: &RunSpec<'_>) -> Result<SimRun, SimError> {
    simulate_with(spec, Stepping::Skip)
}

/// The same to be measured and not to be kept: of a closed run, only sessions that may be
/// needed are drawn. Most of the plan is for an engine that is many times as fast.
///
/// # Errors
/// As [`simulate`], but for what is wrong with sessions that are not needed.
pub fn simulate_to_measure(spec: &RunSpec<'_>) -> Result<SimRun, SimError> {
    let arrivals = arrivals_of(spec)?;
    let Arrivals::Closed { sessions: all } = arrivals else { return simulate(spec) };
    let population = spec.arm.population().unwrap_or(all);
    let horizon_s = spec.arm.schedule(spec.protocol).horizon_s;
    let ends = libm::ceil(LIKELY * spec.cell.lambda_ref_per_s * horizon_s) as u32;
    let mut sessions = population.saturating_add(ends).min(all);
    loop {
        let plan = drawn(spec, &Arrivals::Closed { sessions })?;
        match follow(spec, plan, Stepping::Skip) {
            // Each session is the same however many are drawn: once more, with all of them.
            Err(SimError::Client(ClientError::PlanExhausted { .. })) if sessions < all => {
                sessions = all;
            }
            done => return done,
        }
    }
}

/// Sessions that end in a closed run are seldom more than this many times those that do where
/// every turn misses.
const LIKELY: f64 = 3.0;

/// How decoding without prefills is crossed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stepping {
    /// In closed form, up to the next thing that can change the batch.
    Skip,
    /// One iteration at a time: the oracle that the closed form is tested against.
    #[cfg_attr(not(test), expect(dead_code, reason = "the tests' oracle"))]
    Plain,
}

pub(crate) fn simulate_with(spec: &RunSpec<'_>, stepping: Stepping) -> Result<SimRun, SimError> {
    let plan = plan_of(spec)?;
    follow(spec, plan, stepping)
}

/// The plan that a run of `spec` follows, on an engine of ours or on a real one, whose costs
/// nobody need know.
///
/// # Errors
/// Values that make no sense.
pub fn plan_of(spec: &RunSpec<'_>) -> Result<Plan, SimError> {
    drawn(spec, &arrivals_of(spec)?)
}

/// Draws the plan of a run that is to be simulated, to find out before what is wrong with it.
///
/// # Errors
/// Whatever would keep the run from being simulated.
pub fn check_spec(spec: &RunSpec<'_>) -> Result<(), SimError> {
    engine_of(spec)?;
    plan_of(spec).map(drop)
}

fn arrivals_of(spec: &RunSpec<'_>) -> Result<Arrivals, SimError> {
    check_setup(spec)?;
    let schedule = spec.arm.schedule(spec.protocol);
    let arrivals = arm::arrivals(spec.arm, &schedule, spec.multiple, spec.cell.lambda_ref_per_s)?;
    let arrivals = match (arrivals, spec.arm.population()) {
        (Arrivals::Closed { sessions }, Some(lanes)) => {
            let most = Plan::most_played(spec.workload, spec.seed, lanes, schedule.horizon_s);
            Arrivals::Closed { sessions: most.unwrap_or(sessions) }
        }
        (arrivals, _) => arrivals,
    };
    arm::behaviour(spec.arm, schedule.horizon_s)?;
    Ok(arrivals)
}

fn drawn(spec: &RunSpec<'_>, arrivals: &Arrivals) -> Result<Plan, SimError> {
    let plan = Plan::draw(spec.workload, spec.seed, arrivals)?;
    fits(&plan, spec)?;
    Ok(plan)
}

/// Simulates a run of `spec` that follows a given plan instead of its seed's: what
/// an engine would have done with the arrivals another engine saw.
///
/// # Errors
/// As [`simulate`].
pub fn replay(spec: &RunSpec<'_>, plan: Plan) -> Result<SimRun, SimError> {
    fits(&plan, spec)?;
    follow(spec, plan, Stepping::Skip)
}

fn engine_of(spec: &RunSpec<'_>) -> Result<EngineSpec, SimError> {
    check_setup(spec)?;
    EngineSpec::new(spec.cell, spec.arm, &spec.options)
}

fn follow(spec: &RunSpec<'_>, plan: Plan, stepping: Stepping) -> Result<SimRun, SimError> {
    let engine = engine_of(spec)?;
    affordable(&plan, spec, &engine)?;
    let horizon_s = spec.arm.schedule(spec.protocol).horizon_s;
    let ramp_s = spec.options.ramp_s;
    let behaviour = Behaviour { ramp_s, ..arm::behaviour(spec.arm, horizon_s)? };
    let (client, samples) = run::drive(&run::RunInputs {
        plan: &plan,
        workload: spec.workload,
        behaviour,
        engine,
        horizon_s,
        sample_s: spec.options.sample_s,
        gauges_of_last_pass: spec.options.gauges_of_last_pass,
        stepping,
        check: spec.options.check || cfg!(test),
    })?;
    let ClientRun { turns, sessions, gate } = client;
    Ok(SimRun { plan, turns, sessions, engine: samples, gate, horizon_s })
}

/// Values made by hand are checked as those read from files are.
fn check_setup(spec: &RunSpec<'_>) -> Result<(), SimError> {
    let named = |kind: &str, name: &str, checked: Result<(), String>| {
        checked.map_err(|message| SimError::Setup { what: format!("{kind} {name}"), message })
    };
    named("cell", &spec.cell.name, spec.cell.check())?;
    named("workload", &spec.workload.name, spec.workload.check())?;
    let horizon_s = spec.arm.schedule(spec.protocol).horizon_s;
    let samples = horizon_s / spec.options.sample_s;
    let most = limits::ROWS - 1;
    let sampled = if samples > 0.0 && samples <= most as f64 && horizon_s > 0.0 {
        Ok(())
    } else {
        Err(format!(
            "a run of {horizon_s} s sampled every {:?} s; expected between 1 and {most} samples",
            spec.options.sample_s
        ))
    };
    named("protocol", &spec.protocol.name, sampled)
}

/// A run of more iterations than anybody waits for: by its tokens, or by its time.
fn affordable(plan: &Plan, spec: &RunSpec<'_>, engine: &EngineSpec) -> Result<(), SimError> {
    let by_tokens: f64 =
        plan.turns() as f64 * (1.0 + most_iterations_of_a_turn(plan, spec, engine));
    let horizon_s = spec.arm.schedule(spec.protocol).horizon_s;
    let by_time = horizon_s / engine.costs.iteration_s(1, 0, 0);
    if by_tokens.min(by_time) <= limits::ITERATIONS {
        return Ok(());
    }
    let message = format!(
        "about {:.0} iterations in {horizon_s} s: its costs or chunk_tokens are too small (limit {})",
        by_tokens.min(by_time),
        limits::ITERATIONS
    );
    Err(SimError::of_cell(spec.cell, message))
}

/// Iterations of the plan's largest turn that misses: its chunks and the tokens it decodes.
fn most_iterations_of_a_turn(plan: &Plan, spec: &RunSpec<'_>, engine: &EngineSpec) -> f64 {
    let iterations = |turn: TraceTurn| {
        turn.prompt_tokens as f64 / engine.chunk_tokens as f64 + turn.output_tokens as f64
    };
    let law = plan.sessions.iter().filter(|session| session.trace.is_none());
    let longest = law.max_by_key(|session| session.turns());
    let by_law = longest.map(|session| iterations(session.turn(session.turns(), spec.workload)));
    let traces = plan.sessions.iter().filter_map(|session| session.trace.as_ref());
    let recorded = traces.flat_map(|trace| &trace.turns).map(|turn| iterations(*turn));
    recorded.chain(by_law).fold(0.0, f64::max)
}

/// Every session must fit an empty pool at its largest.
fn fits(plan: &Plan, spec: &RunSpec<'_>) -> Result<(), SimError> {
    let pool_tokens = spec.cell.pool_tokens;
    let tokens = |session: &DrawnSession| session.footprint_tokens(spec.workload);
    match plan.sessions.iter().find(|session| tokens(session) > pool_tokens) {
        None => Ok(()),
        Some(session) => Err(SimError::PoolTooSmall {
            kind: session.kind,
            session: session.session,
            tokens: tokens(session),
            pool_tokens,
        }),
    }
}

#[cfg(test)]
mod tests;
