//! Subagents of a recorded session as they are played: streams with a context of their own that a
//! session starts, and that it may wait for.

use std::sync::Arc;

use serde::Deserialize;

use super::recorded::{Recorded, Trace};
use crate::limits;

/// Whether subagents are played.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Subagents {
    /// Each as a stream of its own, started and awaited by the session that had it.
    #[default]
    Played,
    /// None: their time is in their session's gaps, and their load is missing.
    LeftOut,
}

/// A stream that a session starts beside its own.
#[derive(Debug, Clone, PartialEq)]
pub struct Subagent {
    /// Its turns, and subagents of its own.
    pub trace: Arc<Trace>,
    /// The session's turn whose answer it follows: 1, 2, ...
    pub after: u32,
    /// From that answer to its first request, seconds.
    pub delay_s: f64,
    /// Who waits for its end; `None` where it outlives the session's last turn.
    pub awaited: Option<Awaited>,
}

/// A turn that waits for subagents.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Awaited {
    /// Which turn of the session: later than the one that the subagent follows.
    pub turn: u32,
    /// From the end of the last that it waits for to that turn, seconds.
    pub rest_s: f64,
}

impl Subagent {
    fn check(&self, turns: u32) -> Result<(), String> {
        let Self { trace, after, delay_s, awaited } = self;
        let is_time = |s: f64| (0.0..limits::RUN_S).contains(&s);
        if !(1..=turns).contains(after) {
            return Err(format!("follows turn {after} of {turns}"));
        }
        if awaited.is_some_and(|a| !(*after + 1..=turns).contains(&a.turn)) {
            return Err(format!("expected to be awaited by a turn from {} to {turns}", after + 1));
        }
        if !is_time(*delay_s) || awaited.is_some_and(|a| !is_time(a.rest_s)) {
            return Err("expected a wait of 0 s to 31 days before and after it".into());
        }
        trace.check()
    }
}

impl Trace {
    /// The times that a client waits between its turns, seconds: a gap, or what is left of it
    /// when the subagents that it was spent on have ended.
    pub fn waits_s(&self) -> Vec<f64> {
        let mut waits_s: Vec<f64> = self.turns.iter().skip(1).map(|turn| turn.gap_s).collect();
        for Awaited { turn, rest_s } in self.subagents.iter().filter_map(|agent| agent.awaited) {
            if let Some(wait_s) = waits_s.get_mut((turn as usize).saturating_sub(2)) {
                *wait_s = rest_s;
            }
        }
        waits_s
    }

    /// Itself and all that it starts, those that they start too.
    pub fn streams(&self) -> Vec<&Self> {
        let mut streams = vec![self];
        let mut next = 0;
        while let Some(trace) = streams.get(next).copied() {
            streams.extend(trace.subagents.iter().map(|agent| &*agent.trace));
            next += 1;
        }
        streams
    }

    pub(super) fn check_subagents(&self) -> Result<(), String> {
        let turns = self.turns.len() as u32;
        let mut agents = self.subagents.iter();
        agents.try_for_each(|a| a.check(turns).map_err(|e| format!("subagent {}: {e}", a.trace.id)))
    }

    /// What of its subagents goes into the hash of a workload: nothing where there are none.
    pub(super) fn push_subagents(&self, bytes: &mut Vec<u8>) {
        for Subagent { trace, after, delay_s, awaited } in &self.subagents {
            let (turn, rest_s) = awaited.map_or((0, 0.0), |a| (a.turn, a.rest_s));
            let values = [u64::from(*after), delay_s.to_bits(), u64::from(turn), rest_s.to_bits()];
            bytes.extend(b"subagent");
            bytes.extend(values.into_iter().flat_map(u64::to_le_bytes));
            trace.push_to(bytes);
        }
    }
}

impl Recorded {
    /// Subagents of all sessions, and theirs.
    pub fn subagents_in_all(&self) -> usize {
        self.traces.iter().map(|trace| trace.streams().len() - 1).sum()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::recorded::TraceTurn;
    use super::super::workload::Workload;
    use super::*;

    fn trace(id: &str, turns: usize, subagents: Vec<Subagent>) -> Trace {
        let (gap_s, prompt_tokens, output_tokens, reusable_tokens) = (9.0, 100, 10, 0);
        let turn = TraceTurn { gap_s, prompt_tokens, output_tokens, reusable_tokens };
        Trace { id: id.into(), turns: vec![turn; turns], subagents }
    }

    fn agent(after: u32, delay_s: f64, awaited: Option<(u32, f64)>) -> Subagent {
        let awaited = awaited.map(|(turn, rest_s)| Awaited { turn, rest_s });
        Subagent { trace: Arc::new(trace("s/a", 2, Vec::new())), after, delay_s, awaited }
    }

    #[test]
    fn a_turn_that_waits_for_subagents_has_the_rest_of_its_gap_after_them() {
        let one = trace("s", 4, vec![agent(1, 0.5, Some((3, 2.0))), agent(2, 0.0, None)]);
        assert_eq!(one.waits_s(), [9.0, 2.0, 9.0]);
        assert_eq!(one.streams().len(), 3);
    }

    #[test]
    fn subagents_are_part_of_what_a_workload_is_and_of_what_it_can_reuse() {
        let hash = |subagents| {
            let workload = Workload::of_traces("w", vec![trace("s", 3, subagents)]).unwrap();
            workload.recorded.unwrap().sha256.clone()
        };
        let hashes = [
            hash(Vec::new()),
            hash(vec![agent(1, 0.0, None)]),
            hash(vec![agent(2, 0.0, None)]),
            hash(vec![agent(1, 1.0, None)]),
            hash(vec![agent(1, 0.0, Some((2, 0.0)))]),
        ];
        for (i, a) in hashes.iter().enumerate() {
            assert!(hashes[..i].iter().all(|b| a != b), "{i}");
        }
    }

    #[test]
    fn a_subagent_that_cannot_be_is_named() {
        for (wrong, said) in [
            (agent(0, 0.0, None), "follows turn 0 of 3"),
            (agent(4, 0.0, None), "follows turn 4 of 3"),
            (agent(2, 0.0, Some((2, 0.0))), "a turn from 3 to 3"),
            (agent(1, 0.0, Some((4, 0.0))), "a turn from 2 to 3"),
            (agent(1, -1.0, None), "a wait of 0 s"),
            (agent(1, 0.0, Some((2, f64::NAN))), "a wait of 0 s"),
        ] {
            let message = Workload::of_traces("w", vec![trace("s", 3, vec![wrong])]).unwrap_err();
            let named = message.starts_with("session s: subagent s/a: ");
            assert!(named && message.contains(said), "{message}");
        }
    }
}
