//! Recorded sessions as a workload: what is played, and the law that they are a sample of.
//!
//! A trace is one recorded session without its provenance. Index `k - 1` belongs to turn `k`.
//! Lengths are tokens, times are seconds.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Deserialize;

use super::trace::{Trace, TraceTurn};
use super::yaml::{self, ConfigError};
use crate::hash::sha256_hex;

/// Values that stand for a law of gaps: as many quantiles of the recorded ones, at most.
const GAP_QUANTILES: usize = 1000;

/// A workload of kind `recorded`: where its sessions lie, and how they are played.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedFile {
    /// The name that it is asked for by; equals the file's stem.
    pub name: String,
    /// What kind of workload this is.
    pub kind: RecordedKind,
    /// The sessions, from the folder that the program works in.
    pub path: PathBuf,
    /// SHA-256 of that file: other sessions are another workload.
    pub sha256: String,
    /// No gap between an answer and the next turn is longer, seconds.
    pub gap_limit_s: f64,
    /// In which order they are played.
    #[serde(default)]
    pub order: Order,
    /// Longer sessions are left out.
    #[serde(default)]
    pub at_most: AtMost,
    /// How much smaller and faster they are played than recorded.
    #[serde(default)]
    pub scale: Scale,
    /// Whether the subagents in the file are played.
    #[serde(default)]
    pub subagents: Subagents,
    /// For each value, where it is from.
    #[serde(default)]
    pub sources: BTreeMap<String, String>,
}

/// The only kind that [`RecordedFile`] has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RecordedKind {
    /// Sessions from a file.
    Recorded,
}

/// Sessions with more than this, as recorded, are left out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AtMost {
    /// Turns of a session.
    pub turns: Option<u64>,
    /// Prompt tokens of any of its turns.
    pub prompt_tokens: Option<u64>,
}

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

/// How recorded sessions are scaled down for a small engine.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scale {
    /// Recorded tokens per token that is played.
    pub tokens: u64,
    /// Recorded seconds per second of a gap that is played.
    pub time: f64,
}

impl Default for Scale {
    /// As recorded.
    fn default() -> Self {
        Self { tokens: 1, time: 1.0 }
    }
}

impl Scale {
    /// A prompt, rounded up.
    pub fn prompt_tokens(self, recorded: u64) -> u64 {
        recorded.div_ceil(self.tokens)
    }

    /// An output, rounded; halves to the even neighbour.
    pub fn output_tokens(self, recorded: u64) -> u64 {
        let (down, rest) = (recorded / self.tokens, recorded % self.tokens);
        let half = self.tokens as f64 / 2.0;
        let up = rest as f64 > half || (rest as f64 == half && down % 2 == 1);
        down + u64::from(up)
    }

    /// What can be used again, rounded down.
    pub fn reusable_tokens(self, recorded: u64) -> u64 {
        recorded / self.tokens
    }
}

/// In which order recorded sessions are played.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// By the seed, again and again, each play under an identity of its own.
    #[default]
    Shuffle,
}

impl RecordedFile {
    /// Reads and checks a workload file.
    ///
    /// # Errors
    /// As [`yaml::from_bytes`], a hash that is none, and a limit or a scale that is not positive.
    pub fn parse(path: &Path, bytes: &[u8]) -> Result<Self, ConfigError> {
        let file: Self = yaml::from_bytes(path, bytes)?;
        let is_hash = file.sha256.len() == 64
            && file.sha256.bytes().all(|c| matches!(c, b'0'..=b'9' | b'a'..=b'f'));
        if !is_hash {
            let message = "sha256: expected 64 hexadecimal digits in lower case";
            return Err(ConfigError::new(path, message));
        }
        if file.gap_limit_s.is_nan() || file.gap_limit_s <= 0.0 {
            let message =
                format!("gap_limit_s: expected a positive number, found {}", file.gap_limit_s);
            return Err(ConfigError::new(path, message));
        }
        let Scale { tokens, time } = file.scale;
        if tokens == 0 || !(time > 0.0 && time.is_finite()) {
            let message = format!(
                "scale: expected at least 1 recorded token per token and a positive number of \
                 recorded seconds per second, found {tokens} and {time}"
            );
            return Err(ConfigError::new(path, message));
        }
        Ok(file)
    }
}

/// Sessions that a workload consists of.
#[derive(Debug, Clone, PartialEq)]
pub struct Recorded {
    /// The sessions, in the order of their record.
    pub traces: Vec<Arc<Trace>>,
    /// SHA-256 of what they are: every name, gap and length.
    pub sha256: String,
}

impl Recorded {
    /// These sessions, in this order.
    pub(super) fn of(traces: Vec<Trace>) -> Self {
        let mut bytes = Vec::new();
        traces.iter().for_each(|trace| trace.push_to(&mut bytes));
        Self { traces: traces.into_iter().map(Arc::new).collect(), sha256: sha256_hex(&bytes) }
    }

    /// Turns of all sessions.
    pub fn turns_in_all(&self) -> usize {
        self.traces.iter().map(|trace| trace.turns.len()).sum()
    }

    /// Subagents of all sessions, and theirs.
    pub fn subagents_in_all(&self) -> usize {
        self.traces.iter().map(|trace| trace.streams().len() - 1).sum()
    }

    /// The k-th turns (1-based) of the sessions that have one.
    fn turns(&self, k: usize) -> impl Iterator<Item = &TraceTurn> {
        self.traces.iter().filter_map(move |trace| trace.turns.get(k - 1))
    }

    /// The mean of `f` over the k-th turns; 0 where no session has one.
    pub fn mean(&self, k: usize, f: impl Fn(&TraceTurn) -> f64) -> f64 {
        let (sum, n) = self.turns(k).fold((0.0, 0_u64), |(sum, n), turn| (sum + f(turn), n + 1));
        if n == 0 { 0.0 } else { sum / n as f64 }
    }

    /// Tokens that can be reused over all prompt tokens, first turns included: the most that a
    /// cache of any size can serve. Subagents' turns are turns.
    pub fn reuse_ceiling(&self) -> f64 {
        let streams = || self.traces.iter().flat_map(|trace| trace.streams());
        let turns = || streams().flat_map(|trace| &trace.turns);
        let reusable: u64 = turns().map(|turn| turn.reusable_tokens).sum();
        let prompt: u64 = turns().map(|turn| turn.prompt_tokens).sum();
        reusable as f64 / prompt as f64
    }

    /// G_k: the share of the sessions that have a k-th turn.
    pub(super) fn survival(&self) -> Vec<f64> {
        let longest = self.traces.iter().map(|trace| trace.turns.len()).max().unwrap_or(0);
        let sessions = self.traces.len() as f64;
        (1..=longest).map(|k| self.turns(k).count() as f64 / sessions).collect()
    }

    /// Quantiles of the gaps between turns, each as likely as any other.
    pub(super) fn gaps_s(&self) -> Vec<f64> {
        let follow_ups = self.traces.iter().flat_map(|trace| trace.turns.iter().skip(1));
        let mut gaps_s: Vec<f64> = follow_ups.map(|turn| turn.gap_s).collect();
        gaps_s.sort_by(f64::total_cmp);
        let n = gaps_s.len();
        match n {
            0 => vec![0.0],
            n if n <= GAP_QUANTILES => gaps_s,
            _ => {
                (0..GAP_QUANTILES).map(|i| gaps_s[(2 * i + 1) * n / (2 * GAP_QUANTILES)]).collect()
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::setup::{ToolTime, Workload};

    fn turn(gap_s: f64, prompt_tokens: u64, reusable_tokens: u64) -> TraceTurn {
        TraceTurn { gap_s, prompt_tokens, output_tokens: 10, reusable_tokens }
    }

    fn traces() -> Vec<Trace> {
        let long = vec![turn(0.0, 100, 0), turn(2.0, 160, 100), turn(4.0, 130, 60)];
        let short = vec![turn(0.0, 300, 0)];
        [("long", long), ("short", short)]
            .map(|(id, turns)| Trace { id: id.into(), turns, subagents: Vec::new() })
            .to_vec()
    }

    #[test]
    fn the_law_of_recorded_sessions_is_their_shares_and_means() {
        let workload = Workload::of_traces("recorded", traces()).unwrap();
        assert_eq!(workload.survival(), [1.0, 0.5, 0.5]);
        assert_eq!([1, 2, 3].map(|k| workload.prompt_tokens(k)), [200, 160, 130]);
        assert_eq!([1, 2, 3].map(|k| workload.footprint_tokens(k)), [210, 170, 140]);
        assert_eq!(workload.tool_time, ToolTime::Sample { values_s: vec![2.0, 4.0] });
        let recorded = workload.recorded.unwrap();
        assert_eq!(recorded.reuse_ceiling(), 160.0 / 690.0);
        assert_eq!(recorded.mean(2, |turn| turn.new_tokens() as f64), 60.0);
        assert_eq!(recorded.mean(9, |_| 1.0), 0.0);
    }

    #[test]
    fn many_gaps_are_their_quantiles() {
        let turns = (0..3001).map(|i| turn(f64::from(i), 10, 0)).collect();
        let trace = Trace { id: "t".into(), turns, subagents: Vec::new() };
        let workload = Workload::of_traces("recorded", vec![trace]).unwrap();
        let mean_s = workload.tool_time.mean_s();
        assert!((mean_s - 1500.5).abs() < 1.0, "{mean_s}");
    }

    #[test]
    fn a_file_of_kind_recorded_says_where_its_sessions_lie() {
        let parse = |text: &str| RecordedFile::parse(Path::new("agents.yaml"), text.as_bytes());
        let text = |sha256: &str, gap: &str| {
            format!(
                "name: agents\nkind: recorded\npath: agents.csv.gz\nsha256: {sha256}\n\
                 gap_limit_s: {gap}\norder: shuffle\n"
            )
        };
        let hash = "0123456789abcdef".repeat(4);
        assert_eq!(parse(&text(&hash, "60")).unwrap().gap_limit_s, 60.0);
        let subagents = |more: &str| parse(&(text(&hash, "60") + more)).unwrap().subagents;
        assert_eq!(subagents(""), Subagents::Played);
        assert_eq!(subagents("subagents: left-out\n"), Subagents::LeftOut);
        for (text, said) in [
            (text("12", "60"), "64 hexadecimal digits"),
            (text(&hash, "0"), "gap_limit_s: expected a positive number"),
            (text(&hash, "60") + "orders: x\n", "unknown"),
            (text(&hash, "60") + "scale: {tokens: 0, time: 1}\n", "found 0 and 1"),
            (text(&hash, "60") + "scale: {tokens: 64, time: -13}\n", "found 64 and -13"),
            (text(&hash, "60") + "at_most: {prompts: 9}\n", "unknown"),
            (text(&hash, "60") + "subagents: some\n", "expected `played` or `left-out`"),
        ] {
            let message = parse(&text).unwrap_err().to_string();
            assert!(message.contains(said), "{message}");
        }
    }

    #[test]
    fn a_scale_rounds_prompts_up_outputs_to_the_nearest_and_what_is_reused_down() {
        let scale = Scale { tokens: 64, time: 13.0 };
        assert_eq!([1, 64, 65].map(|n| scale.prompt_tokens(n)), [1, 1, 2]);
        assert_eq!([31, 32, 33, 95, 96, 160].map(|n| scale.output_tokens(n)), [0, 0, 1, 1, 2, 2]);
        assert_eq!([63, 64, 127].map(|n| scale.reusable_tokens(n)), [0, 1, 1]);
        let own = Scale::default();
        assert_eq!([own.prompt_tokens(7), own.output_tokens(7), own.reusable_tokens(7)], [7; 3]);
    }

    #[test]
    fn a_session_that_cannot_be_played_is_named() {
        let refused = |change: fn(&mut TraceTurn)| {
            let mut traces = traces();
            change(&mut traces[0].turns[1]);
            Workload::of_traces("recorded", traces).unwrap_err()
        };
        for (change, said) in [
            ((|t| t.reusable_tokens = 161) as fn(&mut TraceTurn), "exceed its prompt (160)"),
            (|t| t.output_tokens = 0, "at least 1 token"),
            (|t| t.gap_s = -1.0, "found -1 s"),
            (|t| t.prompt_tokens = u64::MAX, "at most 1000000000 tokens"),
        ] {
            let message = refused(change);
            assert!(
                message.starts_with("session long: turn 2: ") && message.contains(said),
                "{message}"
            );
        }
        assert!(Workload::of_traces("recorded", Vec::new()).is_err());
    }
}
