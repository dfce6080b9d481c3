//! The token ids that sessions send: made up, a session's own, and the same whenever the run is
//! made again.

use std::collections::HashMap;
use std::ops::Range;

use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};
use trapcheck_setup::hash::sha256_hex;

use crate::client::Request;

/// Token ids to draw from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tokens {
    first: u32,
    number: u32,
}

impl Tokens {
    /// Ids that are ordinary tokens of every usual vocabulary, and of one of 4,096.
    pub const USUAL: Self = Self { first: 1000, number: 3000 };

    /// The ids of a range; `None` where it has fewer than 100, of which prompts could agree
    /// by chance.
    pub fn of(range: Range<u32>) -> Option<Self> {
        let number = range.end.checked_sub(range.start).filter(|number| *number >= 100)?;
        Some(Self { first: range.start, number })
    }
}

/// What each session has said and heard.
#[derive(Debug)]
pub struct Prompts {
    run: String,
    tokens: Tokens,
    sessions: HashMap<usize, Context>,
}

#[derive(Debug)]
struct Context {
    ids: Vec<u32>,
    draws: ChaCha8Rng,
}

impl Prompts {
    /// The prompts of a run. Another run's are others, so that nothing an engine has kept of
    /// it could ever be found.
    pub fn new(run: &str, tokens: Tokens) -> Self {
        Self { run: run.into(), tokens, sessions: HashMap::new() }
    }

    /// The prompt of a request: what it repeats of what the session has so far, and new tokens
    /// up to its length.
    pub fn of(&mut self, request: Request) -> &[u32] {
        let context = self.sessions.entry(request.who).or_insert_with(|| Context {
            ids: Vec::new(),
            draws: draws(&format!("{} session {}", self.run, request.who)),
        });
        let whole = |tokens| usize::try_from(tokens).unwrap_or(usize::MAX);
        let length = whole(request.prompt_tokens);
        context.ids.truncate(length.min(whole(request.reusable_tokens)));
        let new = length - context.ids.len();
        context.ids.extend((0..new).map(|_| draw(&mut context.draws, self.tokens)));
        &context.ids
    }

    /// A session's turn was answered: the output is part of its next prompt.
    pub fn answered(&mut self, who: usize, output: &[u32]) {
        if let Some(context) = self.sessions.get_mut(&who) {
            context.ids.extend_from_slice(output);
        }
    }

    /// A session has ended.
    pub fn forget(&mut self, who: usize) {
        self.sessions.remove(&who);
    }
}

/// A prompt that no session sends.
pub fn canary(tokens: Tokens, length: usize) -> Vec<u32> {
    let mut draws = draws("canary");
    (0..length).map(|_| draw(&mut draws, tokens)).collect()
}

/// A stream of draws by its name.
fn draws(name: &str) -> ChaCha8Rng {
    let mut key = [0; 32];
    key.copy_from_slice(&sha256_hex(name.as_bytes()).as_bytes()[..32]);
    ChaCha8Rng::from_seed(key)
}

fn draw(draws: &mut ChaCha8Rng, tokens: Tokens) -> u32 {
    tokens.first + draws.next_u32() % tokens.number
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(who: usize, turn: u32, prompt_tokens: u64, reusable_tokens: u64) -> Request {
        Request { who, turn, prompt_tokens, decode_tokens: 10, reusable_tokens }
    }

    #[test]
    fn a_recorded_turn_repeats_as_much_of_the_prompt_before_as_its_recording() {
        let mut prompts = Prompts::new("run", Tokens::USUAL);
        let first = prompts.of(request(0, 1, 200, 0)).to_vec();
        prompts.answered(0, &[7; 10]);
        let second = prompts.of(request(0, 2, 300, 150)).to_vec();
        assert_eq!((second.len(), &second[..150]), (300, &first[..150]));
        assert!(second[150..160] != first[150..160] && !second.contains(&7));
    }

    #[test]
    fn a_prompt_is_the_one_before_with_its_output_and_new_tokens() {
        let mut prompts = Prompts::new("run", Tokens::USUAL);
        let first = prompts.of(request(0, 1, 200, 0)).to_vec();
        prompts.answered(0, &[7; 10]);
        let second = prompts.of(request(0, 2, 265, 210)).to_vec();
        assert_eq!((first.len(), second.len()), (200, 265));
        assert_eq!(second[..200], first);
        assert_eq!(second[200..210], [7; 10]);
        assert!(second[210..].iter().all(|id| (1000..4000).contains(id)));
    }

    #[test]
    fn sessions_and_runs_share_no_prefix_and_a_run_made_again_is_the_same() {
        let prompt =
            |run: &str, who| Prompts::new(run, Tokens::USUAL).of(request(who, 1, 50, 0)).to_vec();
        assert_eq!(prompt("a", 0), prompt("a", 0));
        for other in [prompt("a", 1), prompt("b", 0), canary(Tokens::USUAL, 50)] {
            assert!(prompt("a", 0)[..8] != other[..8]);
        }
    }

    #[test]
    fn a_range_of_too_few_tokens_is_none() {
        let backwards = Range { start: 500, end: 4 };
        assert!(Tokens::of(0..99).is_none() && Tokens::of(backwards).is_none());
        assert_eq!(Tokens::of(1000..4000), Some(Tokens::USUAL));
    }
}
