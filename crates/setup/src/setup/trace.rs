//! A recorded session as it is played, with its subagents: streams with a context of their own that
//! it starts, and that it may wait for. Lengths are tokens, times are seconds.

use std::sync::Arc;

use crate::limits;

/// A recorded session as it is played.
#[derive(Debug, Clone, PartialEq)]
pub struct Trace {
    /// Its name in the record.
    pub id: String,
    /// Its turns in order; never empty.
    pub turns: Vec<TraceTurn>,
    /// Streams that it starts; none where these are not played.
    pub subagents: Vec<Subagent>,
}

/// One turn of a [`Trace`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TraceTurn {
    /// The time between the answer before it and this turn, subagents' in it; 0 of a first turn.
    /// Seconds.
    pub gap_s: f64,
    /// Tokens sent.
    pub prompt_tokens: u64,
    /// Tokens decoded, at least 1.
    pub output_tokens: u64,
    /// Prompt tokens that repeat the previous prompt, from its beginning; 0 of a first turn.
    pub reusable_tokens: u64,
}

impl TraceTurn {
    /// The KV that it needs while it runs: prompt and output, tokens.
    pub fn footprint_tokens(&self) -> u64 {
        self.prompt_tokens + self.output_tokens
    }

    /// Prompt tokens that a hit prefills all the same.
    pub fn new_tokens(&self) -> u64 {
        self.prompt_tokens - self.reusable_tokens
    }

    pub(super) fn check(&self) -> Result<(), String> {
        let Self { gap_s, prompt_tokens, output_tokens, reusable_tokens } = *self;
        if prompt_tokens == 0 || output_tokens == 0 {
            return Err("expected a prompt and an output of at least 1 token each".into());
        }
        if prompt_tokens.max(output_tokens) > limits::TURN_TOKENS {
            return Err(format!("expected at most {} tokens", limits::TURN_TOKENS));
        }
        if reusable_tokens > prompt_tokens {
            return Err(format!(
                "reusable tokens ({reusable_tokens}) exceed its prompt ({prompt_tokens})"
            ));
        }
        if !(0.0..limits::RUN_S).contains(&gap_s) {
            return Err(format!("expected a gap of 0 s to 31 days before it, found {gap_s} s"));
        }
        Ok(())
    }
}

impl Trace {
    /// The most KV that it needs at once, tokens.
    pub fn footprint_tokens(&self) -> u64 {
        self.turns.iter().map(TraceTurn::footprint_tokens).max().unwrap_or(0)
    }

    pub(super) fn check(&self) -> Result<(), String> {
        if self.turns.is_empty() || self.turns.len() > limits::TURNS {
            let found = self.turns.len();
            return Err(format!("expected 1 to {} turns, found {found}", limits::TURNS));
        }
        let mut turns = self.turns.iter().zip(1..);
        turns.try_for_each(|(turn, k)| turn.check().map_err(|e| format!("turn {k}: {e}")))?;
        self.check_subagents()
    }

    /// Its name, gaps and lengths, as they are hashed.
    pub(super) fn push_to(&self, bytes: &mut Vec<u8>) {
        bytes.extend((self.id.len() as u64).to_le_bytes());
        bytes.extend(self.id.bytes());
        bytes.extend((self.turns.len() as u64).to_le_bytes());
        for turn in &self.turns {
            let TraceTurn { gap_s, prompt_tokens, output_tokens, reusable_tokens } = *turn;
            let values = [gap_s.to_bits(), prompt_tokens, output_tokens, reusable_tokens];
            bytes.extend(values.into_iter().flat_map(u64::to_le_bytes));
        }
        self.push_subagents(bytes);
    }
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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
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
    fn subagents_are_part_of_what_a_workload_is() {
        let hash = |subagents| {
            let mut bytes = Vec::new();
            trace("s", 3, subagents).push_to(&mut bytes);
            bytes
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
            let message = trace("s", 3, vec![wrong]).check().unwrap_err();
            let named = message.starts_with("subagent s/a: ");
            assert!(named && message.contains(said), "{message}");
        }
    }
}
