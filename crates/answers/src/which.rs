//! Which cell and which load: by name from the configuration, or by numbers.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::cell::{Sizes, unnamed};
use crate::model::Theory;
use crate::model::theory::FROM_EMPTY_S;
use crate::nearest::unknown;
use crate::refused::Refused;
use crate::setup::cell::{Engine, IterationParts};
use crate::setup::protocol::Paired;
use crate::setup::{Batching, Cell, Configs, Costs, Speed, ToolTime, TurnLaw, Workload};
use crate::workload::gaps_by_law;
use trapcheck_setup::limits;

/// The fields of [`Which`] that a workload is given by.
pub const WORKLOAD_FLAGS: [&str; 7] = [
    "mean_turns",
    "max_turns",
    "first_prompt",
    "tool_output",
    "decoded",
    "tool_mean_s",
    "tool_delay_s",
];

/// The cell, by name or by numbers, which change a named one; each field is a flag of
/// `trapcheck model`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Which {
    /// A cell of the configuration.
    pub cell: Option<String>,
    /// A workload of the configuration, in place of the cell's.
    pub workload: Option<String>,
    /// KV pool, tokens.
    pub pool: Option<u64>,
    /// Speed factor: every cost is divided by it.
    pub speed: Option<f64>,
    /// lambda_ref, the all-miss session rate, sessions/s.
    pub lambda_ref: Option<f64>,
    /// Fixed cost of a turn that misses, s.
    pub fixed_s: Option<f64>,
    /// Cost per prompt token of a turn that misses, us.
    pub per_token_us: Option<f64>,
    /// a: fixed part of an iteration, s (App. E.9).
    pub a_s: Option<f64>,
    /// f0: floor of an iteration's token part, s.
    pub f0_s: Option<f64>,
    /// b: per token of an iteration, s.
    pub b_s_per_token: Option<f64>,
    /// c_p: per causal pair of prefill attention, s.
    pub c_p_s_per_pair: Option<f64>,
    /// c_d: decode attention over 8192 tokens of context, s.
    pub c_d_s: Option<f64>,
    /// How prefill and decode share an iteration.
    pub batching: Option<Batching>,
    /// Prompt tokens that one iteration may prefill.
    pub chunk_tokens: Option<u64>,
    /// Tokens per KV block.
    pub block_tokens: Option<u64>,
    /// Requests that may run at once.
    pub max_running: Option<u64>,
    /// Mean of the geometric number of turns, before truncation.
    pub mean_turns: Option<f64>,
    /// Largest number of turns.
    pub max_turns: Option<usize>,
    /// Prompt of a session's first turn, tokens.
    pub first_prompt: Option<u64>,
    /// Tool output between two turns, tokens.
    pub tool_output: Option<u64>,
    /// Tokens decoded in a turn.
    pub decoded: Option<u64>,
    /// Mean of an exponential tool time, s.
    pub tool_mean_s: Option<f64>,
    /// Constant added to every tool call, s.
    pub tool_delay_s: Option<f64>,
}

/// The arrival rate, in one of three units.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Load {
    /// In multiples of lambda_ref.
    pub rate: Option<f64>,
    /// Sessions/s.
    pub sessions_per_s: Option<f64>,
    /// In multiples of the all-miss capacity.
    pub rho: Option<f64>,
}

/// A cell as it was chosen, before its workload is.
#[derive(Debug, Clone)]
pub struct Chosen {
    /// The cell.
    pub cell: Cell,
    /// Its own workload; none for a cell by numbers, or whose workload consists of sessions.
    pub own: Option<Workload>,
    /// Its protocol's paired test.
    pub paired: Paired,
    /// Length of its protocol's run from empty, s.
    pub from_empty_s: f64,
}

impl Load {
    /// The rate in sessions/s.
    ///
    /// # Errors
    /// None was given, or one that is not positive.
    pub fn per_s(&self, theory: &Theory) -> Result<f64, Refused> {
        let lambda = match (self.rate, self.sessions_per_s, self.rho) {
            (Some(multiple), None, None) => theory.rate_per_s(multiple),
            (None, Some(rate), None) => rate,
            (None, None, Some(rho)) => rho * theory.model_f.lambda_miss_per_s(),
            _ => return Err(Refused::new("give a rate: --rate, --sessions-per-s or --rho")),
        };
        if !(lambda > 0.0 && lambda.is_finite()) {
            return Err(Refused(format!(
                "the arrival rate must be positive, found {lambda} sessions/s"
            )));
        }
        Ok(lambda)
    }
}

impl Which {
    /// Whether the configuration is needed.
    pub fn names_something(&self) -> bool {
        self.cell.is_some() || self.workload.is_some()
    }

    /// The cell, by its name in `configs` or by numbers.
    ///
    /// # Errors
    /// There is none of that name, or numbers are lacking.
    pub fn chosen(&self, configs: &Configs) -> Result<Chosen, Refused> {
        let mut chosen = match &self.cell {
            Some(name) => named(name, configs)?,
            None => Chosen {
                cell: self.cell_by_numbers()?,
                own: None,
                paired: Paired::PAPER,
                from_empty_s: FROM_EMPTY_S,
            },
        };
        self.change_cell(&mut chosen.cell)?;
        Ok(chosen)
    }

    /// The name of the workload to play in place of [`Chosen::own`]: the one that was asked for,
    /// else the cell's if it consists of sessions, which depend on the pool.
    ///
    /// # Errors
    /// A limit of gaps, and none whose gaps it could limit.
    pub fn workload_named(
        &self,
        chosen: &Chosen,
        configs: &Configs,
        gap_limit_s: Option<f64>,
    ) -> Result<Option<String>, Refused> {
        let own = &chosen.cell.workload;
        let own = configs.session_workloads.contains_key(own).then_some(own);
        let named = self.workload.as_ref().or(own).cloned();
        match (&named, gap_limit_s) {
            (None, Some(_)) => Err(gaps_by_law(&chosen.cell.workload)),
            _ => Ok(named),
        }
    }

    /// The chosen cell, solved, with the workload that was asked for in place of its own.
    ///
    /// # Errors
    /// A cell, workload or law that makes no sense, or a model without an answer.
    pub fn theory(&self, chosen: Chosen, asked_for: Option<Workload>) -> Result<Theory, Refused> {
        let Chosen { cell, own, paired, from_empty_s } = chosen;
        let mut workload = match asked_for.or(own) {
            Some(workload) => workload,
            None => self.workload_by_numbers()?,
        };
        self.change_workload(&mut workload)?;
        cell.check().map_err(|message| Refused(format!("cell: {message}")))?;
        workload.check().map_err(|message| Refused(format!("workload: {message}")))?;
        let mut theory = Theory::of(&cell, &workload)
            .map_err(|e| Refused::about(&format!("cell {}", cell.name), &e))?
            .under(paired, from_empty_s);
        if (self.cell.is_none() || self.workload.is_some()) && self.lambda_ref.is_none() {
            // Nothing was measured: rates are multiples of the model's own capacity.
            theory.cell.lambda_ref_per_s = theory.model_f.lambda_miss_per_s();
        }
        Ok(theory)
    }

    fn cell_by_numbers(&self) -> Result<Cell, Refused> {
        let Some(costs) = self.costs(None)? else {
            return Err(Refused::new(
                "give --cell NAME, or a cell by --fixed-s and --per-token-us, or by iteration costs \
                 (--a-s, --b-s-per-token) and --pool",
            ));
        };
        if self.pool.is_none() && matches!(costs, Costs::Iteration { .. }) {
            return Err(Refused::new("iteration costs need the KV pool: give --pool TOKENS"));
        }
        let engine = Engine { name: "unknown".into(), version: "unknown".into() };
        // Costs per turn do not depend on the pool, which may then be left open.
        Ok(unnamed("flags".into(), engine, costs, self.pool.unwrap_or(limits::COUNT)))
    }

    fn workload_by_numbers(&self) -> Result<Workload, Refused> {
        let needed = || {
            Refused::new(
                "without --cell give --mean-turns, --max-turns, --first-prompt, \
                 --tool-output and --decoded",
            )
        };
        Ok(Workload {
            name: "flags".into(),
            turns: TurnLaw::TruncatedGeometric {
                mean: self.mean_turns.ok_or_else(needed)?,
                max: self.max_turns.ok_or_else(needed)?,
            },
            first_prompt_tokens: self.first_prompt.ok_or_else(needed)?,
            tool_output_tokens: self.tool_output.ok_or_else(needed)?,
            decoded_tokens: self.decoded.ok_or_else(needed)?,
            tool_time: ToolTime::Exponential { mean_s: self.tool_mean_s.unwrap_or(5.0) },
            sources: BTreeMap::new(),
            recorded: None,
        })
    }

    fn changes_a_law(&self) -> bool {
        let tokens = [self.first_prompt, self.tool_output, self.decoded];
        let numbers = [self.mean_turns, self.tool_mean_s, self.tool_delay_s];
        tokens.iter().any(Option::is_some)
            || numbers.iter().any(Option::is_some)
            || self.max_turns.is_some()
    }

    fn change_cell(&self, cell: &mut Cell) -> Result<(), Refused> {
        let sizes = Sizes {
            pool_tokens: self.pool,
            chunk_tokens: self.chunk_tokens,
            block_tokens: self.block_tokens,
            max_running: self.max_running,
        };
        sizes.change(cell);
        cell.lambda_ref_per_s = self.lambda_ref.unwrap_or(cell.lambda_ref_per_s);
        cell.batching = self.batching.unwrap_or(cell.batching);
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

    /// The costs that are given: per turn, or an iteration's, of which those not given stay the
    /// cell's `own`. `None` where none is.
    fn costs(&self, own: Option<IterationParts>) -> Result<Option<Costs>, Refused> {
        if let (Some(fixed_s), Some(per_token_us)) = (self.fixed_s, self.per_token_us) {
            return Ok(Some(Costs::PerTurn { fixed_s, per_token_s: per_token_us * 1e-6 }));
        }
        let given = [self.a_s, self.f0_s, self.b_s_per_token, self.c_p_s_per_pair, self.c_d_s];
        if given.iter().all(Option::is_none) {
            return Ok(None);
        }
        let needed = || Refused::new("iteration costs need at least --a-s and --b-s-per-token");
        let own_part = |part: fn(IterationParts) -> f64| own.map(part);
        let parts = IterationParts {
            a_s: self.a_s.or(own_part(|p| p.a_s)).ok_or_else(needed)?,
            f0_s: self.f0_s.or(own_part(|p| p.f0_s)).unwrap_or(0.0),
            b_s_per_token: self
                .b_s_per_token
                .or(own_part(|p| p.b_s_per_token))
                .ok_or_else(needed)?,
            c_p_s_per_pair: self.c_p_s_per_pair.or(own_part(|p| p.c_p_s_per_pair)).unwrap_or(0.0),
            c_d_s: self.c_d_s.or(own_part(|p| p.c_d_s)).unwrap_or(0.0),
        };
        Ok(Some(parts.costs()))
    }

    fn change_workload(&self, workload: &mut Workload) -> Result<(), Refused> {
        if workload.recorded.is_some() && self.changes_a_law() {
            return Err(Refused(format!(
                "flags of a workload change a law; {} consists of sessions",
                workload.name
            )));
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
                return Err(Refused::new(
                    "--mean-turns and --max-turns change a truncated geometric law only",
                ));
            };
            *mean = self.mean_turns.unwrap_or(*mean);
            *max = self.max_turns.unwrap_or(*max);
        }
        if let Some(mean_s) = self.tool_mean_s {
            workload.tool_time = ToolTime::Exponential { mean_s };
        }
        if let Some(shift_s) = self.tool_delay_s {
            let ToolTime::Exponential { mean_s } = workload.tool_time else {
                return Err(Refused::new("--tool-delay-s delays an exponential tool time only"));
            };
            workload.tool_time = ToolTime::ShiftedExponential { shift_s, mean_s };
        }
        Ok(())
    }
}

/// A cell of the configuration, as it stands there.
fn named(name: &str, configs: &Configs) -> Result<Chosen, Refused> {
    let cell = cell_named(name, configs)?;
    if !configs.has_workload(&cell.workload) {
        return Err(Refused(format!("no workload {}", cell.workload)));
    }
    let own = configs.workloads.get(&cell.workload).cloned();
    let (paired, from_empty_s) = configs
        .protocols
        .get(&cell.protocol)
        .map_or((Paired::PAPER, FROM_EMPTY_S), |p| (p.paired, p.e0b.horizon_s));
    Ok(Chosen { cell: cell.clone(), own, paired, from_empty_s })
}

/// A cell of the configuration.
///
/// # Errors
/// There is none of that name.
pub(crate) fn cell_named<'a>(name: &str, configs: &'a Configs) -> Result<&'a Cell, Refused> {
    let known = configs.cells.keys().map(String::as_str);
    configs.cells.get(name).ok_or_else(|| Refused(unknown("cell", name, "configs/cells", known)))
}
