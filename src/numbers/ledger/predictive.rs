//! A published statistic against the same statistic of many draws of the simulator.
//!
//! Each draw has as many runs as the paper had, so if the simulator is right, the paper's
//! value is one draw more. Of n exchangeable draws the next one lies between the k-th least
//! and the k-th greatest with probability (n + 1 - 2k) / (n + 1), whatever they are distributed
//! like: with 40 draws, between the least and the greatest with probability 39/41. No width
//! is chosen, and nothing is allowed but the rounding of what is printed.
//!
//! Several values at once (the ends of a range, a list) are held against a box: each may be
//! as many typical distances from the middle as 39 of 40 draws keep to in all their values.
//! Middle and typical distance are those of the draws and the published value together, so
//! the box, too, leaves out each of the n + 1 with the same probability. The ends of a range
//! bring a third value, their distance: seeds that lie too close together or too far apart
//! are a difference, too.

mod part;
mod two_shares;

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::Deserialize;

use crate::nearest::unknown;
use part::{parts, reach};
pub use two_shares::two_shares;

/// How likely the interval is to hold one draw more.
const COVERAGE: f64 = 0.95;

/// Fewer draws have no interval of that probability.
pub(crate) const FEWEST_DRAWS: usize = 39;

/// How published values belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// One value.
    One,
    /// The first of the second: k of n.
    Share,
    /// The least and the greatest of some runs.
    Ends,
    /// Each for itself, in order.
    Each,
    /// Of seeds, in no order that means anything.
    Seeds,
}

/// What a value is stated to be, where it is not stated to be itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// At most that.
    AtMost,
    /// At least that.
    AtLeast,
    /// More than that.
    MoreThan,
    /// Less than that.
    LessThan,
}

impl Side {
    /// Whether a value keeps to a bound: a strict one has no slack, another one that of its
    /// rounding.
    pub fn holds(self, own: f64, bound: f64, rounding: f64) -> bool {
        let slack = rounding * (1.0 + 1e-9);
        match self {
            Self::AtMost => own <= bound + slack,
            Self::AtLeast => own >= bound - slack,
            Self::MoreThan => own > bound,
            Self::LessThan => own < bound,
        }
    }

    /// In words, before the bound.
    pub const fn words(self) -> &'static str {
        match self {
            Self::AtMost => "at most",
            Self::AtLeast => "at least",
            Self::MoreThan => "more than",
            Self::LessThan => "less than",
        }
    }
}

/// What is published.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StatedNumbers<'a> {
    /// Its values.
    pub values: &'a [f64],
    /// Half a unit of the last digit of each.
    pub rounding: &'a [f64],
    /// How they belong together.
    pub shape: Shape,
    /// Whether it is a bound.
    pub bound: Option<Side>,
    /// An interval that is wider than this share of the published value says nothing.
    pub wide: f64,
}

impl StatedNumbers<'_> {
    /// Whether a draw's values keep to a bound.
    pub fn keeps(&self, side: Side, draw: &[f64]) -> bool {
        let bounds = self.values.iter().zip(self.rounding);
        let keeps = |(own, (value, half)): (&f64, (&f64, &f64))| side.holds(*own, *value, *half);
        draw.len() == self.values.len() && draw.iter().zip(bounds).all(keeps)
    }
}

/// How it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Inside, and the interval is narrow enough to say something.
    Consistent,
    /// Inside, but nearly anything would be; or there are too few draws.
    Uninformative,
    /// Outside.
    Differs,
}

/// On which side of what is published ours lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub enum Direction {
    /// Above it.
    #[serde(rename = "above")]
    OursAbove,
    /// Below it.
    #[serde(rename = "below")]
    OursBelow,
}

impl Direction {
    /// In words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::OursAbove => "ours above",
            Self::OursBelow => "ours below",
        }
    }
}

impl fmt::Display for Direction {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(self.words())
    }
}

impl FromStr for Direction {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let both = [Self::OursAbove, Self::OursBelow];
        let found = both.into_iter().find(|direction| direction.words() == text);
        found.ok_or_else(|| unknown("direction", text, "", both.map(Self::words)))
    }
}

/// One value against its interval.
#[derive(Debug, Clone, PartialEq)]
pub struct Against {
    /// Which value: `value`, `share`, `low end`, `high end`, `spread`, or its place in a list.
    pub what: String,
    /// What is published.
    pub published: f64,
    /// The interval's ends.
    pub interval: (f64, f64),
    /// The draws' median.
    pub median: f64,
    /// How many draws lie below the published value; one that equals it counts half. `None`
    /// where there are no draws.
    pub rank: Option<f64>,
    /// The interval's width over the published value; `None` where that is 0 and it is not.
    pub relative_width: Option<f64>,
    /// Which way it is outside, if it is.
    pub outside: Option<Direction>,
}

impl Against {
    /// How far outside it lies, in widths of the interval; nothing inside.
    pub fn beyond(&self) -> Option<f64> {
        let (low, high) = self.interval;
        let distance = match self.outside? {
            Direction::OursAbove => low - self.published,
            Direction::OursBelow => self.published - high,
        };
        Some(if high > low { distance / (high - low) } else { f64::INFINITY })
    }
}

/// How published values stand to the draws.
#[derive(Debug, Clone, PartialEq)]
pub struct AgainstDraws {
    /// How they stand.
    pub standing: Standing,
    /// Value by value; none for a bound or words, or with too few draws.
    pub against: Vec<Against>,
    /// How many draws have the statistic.
    pub draws: usize,
    /// For a bound or an outcome in words, in how many of them it holds.
    pub holds_in: Option<usize>,
    /// How likely the next draw is to lie outside by chance.
    pub by_chance: f64,
}

impl AgainstDraws {
    fn without_interval(draws: usize) -> Self {
        Self {
            standing: Standing::Uninformative,
            against: Vec::new(),
            draws,
            holds_in: None,
            by_chance: 0.0,
        }
    }
}

/// Holds what is published against the draws; a draw without the statistic is `None`.
pub fn judge(stated: &StatedNumbers<'_>, draws: &[Option<Vec<f64>>]) -> AgainstDraws {
    let whole = |draw: &&Vec<f64>| {
        draw.len() == stated.values.len() && draw.iter().all(|value| value.is_finite())
    };
    let draws: Vec<&Vec<f64>> = draws.iter().flatten().filter(whole).collect();
    if draws.len() < FEWEST_DRAWS || stated.values.is_empty() {
        return AgainstDraws::without_interval(draws.len());
    }
    if let Some(side) = stated.bound {
        return bound(stated, side, &draws);
    }
    let parts = parts(stated, &draws);
    let alone = parts.len() == 1;
    let reach = if alone { 0.0 } else { reach(&parts) };
    let against: Vec<Against> = parts
        .iter()
        .map(|part| part.against(if alone { part.ranked() } else { part.within(reach) }))
        .collect();
    let is_wide = |one: &Against| one.relative_width.is_none_or(|width| width > stated.wide);
    let standing = if against.iter().any(|one| one.outside.is_some()) {
        Standing::Differs
    } else if against.iter().any(is_wide) {
        Standing::Uninformative
    } else {
        Standing::Consistent
    };
    let n = draws.len();
    let by_chance = 2.0 * trimmed(n) as f64 / (n + 1) as f64;
    AgainstDraws { standing, against, draws: n, holds_in: None, by_chance }
}

/// A value of each draw, with and without one thing.
#[derive(Debug, Clone, PartialEq)]
pub struct Moved {
    /// Which value, as [`Against::what`].
    pub what: String,
    /// The same by its place.
    pub part: usize,
    /// The median without it.
    pub from: f64,
    /// The median with it.
    pub to: f64,
    /// In how many draws it is nearer to what is published with it.
    pub nearer: usize,
    /// In how many draws it is nearer or farther away with it.
    pub of: usize,
}

/// What one thing makes of the value that lies farthest outside the interval of the draws
/// without it, or, where none does, nearest to an end of them; `None` where too few draws have
/// an interval, or none has it both ways.
pub fn moved(
    stated: &StatedNumbers<'_>,
    draws: &[Option<Vec<f64>>],
    with: &[Option<Vec<f64>>],
) -> Option<Moved> {
    let whole = |draw: &Option<Vec<f64>>| {
        let draw = draw.as_ref().filter(|draw| draw.len() == stated.values.len())?;
        draw.iter().all(|value| value.is_finite()).then(|| draw.clone())
    };
    let pairs = draws.iter().zip(with).filter_map(|(a, b)| whole(a).zip(whole(b)));
    let (without, with): (Vec<Vec<f64>>, Vec<Vec<f64>>) = pairs.unzip();
    if without.is_empty() {
        return None;
    }
    let judged = judge(stated, draws);
    let middle = judged.draws as f64 / 2.0;
    let beyond = |one: &Against| one.beyond().unwrap_or(-1.0);
    let off = |one: &Against| one.rank.map_or(0.0, |rank| (rank - middle).abs());
    let farthest =
        |a: &Against, b: &Against| beyond(a).total_cmp(&beyond(b)).then(off(a).total_cmp(&off(b)));
    let numbered = judged.against.iter().enumerate();
    let (part, _) = numbered.max_by(|(_, a), (_, b)| farthest(a, b))?;
    // Both sides at once: whether k of n is a count or a share is one question.
    let both: Vec<&Vec<f64>> = without.iter().chain(&with).collect();
    let [before, after] = parts(stated, &both).into_iter().nth(part)?.split(without.len());
    let (of, nearer) = before.nearer_in(&after);
    let (from, to) = (before.median(), after.median());
    Some(Moved { what: before.what().to_owned(), part, from, to, nearer, of })
}

/// Whether so many of so many draws are more than half of all there could be, and not by chance:
/// with even odds as many come with a probability of at most what lies outside one end of an
/// interval.
pub fn more_than_half(nearer: usize, of: usize) -> bool {
    let mut exactly = libm::pow(0.5, of as f64);
    let mut as_many = 0.0;
    for k in 0..=of {
        if k >= nearer {
            as_many += exactly;
        }
        exactly *= (of - k) as f64 / (k + 1) as f64;
    }
    as_many <= (1.0 - COVERAGE) / 2.0
}

/// How many draws lie outside the interval at either end, and one more: k.
fn trimmed(draws: usize) -> usize {
    ((draws + 1) as f64 * (1.0 - COVERAGE) / 2.0 + 1e-9) as usize
}

/// So many of some draws and the published value may lie outside.
fn few_of(draws: usize) -> f64 {
    (1.0 - COVERAGE) * (draws + 1) as f64
}

/// An outcome in words, or as a list of no fixed length, against those of the draws: it differs
/// if it is one of those that together hardly a draw has. It says nothing if more than `wide` of
/// the draws came out otherwise. `None` is a draw that has no outcome, an outcome as well.
pub fn outcome<T: Ord>(stated: &Option<T>, draws: &[Option<T>], wide: f64) -> AgainstDraws {
    let n = draws.len();
    if n < FEWEST_DRAWS {
        return AgainstDraws::without_interval(n);
    }
    let mut counts: BTreeMap<&Option<T>, usize> = BTreeMap::new();
    for draw in draws {
        *counts.entry(draw).or_default() += 1;
    }
    let alike = counts.get(stated).copied().unwrap_or(0);
    // With the published outcome itself among them.
    let as_rare: usize = counts.values().filter(|count| **count <= alike).sum();
    let as_rare = (as_rare + 1) as f64;
    let few = few_of(n);
    let standing = if as_rare <= few {
        Standing::Differs
    } else if (n - alike) as f64 > wide * n as f64 {
        Standing::Uninformative
    } else {
        Standing::Consistent
    };
    let by_chance = libm::floor(few) / (n + 1) as f64;
    AgainstDraws { standing, against: Vec::new(), draws: n, holds_in: Some(alike), by_chance }
}

/// A bound differs where hardly a draw keeps to it, and says something where hardly one
/// does not.
fn bound(stated: &StatedNumbers<'_>, side: Side, draws: &[&Vec<f64>]) -> AgainstDraws {
    let holds_in = draws.iter().filter(|draw| stated.keeps(side, draw)).count();
    let n = draws.len();
    let few = few_of(n);
    let standing = match (holds_in as f64, (n - holds_in) as f64) {
        (holds, _) if holds + 1.0 <= few => Standing::Differs,
        (_, fails) if fails + 1.0 <= few => Standing::Consistent,
        _ => Standing::Uninformative,
    };
    let by_chance = libm::floor(few) / (n + 1) as f64;
    AgainstDraws { standing, against: Vec::new(), draws: n, holds_in: Some(holds_in), by_chance }
}

#[cfg(test)]
#[path = "predictive/tests.rs"]
mod tests;
