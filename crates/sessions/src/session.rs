//! A recorded session, whatever format it came in.

use std::fmt;

use crate::limits;

/// The longest time that a record may hold, s: people come back to a session after weeks.
const LONGEST_S: f64 = 366.0 * 86_400.0;

/// Where the gap before a turn comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GapSource {
    /// The first turn of a session has none.
    First,
    /// Recorded: from the previous answer's end to this request.
    Think,
    /// From start to start, less the recorded service time; 0 where turns overlap.
    StartsLessService,
    /// From start to start: the service time is not recorded, so the gap is at most this.
    Starts,
    /// Nothing in the record says.
    Unknown,
}

impl GapSource {
    /// Every source.
    pub const ALL: [Self; 5] =
        [Self::First, Self::Think, Self::StartsLessService, Self::Starts, Self::Unknown];

    /// Its word in tables.
    pub const fn word(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Think => "think",
            Self::StartsLessService => "starts-less-service",
            Self::Starts => "starts",
            Self::Unknown => "unknown",
        }
    }
}

/// The time between two turns, with where it is from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gap {
    /// Seconds; `None` where nothing says.
    pub seconds: Option<f64>,
    /// Where it is from.
    pub source: GapSource,
}

impl Gap {
    /// Before a first turn.
    pub const FIRST: Self = Self { seconds: Some(0.0), source: GapSource::First };

    /// From what is recorded: the think time, else the time from `previous_start_s` to
    /// `start_s` less `service_s`.
    pub fn of(think_s: Option<f64>, starts_s: Option<(f64, f64)>, service_s: Option<f64>) -> Self {
        let between = starts_s.map(|(previous, this)| this - previous);
        let (seconds, source) = match (think_s, between, service_s) {
            (Some(think), _, _) => (Some(think), GapSource::Think),
            (_, Some(t), Some(service)) => {
                (Some((t - service).max(0.0)), GapSource::StartsLessService)
            }
            (_, Some(t), None) => (Some(t.max(0.0)), GapSource::Starts),
            _ => (None, GapSource::Unknown),
        };
        Self { seconds, source }
    }
}

/// One turn: a request and its answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Turn {
    /// The time before it.
    pub gap: Gap,
    /// Tokens sent.
    pub prompt_tokens: u64,
    /// Tokens answered.
    pub output_tokens: u64,
    /// Prompt tokens that the previous prompt of the session leaves to be used again, at most
    /// the prompt: 0 for the first turn; `None` where the record does not say.
    pub reusable_tokens: Option<u64>,
    /// When it was sent, seconds from the start of the session, a subagent's from that of the
    /// session that started it; `None` where the record does not say.
    pub start_s: Option<f64>,
    /// What the recorded provider took, seconds; `None` where the record does not say.
    pub service_s: Option<f64>,
}

/// Who started a session that is a stream beside another: a subagent, or a branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parent {
    /// The name of the session that started it, and that may wait for it.
    pub session: String,
    /// The turn of that session whose answer it follows: 1, 2, ...
    pub turn: u64,
}

/// The format that a session was read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Format {
    /// One JSON object a session, with `requests`.
    Weka,
    /// A table with a row per turn, of the columns session, turn, t_s, ...
    Table,
    /// Rows with `input_length` and `hash_ids` of 512 tokens.
    Mooncake,
    /// Rows with `chat_id`, `parent_chat_id` and `hash_ids` of 16 tokens.
    Bailian,
    /// One JSON object a session, with an array per kind of length.
    TurnArrays,
    /// Rows of requests with a session and an order.
    Requests,
    /// Spans of OpenTelemetry traces.
    Spans,
    /// None: it was drawn from a workload of quantiles.
    Drawn,
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 8] = [
        Self::Weka,
        Self::Table,
        Self::Mooncake,
        Self::Bailian,
        Self::TurnArrays,
        Self::Requests,
        Self::Spans,
        Self::Drawn,
    ];

    /// Its word in tables.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Weka => "weka",
            Self::Table => "table",
            Self::Mooncake => "mooncake",
            Self::Bailian => "bailian",
            Self::TurnArrays => "turn-arrays",
            Self::Requests => "requests",
            Self::Spans => "spans",
            Self::Drawn => "drawn",
        }
    }
}

impl Format {
    /// The format of a word.
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.word() == word)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// A session: an ordered list of turns, with its provenance.
#[derive(Debug, Clone, PartialEq)]
pub struct Session {
    /// Its name in the record.
    pub id: String,
    /// Who started it, if it is a subagent or a branch.
    pub parent: Option<Parent>,
    /// The format it was read from.
    pub format: Format,
    /// Tools' and system prompt, tokens: a prefix that other sessions may share. Hash ids that
    /// are local to a session cannot show who does.
    pub shared_tokens: Option<u64>,
    /// Its turns in order; never empty.
    pub turns: Vec<Turn>,
}

impl Session {
    /// Says what is wrong with its values, if anything.
    ///
    /// # Errors
    /// One sentence that names the turn and what was expected.
    pub fn check(&self) -> Result<(), String> {
        if self.id.is_empty() {
            return Err("a session without a name".into());
        }
        if self.turns.is_empty() {
            return Err("no turns".into());
        }
        if self.turns.len() > limits::TURNS {
            return Err(format!(
                "expected at most {} turns, found {}",
                limits::TURNS,
                self.turns.len()
            ));
        }
        for (i, turn) in self.turns.iter().enumerate() {
            turn.check().map_err(|message| format!("turn {}: {message}", i + 1))?;
        }
        let starts = self.turns.iter().map(|turn| turn.start_s);
        for (i, pair) in starts.collect::<Vec<_>>().windows(2).enumerate() {
            if let [Some(before), Some(this)] = pair
                && this < before
            {
                let turn = i + 2;
                return Err(format!(
                    "turn {turn}: starts at {this} s, before the previous ({before} s)"
                ));
            }
        }
        Ok(())
    }

    /// No gap longer than `limit_s`. The limit belongs to the name of what is played.
    pub fn limit_gaps(&mut self, limit_s: f64) {
        for turn in &mut self.turns {
            turn.gap.seconds = turn.gap.seconds.map(|s| s.min(limit_s));
        }
    }

    /// The most KV that it needs at once: prompt and output of its largest turn, tokens.
    pub fn footprint_tokens(&self) -> u64 {
        self.turns.iter().map(|t| t.prompt_tokens + t.output_tokens).max().unwrap_or(0)
    }
}

impl Turn {
    /// Tokens that have to be prefilled though the session's last prompt is at hand; `None`
    /// where the record does not say what is reusable.
    pub fn new_tokens(&self) -> Option<u64> {
        self.reusable_tokens.map(|reusable| self.prompt_tokens - reusable)
    }

    fn check(&self) -> Result<(), String> {
        if self.prompt_tokens == 0 {
            return Err("expected a prompt of at least 1 token, found 0".into());
        }
        let longest = self.prompt_tokens.max(self.output_tokens);
        if longest > limits::TURN_TOKENS {
            return Err(format!(
                "expected at most {} tokens, found {longest}",
                limits::TURN_TOKENS
            ));
        }
        if let Some(reusable) = self.reusable_tokens.filter(|r| *r > self.prompt_tokens) {
            let prompt = self.prompt_tokens;
            return Err(format!("reusable tokens ({reusable}) exceed its prompt ({prompt})"));
        }
        let times = [
            ("a gap before it", self.gap.seconds),
            ("its start", self.start_s),
            ("its service time", self.service_s),
        ];
        match times.into_iter().find(|(_, t)| t.is_some_and(|s| !(0.0..LONGEST_S).contains(&s))) {
            Some((what, t)) => {
                let found = t.unwrap_or_default();
                Err(format!("expected {what} from 0 s to a year, found {found} s"))
            }
            None => Ok(()),
        }
    }
}

/// Blocks that two lists of block hashes have in common from the start: whole ones, as a hash
/// stands for a whole block.
pub(crate) fn common_prefix_blocks(previous: &[u64], this: &[u64]) -> u64 {
    previous.iter().zip(this).take_while(|(a, b)| a == b).count() as u64
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_is_the_think_time_else_start_to_start_less_the_service() {
        let gap = |think, starts, service| {
            let gap = Gap::of(think, starts, service);
            (gap.seconds, gap.source)
        };
        assert_eq!(gap(Some(2.0), Some((0.0, 9.0)), Some(4.0)), (Some(2.0), GapSource::Think));
        let less = GapSource::StartsLessService;
        assert_eq!(gap(None, Some((1.0, 9.0)), Some(3.0)), (Some(5.0), less));
        assert_eq!(gap(None, Some((1.0, 2.0)), Some(3.0)), (Some(0.0), less));
        assert_eq!(gap(None, Some((1.0, 9.0)), None), (Some(8.0), GapSource::Starts));
        assert_eq!(gap(None, None, Some(3.0)), (None, GapSource::Unknown));
    }

    #[test]
    fn a_common_prefix_counts_whole_blocks_from_the_start_only() {
        assert_eq!(common_prefix_blocks(&[1, 2, 3], &[1, 2, 4, 3]), 2);
        assert_eq!(common_prefix_blocks(&[1, 2], &[1, 2, 3]), 2);
        assert_eq!(common_prefix_blocks(&[2, 3], &[1, 2, 3]), 0);
    }

    #[test]
    fn a_value_that_makes_no_sense_is_named_by_its_turn() {
        let turn = Turn {
            gap: Gap::FIRST,
            prompt_tokens: 10,
            output_tokens: 1,
            reusable_tokens: Some(0),
            start_s: None,
            service_s: None,
        };
        let wrong = |change: fn(&mut Turn)| {
            let mut turns = vec![turn; 2];
            change(&mut turns[1]);
            let (id, format) = ("s".to_owned(), Format::Weka);
            Session { id, parent: None, format, shared_tokens: None, turns }.check()
        };
        assert_eq!(wrong(|_| {}), Ok(()));
        for (change, said) in [
            ((|t| t.prompt_tokens = 0) as fn(&mut Turn), "at least 1 token"),
            (|t| t.output_tokens = u64::MAX, "at most 1000000000 tokens"),
            (|t| t.reusable_tokens = Some(11), "exceed its prompt (10)"),
            (|t| t.gap.seconds = Some(-1.0), "found -1 s"),
            (|t| t.gap.seconds = Some(f64::NAN), "found NaN s"),
            (|t| t.start_s = Some(-2.0), "its start from 0 s to a year, found -2 s"),
            (|t| t.service_s = Some(f64::INFINITY), "found inf s"),
        ] {
            let message = wrong(change).unwrap_err();
            assert!(message.starts_with("turn 2: ") && message.contains(said), "{message}");
        }
    }
}
