//! The workload that recorded sessions are.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use super::recorded::Recorded;
use super::trace::{Trace, TraceTurn};
use super::workload::{ToolTime, TurnLaw, Workload};

impl Workload {
    /// The workload that consists of these sessions: the shares of turn counts, mean lengths and
    /// quantiles of the gaps are its law; what is played are the sessions themselves.
    ///
    /// # Errors
    /// No sessions, or one with a value that makes no sense, by its name.
    pub fn of_traces(name: &str, traces: Vec<Trace>) -> Result<Self, String> {
        if traces.is_empty() {
            return Err("expected at least one recorded session".into());
        }
        for trace in &traces {
            trace.check().map_err(|message| format!("session {}: {message}", trace.id))?;
        }
        let recorded = Recorded::of(traces);
        let survival = recorded.survival();
        let mean_turns: f64 = survival.iter().sum();
        let over_turns = |f: &dyn Fn(&TraceTurn) -> f64| -> f64 {
            let of_turn = |(g, k): (&f64, usize)| g * recorded.mean(k, f);
            survival.iter().zip(1..).map(of_turn).sum::<f64>() / mean_turns
        };
        let whole = |tokens: f64| libm::round(tokens).max(1.0) as u64;
        let new_tokens = over_turns(&|turn| turn.new_tokens() as f64);
        let workload = Self {
            name: name.into(),
            first_prompt_tokens: whole(recorded.mean(1, |turn| turn.prompt_tokens as f64)),
            tool_output_tokens: whole(new_tokens),
            decoded_tokens: whole(over_turns(&|turn| turn.output_tokens as f64)),
            tool_time: ToolTime::Sample { values_s: recorded.gaps_s() },
            turns: TurnLaw::Survival { at_least: survival },
            sources: BTreeMap::new(),
            recorded: Some(Arc::new(recorded)),
        };
        workload.check()?;
        Ok(workload)
    }

    /// What a run's configuration says of it: its law or, of recorded sessions, which they are.
    /// Where values come from is left out.
    pub fn stated(&self) -> Stated {
        match &self.recorded {
            None => Stated::Law(Self { sources: BTreeMap::new(), ..self.clone() }),
            Some(recorded) => Stated::Sessions {
                name: self.name.clone(),
                sessions: recorded.traces.len(),
                turns: recorded.turns_in_all(),
                subagents: Some(recorded.subagents_in_all()).filter(|n| *n > 0),
                sha256: recorded.sha256.clone(),
            },
        }
    }
}

/// A workload as a run's `config.yaml` states it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Stated {
    /// All its values.
    Law(Workload),
    /// The sessions that are played. Those themselves are left out: a record may not be passed on.
    Sessions {
        /// Its name, with the limit of its gaps.
        name: String,
        /// How many sessions.
        sessions: usize,
        /// How many turns these have.
        turns: usize,
        /// How many subagents are played beside them, if any.
        #[serde(skip_serializing_if = "Option::is_none")]
        subagents: Option<usize>,
        /// SHA-256 of every name, gap and length.
        sha256: String,
    },
}
