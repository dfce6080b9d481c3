//! Which cell and which load: by name from the configuration, or by flags.

use std::path::PathBuf;

use clap::ValueEnum;
use trapcheck_answers::which::{Load as AskedLoad, WORKLOAD_FLAGS, Which as Asked};

use crate::cli::project;
use crate::cli::workload::SessionsArgs;
use trapcheck::model::Theory;
use trapcheck::setup::{Batching, Configs, Workload};

/// The cell, by name or by flags. Flags change a named cell.
#[derive(Debug, clap::Args)]
pub struct Which {
    /// A cell of the configuration
    #[arg(long, value_name = "NAME")]
    cell: Option<String>,
    /// A workload of the configuration, in place of the cell's; one of sessions, too. Rates are
    /// then in multiples of the model's own capacity
    #[arg(long, value_name = "NAME", conflicts_with_all = WORKLOAD_FLAGS)]
    workload: Option<String>,
    /// With a workload of sessions: no gap between an answer and the next turn is longer, s
    #[arg(long, value_name = "SECONDS")]
    gap_limit: Option<f64>,
    /// Folder of cells and workloads
    #[arg(long, value_name = "DIR", default_value = "configs")]
    configs: PathBuf,
    /// KV pool, tokens
    #[arg(long, value_name = "TOKENS", help_heading = "Cell by flags")]
    pool: Option<u64>,
    /// Speed factor: every cost is divided by it
    #[arg(long, value_name = "FACTOR", help_heading = "Cell by flags")]
    speed: Option<f64>,
    /// lambda_ref, the all-miss session rate, sessions/s
    #[arg(long, value_name = "RATE", help_heading = "Cell by flags")]
    lambda_ref: Option<f64>,
    /// Fixed cost of a turn that misses, s (with --per-token-us, instead of iteration costs)
    #[arg(long, value_name = "SECONDS", requires = "per_token_us", help_heading = "Cell by flags")]
    fixed_s: Option<f64>,
    /// Cost per prompt token of a turn that misses, us
    #[arg(long, value_name = "US", requires = "fixed_s", help_heading = "Cell by flags")]
    per_token_us: Option<f64>,
    /// a: fixed part of an iteration, s (iteration costs as a cell file names them, App. E.9; they
    /// take --fixed-s's place)
    #[arg(
        long,
        value_name = "SECONDS",
        conflicts_with = "fixed_s",
        help_heading = "Cell by flags"
    )]
    a_s: Option<f64>,
    /// f0: floor of an iteration's token part, s
    #[arg(
        long,
        value_name = "SECONDS",
        conflicts_with = "fixed_s",
        help_heading = "Cell by flags"
    )]
    f0_s: Option<f64>,
    /// b: per token of an iteration, s
    #[arg(
        long,
        value_name = "SECONDS",
        conflicts_with = "fixed_s",
        help_heading = "Cell by flags"
    )]
    b_s_per_token: Option<f64>,
    /// c_p: per causal pair of prefill attention, s
    #[arg(
        long,
        value_name = "SECONDS",
        conflicts_with = "fixed_s",
        help_heading = "Cell by flags"
    )]
    c_p_s_per_pair: Option<f64>,
    /// c_d: decode attention over 8192 tokens of context, s
    #[arg(
        long,
        value_name = "SECONDS",
        conflicts_with = "fixed_s",
        help_heading = "Cell by flags"
    )]
    c_d_s: Option<f64>,
    /// How prefill and decode share an iteration
    #[arg(long, value_enum, help_heading = "Cell by flags")]
    batching: Option<BatchingArg>,
    /// Prompt tokens that one iteration may prefill
    #[arg(long, value_name = "TOKENS", help_heading = "Cell by flags")]
    chunk_tokens: Option<u64>,
    /// Tokens per KV block
    #[arg(long, value_name = "TOKENS", help_heading = "Cell by flags")]
    block_tokens: Option<u64>,
    /// Requests that may run at once
    #[arg(long, value_name = "REQUESTS", help_heading = "Cell by flags")]
    max_running: Option<u64>,
    /// Mean of the geometric number of turns, before truncation
    #[arg(long, value_name = "TURNS", help_heading = "Workload by flags")]
    mean_turns: Option<f64>,
    /// Largest number of turns
    #[arg(long, value_name = "TURNS", help_heading = "Workload by flags")]
    max_turns: Option<usize>,
    /// Prompt of a session's first turn, tokens
    #[arg(long, value_name = "TOKENS", help_heading = "Workload by flags")]
    first_prompt: Option<u64>,
    /// Tool output between two turns, tokens
    #[arg(long, value_name = "TOKENS", help_heading = "Workload by flags")]
    tool_output: Option<u64>,
    /// Tokens decoded in a turn
    #[arg(long, value_name = "TOKENS", help_heading = "Workload by flags")]
    decoded: Option<u64>,
    /// Mean of an exponential tool time, s
    #[arg(long, value_name = "SECONDS", help_heading = "Workload by flags")]
    tool_mean_s: Option<f64>,
    /// Constant added to every tool call, s
    #[arg(long, value_name = "SECONDS", help_heading = "Workload by flags")]
    tool_delay_s: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum BatchingArg {
    /// Prefill iterations and decode iterations alternate (SGLang)
    Separate,
    /// One iteration carries both (vLLM)
    Mixed,
}

/// The arrival rate, in one of three units.
#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
struct Load {
    /// Arrival rate in multiples of lambda_ref
    #[arg(long, value_name = "MULTIPLE")]
    rate: Option<f64>,
    /// Arrival rate, sessions/s
    #[arg(long, value_name = "RATE")]
    sessions_per_s: Option<f64>,
    /// Arrival rate in multiples of the all-miss capacity
    #[arg(long, value_name = "LOAD")]
    rho: Option<f64>,
}

/// A cell under a load.
#[derive(Debug, clap::Args)]
pub struct AtLoad {
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    load: Load,
}

impl AtLoad {
    /// The cell, solved, and the rate in sessions/s.
    pub fn solved(&self) -> anyhow::Result<(Theory, f64)> {
        let theory = self.which.theory()?;
        let lambda = AskedLoad::from(&self.load).per_s(&theory)?;
        Ok((theory, lambda))
    }
}

impl From<&Load> for AskedLoad {
    fn from(load: &Load) -> Self {
        let Load { rate, sessions_per_s, rho } = *load;
        Self { rate, sessions_per_s, rho }
    }
}

impl Which {
    /// The chosen cell, solved.
    pub fn theory(&self) -> anyhow::Result<Theory> {
        let asked = self.asked();
        let configs = match asked.names_something() {
            true => project::configs(&self.configs)?,
            false => Configs::default(),
        };
        let chosen = asked.chosen(&configs)?;
        let named = asked.workload_named(&chosen, &configs, self.gap_limit)?;
        let workload = self.asked_for(&configs, named.as_deref(), chosen.cell.pool_tokens)?;
        Ok(asked.theory(chosen, workload)?)
    }

    /// The workload that is played, if it was asked for by name or consists of sessions; what is to
    /// be said of them is said.
    fn asked_for(
        &self,
        configs: &Configs,
        name: Option<&str>,
        pool_tokens: u64,
    ) -> anyhow::Result<Option<Workload>> {
        let Some(name) = name else { return Ok(None) };
        let asked = SessionsArgs::named(name, self.gap_limit).without_subagents(configs);
        let asked = asked.chosen(configs, pool_tokens)?;
        Ok(asked.map(|chosen| {
            chosen.notes.iter().for_each(|note| eprintln!("{note}"));
            chosen.workload
        }))
    }

    fn asked(&self) -> Asked {
        Asked {
            cell: self.cell.clone(),
            workload: self.workload.clone(),
            pool: self.pool,
            speed: self.speed,
            lambda_ref: self.lambda_ref,
            fixed_s: self.fixed_s,
            per_token_us: self.per_token_us,
            a_s: self.a_s,
            f0_s: self.f0_s,
            b_s_per_token: self.b_s_per_token,
            c_p_s_per_pair: self.c_p_s_per_pair,
            c_d_s: self.c_d_s,
            batching: self.batching.map(|batching| match batching {
                BatchingArg::Separate => Batching::Separate,
                BatchingArg::Mixed => Batching::Mixed,
            }),
            chunk_tokens: self.chunk_tokens,
            block_tokens: self.block_tokens,
            max_running: self.max_running,
            mean_turns: self.mean_turns,
            max_turns: self.max_turns,
            first_prompt: self.first_prompt,
            tool_output: self.tool_output,
            decoded: self.decoded,
            tool_mean_s: self.tool_mean_s,
            tool_delay_s: self.tool_delay_s,
        }
    }
}
