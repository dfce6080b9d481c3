//! Which pool binds, by what lies between a session's turns: a prompt is found while what was
//! put through the engine since its session's last turn, and its own, still fit.

use crate::answer::Thresholds;
use crate::form::{Ended, Observed};
use crate::sessions::Session;

/// The largest sum of tokens with which a follow-up was still found, and the smallest with
/// which one was missed, where all that were found lie below all that were missed. The pool
/// that binds holds at least the one and less than the other.
pub(crate) fn binding_tokens(
    observed: &Observed,
    sessions: &[Session],
    reusable: &[Option<u64>],
    rule: &Thresholds,
) -> Option<(u64, u64)> {
    let requests = &observed.requests;
    let mut of = vec![None; requests.len()];
    for (number, session) in sessions.iter().enumerate() {
        session.requests.iter().for_each(|place| of[*place] = Some(number));
    }
    let mut held = Sums::new(requests.len());
    let mut last: Vec<Option<(usize, u64)>> = vec![None; sessions.len()];
    let (mut found, mut missed) = (Vec::new(), Vec::new());
    for (i, request) in requests.iter().enumerate() {
        let Some(session) = of[i].filter(|_| request.ended == Ended::Served) else { continue };
        let footprint = request.footprint_tokens().unwrap_or(0);
        if let Some((at, before)) = last[session] {
            // What the others hold that came after it, each once, and its own.
            let between = held.from(at);
            held.add(at, before.wrapping_neg());
            if let (Some(could), Some(cached)) =
                (reusable[i].filter(|tokens| *tokens > 0), request.cached_tokens)
            {
                match cached as f64 / could as f64 {
                    share if share >= rule.found_above => found.push(between),
                    share if share <= rule.missed_below => missed.push(between),
                    _ => {}
                }
            }
        }
        held.add(i, footprint);
        last[session] = Some((i, footprint));
    }
    let enough = |follow_ups: &Vec<u64>| follow_ups.len() as u64 >= rule.follow_ups;
    let most = found.iter().copied().max().filter(|_| enough(&found))?;
    let least = missed.iter().copied().min().filter(|_| enough(&missed))?;
    // Between two turns lie those, too, whose sessions were left out.
    let all = |tokens: u64| (tokens as f64 * observed.kept.stands_for()) as u64;
    (most < least).then(|| (all(most), all(least)))
}

/// Sums over the end of a list that changes (a Fenwick tree).
struct Sums(Vec<u64>);

impl Sums {
    fn new(n: usize) -> Self {
        Self(vec![0; n + 1])
    }

    fn add(&mut self, at: usize, tokens: u64) {
        let mut i = at + 1;
        while i < self.0.len() {
            self.0[i] = self.0[i].wrapping_add(tokens);
            i += i & i.wrapping_neg();
        }
    }

    fn before(&self, at: usize) -> u64 {
        let (mut i, mut sum) = (at, 0_u64);
        while i > 0 {
            sum = sum.wrapping_add(self.0[i]);
            i &= i - 1;
        }
        sum
    }

    /// The sum from a place on.
    fn from(&self, at: usize) -> u64 {
        self.before(self.0.len() - 1).wrapping_sub(self.before(at))
    }
}
