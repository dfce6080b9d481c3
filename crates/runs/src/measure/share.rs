//! Hit fractions, with what is unknown kept apart.
//!
//! A turn hits if more than half of its prompt was cached (Table 6). Where an
//! engine did not say how many tokens were cached the turn is unknown: it makes
//! the fraction unknown, or leaves it between two bounds; it is never a miss.

use serde::{Deserialize, Serialize};

use crate::run::{Run, Turn};
use crate::setup::Span;

/// How many of a set of turns hit, did not, or cannot be told.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    /// Turns that hit.
    pub hits: u64,
    /// Turns that missed.
    pub misses: u64,
    /// Turns whose cached tokens are unknown.
    pub unknown: u64,
}

impl Share {
    /// Number of turns.
    pub const fn total(&self) -> u64 {
        self.hits + self.misses + self.unknown
    }

    /// The hit fraction; `None` when there is no turn, or one that is unknown.
    pub fn value(&self) -> Option<f64> {
        (self.unknown == 0 && self.total() > 0).then(|| self.hits as f64 / self.total() as f64)
    }

    /// The least and the largest hit fraction that the unknown turns allow;
    /// `None` when there is no turn.
    pub fn bounds(&self) -> Option<(f64, f64)> {
        let total = self.total() as f64;
        (total > 0.0).then(|| (self.hits as f64 / total, (self.hits + self.unknown) as f64 / total))
    }

    /// Whether the fraction is below `x`; `None` when the unknown turns leave it open.
    pub(crate) fn is_below(&self, x: f64) -> Option<bool> {
        match self.bounds()? {
            (_, high) if high < x => Some(true),
            (low, _) if low >= x => Some(false),
            _ => None,
        }
    }

    /// Whether the fraction is above `x`; `None` when the unknown turns leave it open.
    pub fn is_above(&self, x: f64) -> Option<bool> {
        match self.bounds()? {
            (low, _) if low > x => Some(true),
            (_, high) if high <= x => Some(false),
            _ => None,
        }
    }

    /// Of these turns.
    pub(super) fn of<'a>(turns: impl IntoIterator<Item = &'a Turn>) -> Self {
        let mut share = Self::default();
        turns.into_iter().for_each(|turn| share.count(is_hit(turn)));
        share
    }

    /// Adds one turn.
    pub fn count(&mut self, hit: Option<bool>) {
        match hit {
            Some(true) => self.hits += 1,
            Some(false) => self.misses += 1,
            None => self.unknown += 1,
        }
    }
}

/// Whether a turn hit: more than half of its prompt cached; `None` if unknown.
pub fn is_hit(turn: &Turn) -> Option<bool> {
    turn.cached_tokens.map(|cached| 2 * cached > turn.prompt_tokens)
}

/// Share of the turns completed in `span` that hit.
pub fn hits(run: &Run, span: Span) -> Share {
    share_of(run, span, |_| true)
}

/// Share of the follow-ups completed in `span` that hit (App. E.7).
pub fn follow_up_hits(run: &Run, span: Span) -> Share {
    share_of(run, span, Turn::is_follow_up)
}

fn share_of(run: &Run, span: Span, of: impl Fn(&Turn) -> bool) -> Share {
    let inside = |turn: &&Turn| turn.served_at_s().is_some_and(|t| span.holds(t)) && of(turn);
    Share::of(run.turns.iter().filter(inside))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(hits: u64, misses: u64, unknown: u64) -> Share {
        Share { hits, misses, unknown }
    }

    #[test]
    fn an_unknown_turn_makes_the_fraction_unknown_not_zero() {
        assert_eq!(share(3, 1, 0).value(), Some(0.75));
        assert_eq!(share(3, 1, 1).value(), None);
        assert_eq!(share(0, 0, 5).value(), None);
        assert_eq!(share(0, 0, 0).value(), None);
    }

    #[test]
    fn a_threshold_is_decided_only_when_every_reading_of_the_unknown_agrees() {
        assert_eq!(share(0, 9, 1).is_below(0.2), Some(true));
        assert_eq!(share(0, 8, 2).is_below(0.2), None);
        assert_eq!(share(2, 8, 0).is_below(0.2), Some(false));
        assert_eq!(share(9, 0, 1).is_above(0.8), Some(true));
        assert_eq!(share(8, 2, 0).is_above(0.8), Some(false));
        assert_eq!(share(0, 0, 0).is_below(0.2), None);
    }
}
