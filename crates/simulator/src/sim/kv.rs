//! The KV pool: what running requests hold, and what sessions leave idle
//! between their turns, evicted whole in LRU order (paper: App. E.1, E.9).
//!
//! Left out: blocks and their fragmentation, prefixes shared by sessions,
//! partial eviction.

use std::collections::VecDeque;

/// A pool of `capacity` tokens.
#[derive(Debug, Clone)]
pub struct Pool {
    capacity: u64,
    reserved: u64,
    idle: u64,
    /// Idle tokens of each session; 0 is none.
    held: Vec<u64>,
    /// When each session's idle KV was last used; its place in `lru`.
    stamps: Vec<u64>,
    /// (session, stamp), oldest first. An entry whose stamp is no longer the
    /// session's is stale: its KV was taken back by the session's next turn.
    lru: VecDeque<(usize, u64)>,
    last_stamp: u64,
}

impl Pool {
    /// An empty pool for `sessions` sessions.
    pub fn new(capacity: u64, sessions: usize) -> Self {
        Self {
            capacity,
            reserved: 0,
            idle: 0,
            held: vec![0; sessions],
            stamps: vec![0; sessions],
            lru: VecDeque::new(),
            last_stamp: 0,
        }
    }

    /// M, tokens.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Tokens held by running requests.
    pub fn reserved(&self) -> u64 {
        self.reserved
    }

    /// Tokens cached and idle.
    pub fn idle(&self) -> u64 {
        self.idle
    }

    /// Idle tokens of one session.
    pub fn idle_of(&self, who: usize) -> u64 {
        self.held[who]
    }

    /// Whether a request of `tokens` can run: idle KV never blocks it.
    pub fn has_room(&self, tokens: u64) -> bool {
        self.reserved + tokens <= self.capacity
    }

    /// Admits a request of `tokens`: its session's own idle KV is taken first,
    /// then others' is evicted until all fits. True if it had some: a hit.
    pub fn admit(&mut self, who: usize, tokens: u64) -> bool {
        let own = std::mem::take(&mut self.held[who]);
        self.idle -= own;
        self.reserved += tokens;
        while self.reserved + self.idle > self.capacity {
            let Some((victim, stamp)) = self.lru.pop_front() else { break };
            if self.held[victim] > 0 && self.stamps[victim] == stamp {
                self.idle -= std::mem::take(&mut self.held[victim]);
            }
        }
        own > 0
    }

    /// A request of `tokens` ends and leaves nothing.
    pub fn release(&mut self, tokens: u64) {
        self.reserved -= tokens;
    }

    /// A request of `tokens` ends and leaves its KV idle, most recently used.
    pub fn keep(&mut self, who: usize, tokens: u64) {
        self.reserved -= tokens;
        self.idle += tokens;
        self.held[who] = tokens;
        self.last_stamp += 1;
        self.stamps[who] = self.last_stamp;
        self.lru.push_back((who, self.last_stamp));
    }

    /// Idle tokens counted again, session by session.
    pub fn recount_idle(&self) -> u64 {
        self.held.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_session_is_evicted_whole_and_own_kv_is_taken_first() {
        let mut pool = Pool::new(100, 4);
        for who in [0, 1, 2] {
            pool.admit(who, 30);
            pool.keep(who, 30);
        }
        // Session 0 comes back: its own 30 go, and 40 + 60 just fit.
        assert!(pool.admit(0, 40));
        assert_eq!((pool.reserved(), pool.idle()), (40, 60));
        // A new session evicts session 1, the oldest left, whole.
        assert!(!pool.admit(3, 1));
        assert_eq!((pool.idle_of(1), pool.idle_of(2), pool.idle()), (0, 30, 30));
        assert!(!pool.admit(1, 10));
        assert!(pool.admit(2, 30));
    }

    #[test]
    fn use_renews_a_sessions_place() {
        let mut pool = Pool::new(100, 3);
        for who in [0, 1] {
            pool.admit(who, 40);
            pool.keep(who, 40);
        }
        pool.admit(0, 40);
        pool.keep(0, 40);
        pool.admit(2, 50);
        assert_eq!((pool.idle_of(0), pool.idle_of(1)), (40, 0));
    }

    #[test]
    fn idle_kv_never_blocks_an_admission() {
        let mut pool = Pool::new(100, 2);
        pool.admit(0, 100);
        assert!(!pool.has_room(1));
        pool.keep(0, 100);
        assert!(pool.has_room(100));
    }
}
