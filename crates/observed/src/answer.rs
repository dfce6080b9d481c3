//! From what was observed to an answer: is the engine trapped, since when, on which evidence,
//! what speaks against it, and what to do.
//!
//! Its [`Thresholds`] are read from a file or built in.

mod capacity;
mod cause;
mod decided;
mod facts;
mod judge;
mod ladder;
mod occupancy;
mod outlook;
mod requests;
mod series;
mod share;
mod thresholds;
mod timeline;
mod times;
mod words;

use crate::form::Observed;
pub use capacity::Capacity;
pub use outlook::{Outlook, outlook};
pub use thresholds::Thresholds;
pub use timeline::{Bin, Timeline};
pub use times::shown as time_shown;

/// What is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Reuse was there to be had, almost all of it was missed for long, and the backlog grew
    /// (or could not: the population is closed).
    Trap,
    /// A good part of what could be reused was missed; the backlog is bounded.
    Pressure,
    /// Misses without a backlog.
    MissOnly,
    /// A backlog without misses.
    QueueOnly,
    /// Misses, because there was nothing to reuse.
    Cold,
    /// What could be reused is found, and nothing piles up.
    Good,
    /// The source cannot say.
    Unmeasurable,
}

impl Verdict {
    /// All of them, the worst first.
    pub const ALL: [Self; 7] = [
        Self::Trap,
        Self::Pressure,
        Self::MissOnly,
        Self::QueueOnly,
        Self::Cold,
        Self::Good,
        Self::Unmeasurable,
    ];

    /// The word in outputs.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Trap => "trap",
            Self::Pressure => "pressure",
            Self::MissOnly => "miss-only",
            Self::QueueOnly => "queue-only",
            Self::Cold => "cold",
            Self::Good => "good",
            Self::Unmeasurable => "unmeasurable",
        }
    }

    /// Whether the exit code has to show it: trapped or pressed.
    pub const fn is_bad(self) -> bool {
        matches!(self, Self::Trap | Self::Pressure)
    }
}

/// Why reuse is missed, or requests wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// The sessions hold more than the pool.
    Capacity,
    /// The sessions fit: another pool binds, or the engine lost its cache.
    NotThisPool,
    /// The client changes its prompts near the start.
    ClientPrefix,
    /// Prompts beyond some length are no longer found, whatever the load.
    PromptLength,
    /// One long request holds up the others.
    HeadOfLine,
    /// One long prompt that is computed holds up the others.
    ColdPrompt,
    /// The scheduler lets what is found in the cache pass before what is not.
    ColdFirst,
    /// The prefix cache is off.
    CachingOff,
    /// Not to be told.
    Unknown,
}

impl Cause {
    /// The word in outputs.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Capacity => "capacity",
            Self::NotThisPool => "not this pool",
            Self::ClientPrefix => "client prefix",
            Self::PromptLength => "prompt length",
            Self::HeadOfLine => "head of line",
            Self::ColdPrompt => "cold prompt",
            Self::ColdFirst => "cold requests starve",
            Self::CachingOff => "caching off",
            Self::Unknown => "unknown",
        }
    }
}

/// A number that an answer rests on, with its window.
#[derive(Debug, Clone, PartialEq)]
pub struct Evidence {
    /// What it is.
    pub quantity: &'static str,
    /// Its value.
    pub value: f64,
    /// Its unit; empty for a fraction.
    pub unit: &'static str,
    /// From when, s on the source's clock.
    pub from_s: f64,
    /// To when, s.
    pub to_s: f64,
    /// In words.
    pub words: String,
}

/// An answer about one engine, or about the requests of one client.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// Which engine; empty where there is one only.
    pub engine: String,
    /// Its software, version and model, where told.
    pub identity: Identity,
    /// What is found.
    pub verdict: Verdict,
    /// Why.
    pub cause: Cause,
    /// Since when, s on the source's clock.
    pub since_s: Option<f64>,
    /// Until when; `None` where it lasts to the end of the load.
    pub until_s: Option<f64>,
    /// One line that says it.
    pub headline: String,
    /// What proves it, the strongest first.
    pub evidence: Vec<Evidence>,
    /// What it serves while everything is missed, where the file tells.
    pub capacity: Option<Capacity>,
    /// What speaks against it, or means less than it seems.
    pub contradictions: Vec<String>,
    /// What to do.
    pub action: String,
    /// The cheapest thing to switch on, where the source cannot say all.
    pub switch_on: Option<String>,
    /// Everything over time.
    pub timeline: Timeline,
}

/// What an engine is, as far as a source tells.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Identity {
    /// `vllm` or `sglang`.
    pub software: Option<&'static str>,
    /// Its version.
    pub version: Option<String>,
    /// The model it serves.
    pub model: Option<String>,
    /// M, tokens.
    pub pool_tokens: Option<u64>,
    /// Whether a simulator stands for it.
    pub simulated: bool,
}

/// What the user knows beside the files.
#[derive(Debug, Clone, Copy, Default)]
pub struct Ask {
    /// M, the pool in tokens, in place of the source's.
    pub pool_tokens: Option<u64>,
    /// The largest share of prompt tokens that can be found.
    pub reuse_ceiling: Option<f64>,
    /// Whether the client keeps a fixed number of sessions, so that no backlog can grow.
    pub closed: Option<bool>,
}

/// An answer per engine, the worst first; one for a ladder of runs; one for requests where no
/// engine is known.
pub fn answers(observed: &Observed, ask: &Ask, rule: &Thresholds) -> Vec<Answer> {
    let client = requests::Client::of(observed, rule);
    let mut answers = Vec::new();
    let ask = &Ask { reuse_ceiling: ask.reuse_ceiling.or(observed.reuse_ceiling), ..*ask };
    if observed.rungs.len() > 1 || (observed.rungs.len() == 1 && observed.requests.is_empty()) {
        answers.extend(ladder::answer(observed, ask, rule));
    }
    let engines: Vec<_> =
        observed.engines.iter().filter(|(_, e)| !e.series.samples().is_empty()).collect();
    // The requests of a client are those of an engine if there is one only.
    let alone = engines.len() == 1;
    for (name, engine) in &engines {
        let client = client.as_ref().filter(|_| alone);
        answers.push(judge::judge(name, Some(engine), client, observed, ask, rule));
    }
    if let Some(client) = client.as_ref().filter(|_| !alone) {
        let name = if engines.is_empty() { "" } else { "all requests" };
        // Start-up lines may tell the pool where no gauges were logged.
        let engine = observed.engines.values().next().filter(|_| engines.is_empty());
        answers.push(judge::judge(name, engine, Some(client), observed, ask, rule));
    }
    answers.sort_by_key(|answer| answer.verdict);
    answers
}

#[cfg(test)]
mod tests;
