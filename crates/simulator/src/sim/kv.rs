//! The KV pool: what running requests hold, and what sessions leave idle between their turns,
//! evicted in LRU order (paper: App. E.1, E.9).
//!
//! Running requests are never evicted. A session's idle KV goes whole, as in the paper's
//! simulator, or block by block from its tail, as engines do it: what is left is a prefix that
//! still hits. A prefix that a session came back to without needing all of it leaves the rest
//! behind: nobody's, and idle until its turn to be evicted comes.
//!
//! Left out: fragmentation, prefixes shared by sessions.

mod idle;

use idle::Idle;

/// How idle KV is evicted, and what of it hits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Eviction {
    /// A session's KV at a time, whole; it hits whole or not at all.
    Whole,
    /// From a session's tail, in blocks of this many tokens; the prefix that is left hits.
    Tail {
        /// Tokens per block.
        block_tokens: u64,
    },
}

/// Prompt tokens that an admitted request need not prefill.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Hit {
    /// Found in the pool.
    pub pool_tokens: u64,
    /// Loaded from the host tier.
    pub host_tokens: u64,
}

impl Hit {
    /// All of them.
    pub fn tokens(self) -> u64 {
        self.pool_tokens + self.host_tokens
    }
}

/// A pool of `capacity` tokens, perhaps with a tier in host memory behind it.
#[derive(Debug, Clone)]
pub struct Pool {
    capacity: u64,
    reserved: u64,
    eviction: Eviction,
    idle: Idle,
    host_capacity: u64,
    /// What was evicted: of each session what follows its prefix in the pool.
    host: Idle,
}

impl Pool {
    /// An empty pool for `sessions` sessions, with `host_capacity` tokens behind it.
    pub fn new(capacity: u64, host_capacity: u64, eviction: Eviction, sessions: usize) -> Self {
        Self {
            capacity,
            reserved: 0,
            eviction,
            idle: Idle::new(sessions),
            host_capacity,
            host: Idle::new(if host_capacity > 0 { sessions } else { 0 }),
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
        self.idle.tokens()
    }

    /// Idle tokens of one session.
    pub(crate) fn idle_of(&self, who: usize) -> u64 {
        self.idle.of(who)
    }

    /// What a request of `tokens` takes of the pool: whole blocks, where it has blocks.
    pub(crate) fn taken_by(&self, tokens: u64) -> u64 {
        match self.eviction {
            Eviction::Whole => tokens,
            Eviction::Tail { block_tokens } => tokens.div_ceil(block_tokens) * block_tokens,
        }
    }

    /// Whether a request of `tokens` can run: idle KV never blocks it.
    pub fn has_room(&self, tokens: u64) -> bool {
        self.reserved + self.taken_by(tokens) <= self.capacity
    }

    /// Admits a request of `tokens`, of which the session may have `reusable` in the pool: these
    /// are taken first, then others' idle KV is evicted until all fits.
    pub fn admit(&mut self, who: usize, tokens: u64, reusable: u64) -> Hit {
        let hit = match self.eviction {
            Eviction::Whole => {
                let own = self.idle.of(who);
                self.idle.take(who, own);
                Hit { pool_tokens: if own > 0 { reusable } else { 0 }, host_tokens: 0 }
            }
            Eviction::Tail { block_tokens } => self.longest_prefix(who, reusable, block_tokens),
        };
        self.reserved += self.taken_by(tokens);
        self.make_room();
        hit
    }

    /// Takes what the session's KV has in common with its prompt, in whole blocks, from the pool
    /// and, where the pool's part ends before that, from the host.
    fn longest_prefix(&mut self, who: usize, reusable: u64, block_tokens: u64) -> Hit {
        let reusable = reusable - reusable % block_tokens;
        let pool_tokens = self.idle.of(who).min(reusable);
        self.idle.take(who, pool_tokens);
        if self.host_capacity == 0 {
            return Hit { pool_tokens, host_tokens: 0 };
        }
        let host_tokens = self.host.of(who).min(reusable - pool_tokens);
        self.host.take(who, host_tokens);
        Hit { pool_tokens, host_tokens }
    }

    /// Evicts the least recently used idle KV until what is reserved fits.
    fn make_room(&mut self) {
        while self.reserved + self.idle.tokens() > self.capacity {
            let over = self.reserved + self.idle.tokens() - self.capacity;
            let most = match self.eviction {
                Eviction::Whole => u64::MAX,
                Eviction::Tail { .. } => self.taken_by(over),
            };
            let Some((owner, tokens)) = self.idle.evict(most) else { break };
            if self.host_capacity > 0 {
                self.host.add(owner, tokens);
            }
        }
        while self.host.tokens() > self.host_capacity {
            if self.host.evict(self.host.tokens() - self.host_capacity).is_none() {
                break;
            }
        }
    }

    /// A request of `tokens` ends and leaves nothing.
    pub fn release(&mut self, tokens: u64) {
        self.reserved -= self.taken_by(tokens);
    }

    /// A request of `tokens` ends and leaves its KV idle, most recently used. An engine with
    /// blocks keeps whole ones, and has no KV of the last token decoded.
    pub fn keep(&mut self, who: usize, tokens: u64) {
        self.reserved -= self.taken_by(tokens);
        let kept = match self.eviction {
            Eviction::Whole => tokens,
            Eviction::Tail { block_tokens } => (tokens - 1) - (tokens - 1) % block_tokens,
        };
        self.idle.add(who, kept);
    }

    /// A session's idle KV counts as used just now.
    pub fn touch(&mut self, who: usize) {
        self.idle.touch(who);
    }

    /// Idle tokens counted again, entry by entry.
    pub(crate) fn recount_idle(&self) -> u64 {
        self.idle.recount()
    }
}

#[cfg(test)]
mod tests;
