//! A cell that is in no configuration, and sizes that change one.

use std::collections::BTreeMap;

use crate::setup::cell::Engine;
use crate::setup::{Batching, Cell, Costs, Scheduling, Speed};

/// Prompt tokens that one iteration may prefill, where nothing says.
pub(crate) const CHUNK_TOKENS: u64 = 8192;

/// A cell of these costs and this pool, of which no more is known.
pub(crate) fn unnamed(name: String, engine: Engine, costs: Costs, pool_tokens: u64) -> Cell {
    Cell {
        name,
        workload: "none".into(),
        protocol: "paper".into(),
        engine,
        model: "unknown".into(),
        gpu: "unknown".into(),
        pool_tokens,
        block_tokens: 1,
        scheduling: Scheduling::Fcfs,
        batching: Batching::Separate,
        chunk_tokens: CHUNK_TOKENS,
        max_running: 256,
        lambda_ref_per_s: 1.0,
        all_miss_tokens_per_s: None,
        costs,
        iteration_costs: None,
        speed: Speed::Own,
        sources: BTreeMap::new(),
    }
}

/// Sizes that are given; a cell keeps its own of the others.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sizes {
    pub(crate) pool_tokens: Option<u64>,
    pub(crate) chunk_tokens: Option<u64>,
    pub(crate) block_tokens: Option<u64>,
    pub(crate) max_running: Option<u64>,
}

impl Sizes {
    /// Gives them to a cell.
    pub(crate) fn change(self, cell: &mut Cell) {
        cell.pool_tokens = self.pool_tokens.unwrap_or(cell.pool_tokens);
        cell.chunk_tokens = self.chunk_tokens.unwrap_or(cell.chunk_tokens);
        cell.block_tokens = self.block_tokens.unwrap_or(cell.block_tokens);
        cell.max_running = self.max_running.unwrap_or(cell.max_running);
    }
}
