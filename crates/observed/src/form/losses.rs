//! What was left out or is odd, counted by its reason.

use std::collections::BTreeMap;

/// How often, and where first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Count {
    /// How often.
    pub count: u64,
    /// Line of the first one, from 1; 0 where a line says nothing.
    pub first_line: u64,
}

/// Counts by reason, in words that follow a number: "12 lines cut off".
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Losses(BTreeMap<&'static str, Count>);

impl Losses {
    /// Counts one more.
    pub fn add(&mut self, why: &'static str, line: u64) {
        self.add_many(why, Count { count: 1, first_line: line });
    }

    /// Leaves out a reason.
    pub fn forget(&mut self, why: &str) {
        self.0.remove(why);
    }

    fn add_many(&mut self, why: &'static str, more: Count) {
        let there = self.0.entry(why).or_insert(Count { count: 0, first_line: more.first_line });
        there.count += more.count;
        there.first_line = there.first_line.min(more.first_line);
    }

    /// Adds another source's.
    pub(crate) fn add_all(&mut self, other: Self) {
        other.0.into_iter().for_each(|(why, count)| self.add_many(why, count));
    }

    /// Every reason with its count, in order of the words.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, Count)> + '_ {
        self.0.iter().map(|(why, count)| (*why, *count))
    }

    /// How often for one reason.
    pub fn count(&self, why: &str) -> u64 {
        self.0.get(why).map_or(0, |count| count.count)
    }

    /// How often in all.
    pub fn total(&self) -> u64 {
        self.0.values().map(|count| count.count).sum()
    }
}
