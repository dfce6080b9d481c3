//! Named random streams: (seed, purpose, index) to a ChaCha8 key.
//!
//! Streams share no state, so that adding a purpose, or drawing more from one
//! stream, changes no other. Only the generator's raw 64-bit output is used;
//! what is made of it is ours, so a library's new version changes no draw.

use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};

/// What a stream is for. The tag is part of the key: never rename one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Times and marks of the base stream; the index is the layer of rates.
    BaseArrivals,
    /// Turn count and tool times of base session `index`.
    BaseSession,
    /// Arrival times of the burst.
    BurstArrivals,
    /// Turn count and tool times of burst session `index`.
    BurstSession,
    /// The order in which recorded sessions are played.
    TraceOrder,
}

impl Purpose {
    fn tag(self) -> [u8; 16] {
        *match self {
            Self::BaseArrivals => b"base-arrivals\0\0\0",
            Self::BaseSession => b"base-session\0\0\0\0",
            Self::BurstArrivals => b"burst-arrivals\0\0",
            Self::BurstSession => b"burst-session\0\0\0",
            Self::TraceOrder => b"trace-order\0\0\0\0\0",
        }
    }
}

/// One stream of random numbers.
#[derive(Debug, Clone)]
pub struct Stream(ChaCha8Rng);

impl Stream {
    /// The stream named (seed, purpose, index), at its beginning.
    pub fn new(seed: u64, purpose: Purpose, index: u64) -> Self {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        key[8..24].copy_from_slice(&purpose.tag());
        key[24..].copy_from_slice(&index.to_le_bytes());
        Self(ChaCha8Rng::from_seed(key))
    }

    /// Uniform on [0, 1), a multiple of 2^-53.
    pub fn uniform(&mut self) -> f64 {
        const UNIT: f64 = 1.0 / (1_u64 << 53) as f64;
        (self.0.next_u64() >> 11) as f64 * UNIT
    }

    /// Exponential with the given mean, by inversion; 0 is possible, infinity is not.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * libm::log1p(-self.uniform())
    }

    /// Standard normal, one of the two values of a Box-Muller pair.
    pub fn normal(&mut self) -> f64 {
        let radius = libm::sqrt(-2.0 * libm::log1p(-self.uniform()));
        radius * libm::cos(std::f64::consts::TAU * self.uniform())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(seed: u64, purpose: Purpose, index: u64) -> f64 {
        Stream::new(seed, purpose, index).uniform()
    }

    #[test]
    fn each_part_of_a_name_makes_another_stream() {
        let one = first(1, Purpose::BaseSession, 1);
        assert_eq!(one, first(1, Purpose::BaseSession, 1));
        assert_ne!(one, first(2, Purpose::BaseSession, 1));
        assert_ne!(one, first(1, Purpose::BurstSession, 1));
        assert_ne!(one, first(1, Purpose::BaseSession, 2));
    }

    #[test]
    fn samples_have_their_laws_mean_and_variance() {
        let mut stream = Stream::new(7, Purpose::BaseArrivals, 0);
        let moments = |draw: &mut dyn FnMut() -> f64| {
            let n = 200_000;
            let (mut sum, mut square) = (0.0, 0.0);
            for _ in 0..n {
                let x = draw();
                sum += x;
                square += x * x;
            }
            let mean = sum / f64::from(n);
            (mean, square / f64::from(n) - mean * mean)
        };
        let near = |got: (f64, f64), want: (f64, f64)| {
            assert!((got.0 - want.0).abs() < 0.03, "{got:?} for {want:?}");
            assert!((got.1 - want.1).abs() < 0.1, "{got:?} for {want:?}");
        };
        near(moments(&mut || stream.uniform()), (0.5, 1.0 / 12.0));
        near(moments(&mut || stream.exponential(2.0)), (2.0, 4.0));
        near(moments(&mut || stream.normal()), (0.0, 1.0));
    }
}
