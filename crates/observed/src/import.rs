//! What was observed as runs of format 1, with only what the sources know.
//!
//! A run needs sessions, their turns and times. What the format needs and no source tells (the
//! cell, the arm, whether the prefix cache was on) is the user's to say; what is left out is
//! counted with its reason.

mod gauges;
mod turns;

use crate::form::{Clock, Engine, Losses, MOST_REQUESTS, Observed};
use crate::run::{self, Counts, Meta, Rate, Run, RunStatus, SessionStatus, Source, TurnStatus};
use crate::setup::Arm;

/// What the user says of a run that no source tells.
#[derive(Debug, Clone, PartialEq)]
pub struct Told {
    /// Name of the run.
    pub run_id: String,
    /// The cell its engine is.
    pub cell: String,
    /// What was done to its arrivals.
    pub arm: Arm,
    /// M, tokens, in place of the sources'.
    pub pool_tokens: Option<u64>,
    /// Whether the prefix cache was on, in place of the sources'.
    pub prefix_caching: Option<bool>,
    /// Sessions kept in the system, of a closed run.
    pub population: Option<u64>,
}

/// Why there is no run in it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoRun {
    /// No request has a time.
    #[error("no request and no sample has a time: a run needs when each was sent")]
    NoTimes,
    /// No request belongs to a session.
    #[error(
        "no sessions: expected session ids, hash ids of the prompts' blocks, or one session whose \
         prompts grow; a run directory has a session for every turn"
    )]
    NoSessions,
    /// More requests than are kept.
    #[error(
        "too many requests for one run (at most {MOST_REQUESTS}): give one session in several, or a shorter time"
    )]
    TooMany,
    /// The pool is not told.
    #[error("the KV pool is not told: give --pool TOKENS")]
    NoPool,
    /// Whether there was a cache is not told.
    #[error("nothing says whether the prefix cache was on: give --prefix-caching on or off")]
    NoCaching,
}

/// A run, with the name of its engine and what was left out or is less than it seems.
#[derive(Debug, Clone)]
pub struct Imported {
    /// The engine's name; empty where there is one.
    pub engine: String,
    /// The run.
    pub run: Run,
    /// What was left out.
    pub dropped: Losses,
    /// What was taken for what.
    pub notes: Losses,
}

/// Makes a run of each engine. Requests are those of an engine if there is one; beside several
/// they are a run of their own.
///
/// # Errors
/// What a run needs and neither the sources nor the user tell.
pub fn runs(observed: &Observed, told: &Told) -> Result<Vec<Imported>, NoRun> {
    let engines: Vec<(&str, &Engine)> = observed
        .engines
        .iter()
        .map(|(name, engine)| (name.as_str(), engine))
        .filter(|(_, engine)| !engine.series.samples().is_empty())
        .collect();
    let has_requests = !observed.requests.is_empty();
    match engines.as_slice() {
        [] => {
            let engine = observed.engines.values().next();
            Ok(vec![one("", engine, observed, told, true)?])
        }
        [(_, engine)] => Ok(vec![one("", Some(engine), observed, told, true)?]),
        several => {
            let each =
                |(name, engine): &(&str, &Engine)| one(name, Some(engine), observed, told, false);
            let mut runs: Vec<Imported> = several.iter().map(each).collect::<Result<_, _>>()?;
            if has_requests {
                runs.push(one("requests", None, observed, told, true)?);
            }
            Ok(runs)
        }
    }
}

fn one(
    name: &str,
    engine: Option<&Engine>,
    observed: &Observed,
    told: &Told,
    with_requests: bool,
) -> Result<Imported, NoRun> {
    if with_requests && !observed.kept.is_all() {
        return Err(NoRun::TooMany);
    }
    let mut dropped = Losses::default();
    let mut notes = Losses::default();
    let requests = if with_requests { observed.requests.as_slice() } else { &[] };
    let timed = requests.iter().any(|r| r.t_submit_s.is_some());
    let clock = if timed { observed.clock } else { engine.map_or(Clock::Order, |e| e.clock) };
    let samples = engine.map_or(&[][..], |e| e.series.samples());
    let samples = match engine.filter(|e| e.clock == clock) {
        Some(_) => samples,
        None => {
            samples
                .iter()
                .for_each(|_| dropped.add("samples of another clock than the requests'", 0));
            &[]
        }
    };
    let starts = requests.iter().filter_map(|r| r.t_ready_s.or(r.t_submit_s));
    let start = starts.chain(samples.iter().map(|s| s.t_s)).min_by(f64::total_cmp);
    let start_s = start.filter(|_| clock != Clock::Order).ok_or(NoRun::NoTimes)?;
    let ends = requests.iter().filter_map(|r| r.t_end_s.or(r.t_submit_s));
    let end = ends.chain(samples.iter().map(|s| s.t_s)).max_by(f64::total_cmp);
    // Times are written to 0.1 ms, and none may lie behind the end. One instant is no time.
    let duration_s = (((end.unwrap_or(start_s) - start_s) * 1e4).ceil() / 1e4).max(0.001);
    let (sessions, turns) = if requests.is_empty() {
        (Vec::new(), Vec::new())
    } else {
        turns::of(observed, start_s, duration_s, &mut dropped, &mut notes)?
    };
    let pool_tokens = told.pool_tokens.or_else(|| engine.and_then(|e| e.pool_tokens));
    let pool_tokens = pool_tokens.filter(|tokens| *tokens > 0).ok_or(NoRun::NoPool)?;
    let caching = told.prefix_caching.or_else(|| engine.and_then(|e| e.prefix_caching));
    let hit = turns.iter().any(|turn| turn.cached_tokens.is_some_and(|tokens| tokens > 0));
    let prefix_caching = caching.or(hit.then_some(true)).ok_or(NoRun::NoCaching)?;
    let engine_rows = gauges::of(samples, start_s, pool_tokens, &mut notes);
    let with = |status| sessions.iter().filter(|s| s.status == status).count() as u64;
    let unknown = || "unknown".to_owned();
    let wall = clock == Clock::Wall;
    let run_id =
        if name.is_empty() { told.run_id.clone() } else { format!("{}-{name}", told.run_id) };
    let meta = Meta {
        format: 1,
        run_id,
        source: Source::Engine,
        cell: told.cell.clone(),
        engine: run::Engine {
            name: engine.and_then(|e| e.software).map_or_else(unknown, str::to_owned),
            version: engine.and_then(|e| e.version.clone()).unwrap_or_else(unknown),
        },
        model: engine.and_then(|e| e.model.clone()),
        gpu: None,
        pool_tokens,
        prefix_caching,
        arm: told.arm.clone(),
        seed: 0,
        rate: Rate::default(),
        population: told.population,
        duration_s,
        horizon_s: duration_s,
        status: RunStatus::Completed,
        start_unix: wall.then_some(start_s),
        end_unix: wall.then_some(start_s + duration_s),
        host: None,
        job_id: None,
        replica: None,
        shared_prefix_tokens: None,
        code: None,
        registration: None,
        gate: None,
        plan_sha256: None,
        canary: None,
        counts: Counts {
            sessions_arrived: sessions.len() as u64,
            sessions_completed: with(SessionStatus::Completed),
            sessions_failed: with(SessionStatus::Failed),
            turns: turns.len() as u64,
            request_errors: turns
                .iter()
                .filter(|turn| matches!(turn.status, TurnStatus::Error(_)))
                .count() as u64,
        },
    };
    let run = Run {
        dir: std::path::PathBuf::new(),
        meta,
        sessions,
        turns,
        engine: engine_rows,
        gate: Vec::new(),
        plan: Vec::new(),
        sources: Vec::new(),
        notes: Vec::new(),
    };
    Ok(Imported { engine: name.to_owned(), run, dropped, notes })
}
