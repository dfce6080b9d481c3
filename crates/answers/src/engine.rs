//! Which engine: a cell of the configuration, or a pool and a prefill rate.

use serde::Deserialize;

use crate::cell::{CHUNK_TOKENS, Sizes, unnamed};
use crate::refused::Refused;
use crate::setup::cell::{Engine, IterationParts};
use crate::setup::{Batching, Cell, Configs, Costs, Protocol};
use crate::sim::Options;
use crate::which::cell_named;

/// The engine, by name or by its sizes, which change a named cell; each field is a flag of
/// `trapcheck knee`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Asked {
    /// A cell of the configuration.
    pub cell: Option<String>,
    /// KV pool, tokens.
    pub pool_tokens: Option<u64>,
    /// All-miss prefill rate of full iterations, tokens/s.
    pub prefill_rate: Option<f64>,
    /// Time of an iteration that decodes, s; 0.02 if not given.
    pub decode_s_per_token: Option<f64>,
    /// Requests that may run at once.
    pub running_limit: Option<u64>,
    /// Prompt tokens that one iteration may prefill.
    pub chunk_tokens: Option<u64>,
    /// Tokens per KV block.
    pub block_tokens: Option<u64>,
    /// Whose ways it has; the cell's, or vLLM's, if not given.
    pub engine: Option<Ways>,
    /// Multiplies the costs per token.
    pub token_cost_factor: Option<f64>,
}

/// Whose ways an engine has: batching, eviction, waiting prefixes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ways {
    /// vLLM 0.32.0's.
    Vllm,
    /// SGLang 0.5.22's.
    Sglang,
    /// The paper's simulator's: a session's KV hits whole or not at all.
    Paper,
}

/// An engine to ask about.
#[derive(Debug)]
pub struct Chosen {
    /// Pool and costs.
    pub cell: Cell,
    /// Its protocol.
    pub protocol: Protocol,
    /// Its ways.
    pub options: Options,
}

impl Asked {
    /// The engine that was asked for.
    ///
    /// # Errors
    /// A name that there is not, or a size that makes no sense.
    pub fn engine(&self, configs: &Configs) -> Result<Chosen, Refused> {
        let mut cell = match &self.cell {
            Some(name) => named(configs, name)?,
            None => self.by_sizes()?,
        };
        let sizes = Sizes {
            pool_tokens: self.pool_tokens,
            chunk_tokens: self.chunk_tokens,
            block_tokens: self.block_tokens,
            max_running: self.running_limit,
        };
        sizes.change(&mut cell);
        cell.check().map_err(|message| Refused(format!("engine: {message}")))?;
        let protocol = configs
            .protocols
            .get(&cell.protocol)
            .ok_or_else(|| Refused(format!("no protocol {}", cell.protocol)))?
            .clone();
        let own = match self.engine {
            Some(Ways::Paper) => Options::default(),
            Some(engine) => Options::of_engine(&engine.engine()),
            None => Options::of_engine(&cell.engine),
        };
        let options = Options { token_cost_factor: self.token_cost_factor, ..own };
        Ok(Chosen { cell, protocol, options })
    }

    /// A full iteration computes the prefill rate; one that only decodes takes a token's time.
    fn by_sizes(&self) -> Result<Cell, Refused> {
        let (Some(pool_tokens), Some(rate)) = (self.pool_tokens, self.prefill_rate) else {
            return Err(Refused::new("give --cell NAME, or --pool-tokens and --prefill-rate"));
        };
        let engine = self.engine.unwrap_or(Ways::Vllm);
        let chunk_tokens = self.chunk_tokens.unwrap_or(CHUNK_TOKENS);
        let a_s = self.decode_s_per_token.unwrap_or(0.02);
        let b_s_per_token = 1.0 / rate - a_s / chunk_tokens as f64;
        if !(rate > 0.0 && b_s_per_token > 0.0) {
            return Err(Refused(format!(
                "--prefill-rate {rate}: an iteration of {chunk_tokens} tokens takes at least \
                 --decode-s-per-token, {a_s} s, so that fewer than {:.0} tokens/s are computed",
                chunk_tokens as f64 / a_s
            )));
        }
        let parts =
            IterationParts { a_s, f0_s: 0.0, b_s_per_token, c_p_s_per_pair: 0.0, c_d_s: 0.0 };
        let name = format!("{pool_tokens} tokens at {rate} tokens/s");
        Ok(Cell {
            block_tokens: if engine == Ways::Vllm { 16 } else { 1 },
            batching: if engine == Ways::Sglang { Batching::Separate } else { Batching::Mixed },
            ..unnamed(name, engine.engine(), parts.costs(), pool_tokens)
        })
    }
}

impl Ways {
    fn engine(self) -> Engine {
        let (name, version) = match self {
            Self::Sglang => ("sglang", "0.5.22"),
            Self::Vllm | Self::Paper => ("vllm", "0.32.0"),
        };
        Engine { name: name.into(), version: version.into() }
    }
}

/// A cell whose iterations are costed: those beside costs per turn serve as well.
fn named(configs: &Configs, name: &str) -> Result<Cell, Refused> {
    let mut cell = cell_named(name, configs)?.clone();
    if let (Costs::PerTurn { .. }, Some(parts)) = (&cell.costs, cell.iteration_costs.take()) {
        cell.costs = parts.costs();
    }
    Ok(cell)
}
