//! Sessions drawn from tables of quantiles. A session is a function of seed and index alone.

use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};

use super::{Changed, Empirical, Quantiles};
use crate::limits;
use crate::session::{Format, Gap, GapSource, Session, Turn};

/// Part of every stream's key: never to be changed.
const PURPOSE: &[u8; 16] = b"drawn-session\0\0\0";

/// One stream of random numbers: only the generator's raw output is used.
struct Stream(ChaCha8Rng);

impl Stream {
    fn new(seed: u64, index: u64) -> Self {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        key[8..24].copy_from_slice(PURPOSE);
        key[24..].copy_from_slice(&index.to_le_bytes());
        Self(ChaCha8Rng::from_seed(key))
    }

    /// Uniform on [0, 1), a multiple of 2^-53.
    fn uniform(&mut self) -> f64 {
        const UNIT: f64 = 1.0 / (1_u64 << 53) as f64;
        (self.0.next_u64() >> 11) as f64 * UNIT
    }
}

impl Empirical {
    /// Session `index` of a seed. It is the same whatever else is drawn.
    pub fn session(&self, seed: u64, index: u64) -> Session {
        let mut stream = Stream::new(seed, index);
        let turns = self.draw(&self.turns, &mut stream).clamp(1, limits::TURNS as u64);
        let first = &band(&self.first_prompts, |b| b.from_turns, turns).tokens;
        let first = self.draw(first, &mut stream).max(1);
        let mut session = Session {
            id: index.to_string(),
            parent: None,
            format: Format::Drawn,
            shared_tokens: None,
            turns: Vec::with_capacity(turns as usize),
        };
        let mut prompt_tokens = first;
        for turn in 1..=turns {
            let band = band(&self.by_turn, |b| b.from_turn, turn);
            let (mut gap, mut reusable_tokens) = (Gap::FIRST, 0);
            if turn > 1 {
                let new = band.new_tokens.as_ref();
                (prompt_tokens, reusable_tokens) =
                    self.next_prompt(turn, prompt_tokens, new, &mut stream);
                let seconds = band.gap_s.as_ref().map(|gap| {
                    let drawn = gap.at(&self.levels, stream.uniform());
                    self.gap_limit_s.map_or(drawn, |limit| drawn.min(limit))
                });
                gap = Gap { seconds, source: GapSource::Think };
            }
            session.turns.push(Turn {
                gap,
                prompt_tokens,
                output_tokens: self.draw(&band.output_tokens, &mut stream),
                reusable_tokens: Some(reusable_tokens),
                start_s: None,
                service_s: None,
            });
        }
        session
    }

    /// A follow-up's prompt, and what of it the one before leaves to be used again. What is
    /// drawn is the same number of values, whatever comes of it.
    fn next_prompt(
        &self,
        turn: u64,
        before: u64,
        new: Option<&Quantiles>,
        stream: &mut Stream,
    ) -> (u64, u64) {
        let changed = match turn {
            2 => &self.changed_second,
            _ => &band(&self.changed_later, |b| b.from_tokens, before).changed,
        };
        let draws = [(); 3].map(|()| stream.uniform());
        let tokens = |table: &Quantiles, u| whole(table.at(&self.levels, u));
        if let Changed { share, kept_tokens: Some(kept), prompt_tokens: Some(prompt) } = changed
            && draws[0] < *share
        {
            let prompt = tokens(prompt, draws[1]).max(1);
            return (prompt, tokens(kept, draws[2]).min(prompt).min(before));
        }
        let reusable = before / self.block_tokens * self.block_tokens;
        let new = new.map_or(0, |new| tokens(new, draws[1]));
        let prompt = (reusable + new).clamp(1, limits::TURN_TOKENS);
        (prompt, reusable.min(prompt))
    }

    fn draw(&self, table: &Quantiles, stream: &mut Stream) -> u64 {
        whole(table.at(&self.levels, stream.uniform()))
    }
}

/// The nearest whole number.
fn whole(x: f64) -> u64 {
    libm::floor(x + 0.5) as u64
}

/// The last band that begins at or before a value; the first one begins before all.
fn band<T>(bands: &[T], from: impl Fn(&T) -> u64, value: u64) -> &T {
    let after = bands.partition_point(|band| from(band) <= value);
    &bands[after.saturating_sub(1)]
}

impl Quantiles {
    /// The value at a probability in [0, 1), whose levels are given.
    pub fn at(&self, levels: &[f64], u: f64) -> f64 {
        let after = levels.partition_point(|level| *level <= u).clamp(1, levels.len() - 1);
        let (from, to) = (self.at[after - 1], self.at[after]);
        let share = (u - levels[after - 1]) / (levels[after] - levels[after - 1]);
        if after + 1 < levels.len() {
            return from + (to - from) * share;
        }
        from + (to - from) * libm::pow(share, self.tail(levels))
    }

    /// The power by which the values between the last two levels rise, so that the mean is
    /// right: that of `share^a` is 1 / (a + 1). Within bounds, where the tables allow no mean.
    fn tail(&self, levels: &[f64]) -> f64 {
        let last = levels.len() - 1;
        let body: f64 = (1..last)
            .map(|i| (levels[i] - levels[i - 1]) * (self.at[i - 1] + self.at[i]) / 2.0)
            .sum();
        let (from, to) = (self.at[last - 1], self.at[last]);
        let mean = (self.mean - body) / (levels[last] - levels[last - 1]);
        if to <= from {
            return 1.0;
        }
        let share = ((mean - from) / (to - from)).clamp(0.005, 0.95);
        1.0 / share - 1.0
    }
}
