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

/// How likely the interval is to hold one draw more.
const COVERAGE: f64 = 0.95;

/// Fewer draws have no interval of that probability.
pub const FEWEST_DRAWS: usize = 39;

/// An interval that is wider than this share of the published value says nothing. It is the
/// widest band by which the paper itself scores a prediction: a gap slope within 0.6 and 1.4
/// of its model (App. C, S2).
pub const WIDE: f64 = 0.8;

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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// At most that.
    AtMost,
    /// At least that.
    AtLeast,
}

/// What is published.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stated<'a> {
    /// Its values.
    pub values: &'a [f64],
    /// Half a unit of the last digit of each.
    pub rounding: &'a [f64],
    /// How they belong together.
    pub shape: Shape,
    /// Whether it is a bound.
    pub bound: Option<Side>,
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

/// Which way it is outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// The draws lie above what is published.
    OursAbove,
    /// The draws lie below it.
    OursBelow,
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
    /// How many draws lie below the published value; one that equals it counts half.
    pub rank: f64,
    /// The interval's width over the published value; `None` where that is 0 and it is not.
    pub relative_width: Option<f64>,
    /// Which way it is outside, if it is.
    pub outside: Option<Direction>,
}

/// How published values stand to the draws.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// How they stand.
    pub standing: Standing,
    /// Value by value; none for a bound, or with too few draws.
    pub against: Vec<Against>,
    /// How many draws have the statistic.
    pub draws: usize,
    /// For a bound, in how many of them it holds.
    pub holds_in: Option<usize>,
    /// How likely the next draw is to lie outside by chance.
    pub by_chance: f64,
}

impl Judged {
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

/// How many of some comparisons are expected to differ by chance alone.
pub fn expected_by_chance<'a>(judged: impl IntoIterator<Item = &'a Judged>) -> f64 {
    judged.into_iter().map(|one| one.by_chance).sum()
}

/// Holds what is published against the draws; a draw without the statistic is `None`.
pub fn judge(stated: &Stated<'_>, draws: &[Option<Vec<f64>>]) -> Judged {
    let whole = |draw: &&Vec<f64>| {
        draw.len() == stated.values.len() && draw.iter().all(|value| value.is_finite())
    };
    let draws: Vec<&Vec<f64>> = draws.iter().flatten().filter(whole).collect();
    if draws.len() < FEWEST_DRAWS || stated.values.is_empty() {
        return Judged::without_interval(draws.len());
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
    let is_wide = |one: &Against| one.relative_width.is_none_or(|width| width > WIDE);
    let standing = if against.iter().any(|one| one.outside.is_some()) {
        Standing::Differs
    } else if against.iter().any(is_wide) {
        Standing::Uninformative
    } else {
        Standing::Consistent
    };
    let n = draws.len();
    let by_chance = 2.0 * trimmed(n) as f64 / (n + 1) as f64;
    Judged { standing, against, draws: n, holds_in: None, by_chance }
}

/// How many draws lie outside the interval at either end, and one more: k.
fn trimmed(draws: usize) -> usize {
    ((draws + 1) as f64 * (1.0 - COVERAGE) / 2.0 + 1e-9) as usize
}

/// A bound differs where hardly a draw keeps to it, and says something where hardly one
/// does not.
fn bound(stated: &Stated<'_>, side: Side, draws: &[&Vec<f64>]) -> Judged {
    let keeps = |draw: &&&Vec<f64>| {
        let slack = |(own, (value, half)): (&f64, (&f64, &f64))| match side {
            Side::AtMost => *own <= value + half * (1.0 + 1e-9),
            Side::AtLeast => *own >= value - half * (1.0 + 1e-9),
        };
        draw.iter().zip(stated.values.iter().zip(stated.rounding)).all(slack)
    };
    let (n, holds_in) = (draws.len(), draws.iter().filter(keeps).count());
    let few = (1.0 - COVERAGE) * (n + 1) as f64;
    let standing = match (holds_in as f64, (n - holds_in) as f64) {
        (holds, _) if holds + 1.0 <= few => Standing::Differs,
        (_, fails) if fails + 1.0 <= few => Standing::Consistent,
        _ => Standing::Uninformative,
    };
    let by_chance = libm::floor(few) / (n + 1) as f64;
    Judged { standing, against: Vec::new(), draws: n, holds_in: Some(holds_in), by_chance }
}

/// One of the values that are held against the draws.
struct Part {
    what: String,
    published: f64,
    rounding: f64,
    /// What the width is held against.
    beside: f64,
    /// The draws' values, ascending.
    sorted: Vec<f64>,
    /// The same by draw.
    by_draw: Vec<f64>,
}

impl Part {
    fn new(what: impl Into<String>, published: f64, rounding: f64, by_draw: Vec<f64>) -> Self {
        let mut sorted = by_draw.clone();
        sorted.sort_by(f64::total_cmp);
        let beside = published.abs();
        Self { what: what.into(), published, rounding, beside, sorted, by_draw }
    }

    /// From the k-th least to the k-th greatest.
    fn ranked(&self) -> (f64, f64) {
        let k = trimmed(self.sorted.len()).max(1);
        (self.sorted[k - 1], self.sorted[self.sorted.len() - k])
    }

    /// The middle of the draws and the published value, and of their distances from it on
    /// either side: all n + 1 are treated alike, so that any of them is as likely outside.
    fn scale(&self) -> Scale {
        let mut all = self.sorted.clone();
        all.push(self.published);
        all.sort_by(f64::total_cmp);
        let middle = median(&all);
        let distances = |side: f64| {
            let mut distances: Vec<f64> =
                all.iter().map(|x| (x - middle) * side).filter(|d| *d > 0.0).collect();
            distances.sort_by(f64::total_cmp);
            // The farthest does not set its own measure.
            distances.pop();
            if distances.is_empty() { 0.0 } else { median(&distances) }
        };
        Scale { middle, below: distances(-1.0), above: distances(1.0) }
    }

    /// So many typical distances to either side of the middle.
    fn within(&self, reach: f64) -> (f64, f64) {
        let Scale { middle, below, above } = self.scale();
        let far = |typical: f64| if reach.is_finite() { reach * typical } else { reach };
        (middle - far(below), middle + far(above))
    }

    fn against(&self, interval: (f64, f64)) -> Against {
        let (low, high) = interval;
        // What is printed stands for everything that is rounded to it.
        let half = self.rounding * (1.0 + 1e-9) + 1e-12 * self.published.abs();
        let outside = if self.published + half < low {
            Some(Direction::OursAbove)
        } else if self.published - half > high {
            Some(Direction::OursBelow)
        } else {
            None
        };
        let width = high - low;
        let relative_width =
            if width <= 2.0 * half { Some(0.0) } else { Some(width / self.beside) };
        let below = self.sorted.iter().filter(|x| **x < self.published).count() as f64;
        let equal = self.sorted.iter().filter(|x| **x == self.published).count() as f64;
        Against {
            what: self.what.clone(),
            published: self.published,
            interval,
            median: median(&self.sorted),
            rank: below + 0.5 * equal,
            relative_width: relative_width.filter(|width| width.is_finite()),
            outside,
        }
    }
}

/// What is held against the draws, value by value.
fn parts(stated: &Stated<'_>, draws: &[&Vec<f64>]) -> Vec<Part> {
    let of = |what: String, i: usize| {
        let rounding = stated.rounding.get(i).copied().unwrap_or(0.0);
        Part::new(what, stated.values[i], rounding, draws.iter().map(|draw| draw[i]).collect())
    };
    let spread = |values: &[f64]| {
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        values.iter().copied().fold(f64::NEG_INFINITY, f64::max) - least
    };
    let spread_part = || {
        let rounding = 2.0 * stated.rounding.iter().copied().fold(0.0, f64::max);
        let by_draw = draws.iter().map(|draw| spread(draw)).collect();
        let part = Part::new("spread", spread(stated.values), rounding, by_draw);
        // A spread of three seeds is never narrow beside itself: beside the values, it is.
        let beside = stated.values.iter().map(|value| value.abs()).fold(0.0, f64::max);
        Part { beside, ..part }
    };
    match (stated.shape, stated.values) {
        (Shape::Share, [_, n]) if *n > 0.0 => vec![share(stated, draws)],
        (Shape::Ends, [_, _]) => {
            vec![of("low end".into(), 0), of("high end".into(), 1), spread_part()]
        }
        (Shape::Seeds, values) if values.len() > 1 => {
            let sorted = |values: &[f64]| {
                let mut values = values.to_vec();
                values.sort_by(f64::total_cmp);
                values
            };
            let (own, draws): (Vec<f64>, Vec<Vec<f64>>) =
                (sorted(values), draws.iter().map(|draw| sorted(draw)).collect());
            let rounding = stated.rounding.iter().copied().fold(0.0, f64::max);
            let of = |i: usize| {
                let by_draw = draws.iter().map(|draw| draw[i]).collect();
                Part::new(format!("value {} in order", i + 1), own[i], rounding, by_draw)
            };
            (0..own.len()).map(of).chain([spread_part()]).collect()
        }
        (_, [_]) => vec![of("value".into(), 0)],
        (_, values) => (0..values.len()).map(|i| of(format!("value {}", i + 1), i)).collect(),
    }
}

/// k of n: the count where every draw has as many, else the share. Its width is held against n.
fn share(stated: &Stated<'_>, draws: &[&Vec<f64>]) -> Part {
    let (k, n) = (stated.values[0], stated.values[1]);
    let as_many = draws.iter().all(|draw| draw[1] == n);
    let of = |draw: &&Vec<f64>| match (as_many, draw[1] > 0.0) {
        (true, _) => draw[0],
        (false, true) => draw[0] / draw[1],
        (false, false) => 0.0,
    };
    let by_draw = draws.iter().map(of).collect();
    if as_many {
        Part { beside: n, ..Part::new("count", k, 0.0, by_draw) }
    } else {
        Part { beside: 1.0, ..Part::new("share", k / n, 0.0, by_draw) }
    }
}

/// Where some values lie, and how far from it is typical on either side.
struct Scale {
    middle: f64,
    below: f64,
    above: f64,
}

impl Scale {
    /// How many typical distances away a value is.
    fn distance(&self, x: f64) -> f64 {
        let distance = x - self.middle;
        let typical = if distance < 0.0 { self.below } else { self.above };
        if distance == 0.0 { 0.0 } else { distance.abs() / typical }
    }
}

/// The middle of values in ascending order.
fn median(sorted: &[f64]) -> f64 {
    let n = sorted.len();
    f64::midpoint(sorted[(n - 1) / 2], sorted[n / 2])
}

/// How many typical distances the values of enough draws keep to, each draw by its farthest.
fn reach(parts: &[Part]) -> f64 {
    let n = parts[0].by_draw.len();
    let scales: Vec<Scale> = parts.iter().map(Part::scale).collect();
    let farthest = |draw: usize| {
        let of = |(part, scale): (&Part, &Scale)| scale.distance(part.by_draw[draw]);
        parts.iter().zip(&scales).map(of).fold(0.0, f64::max)
    };
    let mut reaches: Vec<f64> = (0..n).map(farthest).collect();
    reaches.sort_by(f64::total_cmp);
    // As many as lie outside a single value's interval on both sides may lie outside.
    let outside = (2 * trimmed(n)).saturating_sub(1);
    reaches[n - 1 - outside.min(n - 1)]
}

#[cfg(test)]
#[path = "predictive/tests.rs"]
mod tests;
