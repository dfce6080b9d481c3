//! What an engine is like, and what goes wrong with it.

use std::ops::Range;

/// What the engine is like.
#[derive(Debug, Clone)]
pub struct Manner {
    pub is_sglang: bool,
    /// SGLang from before 0.5.7, which has its paths under their first names alone.
    pub is_older: bool,
    /// Time of an answer, s.
    pub answer_s: f64,
    pub report: Report,
    pub flush: Flush,
    pub pool_blocks: usize,
    pub prefix_caching: bool,
    /// How long after its start it is busy with what somebody else sent, s.
    pub busy_s: f64,
    /// What its model is called.
    pub model: String,
    /// Where answers never end, from which one on.
    pub endless: Option<(&'static str, usize)>,
    /// What goes wrong with which prompts, in the order they came (the canary's three are the
    /// first).
    pub trouble: Option<(Range<usize>, Trouble)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Report {
    Always,
    /// A count of 0 is left out.
    NotZero,
    Never,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flush {
    Works,
    NotThere,
    DoesNothing,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Trouble {
    /// Takes requests, never answers; one that its client closes is gone.
    Stuck,
    /// Closes everything and is gone.
    Dies,
    Status(u16),
    Redirect(String),
    EndlessHead,
    EndlessLine,
    EndlessEvents,
    /// A content length that is larger than the body.
    ShortBody,
    /// The stream ends before its last event.
    CutStream,
    NotJson,
    NotHttp,
    NoIds,
    FewIds,
    MoreCached,
    OtherPrompt,
    ErrorEvent,
}

impl Manner {
    pub fn vllm() -> Self {
        Self {
            is_sglang: false,
            is_older: false,
            answer_s: 0.005,
            report: Report::Always,
            flush: Flush::Works,
            pool_blocks: 938,
            prefix_caching: true,
            busy_s: 0.0,
            model: "tiny".into(),
            endless: None,
            trouble: None,
        }
    }

    pub fn sglang() -> Self {
        Self { is_sglang: true, ..Self::vllm() }
    }

    /// From a prompt on.
    pub fn with(self, from: usize, trouble: Trouble) -> Self {
        self.with_some(from..usize::MAX, trouble)
    }

    /// With these prompts alone.
    pub fn with_some(self, prompts: Range<usize>, trouble: Trouble) -> Self {
        Self { trouble: Some((prompts, trouble)), ..self }
    }
}
