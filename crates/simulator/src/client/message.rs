//! What a client and its driver say to each other.

/// A timer the client asked for, handed back when it is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Timer {
    /// A session arrives.
    Arrival {
        /// Its position in `plan.sessions`.
        who: usize,
    },
    /// A subagent starts.
    Subagent {
        /// Its position in `plan.sessions`.
        who: usize,
    },
    /// A session's tool call ends.
    ToolEnd {
        /// Its position in `plan.sessions`.
        who: usize,
    },
    /// The rescue gate starts to bind.
    Engage,
    /// The gate may be released.
    Tick {
        /// 0-based count of ticks.
        number: u32,
    },
}

/// What the engine did with a request.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// It answered.
    Answered(Answer),
    /// It failed: the session ends, nothing is retried.
    Failed(String),
}

/// An engine's answer to a request.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Answer {
    /// First token, seconds; `None` where the engine does not say.
    pub t_first_s: Option<f64>,
    /// Prompt tokens served from cache; `None` where the engine does not say.
    pub cached_tokens: Option<u64>,
    /// Tokens decoded.
    pub completion_tokens: u64,
}

/// What the driver has to do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Action {
    /// Hand `timer` back at `t_s`.
    At {
        /// When, seconds.
        t_s: f64,
        /// What.
        timer: Timer,
    },
    /// Send a turn to the engine now.
    Send(Request),
}

/// A turn to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// The session's position in `plan.sessions`.
    pub who: usize,
    /// 1-based turn.
    pub turn: u32,
    /// L_k.
    pub prompt_tokens: u64,
    /// d.
    pub decode_tokens: u64,
    /// Prompt tokens, from the beginning, that the session's KV may still hold; 0 of a first
    /// turn.
    pub reusable_tokens: u64,
}
