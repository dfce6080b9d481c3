//! Idle KV in the order it was last used.

use std::collections::VecDeque;

/// An owner that does not come back.
const NOBODY: usize = usize::MAX;

/// Idle KV of sessions, least recently used first.
#[derive(Debug, Clone)]
pub(super) struct Idle {
    tokens: u64,
    /// Of each session; 0 is none.
    held: Vec<u64>,
    /// The stamp of each session's entry.
    stamps: Vec<u64>,
    /// Oldest first, stamps increasing. An entry without tokens is spent.
    queue: VecDeque<Entry>,
    last_stamp: u64,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    stamp: u64,
    owner: usize,
    tokens: u64,
}

impl Idle {
    pub(super) fn new(sessions: usize) -> Self {
        let (held, stamps) = (vec![0; sessions], vec![0; sessions]);
        Self { tokens: 0, held, stamps, queue: VecDeque::new(), last_stamp: 0 }
    }

    pub(super) fn tokens(&self) -> u64 {
        self.tokens
    }

    pub(super) fn of(&self, who: usize) -> u64 {
        self.held[who]
    }

    /// KV becomes idle, a session's or nobody's; with what the session has it is the most
    /// recently used.
    pub(super) fn add(&mut self, owner: usize, tokens: u64) {
        let before = if owner == NOBODY { 0 } else { self.held[owner] };
        if before > 0 {
            self.entry_of(owner).tokens = 0;
        }
        self.last_stamp += 1;
        let (stamp, all) = (self.last_stamp, before + tokens);
        if owner != NOBODY {
            (self.held[owner], self.stamps[owner]) = (all, stamp);
        }
        self.queue.push_back(Entry { stamp, owner, tokens: all });
        self.tokens += tokens;
    }

    /// A session takes the first `tokens` of its KV back; the rest stays where it is in the
    /// order, as nobody's.
    pub(super) fn take(&mut self, who: usize, tokens: u64) {
        let held = std::mem::take(&mut self.held[who]);
        if held == 0 {
            return;
        }
        self.tokens -= tokens;
        let entry = self.entry_of(who);
        (entry.owner, entry.tokens) = (NOBODY, held - tokens);
    }

    /// A session's KV is most recently used from now on.
    pub(super) fn touch(&mut self, who: usize) {
        if self.held[who] > 0 {
            self.add(who, 0);
        }
    }

    /// Evicts at most `most` tokens of the least recently used KV, from its tail: whose, and how
    /// many. `None` when nothing is idle.
    pub(super) fn evict(&mut self, most: u64) -> Option<(usize, u64)> {
        while let Some(entry) = self.queue.front_mut() {
            if entry.tokens == 0 {
                self.queue.pop_front();
                continue;
            }
            let evicted = entry.tokens.min(most);
            entry.tokens -= evicted;
            self.tokens -= evicted;
            if entry.owner != NOBODY {
                self.held[entry.owner] = entry.tokens;
            }
            return Some((entry.owner, evicted));
        }
        None
    }

    /// Tokens counted again, entry by entry.
    pub(super) fn recount(&self) -> u64 {
        self.queue.iter().map(|entry| entry.tokens).sum()
    }

    /// The entry of a session that holds something.
    fn entry_of(&mut self, who: usize) -> &mut Entry {
        let place = self.queue.partition_point(|entry| entry.stamp < self.stamps[who]);
        &mut self.queue[place]
    }
}
