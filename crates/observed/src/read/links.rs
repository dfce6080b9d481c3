//! Sessions told by the hash ids of their prompts: a request continues the session whose whole
//! last prompt its own begins with, the longest of several.

use std::collections::{HashMap, HashSet};

use crate::form::spread;

/// Blocks that are remembered, some 40 MB; beyond, a request that continues nothing is of no
/// session.
const MOST: usize = 1 << 21;

/// Sizes of a block that are in use, tokens.
const SIZES: [u64; 9] = [8, 16, 32, 64, 128, 256, 512, 1024, 2048];

/// What was seen of the prompts before.
#[derive(Default)]
pub struct Links {
    /// The sizes that all requests fit; none where the first was not seen yet.
    sizes: Option<Vec<u64>>,
    /// Every beginning of a prompt, in whole blocks.
    seen: HashSet<u64>,
    /// Of each session, its last prompt in whole blocks.
    tips: HashMap<u64, u32>,
    /// The same the other way round.
    tip_of: HashMap<u32, u64>,
    sessions: u32,
}

impl Links {
    /// The number of a request's session; `None` without hash ids, or where too many were seen
    /// to tell a new session from an old one.
    pub fn session_of(&mut self, hash_ids: &[u64], prompt_tokens: u64) -> Option<u32> {
        if hash_ids.is_empty() {
            return None;
        }
        let whole = self.whole_blocks(hash_ids.len() as u64, prompt_tokens) as usize;
        let mut beginnings = Vec::with_capacity(whole);
        let mut all = 0;
        for id in &hash_ids[..whole] {
            all = spread(all ^ spread(*id)).wrapping_add(1);
            beginnings.push(all);
        }
        let continued = beginnings.iter().rev().find_map(|all| self.tips.get(all).copied());
        let full = self.seen.len() + beginnings.len() > MOST;
        let session = match continued {
            Some(session) => session,
            None if full => return None,
            None => {
                self.sessions += 1;
                self.sessions
            }
        };
        // What several prompts begin with (a system prompt) tells no session.
        let before = self.tip_of.remove(&session);
        if let Some(tip) = &before {
            self.tips.remove(tip);
        }
        let tip = beginnings.last().copied();
        let tip = tip.filter(|tip| before == Some(*tip) || !self.seen.contains(tip));
        if let Some(tip) = tip {
            self.tips.insert(tip, session);
            self.tip_of.insert(session, tip);
        }
        if !full {
            self.seen.extend(beginnings);
        }
        Some(session)
    }

    /// How many of the blocks are whole: a last one that is not changes as its prompt grows.
    fn whole_blocks(&mut self, blocks: u64, prompt_tokens: u64) -> u64 {
        let fits =
            |size: &u64| prompt_tokens.div_ceil(*size) == blocks || prompt_tokens / size == blocks;
        let sizes = self.sizes.get_or_insert_with(|| SIZES.to_vec());
        sizes.retain(fits);
        sizes.first().map_or(blocks, |size| (prompt_tokens / size).min(blocks))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks of 16 tokens: a shared beginning, then the session's own.
    fn ids(shared: u64, session: u64, tokens: u64) -> Vec<u64> {
        let blocks = tokens.div_ceil(16);
        let own = |block: u64| 1000 * session + block + tokens * u64::from(block == blocks - 1);
        (0..blocks).map(|block| if block < shared { block } else { own(block) }).collect()
    }

    #[test]
    fn prompts_that_grow_are_one_session_whatever_their_last_block_holds() {
        let mut links = Links::default();
        let mut of = |session, tokens| links.session_of(&ids(2, session, tokens), tokens);
        let first: Vec<_> = (1..4).map(|session| of(session, 70)).collect();
        assert_eq!(first, [Some(1), Some(2), Some(3)]);
        assert_eq!((of(2, 101), of(1, 90), of(3, 75)), (Some(2), Some(1), Some(3)));
        assert_eq!((of(2, 160), of(4, 160)), (Some(2), Some(4)));
    }

    #[test]
    fn a_prompt_that_is_only_what_all_begin_with_tells_no_session() {
        let mut links = Links::default();
        let mut of = |session, tokens| links.session_of(&ids(3, session, tokens), tokens);
        assert_eq!((of(1, 48), of(2, 48), of(3, 100)), (Some(1), Some(1), Some(1)));
        // From then on its own blocks tell it.
        assert_eq!((of(4, 48), of(3, 130), of(4, 90)), (Some(2), Some(1), Some(3)));
    }

    #[test]
    fn no_hash_ids_are_no_session() {
        assert_eq!(Links::default().session_of(&[], 100), None);
    }
}
