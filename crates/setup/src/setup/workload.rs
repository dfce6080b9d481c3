//! A workload: how many turns a session has, how long its prompts are, how
//! long its tools take (paper: sec 2, App. E.2, Table 4).
//!
//! Turns are numbered k = 1, 2, ..., K. Lengths are tokens, times are seconds.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::recorded::Recorded;
use super::trace::TraceTurn;
use super::yaml::{self, ConfigError};
use crate::limits::{self, TURNS as MOST_TURNS};

/// A workload as `configs/workloads/<name>.yaml` states it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// The name that cells refer to; equals the file's stem.
    pub name: String,
    /// The law of the number of turns T.
    pub turns: TurnLaw,
    /// L_1, the prompt of a session's first turn, in tokens.
    pub first_prompt_tokens: u64,
    /// Tool output appended between two turns, in tokens (the paper's Delta).
    pub tool_output_tokens: u64,
    /// d, tokens decoded in a turn.
    pub decoded_tokens: u64,
    /// The law of the time between a turn's end and the next turn's start.
    pub tool_time: ToolTime,
    /// For each value: its place in the paper, or "inferred: reason".
    #[serde(default)]
    pub sources: BTreeMap<String, String>,
    /// The sessions it consists of, where these are recorded; the values above are then what
    /// they are on average.
    #[serde(skip)]
    pub recorded: Option<Arc<Recorded>>,
}

/// The law of T, the number of turns of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[cfg_attr(not(target_family = "wasm"), serde(tag = "law"))]
#[cfg_attr(target_family = "wasm", serde(rename = "law"))]
pub enum TurnLaw {
    /// T = min(Geometric(1/mean), max).
    TruncatedGeometric {
        /// Mean of the geometric law before truncation, in turns.
        mean: f64,
        /// K, the largest number of turns.
        max: usize,
    },
    /// Any law on 1..=K, by G_k = P(T >= k), k = 1..=K.
    Survival {
        /// G_1 = 1, non-increasing, positive.
        at_least: Vec<f64>,
    },
}

/// The law of a tool call's duration Z, in seconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[cfg_attr(not(target_family = "wasm"), serde(tag = "law"))]
#[cfg_attr(target_family = "wasm", serde(rename = "law"))]
pub enum ToolTime {
    /// Z ~ Exp(mean).
    Exponential {
        /// Mean in seconds.
        mean_s: f64,
    },
    /// Z = shift + Exp(mean): what a slowed tool does (TOOLSLOW, App. E.6).
    ShiftedExponential {
        /// Constant part in seconds.
        shift_s: f64,
        /// Mean of the exponential part in seconds.
        mean_s: f64,
    },
    /// ln Z ~ Normal(ln median, sigma).
    Lognormal {
        /// Median in seconds.
        median_s: f64,
        /// Standard deviation of ln Z.
        sigma: f64,
    },
    /// One of several laws, chosen with the given weights.
    Mixture {
        /// (weight, law) pairs; weights are positive and sum to 1.
        parts: Vec<MixturePart>,
    },
    /// A measured sample, each value equally likely.
    Sample {
        /// Durations in seconds.
        values_s: Vec<f64>,
    },
}

/// One component of [`ToolTime::Mixture`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MixturePart {
    /// Probability of this component.
    pub weight: f64,
    /// Its law.
    pub law: ToolTime,
}

impl Workload {
    /// Reads and checks a workload file.
    ///
    /// # Errors
    /// As [`yaml::from_bytes`], and when a value makes no sense (a turn law that does
    /// not start at 1 or does not end, a non-positive mean or length).
    pub fn parse(path: &Path, bytes: &[u8]) -> Result<Self, ConfigError> {
        let workload: Self = yaml::from_bytes(path, bytes)?;
        workload.check().map_err(|message| ConfigError::new(path, message))?;
        Ok(workload)
    }

    /// Says what is wrong with the values, if anything.
    ///
    /// # Errors
    /// One sentence naming the field and what was expected.
    pub fn check(&self) -> Result<(), String> {
        if self.first_prompt_tokens == 0 {
            return Err("first_prompt_tokens: expected a positive number of tokens".into());
        }
        if self.decoded_tokens == 0 {
            return Err("decoded_tokens: expected at least one token per turn".into());
        }
        self.turns.check()?;
        self.check_longest_turn()?;
        self.tool_time.check()
    }

    /// The last turn's prompt and output are what an engine may have to hold.
    fn check_longest_turn(&self) -> Result<(), String> {
        if self.recorded.is_some() {
            return Ok(());
        }
        let growth = self.decoded_tokens.checked_add(self.tool_output_tokens);
        let last = growth.and_then(|growth| {
            growth.checked_mul(self.survival().len() as u64)?.checked_add(self.first_prompt_tokens)
        });
        if last.is_some_and(|tokens| tokens <= limits::TURN_TOKENS) {
            return Ok(());
        }
        Err(format!(
            "first_prompt_tokens, tool_output_tokens, decoded_tokens: expected a last turn of at \
             most {} tokens",
            limits::TURN_TOKENS
        ))
    }

    /// G_k = P(T >= k) for k = 1..=K (index k-1).
    pub fn survival(&self) -> Vec<f64> {
        self.turns.survival()
    }

    /// Prompt growth from one turn to the next, in tokens: what the engine
    /// decoded plus what the tool returned.
    fn growth_tokens(&self) -> u64 {
        self.decoded_tokens + self.tool_output_tokens
    }

    /// L_k, the prompt of turn `k` (1-based), in tokens; of recorded sessions the mean, whole.
    pub fn prompt_tokens(&self, k: usize) -> u64 {
        match &self.recorded {
            Some(recorded) => whole(recorded.mean(k, |turn| turn.prompt_tokens as f64)),
            None => self.first_prompt_tokens + self.growth_tokens() * (k.saturating_sub(1) as u64),
        }
    }

    /// E_k = L_k + d, the KV a session holds after turn `k` (1-based), in tokens; of recorded
    /// sessions the mean, whole.
    pub fn footprint_tokens(&self, k: usize) -> u64 {
        match &self.recorded {
            Some(recorded) => whole(recorded.mean(k, |turn| turn.footprint_tokens() as f64)),
            None => self.prompt_tokens(k) + self.decoded_tokens,
        }
    }

    /// The mean of a quantity of turn `k` (1-based) over the sessions that have it: what a cost
    /// that is not linear in the prompt needs. A workload that is not recorded has one kind of
    /// k-th turn.
    pub fn mean_of_turn(&self, k: usize, f: impl Fn(&TraceTurn) -> f64) -> f64 {
        match &self.recorded {
            Some(recorded) => recorded.mean(k, f),
            None => f(&self.turn(k)),
        }
    }

    /// Turn `k` (1-based) by the law of a workload that is not recorded. A hit prefills the tool
    /// output and the last decoded token, whose KV was never computed (App. E.9: 551).
    pub fn turn(&self, k: usize) -> TraceTurn {
        let prompt_tokens = self.prompt_tokens(k);
        let reusable_tokens = if k > 1 { prompt_tokens - (self.tool_output_tokens + 1) } else { 0 };
        let output_tokens = self.decoded_tokens;
        TraceTurn { gap_s: 0.0, prompt_tokens, output_tokens, reusable_tokens }
    }
}

fn whole(tokens: f64) -> u64 {
    libm::round(tokens) as u64
}

impl TurnLaw {
    /// G_k = P(T >= k) for k = 1..=K (index k-1).
    pub fn survival(&self) -> Vec<f64> {
        match self {
            Self::TruncatedGeometric { mean, max } => {
                let stay = 1.0 - 1.0 / mean;
                // A turn that no session reaches (mean 1, or an underflow) is not a turn.
                std::iter::successors(Some(1.0), |g| Some(g * stay))
                    .take(*max)
                    .take_while(|g| *g > 0.0)
                    .collect()
            }
            Self::Survival { at_least } => at_least.clone(),
        }
    }

    fn check(&self) -> Result<(), String> {
        match self {
            Self::TruncatedGeometric { mean, max } => {
                if !(*mean >= 1.0 && mean.is_finite()) {
                    return Err(format!("turns.mean: expected at least 1 turn, found {mean}"));
                }
                if !(1..=MOST_TURNS).contains(max) {
                    return Err(format!(
                        "turns.max: a session must end; expected 1 to {MOST_TURNS} turns, found {max}"
                    ));
                }
                Ok(())
            }
            Self::Survival { at_least } => {
                if at_least.len() > MOST_TURNS {
                    return Err(format!(
                        "turns.at_least: a session must end; expected at most {MOST_TURNS} turns, \
                         found {}",
                        at_least.len()
                    ));
                }
                if at_least.first() != Some(&1.0) {
                    return Err("turns.at_least: P(T >= 1) must be 1".into());
                }
                match at_least.windows(2).position(|w| w[1] > w[0] || w[1] <= 0.0) {
                    Some(i) => Err(format!(
                        "turns.at_least: entry {} must be positive and at most entry {}",
                        i + 2,
                        i + 1
                    )),
                    None => Ok(()),
                }
            }
        }
    }
}

impl ToolTime {
    fn check(&self) -> Result<(), String> {
        let positive = |name: &str, x: f64| {
            if x > 0.0 {
                Ok(())
            } else {
                Err(format!("tool_time.{name}: expected a positive number, found {x}"))
            }
        };
        match self {
            Self::Exponential { mean_s } => positive("mean_s", *mean_s),
            Self::ShiftedExponential { shift_s, mean_s } => {
                if *shift_s < 0.0 {
                    return Err(format!("tool_time.shift_s: expected at least 0, found {shift_s}"));
                }
                positive("mean_s", *mean_s)
            }
            Self::Lognormal { median_s, sigma } => {
                positive("median_s", *median_s)?;
                positive("sigma", *sigma)
            }
            Self::Mixture { parts } => {
                for part in parts {
                    positive("parts.weight", part.weight)?;
                    part.law.check()?;
                }
                let total: f64 = parts.iter().map(|p| p.weight).sum();
                if (total - 1.0).abs() > 1e-9 {
                    return Err(format!(
                        "tool_time.parts: weights must sum to 1, they sum to {total}"
                    ));
                }
                Ok(())
            }
            Self::Sample { values_s } => {
                if values_s.is_empty() {
                    return Err("tool_time.values_s: expected at least one duration".into());
                }
                values_s.iter().try_for_each(|v| {
                    if *v >= 0.0 {
                        Ok(())
                    } else {
                        Err(format!("tool_time.values_s: negative duration {v}"))
                    }
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_law_that_does_not_end_is_refused() {
        let endless = TurnLaw::TruncatedGeometric { mean: 15.0, max: usize::MAX };
        assert!(endless.check().unwrap_err().contains("a session must end"));
        let none = TurnLaw::TruncatedGeometric { mean: 15.0, max: 0 };
        assert!(none.check().is_err());
        let not_a_mean = TurnLaw::TruncatedGeometric { mean: f64::NAN, max: 60 };
        assert!(not_a_mean.check().is_err());
        let longest = TurnLaw::TruncatedGeometric { mean: 15.0, max: MOST_TURNS };
        assert!(longest.check().is_ok());
    }

    #[test]
    fn a_prompt_that_no_engine_holds_is_refused() {
        let workload = |first_prompt_tokens, tool_output_tokens, decoded_tokens| Workload {
            name: "x".into(),
            turns: TurnLaw::TruncatedGeometric { mean: 15.0, max: 60 },
            first_prompt_tokens,
            tool_output_tokens,
            decoded_tokens,
            tool_time: ToolTime::Exponential { mean_s: 5.0 },
            sources: BTreeMap::new(),
            recorded: None,
        };
        assert_eq!(workload(2000, 550, 100).check(), Ok(()));
        let huge = [(u64::MAX, 550, 100), (2000, u64::MAX, 1), (2000, 550, u64::MAX)];
        for (first, tool, decoded) in huge.into_iter().chain([(2000, 100_000_000, 1)]) {
            let message = workload(first, tool, decoded).check().unwrap_err();
            assert!(message.ends_with("a last turn of at most 1000000000 tokens"), "{message}");
        }
    }

    #[test]
    fn turns_that_no_session_reaches_are_left_out() {
        let one = TurnLaw::TruncatedGeometric { mean: 1.0, max: 60 };
        assert_eq!(one.survival(), [1.0]);
    }
}
