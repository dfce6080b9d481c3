//! How much of its prompt a hit reuses (App. E.2): all but the last decoded token of the
//! turn before and the tool's output, if nothing of it was evicted.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::run::Run;

use super::share::is_hit;

/// The hits of a whole run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Reuse {
    /// Hits that had to prefill more or less than the new tokens. On an engine that caches
    /// whole blocks that is nearly every hit.
    pub not_exact: u64,
    /// Median of the uncached prompt tokens of the hits; `None` without one.
    pub uncached_median: Option<f64>,
}

/// Measures it; `new_tokens` is what a turn adds that was never in the cache. `None` if it
/// is unknown of a served turn whether it hit.
pub fn reuse(run: &Run, new_tokens: u64) -> Option<Reuse> {
    let mut uncached: BTreeMap<u64, u64> = BTreeMap::new();
    for turn in run.turns.iter().filter(|turn| turn.served_at_s().is_some()) {
        if is_hit(turn)? {
            let tokens = turn.prompt_tokens - turn.cached_tokens?;
            *uncached.entry(tokens).or_default() += 1;
        }
    }
    let others = uncached.iter().filter(|(tokens, _)| **tokens != new_tokens);
    Some(Reuse {
        not_exact: others.map(|(_, count)| count).sum(),
        uncached_median: median(&uncached),
    })
}

/// The median of values with how often each is there.
fn median(counts: &BTreeMap<u64, u64>) -> Option<f64> {
    let total: u64 = counts.values().sum();
    let at = |rank: u64| {
        let mut before = 0;
        counts.iter().find(|(_, count)| {
            before += **count;
            rank < before
        })
    };
    let (low, high) = (at(total.checked_sub(1)? / 2)?, at(total / 2)?);
    Some(0.5 * (*low.0 as f64 + *high.0 as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_counted_values_is_that_of_the_values() {
        let counted = |values: &[(u64, u64)]| median(&values.iter().copied().collect());
        assert_eq!(counted(&[]), None);
        assert_eq!(counted(&[(551, 3), (900, 1)]), Some(551.0));
        assert_eq!(counted(&[(1, 2), (2, 2)]), Some(1.5));
        assert_eq!(counted(&[(1, 1), (2, 1), (9, 1)]), Some(2.0));
    }
}
