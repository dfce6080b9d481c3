//! One request, as far as a source tells.

use std::cmp::Ordering;
use std::collections::HashMap;

/// One request. Times are seconds on the source's clock; what it does not tell is `None`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Request {
    /// Its session: a place in [`Names`].
    pub session: Option<u32>,
    /// Its number within the session, from 1.
    pub turn: Option<u32>,
    /// When the client would have sent it.
    pub t_ready_s: Option<f64>,
    /// When it was sent.
    pub t_submit_s: Option<f64>,
    /// Its first token.
    pub t_first_s: Option<f64>,
    /// Its last token.
    pub t_end_s: Option<f64>,
    /// From sending to the last token, s, where the source has no times for them.
    pub latency_s: Option<f64>,
    /// Prompt, tokens.
    pub prompt_tokens: Option<u64>,
    /// Of the prompt, found in the cache; `None` where nobody said so, never 0 then.
    pub cached_tokens: Option<u64>,
    /// Decoded tokens.
    pub output_tokens: Option<u64>,
    /// How it ended.
    pub ended: Ended,
    /// Its row in the file, from 1: orders what has no other order.
    pub row: u32,
}

/// How a request ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Ended {
    /// Served.
    #[default]
    Served,
    /// It failed: a place in [`Names`].
    Failed(u32),
    /// The client gave it up, or it was in flight at the end.
    Cancelled,
}

/// A number of tokens, of what a source writes there; `None` for what no prompt can have.
pub fn tokens(x: f64) -> Option<u64> {
    (0.0..4e12).contains(&x).then_some(x as u64)
}

impl Ended {
    /// Whether a status says that it was served; `None` where it was given up or in flight.
    pub fn told(status: &str) -> Option<bool> {
        const SERVED: [&str; 7] =
            ["200", "ok", "success", "successful", "completed", "stop", "length"];
        const GIVEN_UP: [&str; 5] =
            ["cancelled", "canceled", "incomplete", "aborted", "unfinished_at_horizon"];
        let is = |word: &&str| status.eq_ignore_ascii_case(word);
        if GIVEN_UP.iter().any(is) { None } else { Some(SERVED.iter().any(is)) }
    }
}

impl Request {
    /// Prompt and output together, what its session holds in the cache afterwards, tokens.
    pub fn footprint_tokens(&self) -> Option<u64> {
        Some(self.prompt_tokens?.saturating_add(self.output_tokens.unwrap_or(0)))
    }
}

/// By submission (or end), then session and turn, then row: results do not depend on the
/// order of rows where their times tell it.
pub fn in_order(requests: &mut [Request]) {
    let time = |r: &Request| r.t_submit_s.or(r.t_end_s);
    let by_time = |a: &Request, b: &Request| match (time(a), time(b)) {
        (Some(a), Some(b)) => a.total_cmp(&b),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => Ordering::Equal,
    };
    requests.sort_by(|a, b| by_time(a, b).then(a.turn.cmp(&b.turn)).then(a.row.cmp(&b.row)));
}

/// Texts that requests point into, each once.
#[derive(Debug, Clone, Default)]
pub struct Names {
    pub(super) sessions: Interned,
    errors: Interned,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Interned {
    texts: Vec<Box<str>>,
    places: HashMap<Box<str>, u32>,
}

/// Characters of an error that are kept.
const ERROR_CHARS: usize = 120;
/// Different errors that are kept apart.
const ERRORS: usize = 1000;

impl Interned {
    pub(super) fn text(&self, place: u32) -> &str {
        self.texts.get(place as usize).map_or("", |text| text)
    }

    pub(super) fn place(&mut self, text: &str) -> u32 {
        if let Some(place) = self.places.get(text) {
            return *place;
        }
        let place = u32::try_from(self.texts.len()).unwrap_or(u32::MAX);
        self.texts.push(text.into());
        self.places.insert(text.into(), place);
        place
    }
}

impl Names {
    /// The place of a session's id.
    pub fn session(&mut self, id: &str) -> u32 {
        self.sessions.place(id)
    }

    /// The place of an error's words, which are shortened to one line.
    pub fn error(&mut self, words: &str) -> u32 {
        let line = words.lines().map(str::trim).find(|line| !line.is_empty());
        let short: String = line.unwrap_or("failed").chars().take(ERROR_CHARS).collect();
        if self.errors.texts.len() >= ERRORS && !self.errors.places.contains_key(&*short) {
            return self.errors.place("another error");
        }
        self.errors.place(&short)
    }

    /// A session's id.
    pub fn session_id(&self, place: u32) -> &str {
        self.sessions.text(place)
    }

    /// An error's words.
    pub fn error_words(&self, place: u32) -> &str {
        self.errors.texts.get(place as usize).map_or("failed", |words| words)
    }

    /// Number of sessions.
    pub fn sessions(&self) -> usize {
        self.sessions.texts.len()
    }
}
