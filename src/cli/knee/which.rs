//! Which engine: a cell of the configuration, or a pool and a prefill rate.

use std::path::PathBuf;

use clap::ValueEnum;
use trapcheck_answers::engine::{Asked, Chosen, Ways};

use trapcheck::setup::Configs;

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

impl EngineArgs {
    /// The engine that was asked for.
    ///
    /// # Errors
    /// A name that there is not, or a size that makes no sense.
    pub fn engine(&self, configs: &Configs) -> anyhow::Result<Chosen> {
        let asked = Asked {
            cell: self.cell.clone(),
            pool_tokens: self.pool_tokens,
            prefill_rate: self.prefill_rate,
            decode_s_per_token: self.decode_s_per_token,
            running_limit: self.running_limit,
            chunk_tokens: self.chunk_tokens,
            block_tokens: self.block_tokens,
            engine: self.engine.map(|engine| match engine {
                EngineArg::Vllm => Ways::Vllm,
                EngineArg::Sglang => Ways::Sglang,
                EngineArg::Paper => Ways::Paper,
            }),
            token_cost_factor: self.token_cost_factor,
        };
        Ok(asked.engine(configs)?)
    }
}
