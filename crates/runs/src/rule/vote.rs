//! Counting seeds: one vote each, and too few of them decide nothing.

use std::collections::BTreeMap;
use std::fmt::Display;

use serde::{Deserialize, Serialize};

/// How many seeds have to agree, of how many that could be judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quorum {
    /// At least so many ...
    pub needed: u64,
    /// ... of so many; fewer judged seeds decide nothing.
    pub of: u64,
}

impl Quorum {
    /// Two of three, the paper's usual share.
    pub(crate) const TWO_OF_THREE: Self = Self { needed: 2, of: 3 };
}

impl Default for Quorum {
    fn default() -> Self {
        Self::TWO_OF_THREE
    }
}

/// How a group of seeds came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RateVerdict {
    /// Enough seeds met what was asked.
    Pass,
    /// Enough seeds could be judged, too few met it.
    Fail,
    /// Too few seeds could be judged.
    NotDecidable,
}

impl RateVerdict {
    /// The words of the output.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Pass => "PASS",
            Self::Fail => "FAIL",
            Self::NotDecidable => "not decidable",
        }
    }
}

/// Votes counted against a quorum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tally {
    /// Votes in favour.
    pub met: u64,
    /// Votes that could be cast.
    pub judged: u64,
    /// How it came out.
    pub verdict: RateVerdict,
}

/// Counts votes; an open one (`None`) is no vote either way. With more seeds than the
/// quorum states, the same share of them is needed.
pub(crate) fn tally(votes: impl IntoIterator<Item = Option<bool>>, quorum: Quorum) -> Tally {
    let (mut met, mut judged) = (0, 0);
    for vote in votes.into_iter().flatten() {
        judged += 1;
        met += u64::from(vote);
    }
    let verdict = if judged < quorum.of {
        RateVerdict::NotDecidable
    } else if met * quorum.of >= judged * quorum.needed {
        RateVerdict::Pass
    } else {
        RateVerdict::Fail
    };
    Tally { met, judged, verdict }
}

/// One run per place. Where several claim one, none of them has it: they are named.
pub(crate) fn one_per_place<K: Ord + Display, T>(
    runs: impl IntoIterator<Item = (K, String, T)>,
) -> (BTreeMap<K, (String, T)>, Vec<String>) {
    let mut claims: BTreeMap<K, Vec<(String, T)>> = BTreeMap::new();
    for (place, name, run) in runs {
        claims.entry(place).or_default().push((name, run));
    }
    let mut set_aside = Vec::new();
    let mut placed = BTreeMap::new();
    for (place, mut claimants) in claims {
        if claimants.len() > 1 {
            let names: Vec<_> = claimants.iter().map(|c| c.0.as_str()).collect();
            set_aside.push(format!("several runs claim {place}: {}", names.join(", ")));
        } else if let Some(only) = claimants.pop() {
            placed.insert(place, only);
        }
    }
    (placed, set_aside)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(votes: &[Option<bool>]) -> RateVerdict {
        tally(votes.iter().copied(), Quorum::TWO_OF_THREE).verdict
    }

    #[test]
    fn two_of_three_pass_one_does_not_and_two_voters_decide_nothing() {
        let (yes, no) = (Some(true), Some(false));
        assert_eq!(verdict(&[yes, yes, no]), RateVerdict::Pass);
        assert_eq!(verdict(&[yes, no, no]), RateVerdict::Fail);
        assert_eq!(verdict(&[yes, yes]), RateVerdict::NotDecidable);
        assert_eq!(verdict(&[yes, yes, None]), RateVerdict::NotDecidable);
    }

    #[test]
    fn the_share_holds_for_more_seeds() {
        let (yes, no) = (Some(true), Some(false));
        assert_eq!(verdict(&[yes, yes, no, no]), RateVerdict::Fail);
        assert_eq!(verdict(&[yes, yes, yes, no]), RateVerdict::Pass);
    }

    #[test]
    fn a_place_that_two_runs_claim_stays_empty_and_both_are_named() {
        let runs = [(1, "a".to_owned(), ()), (2, "b".to_owned(), ()), (2, "c".to_owned(), ())];
        let (placed, set_aside) = one_per_place(runs);
        assert_eq!(placed.keys().copied().collect::<Vec<_>>(), [1]);
        assert_eq!(set_aside, ["several runs claim 2: b, c"]);
    }
}
