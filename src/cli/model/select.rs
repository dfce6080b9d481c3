//! Which cell and which load: by name from the configuration, or by flags.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::ValueEnum;

use crate::cli::project;
use crate::cli::workload::SessionsArgs;
use crate::limits;
use crate::model::Theory;
use crate::model::theory::FROM_EMPTY_S;
use crate::nearest::unknown;
use crate::setup::cell::{Engine, IterationParts};
use crate::setup::protocol::Paired;
use crate::setup::{Batching, Cell, Costs, Scheduling, Speed, ToolTime, TurnLaw, Workload};

/// The flags that a workload is given by.
const WORKLOAD_FLAGS: [&str; 7] = [
    "mean_turns",
    "max_turns",
    "first_prompt",
    "tool_output",
    "decoded",
    "tool_mean_s",
    "tool_delay_s",
];

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
        let lambda = self.load.per_s(&theory)?;
        Ok((theory, lambda))
    }
}

impl Load {
    fn per_s(&self, theory: &Theory) -> anyhow::Result<f64> {
        let lambda = match (self.rate, self.sessions_per_s, self.rho) {
            (Some(multiple), _, _) => theory.rate_per_s(multiple),
            (_, Some(rate), _) => rate,
            (_, _, Some(rho)) => rho * theory.model_f.lambda_miss_per_s(),
            _ => bail!("give a rate: --rate, --sessions-per-s or --rho"),
        };
        if !(lambda > 0.0 && lambda.is_finite()) {
            bail!("the arrival rate must be positive, found {lambda} sessions/s");
        }
        Ok(lambda)
    }
}

impl Which {
    /// The chosen cell, solved.
    pub fn theory(&self) -> anyhow::Result<Theory> {
        let (mut cell, workload, paired, from_empty_s) = match &self.cell {
            Some(name) => self.named(name)?,
            None => (self.cell_by_flags()?, None, Paired::PAPER, FROM_EMPTY_S),
        };
        self.change_cell(&mut cell)?;
        let mut workload = match (self.asked_for(cell.pool_tokens)?, workload) {
            (Some(asked), _) => asked,
            (None, Some(own)) => own,
            (None, None) => self.workload_by_flags()?,
        };
        self.change_workload(&mut workload)?;
        cell.check().map_err(|message| anyhow::anyhow!("cell: {message}"))?;
        workload.check().map_err(|message| anyhow::anyhow!("workload: {message}"))?;
        let mut theory = Theory::of(&cell, &workload)
            .with_context(|| format!("cell {}", cell.name))?
            .under(paired);
        theory.from_empty_s = from_empty_s;
        if (self.cell.is_none() || self.workload.is_some()) && self.lambda_ref.is_none() {
            // Nothing was measured: rates are multiples of the model's own capacity.
            theory.cell.lambda_ref_per_s = theory.model_f.lambda_miss_per_s();
        }
        Ok(theory)
    }

    /// The workload asked for by name, if one was.
    fn asked_for(&self, pool_tokens: u64) -> anyhow::Result<Option<Workload>> {
        self.workload.as_ref().map_or(Ok(None), |name| self.asked(name, pool_tokens))
    }

    /// A workload by its name; what is to be said of its sessions is said.
    fn asked(&self, name: &str, pool_tokens: u64) -> anyhow::Result<Option<Workload>> {
        let configs = project::configs(&self.configs)?;
        let asked = SessionsArgs::named(name, self.gap_limit).chosen(&configs, pool_tokens)?;
        Ok(asked.map(|chosen| {
            chosen.notes.iter().for_each(|note| eprintln!("{note}"));
            chosen.workload
        }))
    }

    fn named(&self, name: &str) -> anyhow::Result<(Cell, Option<Workload>, Paired, f64)> {
        let configs = project::configs(&self.configs)?;
        let known = configs.cells.keys().map(String::as_str);
        let cell = configs
            .cells
            .get(name)
            .with_context(|| unknown("cell", name, "configs/cells", known))?;
        // Sessions depend on the pool, which a flag may change.
        let workload = match configs.session_workloads.get(&cell.workload) {
            _ if self.workload.is_some() => None,
            Some(_) => self.asked(&cell.workload, self.pool.unwrap_or(cell.pool_tokens))?,
            None => configs.workloads.get(&cell.workload).cloned(),
        };
        let (paired, from_empty_s) = configs
            .protocols
            .get(&cell.protocol)
            .map_or((Paired::PAPER, FROM_EMPTY_S), |p| (p.paired, p.e0b.horizon_s));
        Ok((cell.clone(), workload, paired, from_empty_s))
    }

    fn cell_by_flags(&self) -> anyhow::Result<Cell> {
        let Some(costs) = self.costs(None)? else {
            bail!(
                "give --cell NAME, or a cell by --fixed-s and --per-token-us, or by iteration costs \
                 (--a-s, --b-s-per-token) and --pool"
            );
        };
        if self.pool.is_none() && matches!(costs, Costs::Iteration { .. }) {
            bail!("iteration costs need the KV pool: give --pool TOKENS");
        }
        Ok(Cell {
            name: "flags".into(),
            workload: "flags".into(),
            protocol: "paper".into(),
            engine: Engine { name: "unknown".into(), version: "unknown".into() },
            model: "unknown".into(),
            gpu: "unknown".into(),
            // Costs per turn do not depend on the pool, which may then be left open.
            pool_tokens: self.pool.unwrap_or(limits::COUNT),
            block_tokens: 1,
            scheduling: Scheduling::Fcfs,
            batching: Batching::Separate,
            chunk_tokens: 8192,
            max_running: 256,
            lambda_ref_per_s: self.lambda_ref.unwrap_or(1.0),
            all_miss_tokens_per_s: None,
            costs,
            iteration_costs: None,
            speed: Speed::Own,
            sources: BTreeMap::new(),
        })
    }

    fn workload_by_flags(&self) -> anyhow::Result<Workload> {
        let needed = "without --cell give --mean-turns, --max-turns, --first-prompt, \
                      --tool-output and --decoded";
        Ok(Workload {
            name: "flags".into(),
            turns: TurnLaw::TruncatedGeometric {
                mean: self.mean_turns.context(needed)?,
                max: self.max_turns.context(needed)?,
            },
            first_prompt_tokens: self.first_prompt.context(needed)?,
            tool_output_tokens: self.tool_output.context(needed)?,
            decoded_tokens: self.decoded.context(needed)?,
            tool_time: ToolTime::Exponential { mean_s: self.tool_mean_s.unwrap_or(5.0) },
            sources: BTreeMap::new(),
            recorded: None,
        })
    }

    fn change_cell(&self, cell: &mut Cell) -> anyhow::Result<()> {
        cell.pool_tokens = self.pool.unwrap_or(cell.pool_tokens);
        cell.chunk_tokens = self.chunk_tokens.unwrap_or(cell.chunk_tokens);
        cell.block_tokens = self.block_tokens.unwrap_or(cell.block_tokens);
        cell.max_running = self.max_running.unwrap_or(cell.max_running);
        cell.lambda_ref_per_s = self.lambda_ref.unwrap_or(cell.lambda_ref_per_s);
        match self.batching {
            Some(BatchingArg::Separate) => cell.batching = Batching::Separate,
            Some(BatchingArg::Mixed) => cell.batching = Batching::Mixed,
            None => {}
        }
        if let Some(costs) = self.costs(cell.iteration_parts())? {
            if matches!(costs, Costs::PerTurn { .. }) {
                cell.speed = Speed::Own;
            }
            cell.costs = costs;
            cell.iteration_costs = None;
        }
        if let Some(factor) = self.speed {
            cell.speed = Speed::Factor { factor };
        }
        Ok(())
    }

    /// The costs that the flags give: per turn, or an iteration's, of which those not given
    /// stay the cell's `own`. `None` without a flag for them.
    fn costs(&self, own: Option<IterationParts>) -> anyhow::Result<Option<Costs>> {
        if let (Some(fixed_s), Some(per_token_us)) = (self.fixed_s, self.per_token_us) {
            return Ok(Some(Costs::PerTurn { fixed_s, per_token_s: per_token_us * 1e-6 }));
        }
        let given = [self.a_s, self.f0_s, self.b_s_per_token, self.c_p_s_per_pair, self.c_d_s];
        if given.iter().all(Option::is_none) {
            return Ok(None);
        }
        let needed = "iteration costs need at least --a-s and --b-s-per-token";
        let own_part = |part: fn(IterationParts) -> f64| own.map(part);
        let parts = IterationParts {
            a_s: self.a_s.or(own_part(|p| p.a_s)).context(needed)?,
            f0_s: self.f0_s.or(own_part(|p| p.f0_s)).unwrap_or(0.0),
            b_s_per_token: self.b_s_per_token.or(own_part(|p| p.b_s_per_token)).context(needed)?,
            c_p_s_per_pair: self.c_p_s_per_pair.or(own_part(|p| p.c_p_s_per_pair)).unwrap_or(0.0),
            c_d_s: self.c_d_s.or(own_part(|p| p.c_d_s)).unwrap_or(0.0),
        };
        Ok(Some(parts.costs()))
    }

    fn change_workload(&self, workload: &mut Workload) -> anyhow::Result<()> {
        if workload.recorded.is_some() {
            let changes =
                [self.first_prompt, self.tool_output, self.decoded].iter().any(Option::is_some)
                    || [self.mean_turns, self.tool_mean_s, self.tool_delay_s]
                        .iter()
                        .any(Option::is_some)
                    || self.max_turns.is_some();
            if changes {
                bail!("flags of a workload change a law; {} consists of sessions", workload.name);
            }
        } else if self.gap_limit.is_some() {
            bail!("--gap-limit is of sessions; the gaps of {} follow a law", workload.name);
        }
        if let Some(tokens) = self.first_prompt {
            workload.first_prompt_tokens = tokens;
        }
        if let Some(tokens) = self.tool_output {
            workload.tool_output_tokens = tokens;
        }
        if let Some(tokens) = self.decoded {
            workload.decoded_tokens = tokens;
        }
        if self.mean_turns.is_some() || self.max_turns.is_some() {
            let TurnLaw::TruncatedGeometric { mean, max } = &mut workload.turns else {
                bail!("--mean-turns and --max-turns change a truncated geometric law only");
            };
            *mean = self.mean_turns.unwrap_or(*mean);
            *max = self.max_turns.unwrap_or(*max);
        }
        if let Some(mean_s) = self.tool_mean_s {
            workload.tool_time = ToolTime::Exponential { mean_s };
        }
        if let Some(shift_s) = self.tool_delay_s {
            let ToolTime::Exponential { mean_s } = workload.tool_time else {
                bail!("--tool-delay-s delays an exponential tool time only");
            };
            workload.tool_time = ToolTime::ShiftedExponential { shift_s, mean_s };
        }
        Ok(())
    }
}
