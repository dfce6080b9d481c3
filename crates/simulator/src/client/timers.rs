//! A driver's queue of timers: by time, and by insertion where times are equal.
//!
//! Equal times happen when a closed run starts and when a session is replaced;
//! insertion order then follows the order of sessions.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::Timer;

/// Timers that are not yet due.
#[derive(Debug, Clone, Default)]
pub struct Timers {
    heap: BinaryHeap<Entry>,
    inserted: u64,
}

impl Timers {
    /// Adds a timer.
    pub fn insert(&mut self, t_s: f64, timer: Timer) {
        self.heap.push(Entry { t_s, order: self.inserted, timer });
        self.inserted += 1;
    }

    /// The time of the earliest timer.
    pub fn next_s(&self) -> Option<f64> {
        self.heap.peek().map(|entry| entry.t_s)
    }

    /// Takes the earliest timer if it is due at `now_s`.
    pub fn pop_due(&mut self, now_s: f64) -> Option<(f64, Timer)> {
        if self.next_s()? > now_s {
            return None;
        }
        self.heap.pop().map(|entry| (entry.t_s, entry.timer))
    }
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    t_s: f64,
    order: u64,
    timer: Timer,
}

impl Ord for Entry {
    /// Reversed: the heap's greatest is the earliest.
    fn cmp(&self, other: &Self) -> Ordering {
        other.t_s.total_cmp(&self.t_s).then(other.order.cmp(&self.order))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Entry {}
