//! Which populations to look at, and what they say together.

use std::collections::BTreeMap;

use super::{HitState, Outcome};
use crate::measure::closed_curve::crossing;

/// A gap between two populations is looked into while it is wider than this share of the lower
/// one (and than 1).
const FINE: f64 = 1.0 / 32.0;

/// The hit share of the half-hit crossing.
const HALF: f64 = 0.5;

/// Populations to look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rungs {
    /// These.
    Given(Vec<u32>),
    /// Found by halving, from a first guess, up to a largest one.
    Searched {
        /// Where to begin.
        guess: u32,
        /// The largest there may be.
        most: u32,
    },
}

/// What was found from one start: the outcomes of each population, by seed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Found {
    /// By population; outcomes in order of the seeds.
    pub populations: BTreeMap<u32, Vec<Outcome>>,
}

/// Where a population falls off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bracket {
    /// The largest population up to which every seed of every one looked at is good.
    pub good_up_to: Option<u32>,
    /// The smallest population from which on every seed of every one looked at is trapped.
    pub trapped_from: Option<u32>,
}

impl Found {
    /// Looks at populations: all outcomes of those in `look` at a time, in their order.
    ///
    /// # Errors
    /// The first that `look` gives.
    pub fn search<E>(
        rungs: &Rungs,
        mut look: impl FnMut(&[u32]) -> Result<Vec<Vec<Outcome>>, E>,
    ) -> Result<Self, E> {
        let mut found = Self::default();
        let mut next = match rungs {
            Rungs::Given(populations) => populations.clone(),
            Rungs::Searched { guess, .. } => vec![(*guess).max(1)],
        };
        while !next.is_empty() {
            next.sort_unstable();
            next.dedup();
            let outcomes = look(&next)?;
            found.populations.extend(next.drain(..).zip(outcomes));
            if let Rungs::Searched { most, .. } = rungs {
                next = found.next(*most);
            }
        }
        Ok(found)
    }

    /// Populations that narrow the bracket down; none when it is narrow.
    fn next(&self, most: u32) -> Vec<u32> {
        let Bracket { good_up_to, trapped_from } = self.bracket();
        let (least, largest) =
            match (self.populations.keys().next(), self.populations.keys().last()) {
                (Some(least), Some(largest)) => (*least, *largest),
                _ => return Vec::new(),
            };
        let after = |n: u32| self.populations.range(n + 1..).next().map(|(n, _)| *n);
        let before = |n: u32| self.populations.range(..n).next_back().map(|(n, _)| *n);
        let mut next = Vec::new();
        match good_up_to {
            None if least > 1 => next.push(least / 2),
            None => {}
            Some(good) => next.extend(after(good).and_then(|bad| halfway(good, bad))),
        }
        match trapped_from {
            None if largest < most => next.push(largest.saturating_mul(2).min(most)),
            None => {}
            Some(trapped) => next.extend(before(trapped).and_then(|good| halfway(good, trapped))),
        }
        let points = self.mean_shares();
        let falls = points.windows(2).find(|w| w[0].1 >= HALF && w[1].1 < HALF);
        next.extend(falls.and_then(|w| halfway(w[0].0, w[1].0)));
        // A run that tells no share is not looked at again.
        next.retain(|n| !self.populations.contains_key(n));
        next
    }

    /// Where it falls off.
    pub fn bracket(&self) -> Bracket {
        let all = |outcomes: &[Outcome], state| outcomes.iter().all(|o| o.state == Some(state));
        let good = self.populations.iter().take_while(|(_, o)| all(o, HitState::Good)).last();
        let trapped =
            self.populations.iter().rev().take_while(|(_, o)| all(o, HitState::Trapped)).last();
        Bracket { good_up_to: good.map(|(n, _)| *n), trapped_from: trapped.map(|(n, _)| *n) }
    }

    /// Mean hit shares at rising populations, of those that tell one.
    fn mean_shares(&self) -> Vec<(u32, f64)> {
        let point = |(n, outcomes): (&u32, &Vec<Outcome>)| Some((*n, mean_share(outcomes)?));
        self.populations.iter().filter_map(point).collect()
    }

    /// The smallest population looked at above those that are good.
    pub fn first_not_good(&self) -> Option<u32> {
        let above = self.bracket().good_up_to.map_or(0, |n| n + 1);
        self.populations.range(above..).next().map(|(n, _)| *n)
    }

    /// The half-hit crossing of the runs: where the mean hit share falls through a half, linear
    /// between populations.
    pub fn half_hit_crossing(&self) -> Option<f64> {
        let points: Vec<(f64, f64)> =
            self.mean_shares().into_iter().map(|(n, share)| (f64::from(n), share)).collect();
        crossing(&points, HALF)
    }
}

/// The mean hit share; `None` where a run has none.
pub(crate) fn mean_share(outcomes: &[Outcome]) -> Option<f64> {
    let shares: Option<Vec<f64>> = outcomes.iter().map(|outcome| outcome.hit_share).collect();
    let shares = shares.filter(|shares| !shares.is_empty())?;
    Some(shares.iter().sum::<f64>() / shares.len() as f64)
}

/// A population between two, unless these are close.
fn halfway(low: u32, high: u32) -> Option<u32> {
    let gap = high - low;
    (gap > 1 && f64::from(gap) > FINE * f64::from(low)).then_some(low + gap / 2)
}
