//! Who waits for the first token, and for whom: cold requests that a scheduler puts last, or
//! warm ones behind one long cold prompt.

use crate::answer::Thresholds;
use crate::form::{Ended, Observed, Request};
use crate::measure::stats::median;

/// The slow ones of a client whose requests mostly start soon.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Waits {
    /// Whether the slow ones are warm and wait while one cold prompt is computed; else they
    /// are the cold ones themselves.
    pub behind_cold: bool,
    /// How many are slow, and of how many.
    pub slow: usize,
    pub all: usize,
    /// Their median wait for the first token, and everybody's, s.
    pub slow_s: f64,
    pub median_s: f64,
    /// Their share of all such waiting.
    pub share: f64,
    /// The longest cold prompt behind which they wait, tokens.
    pub cold_tokens: u64,
}

fn is_cold(request: &Request, rule: &Thresholds) -> Option<bool> {
    let prompt = request.prompt_tokens? as f64;
    Some((request.cached_tokens? as f64) < rule.missed_below * prompt)
}

/// Finds them; `None` where times or cached tokens are unknown, or nobody stands out.
pub fn waits(observed: &Observed, rule: &Thresholds) -> Option<Waits> {
    let timed: Vec<(&Request, f64, f64)> = observed
        .requests
        .iter()
        .filter(|r| r.ended == Ended::Served)
        .filter_map(|r| Some((r, r.t_submit_s?, r.t_first_s?)))
        .collect();
    let wait = |(_, submit, first): &(&Request, f64, f64)| first - submit;
    let all: Vec<f64> = timed.iter().map(wait).collect();
    let median_s = median(&all).filter(|m| *m > 0.0)?;
    let slow: Vec<_> = timed.iter().filter(|t| wait(t) >= rule.slow_times * median_s).collect();
    if slow.is_empty() || slow.len() as f64 > rule.slow_share * timed.len() as f64 {
        return None;
    }
    let slow_s = median(&slow.iter().map(|t| wait(t)).collect::<Vec<_>>())?;
    let share = slow.iter().map(|t| wait(t)).sum::<f64>() / all.iter().sum::<f64>();
    let themselves = slow.iter().filter(|(r, ..)| is_cold(r, rule) == Some(true)).count();
    let holders = holders(&timed, rule.slow_times * median_s, rule);
    let held: Vec<u64> = slow.iter().filter_map(|t| held_by(t, &holders)).collect();
    let waits = |behind_cold, cold_tokens| {
        Some(Waits {
            behind_cold,
            slow: slow.len(),
            all: timed.len(),
            slow_s,
            median_s,
            share,
            cold_tokens,
        })
    };
    match held.iter().copied().max() {
        Some(tokens) => waits(true, tokens),
        None if 2 * themselves > slow.len() => waits(false, 0),
        None => None,
    }
}

/// A cold prompt while whose computing nobody else got a first token.
struct Holder {
    row: u32,
    submit_s: f64,
    first_s: f64,
    tokens: u64,
}

/// In order of their first tokens.
fn holders(timed: &[(&Request, f64, f64)], at_least_s: f64, rule: &Thresholds) -> Vec<Holder> {
    let mut firsts: Vec<f64> = timed.iter().map(|t| t.2).collect();
    firsts.sort_by(f64::total_cmp);
    let before = |t: f64| firsts.partition_point(|first| *first < t);
    let mut holders: Vec<Holder> = timed
        .iter()
        .filter(|(r, submit, first)| first - submit >= at_least_s && is_cold(r, rule) == Some(true))
        .filter(|(_, submit, first)| {
            // Clocks and steps blur both ends.
            let margin = 0.1 * (first - submit);
            before(submit + margin) == before(first - margin)
        })
        .map(|(r, submit, first)| Holder {
            row: r.row,
            submit_s: *submit,
            first_s: *first,
            tokens: r.prompt_tokens.unwrap_or(0),
        })
        .collect();
    holders.sort_by(|a, b| a.first_s.total_cmp(&b.first_s).then(a.row.cmp(&b.row)));
    holders
}

/// The longest prompt whose computing covers half of a request's wait.
fn held_by((request, submit, first): &(&Request, f64, f64), holders: &[Holder]) -> Option<u64> {
    // Holders leave each other room: few of them can cover one wait.
    const LOOKED_AT: usize = 16;
    let half = 0.5 * (first - submit);
    let from = holders.partition_point(|h| h.first_s < submit + half);
    let over = holders[from..]
        .iter()
        .take(LOOKED_AT)
        .filter(|h| h.row != request.row && first.min(h.first_s) - submit.max(h.submit_s) >= half);
    over.map(|h| h.tokens).max()
}

/// First-token times of prompts of one length, the first and the shortest later one, s, where
/// that one is far under it: a hint that reuse works, where nobody says what was cached.
pub(crate) fn first_token_hint(observed: &Observed, rule: &Thresholds) -> Option<(u64, f64, f64)> {
    let mut first: Option<(u64, f64)> = None;
    for request in observed.requests.iter().filter(|r| r.ended == Ended::Served) {
        let wait = request.t_first_s? - request.t_submit_s?;
        let prompt = request.prompt_tokens?;
        match first {
            Some((length, before)) if length == prompt && wait < rule.hint_share * before => {
                return Some((length, before, wait));
            }
            Some((length, _)) if length == prompt => {}
            _ => first = Some((prompt, wait)),
        }
    }
    None
}
