//! A workload of quantiles: what a recorded set of sessions is like, without a session of it.
//!
//! A session has a number of turns and, by that, a first prompt. A follow-up's prompt is all
//! whole blocks of the prompt before it and new tokens, by the turn; or, with a share that goes
//! by the length of the prompt before it, its start was changed (compaction, another system
//! prompt): then little is kept and the prompt is drawn anew. Outputs and gaps go by the turn.
//!
//! Left out: what a session's turns have in common beyond that, and how gaps, outputs and new
//! tokens of a turn hang together. How far that leads from the record is for the fit to say.

mod fit;
mod sample;
mod text;

pub use fit::fit;

use serde::Deserialize;

use crate::limits;

/// A workload of kind `empirical`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Empirical {
    /// Its name.
    pub name: String,
    /// What kind of workload this is.
    pub kind: Kind,
    /// The record that it was fitted to, with its licence.
    pub source: String,
    /// No gap is longer, s. Without it gaps are as they were recorded.
    #[serde(default)]
    pub gap_limit_s: Option<f64>,
    /// Tokens of a block: of a prompt, whole ones can be used again.
    pub block_tokens: u64,
    /// The probabilities that all tables are given at: from 0 to 1, rising.
    pub levels: Vec<f64>,
    /// Turns of a session.
    pub turns: Quantiles,
    /// Prompt of the first turn, by the number of turns.
    pub first_prompts: Vec<FirstPrompt>,
    /// By the turn.
    pub by_turn: Vec<TurnBand>,
    /// Second turns whose start was changed.
    pub changed_second: Changed,
    /// Later turns whose start was changed, by the prompt before them.
    pub changed_later: Vec<ChangedBand>,
}

/// The only kind there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Tables of quantiles.
    Empirical,
}

/// A table of quantiles.
///
/// Between two levels the values lie evenly; between the last two so that the mean comes out,
/// as the tail is where a mean is made.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quantiles {
    /// The mean.
    pub mean: f64,
    /// The value at each level.
    pub at: Vec<f64>,
}

/// First prompts of sessions with at least so many turns, up to the next band.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FirstPrompt {
    /// The fewest turns.
    pub from_turns: u64,
    /// Tokens.
    pub tokens: Quantiles,
}

/// Turns from this one up to the next band.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TurnBand {
    /// The first turn.
    pub from_turn: u64,
    /// Tokens that the prompt has beyond the one before it. Of no use for first turns.
    #[serde(default)]
    pub new_tokens: Option<Quantiles>,
    /// Tokens answered.
    pub output_tokens: Quantiles,
    /// Seconds from the previous answer to this turn. Of no use for first turns.
    #[serde(default)]
    pub gap_s: Option<Quantiles>,
}

/// Follow-ups whose start was changed.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Changed {
    /// Their share.
    pub share: f64,
    /// Tokens that they keep; needed where the share is not 0.
    #[serde(default)]
    pub kept_tokens: Option<Quantiles>,
    /// Their prompts, tokens; needed where the share is not 0.
    #[serde(default)]
    pub prompt_tokens: Option<Quantiles>,
}

/// Follow-ups after a prompt of at least so many tokens, up to the next band.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChangedBand {
    /// The shortest prompt before them, tokens.
    pub from_tokens: u64,
    /// Those whose start was changed.
    pub changed: Changed,
}

impl Empirical {
    /// Says what is wrong with its values, if anything.
    ///
    /// # Errors
    /// One sentence that names the field and what was expected.
    pub fn check(&self) -> Result<(), String> {
        if self.name.is_empty() || self.source.is_empty() {
            return Err("name, source: expected some words".into());
        }
        if self.gap_limit_s.is_some_and(|limit| !(0.0..limits::RUN_S).contains(&limit)) {
            return Err("gap_limit_s: expected 0 to 31 days".into());
        }
        if self.block_tokens == 0 {
            return Err("block_tokens: expected at least 1".into());
        }
        let levels = &self.levels;
        let ends = (levels.first(), levels.last());
        if ends != (Some(&0.0), Some(&1.0)) || !levels.windows(2).all(|l| l[0] < l[1]) {
            return Err("levels: expected probabilities that rise from 0 to 1".into());
        }
        self.turns.check(levels.len(), limits::TURNS as f64, "turns")?;
        if self.turns.at[0] < 1.0 {
            return Err("turns: expected at least 1 turn".into());
        }
        rising("first_prompts: from_turns", 1, self.first_prompts.iter().map(|b| b.from_turns))?;
        rising("by_turn: from_turn", 1, self.by_turn.iter().map(|b| b.from_turn))?;
        rising("changed_later: from_tokens", 0, self.changed_later.iter().map(|b| b.from_tokens))?;
        let tokens = |table: &Quantiles, name: &str| {
            table.check(levels.len(), limits::TURN_TOKENS as f64, name)
        };
        for band in &self.first_prompts {
            tokens(&band.tokens, "first_prompts: tokens")?;
        }
        for band in &self.by_turn {
            tokens(&band.output_tokens, "by_turn: output_tokens")?;
            if let Some(new) = &band.new_tokens {
                tokens(new, "by_turn: new_tokens")?;
            }
            if let Some(gap) = &band.gap_s {
                gap.check(levels.len(), 366.0 * 86_400.0, "by_turn: gap_s")?;
            }
        }
        let follow_ups = self.by_turn.iter().filter(|band| band.from_turn > 1);
        if follow_ups.clone().any(|band| band.new_tokens.is_none() || band.gap_s.is_none()) {
            return Err(
                "by_turn: expected new_tokens and gap_s of all turns after the first".into()
            );
        }
        if follow_ups.map(|band| band.from_turn).next() != Some(2)
            && self.turns.at.last() > Some(&1.0)
        {
            return Err("by_turn: expected a band from turn 2 on".into());
        }
        let later = self.changed_later.iter().map(|band| &band.changed);
        for changed in later.chain([&self.changed_second]) {
            if !(0.0..=1.0).contains(&changed.share) {
                return Err("share: expected 0 to 1".into());
            }
            match (&changed.kept_tokens, &changed.prompt_tokens) {
                (Some(kept), Some(prompt)) => {
                    tokens(kept, "kept_tokens")?;
                    tokens(prompt, "prompt_tokens")?;
                }
                _ if changed.share == 0.0 => {}
                _ => return Err("share: expected kept_tokens and prompt_tokens beside it".into()),
            }
        }
        Ok(())
    }
}

fn rising(name: &str, first: u64, from: impl Iterator<Item = u64>) -> Result<(), String> {
    let from: Vec<u64> = from.collect();
    if from.first() != Some(&first) || !from.windows(2).all(|f| f[0] < f[1]) {
        return Err(format!("{name}: expected bands that rise from {first}"));
    }
    Ok(())
}

impl Quantiles {
    fn check(&self, levels: usize, most: f64, name: &str) -> Result<(), String> {
        let at = &self.at;
        if at.len() != levels {
            let found = at.len();
            return Err(format!("{name}: expected a value per level ({levels}), found {found}"));
        }
        // Not the negation: what is not a number is not in the range either.
        let fits = |x: &f64| (0.0..=most).contains(x);
        if !at.iter().all(fits) || !at.windows(2).all(|a| a[0] <= a[1]) {
            return Err(format!("{name}: expected values from 0 to {most} that do not fall"));
        }
        if !(at[0]..=at[levels - 1]).contains(&self.mean) {
            return Err(format!("{name}: expected a mean between the first and the last value"));
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "empirical/tests.rs"]
mod tests;
