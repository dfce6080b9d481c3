//! What the engine serves while every turn misses, from the file itself: its prompt tokens per
//! second, and with the client's sessions a bound on how many of them that is.

use super::facts::Facts;
use super::timeline::Stretch;
use crate::digits::fixed;
use crate::form::{Ended, Request};

/// The all-miss capacity over a stretch in which almost everything was missed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Capacity {
    /// Prompt tokens computed per second.
    pub tokens_per_s: f64,
    /// lambda_miss at most, sessions/s: sessions that were cut short count with what was seen.
    pub sessions_per_s: Option<f64>,
    /// Sessions that arrived per second over the stretch; none where the population is closed.
    pub arriving_per_s: Option<f64>,
    /// Sessions in the system at the most, or requests in the engine at the end.
    pub backlog: Option<f64>,
    /// Whether the population is closed, so that there are no arrivals to cut.
    pub closed: bool,
}

/// Finds it; `None` where times or token counts are unknown.
pub fn capacity(facts: &Facts<'_>, stretch: Stretch) -> Option<Capacity> {
    let (from_s, to_s) = facts.timeline.span_s(stretch);
    let span_s = to_s - from_s;
    if facts.timeline.clock == crate::form::Clock::Order || span_s <= 0.0 {
        return None;
    }
    let inside = |t: f64| (from_s..=to_s).contains(&t);
    let requests = facts.observed.requests.as_slice();
    let served = |r: &&Request| r.ended == Ended::Served;
    let computed = |r: &Request| Some(r.prompt_tokens? - r.cached_tokens?);
    let bins = facts.timeline.of(stretch);
    let each = facts.observed.kept.stands_for();
    let tokens: f64 = if facts.of_reusable {
        let ended = requests.iter().filter(served).filter(|r| r.t_end_s.is_some_and(inside));
        ended.filter_map(computed).map(|tokens| tokens as f64).sum::<f64>() * each
    } else {
        bins.iter().map(|bin| bin.looked_up - bin.found).sum()
    };
    let client = facts.client.filter(|c| c.by.is_told() && c.has_times);
    let per_session = client.and_then(|c| {
        let sum = |s: &crate::sessions::Session| {
            s.requests.iter().filter_map(|i| requests[*i].prompt_tokens).sum::<u64>() as f64
        };
        let sums: Vec<f64> = c.sessions.iter().map(sum).collect();
        crate::measure::stats::mean(&sums).filter(|mean| *mean > 0.0)
    });
    let arrived = client.filter(|_| facts.closed != Some(true)).map(|c| {
        let first = |s: &crate::sessions::Session| {
            s.requests.iter().filter_map(|i| requests[*i].t_submit_s).min_by(f64::total_cmp)
        };
        c.sessions.iter().filter_map(first).filter(|t| inside(*t)).count() as f64 * each
    });
    let tokens_per_s = tokens / span_s;
    (tokens_per_s > 0.0).then(|| Capacity {
        tokens_per_s,
        sessions_per_s: per_session.map(|tokens| tokens_per_s / tokens),
        // The series' clock and the client's may differ: then nobody arrived inside.
        arriving_per_s: arrived.map(|n| n / span_s).filter(|rate| *rate > 0.0),
        backlog: client
            .and_then(|c| c.sessions_present)
            .or_else(|| bins.last().and_then(|bin| bin.outstanding)),
        closed: facts.closed == Some(true),
    })
}

impl Capacity {
    /// Lines for people; `by_model` where model F says the rest.
    pub fn lines(&self, by_model: bool) -> Vec<String> {
        let rate = format!(
            "{} prompt tokens/s are computed while everything is missed",
            fixed(self.tokens_per_s, 0)
        );
        let Some(capacity) = self.sessions_per_s else { return vec![rate] };
        let arriving = self.arriving_per_s;
        let arriving =
            arriving.map_or(String::new(), |arriving| format!("; {} arrive", sessions(arriving)));
        let rate = format!(
            "{rate}: at most {}, fewer where sessions were cut short{arriving}",
            sessions(capacity)
        );
        if self.closed || by_model {
            return vec![rate];
        }
        // No rate that clears it follows from an upper bound.
        vec![
            rate,
            "a cut of arrivals to just below what is served now does not clear it; --cell adds the rate and the caps that do".into(),
        ]
    }
}

/// Sessions per second, or per hour where a second has hardly any.
fn sessions(per_s: f64) -> String {
    if per_s < 0.01 {
        format!("{} sessions/hour", fixed(3600.0 * per_s, 1))
    } else {
        format!("{} sessions/s", fixed(per_s, 3))
    }
}
