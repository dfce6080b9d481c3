//! The values that are held against the draws, each with its interval: by rank where it is
//! alone, else by typical distances from the middle.

use super::{Against, Direction, Shape, StatedNumbers, trimmed};

/// One of the values that are held against the draws.
pub(super) struct Part {
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

    pub(super) fn what(&self) -> &str {
        &self.what
    }

    /// The middle draw's.
    pub(super) fn median(&self) -> f64 {
        median(&self.sorted)
    }

    /// The same of the first `n` draws, and of the others.
    pub(super) fn split(&self, n: usize) -> [Self; 2] {
        let (first, others) = self.by_draw.split_at(n.min(self.by_draw.len()));
        [first, others].map(|draws| {
            let part = Self::new(self.what.clone(), self.published, self.rounding, draws.to_vec());
            Self { beside: self.beside, ..part }
        })
    }

    /// How many draws lie nearer to what is published in `after` or farther from it, and how many
    /// of these nearer. As far away but for rounding is neither.
    pub(super) fn nearer_in(&self, after: &Self) -> (usize, usize) {
        let distance = |value: &f64| (value - self.published).abs();
        let distances = self.by_draw.iter().map(distance).zip(after.by_draw.iter().map(distance));
        let is_changed = |(before, after): &(f64, f64)| {
            let rounding = 1e-9 * before.max(*after).max(self.published.abs());
            (after - before).abs() > rounding
        };
        distances.filter(is_changed).fold((0, 0), |(of, nearer), (before, after)| {
            (of + 1, nearer + usize::from(after < before))
        })
    }

    /// From the k-th least to the k-th greatest.
    pub(super) fn ranked(&self) -> (f64, f64) {
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
    pub(super) fn within(&self, reach: f64) -> (f64, f64) {
        let Scale { middle, below, above } = self.scale();
        let far = |typical: f64| if reach.is_finite() { reach * typical } else { reach };
        (middle - far(below), middle + far(above))
    }

    pub(super) fn against(&self, interval: (f64, f64)) -> Against {
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
            rank: Some(below + 0.5 * equal),
            relative_width: relative_width.filter(|width| width.is_finite()),
            outside,
        }
    }
}

/// What is held against the draws, value by value.
pub(super) fn parts(stated: &StatedNumbers<'_>, draws: &[&Vec<f64>]) -> Vec<Part> {
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
fn share(stated: &StatedNumbers<'_>, draws: &[&Vec<f64>]) -> Part {
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
pub(super) fn reach(parts: &[Part]) -> f64 {
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
