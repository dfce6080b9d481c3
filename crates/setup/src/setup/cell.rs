//! A cell: one engine, model, GPU and KV pool, with its calibration
//! (paper: sec 2, App. E.2, E.3, E.9).

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::yaml::{self, ConfigError};
use crate::limits;

/// A cell as `configs/cells/<name>.yaml` states it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cell {
    /// The name that runs refer to in `meta.json`; equals the file's stem.
    pub name: String,
    /// The workload its runs use: a file stem in `configs/workloads`.
    pub workload: String,
    /// The protocol its runs follow: a file stem in `configs/protocols`.
    #[serde(default = "paper")]
    pub protocol: String,
    /// Engine name and version as its runs report them.
    pub engine: Engine,
    /// The served model.
    pub model: String,
    /// The GPU (or CPU) it runs on.
    pub gpu: String,
    /// M, the KV pool in tokens.
    pub pool_tokens: u64,
    /// Tokens per KV block: a hit is rounded down to whole blocks.
    #[serde(default = "one")]
    pub block_tokens: u64,
    /// Order of admission.
    #[serde(default)]
    pub scheduling: Scheduling,
    /// How prefill and decode share an iteration.
    pub batching: Batching,
    /// B_c, prompt tokens that one iteration may prefill.
    pub chunk_tokens: u64,
    /// Largest number of requests that run at once.
    pub max_running: u64,
    /// lambda_ref, the measured all-miss session rate, in sessions/s.
    pub lambda_ref_per_s: f64,
    /// The measured all-miss prefill rate, in uncached prompt tokens/s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub all_miss_tokens_per_s: Option<f64>,
    /// What an iteration or a turn costs.
    pub costs: Costs,
    /// What an iteration costs, beside `costs` per turn: with them the entry model (curve,
    /// rescuing caps) answers for a cell whose all-miss turns were calibrated. Model F keeps
    /// to `costs`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iteration_costs: Option<IterationParts>,
    /// How the costs' speed relates to this cell.
    #[serde(default)]
    pub speed: Speed,
    /// For each value: its place in the paper, the run it was measured on, or
    /// "inferred: reason".
    #[serde(default)]
    pub sources: BTreeMap<String, String>,
}

fn one() -> u64 {
    1
}

fn paper() -> String {
    "paper".into()
}

/// Engine name and version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Engine {
    /// `sglang` or `vllm`, in lower case as in `meta.json`.
    pub name: String,
    /// Version string.
    pub version: String,
}

/// Order in which waiting requests are admitted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scheduling {
    /// First come, first served, by request.
    #[default]
    Fcfs,
    /// Longest resident prefix first while at most 128 requests wait.
    Lpm,
}

/// How prefill and decode share an iteration (App. E.9).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Batching {
    /// Prefill iterations and decode iterations alternate, prefill first (SGLang).
    Separate,
    /// One iteration carries prefill chunks and decodes together (vLLM).
    Mixed,
}

/// What work costs. Seconds and tokens.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[cfg_attr(not(target_family = "wasm"), serde(tag = "kind"))]
#[cfg_attr(target_family = "wasm", serde(rename = "kind"))]
pub enum Costs {
    /// The paper's iteration-cost model (App. E.9):
    /// t_P(x, y) = a max(1, x/B_c) + max(f0, b x) + c_p x (y + (x+1)/2).
    Iteration {
        /// a: fixed part of an iteration, s.
        a_s: f64,
        /// f0: floor of the token part, s.
        f0_s: f64,
        /// b: per token, s.
        b_s_per_token: f64,
        /// c_p: per causal pair of prefill attention, s.
        c_p_s_per_pair: f64,
        /// c_d: decode attention over 8192 tokens of context, s.
        c_d_s: f64,
    },
    /// An all-miss turn of `x` prompt tokens costs `fixed_s + per_token_s x`:
    /// what `trapcheck calibrate` fits from a cache-off run. It includes the
    /// turn's share of decoding, so model F adds nothing to it.
    PerTurn {
        /// Fixed part of a turn, s.
        fixed_s: f64,
        /// Per prompt token, s.
        per_token_s: f64,
    },
}

/// The parts of an iteration's cost (App. E.9), as in [`Costs::Iteration`]. A part that is
/// not told apart from the others is 0.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IterationParts {
    /// a: fixed part of an iteration, s.
    pub a_s: f64,
    /// f0: floor of the token part, s.
    #[serde(default)]
    pub f0_s: f64,
    /// b: per token, s.
    pub b_s_per_token: f64,
    /// c_p: per causal pair of prefill attention, s.
    #[serde(default)]
    pub c_p_s_per_pair: f64,
    /// c_d: decode attention over 8192 tokens of context, s.
    #[serde(default)]
    pub c_d_s: f64,
}

impl IterationParts {
    /// As a cell's only costs.
    pub fn costs(self) -> Costs {
        let Self { a_s, f0_s, b_s_per_token, c_p_s_per_pair, c_d_s } = self;
        Costs::Iteration { a_s, f0_s, b_s_per_token, c_p_s_per_pair, c_d_s }
    }

    /// `name` is the field that holds them, for the error.
    fn check(&self, name: &str) -> Result<(), String> {
        positive(&format!("{name}.a_s"), self.a_s)?;
        positive(&format!("{name}.b_s_per_token"), self.b_s_per_token)?;
        let may_be_zero =
            [("f0_s", self.f0_s), ("c_p_s_per_pair", self.c_p_s_per_pair), ("c_d_s", self.c_d_s)];
        match may_be_zero.into_iter().find(|(_, x)| !(*x >= 0.0 && x.is_finite())) {
            Some((part, x)) => Err(format!("{name}.{part}: expected at least 0, found {x}")),
            None => Ok(()),
        }
    }
}

/// The speed factor that divides every cost (App. E.9).
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[cfg_attr(not(target_family = "wasm"), serde(tag = "from"))]
#[cfg_attr(target_family = "wasm", serde(rename = "from"))]
pub enum Speed {
    /// The costs were measured on this cell: factor 1.
    #[default]
    Own,
    /// A stated factor.
    Factor {
        /// s > 1 is faster.
        factor: f64,
    },
    /// Fitted so that the model's all-miss token rate at a closed population
    /// equals `all_miss_tokens_per_s`.
    AllMissRate {
        /// The population of the cache-off run (E0a: 32).
        population: f64,
    },
}

impl Cell {
    /// Reads and checks a cell file.
    ///
    /// # Errors
    /// As [`yaml::from_bytes`], and when a value makes no sense (no costs, a pool of 0,
    /// a speed fitted to a rate that is not given).
    pub fn parse(path: &Path, bytes: &[u8]) -> Result<Self, ConfigError> {
        let cell: Self = yaml::from_bytes(path, bytes)?;
        cell.check().map_err(|message| ConfigError::new(path, message))?;
        Ok(cell)
    }

    /// Says what is wrong with the values, if anything.
    ///
    /// # Errors
    /// One sentence naming the field and what was expected.
    pub fn check(&self) -> Result<(), String> {
        for (name, count) in [
            ("pool_tokens", self.pool_tokens),
            ("block_tokens", self.block_tokens),
            ("chunk_tokens", self.chunk_tokens),
            ("max_running", self.max_running),
        ] {
            positive(name, count as f64)?;
            if count > limits::COUNT {
                return Err(format!("{name}: expected at most {}, found {count}", limits::COUNT));
            }
        }
        positive("lambda_ref_per_s", self.lambda_ref_per_s)?;
        if let Some(rate) = self.all_miss_tokens_per_s {
            positive("all_miss_tokens_per_s", rate)?;
        }
        match self.costs {
            Costs::Iteration { .. } => {
                if self.iteration_costs.is_some() {
                    return Err("iteration_costs: expected only beside costs per turn".into());
                }
            }
            Costs::PerTurn { fixed_s, per_token_s } => {
                if fixed_s < 0.0 || per_token_s < 0.0 || fixed_s + per_token_s <= 0.0 {
                    return Err(
                        "costs: expected fixed_s and per_token_s at least 0, not both 0".into()
                    );
                }
            }
        }
        if let Some(parts) = self.iteration_parts() {
            let per_turn = self.iteration_costs.is_some();
            parts.check(if per_turn { "iteration_costs" } else { "costs" })?;
        }
        match self.speed {
            Speed::Own => Ok(()),
            Speed::Factor { factor } => positive("speed.factor", factor),
            Speed::AllMissRate { population } => {
                if self.all_miss_tokens_per_s.is_none() {
                    return Err("speed: all-miss-rate needs all_miss_tokens_per_s".into());
                }
                positive("speed.population", population)
            }
        }
    }

    /// What an iteration costs, before the speed factor; `None` where only turns' costs are
    /// known.
    pub fn iteration_parts(&self) -> Option<IterationParts> {
        match self.costs {
            Costs::Iteration { a_s, f0_s, b_s_per_token, c_p_s_per_pair, c_d_s } => {
                Some(IterationParts { a_s, f0_s, b_s_per_token, c_p_s_per_pair, c_d_s })
            }
            Costs::PerTurn { .. } => self.iteration_costs,
        }
    }
}

fn positive(name: &str, x: f64) -> Result<(), String> {
    if x > 0.0 && x.is_finite() {
        Ok(())
    } else {
        Err(format!("{name}: expected a positive number, found {x}"))
    }
}
