//! What a KV pool has to be for the models to speak of it (App. E.9): every turn fits into it
//! alone, and running turns fill it before the engine's limit on running requests does (S4).
//!
//! Outside these bounds the formulas still give numbers, but of no engine: a turn that does
//! not fit is refused by the engine with its session, and a pool that is never full evicts
//! nothing.

use crate::setup::Cell;

use super::ModelError;
use super::cost::Server;
use super::session::SessionMeans;

/// Turns that do not fit count only when they carry more than this share of all prompt
/// tokens; below it no printed digit knows of them. A geometric law's far tail stays usable.
const NEGLIGIBLE_SHARE: f64 = 1e-9;

/// That every turn's KV, prompt and answer, fits into the pool alone.
///
/// # Errors
/// A turn that is reached does not fit.
pub(crate) fn holds_every_turn(pool_tokens: u64, means: &SessionMeans) -> Result<(), ModelError> {
    let pool = pool_tokens as f64;
    let Some(first) = means.footprint_tokens.iter().position(|e| *e > pool) else {
        return Ok(());
    };
    let beyond: f64 =
        means.survival[first..].iter().zip(&means.prompt_tokens[first..]).map(|(g, l)| g * l).sum();
    if beyond <= NEGLIGIBLE_SHARE * means.session_prompt_tokens() {
        return Ok(());
    }
    Err(ModelError::PoolTooSmall {
        pool_tokens,
        turn: first + 1,
        needs_tokens: means.footprint_tokens[first],
    })
}

/// That running turns fill the pool before `max_running` requests run, so that the pool and
/// not the limit makes the all-miss branch (S4). `server` is the cell's.
///
/// # Errors
/// The pool is too large to bind.
pub fn binds(cell: &Cell, server: &Server) -> Result<(), ModelError> {
    let pool = cell.pool_tokens as f64;
    let too_large = |running: Option<f64>| ModelError::PoolTooLarge {
        pool_tokens: cell.pool_tokens,
        running,
        max_running: cell.max_running,
    };
    let nu_b = server.turn_rate_filling(pool, 0.0)?;
    // At the server's very capacity the arithmetic no longer tells how many run.
    let running = server.at(nu_b, 0.0).map(|running| nu_b * running.service_s);
    match running {
        Some(running) if running <= cell.max_running as f64 => Ok(()),
        running => Err(too_large(running)),
    }
}
