//! Which engine: a cell of the configuration, or a pool and a prefill rate.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::ValueEnum;

use crate::nearest::unknown;
use crate::setup::cell::{Engine, IterationParts};
use crate::setup::{Batching, Cell, Configs, Costs, Protocol, Scheduling, Speed};
use crate::sim::Options;

/// The engine, by name or by its sizes. Sizes change a named cell.
#[derive(Debug, clap::Args)]
pub struct EngineArgs {
    /// A cell of the configuration
    #[arg(long, value_name = "NAME", required_unless_present_all = ["pool_tokens", "prefill_rate"])]
    cell: Option<String>,
    /// KV pool, tokens
    #[arg(long, value_name = "TOKENS", help_heading = "Engine by its sizes")]
    pool_tokens: Option<u64>,
    /// All-miss prefill rate of full iterations, tokens/s
    #[arg(
        long,
        value_name = "RATE",
        conflicts_with = "cell",
        help_heading = "Engine by its sizes"
    )]
    prefill_rate: Option<f64>,
    /// Time of an iteration that decodes: what a token takes at a low load, s [default: 0.02]
    #[arg(
        long,
        value_name = "SECONDS",
        conflicts_with = "cell",
        help_heading = "Engine by its sizes"
    )]
    decode_s_per_token: Option<f64>,
    /// Requests that may run at once [default: 256]
    #[arg(long, value_name = "REQUESTS", help_heading = "Engine by its sizes")]
    running_limit: Option<u64>,
    /// Prompt tokens that one iteration may prefill [default: 8192]
    #[arg(long, value_name = "TOKENS", help_heading = "Engine by its sizes")]
    chunk_tokens: Option<u64>,
    /// Tokens per KV block [default: 16 with vLLM, 1 with SGLang]
    #[arg(long, value_name = "TOKENS", help_heading = "Engine by its sizes")]
    block_tokens: Option<u64>,
    /// Whose ways it has: batching, eviction, waiting prefixes [default: the cell's, or vllm]
    #[arg(long, value_enum)]
    engine: Option<EngineArg>,
    /// Multiplies the costs per token (b, c_p, c_d)
    #[arg(long, value_name = "FACTOR")]
    token_cost_factor: Option<f64>,
    /// Folder of cells, protocols and workloads
    #[arg(long, value_name = "DIR", default_value = "configs")]
    pub configs: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum EngineArg {
    /// vLLM 0.32.0
    Vllm,
    /// SGLang 0.5.22
    Sglang,
    /// The paper's simulator: a session's KV hits whole or not at all
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

impl EngineArgs {
    /// The engine that was asked for.
    ///
    /// # Errors
    /// A name that there is not, or a size that makes no sense.
    pub fn engine(&self, configs: &Configs) -> anyhow::Result<Chosen> {
        let mut cell = match &self.cell {
            Some(name) => named(configs, name)?,
            None => self.by_sizes()?,
        };
        cell.pool_tokens = self.pool_tokens.unwrap_or(cell.pool_tokens);
        cell.max_running = self.running_limit.unwrap_or(cell.max_running);
        cell.chunk_tokens = self.chunk_tokens.unwrap_or(cell.chunk_tokens);
        cell.block_tokens = self.block_tokens.unwrap_or(cell.block_tokens);
        cell.check().map_err(|message| anyhow::anyhow!("engine: {message}"))?;
        let protocol = configs
            .protocols
            .get(&cell.protocol)
            .with_context(|| format!("no protocol {}", cell.protocol))?
            .clone();
        let own = match self.engine {
            Some(EngineArg::Paper) => Options::default(),
            Some(engine) => Options::of_engine(&engine.engine()),
            None => Options::of_engine(&cell.engine),
        };
        let options = Options { token_cost_factor: self.token_cost_factor, ..own };
        Ok(Chosen { cell, protocol, options })
    }

    /// A full iteration computes the prefill rate; one that only decodes takes a token's time.
    fn by_sizes(&self) -> anyhow::Result<Cell> {
        let (Some(pool_tokens), Some(rate)) = (self.pool_tokens, self.prefill_rate) else {
            bail!("give --cell NAME, or --pool-tokens and --prefill-rate");
        };
        let engine = self.engine.unwrap_or(EngineArg::Vllm);
        let chunk_tokens = self.chunk_tokens.unwrap_or(8192);
        let a_s = self.decode_s_per_token.unwrap_or(0.02);
        let b_s_per_token = 1.0 / rate - a_s / chunk_tokens as f64;
        if !(rate > 0.0 && b_s_per_token > 0.0) {
            bail!(
                "--prefill-rate {rate}: an iteration of {chunk_tokens} tokens takes at least \
                 --decode-s-per-token, {a_s} s, so that fewer than {:.0} tokens/s are computed",
                chunk_tokens as f64 / a_s
            );
        }
        let parts =
            IterationParts { a_s, f0_s: 0.0, b_s_per_token, c_p_s_per_pair: 0.0, c_d_s: 0.0 };
        Ok(Cell {
            name: format!("{pool_tokens} tokens at {rate} tokens/s"),
            workload: "none".into(),
            protocol: "paper".into(),
            engine: engine.engine(),
            model: "unknown".into(),
            gpu: "unknown".into(),
            pool_tokens,
            block_tokens: if engine == EngineArg::Vllm { 16 } else { 1 },
            scheduling: Scheduling::Fcfs,
            batching: if engine == EngineArg::Sglang {
                Batching::Separate
            } else {
                Batching::Mixed
            },
            chunk_tokens,
            max_running: 256,
            lambda_ref_per_s: 1.0,
            all_miss_tokens_per_s: None,
            costs: parts.costs(),
            iteration_costs: None,
            speed: Speed::Own,
            sources: BTreeMap::new(),
        })
    }
}

impl EngineArg {
    fn engine(self) -> Engine {
        let (name, version) = match self {
            Self::Sglang => ("sglang", "0.5.22"),
            Self::Vllm | Self::Paper => ("vllm", "0.32.0"),
        };
        Engine { name: name.into(), version: version.into() }
    }
}

/// A cell whose iterations are costed: those beside costs per turn serve as well.
fn named(configs: &Configs, name: &str) -> anyhow::Result<Cell> {
    let known = configs.cells.keys().map(String::as_str);
    let mut cell = configs
        .cells
        .get(name)
        .with_context(|| unknown("cell", name, "configs/cells", known))?
        .clone();
    if let (Costs::PerTurn { .. }, Some(parts)) = (&cell.costs, cell.iteration_costs.take()) {
        cell.costs = parts.costs();
    }
    Ok(cell)
}
