//! What is made sure of before a run: which engine this is, that it reports cached tokens, that
//! its cache works, and that a flush empties it (the canary; paper: App. E.2).

use std::time::Duration;

use crate::dialect::Dialect;
use crate::engine::Engine;
use crate::fault::Fault;
use crate::metrics::PoolFacts;
use crate::prompts::canary;
use crate::run::Canary;
use crate::setup::{ArmSpec, Cell};

/// Tokens of the canary's prompt: whole blocks of every usual size.
pub(crate) const CANARY_TOKENS: usize = 768;

/// Tokens that the canary asks for.
const CANARY_DECODE: u64 = 2;

/// A pool this far from the cell's is another cell's.
const POOL_TOLERANCE: f64 = 0.01;

/// How often a busy engine is asked again to empty its cache, a second apart.
const FLUSHES: u32 = 10;

/// How often it is asked whether it has ended what others left, a second apart.
const LOOKS: u32 = 60;

/// An engine that no run can be made on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PreflightError {
    /// It does not answer.
    #[error("{what}: {fault}")]
    Silent {
        /// What was asked for.
        what: &'static str,
        /// Why there is no answer.
        fault: Fault,
    },
    /// It speaks another interface.
    #[error("/metrics has nothing of {0}: is this another engine, or are its metrics off?")]
    Foreign(&'static str),
    /// A fleet.
    #[error("{0} engines behind this address: a run directory describes one")]
    Several(usize),
    /// It is another one than the cell's.
    #[error("cell {cell}: {message}")]
    OtherEngine {
        /// The cell.
        cell: String,
        /// What differs.
        message: String,
    },
    /// It does not say how many prompt tokens were cached.
    #[error("canary: the engine does not report cached tokens: {0}")]
    NotReported(&'static str),
    /// A repeated prompt was not found in the cache.
    #[error("canary: a prompt sent twice found nothing in the cache: is prefix caching on?")]
    NothingCached,
    /// Something was found in a cache that should be off.
    #[error("canary: {0} tokens were found in a cache that this arm runs without")]
    CacheIsOn(u64),
    /// The flush was not taken.
    #[error("canary: the cache cannot be emptied ({fault}): {hint}")]
    NoFlush {
        /// Why.
        fault: Fault,
        /// What helps.
        hint: &'static str,
    },
    /// The flush did nothing.
    #[error(
        "canary: {0} tokens were still in the cache after it was emptied: are requests of others \
         in the engine?"
    )]
    NotEmptied(u64),
}

/// What an engine says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// Its version, where it says.
    pub version: Option<String>,
    /// The model's name in its interface, where it says.
    pub model: Option<String>,
    /// Its pool.
    pub pool: PoolFacts,
}

/// Asks an engine what it is.
///
/// # Errors
/// It gives no metrics, another engine's, or those of several.
pub async fn look(engine: &Engine) -> Result<Facts, PreflightError> {
    let silent = |what| move |fault| PreflightError::Silent { what, fault };
    let scrape = engine.metrics(30.0).await.map_err(silent("/metrics"))?;
    if scrape.is_foreign() {
        return Err(PreflightError::Foreign(engine.dialect.word()));
    }
    let pool = scrape.pool();
    if pool.engines > 1 {
        return Err(PreflightError::Several(pool.engines));
    }
    let (version, model) = match engine.dialect {
        Dialect::Vllm => (engine.json("/version").await, engine.json("/v1/models").await),
        Dialect::Sglang => (
            either(engine, "/server_info", "/get_server_info").await,
            either(engine, "/model_info", "/get_model_info").await,
        ),
    };
    let (version, model) = (version.unwrap_or_default(), model.unwrap_or_default());
    let text = |value: &serde_json::Value| value.as_str().map(|text| engine.http.kept(text));
    let model = match engine.dialect {
        Dialect::Vllm => &model["data"][0]["id"],
        Dialect::Sglang => &model["model_path"],
    };
    Ok(Facts { version: text(&version["version"]), model: text(model), pool })
}

/// Makes sure that it is the engine that a cell describes, as an arm wants it: what it says of
/// itself decides.
///
/// # Errors
/// It has another pool, or its prefix cache on where the arm has it off, or the other way round.
pub(crate) fn is_the_cells(
    cell: &Cell,
    arm: &ArmSpec,
    facts: &Facts,
) -> Result<(), PreflightError> {
    let other = |message| Err(PreflightError::OtherEngine { cell: cell.name.clone(), message });
    let expected = cell.pool_tokens as f64;
    if let Some(tokens) = facts.pool.tokens
        && (tokens as f64 - expected).abs() > POOL_TOLERANCE * expected
    {
        return other(format!(
            "the engine has a pool of {tokens} tokens, the cell one of {}",
            cell.pool_tokens
        ));
    }
    match facts.pool.prefix_caching {
        Some(on) if on != arm.prefix_caching() => other(format!(
            "arm {} runs with the prefix cache {}, the engine has it {}",
            arm.arm(),
            if on { "off" } else { "on" },
            if on { "on" } else { "off" },
        )),
        _ => Ok(()),
    }
}

/// Of a path that older versions have under another name.
async fn either(engine: &Engine, now: &str, before: &str) -> Result<serde_json::Value, Fault> {
    match engine.json(now).await {
        Err(Fault::Status(404)) => engine.json(before).await,
        said => said,
    }
}

/// Sends a prompt twice, empties the cache and sends it again; leaves the cache empty. Notes in
/// `engine` whether it leaves out counts of 0.
///
/// # Errors
/// The engine does not report cached tokens, its cache does not work as the arm wants it, or
/// it cannot be emptied.
pub async fn check(engine: &mut Engine, prefix_caching: bool) -> Result<Canary, PreflightError> {
    let prompt = canary(engine.tokens, CANARY_TOKENS);
    idle(engine).await?;
    flush(engine).await?;
    engine.zero_is_absent = false;
    let cold = send(engine, &prompt).await?;
    let warm = send(engine, &prompt).await?;
    if !prefix_caching {
        return match warm {
            Some(cached) if cached > 0 => Err(PreflightError::CacheIsOn(cached)),
            // Off, the engine may well report nothing: a run without a cache has 0 of it.
            said => {
                engine.zero_is_absent = said.is_none();
                Ok(Canary { cached_before: Some(0), cached_after: Some(0) })
            }
        };
    }
    match (cold, warm) {
        (_, None) => return Err(PreflightError::NotReported(engine.dialect.report_flag())),
        (_, Some(0)) => return Err(PreflightError::NothingCached),
        (Some(cold), _) if cold > 0 => return Err(PreflightError::NotEmptied(cold)),
        (cold, Some(_)) => engine.zero_is_absent = cold.is_none(),
    }
    flush(engine).await?;
    let after = send(engine, &prompt).await?.unwrap_or_default();
    if after > 0 {
        return Err(PreflightError::NotEmptied(after));
    }
    flush(engine).await?;
    Ok(Canary { cached_before: warm, cached_after: Some(after) })
}

async fn send(engine: &Engine, prompt: &[u32]) -> Result<Option<u64>, PreflightError> {
    let reply = engine.ask(prompt, CANARY_DECODE).await;
    let silent = |fault| PreflightError::Silent { what: "canary", fault };
    Ok(reply.map_err(silent)?.cached_tokens)
}

/// Waits a while for what others left in the engine to end. vLLM says that it has emptied its
/// cache even where requests hold a part of it. Gauges may be old: what follows is the proof.
async fn idle(engine: &Engine) -> Result<(), PreflightError> {
    let silent = |fault| PreflightError::Silent { what: "/metrics", fault };
    for _ in 0..LOOKS {
        let scrape = engine.metrics(30.0).await.map_err(silent)?;
        let now = scrape.sample(0.0);
        if now.running.unwrap_or(0) + now.waiting.unwrap_or(0) == 0 {
            break;
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    Ok(())
}

/// An engine that still ends what an earlier run left refuses a while.
async fn flush(engine: &Engine) -> Result<(), PreflightError> {
    let mut tries = 0;
    loop {
        match engine.flush().await {
            Ok(()) => return Ok(()),
            Err(Fault::Status(400 | 409 | 503)) if tries < FLUSHES => tries += 1,
            Err(fault) => {
                return Err(PreflightError::NoFlush { fault, hint: engine.dialect.flush_flag() });
            }
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}
