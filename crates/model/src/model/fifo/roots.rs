//! How fast model F forgets its start: the other roots of x^K = sum a_k x^(K-k)
//! (Theorem 1(b), App. A).

mod aberth;

use crate::model::ModelError;

use super::{ModelF, Trap};

/// The transient of an orbit, relative to its growth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Transient {
    /// r, the largest modulus of the roots other than z. 0 when K = 1.
    pub modulus: f64,
    /// theta = r / z: the transient's factor per generation.
    pub decay: f64,
}

/// The most turns whose roots are found: that takes time as the square of their number, a few
/// seconds here.
const MOST_TURNS: usize = 1500;

/// r and theta at a load above capacity.
///
/// The Perron root is divided out first, in the scaled variable x / z, where the remaining
/// coefficients are the tail sums of a_k z^-k and no subtraction occurs. They fall, so no
/// root of the rest lies outside the unit circle.
///
/// # Errors
/// The roots do not come to rest, or the sessions have more turns than can be taken on.
pub fn transient(model: &ModelF, trap: &Trap) -> Result<Transient, ModelError> {
    let mut tails: Vec<f64> = Vec::with_capacity(model.survival.len());
    let mut power = trap.lambda_per_s;
    for (c, g) in model.costs_s.iter().zip(&model.survival) {
        power *= 1.0 - trap.slope;
        tails.push(c * g * power);
    }
    for k in (1..tails.len()).rev() {
        tails[k - 1] += tails[k];
    }
    let degree = tails.len() - 1;
    if degree == 0 {
        return Ok(Transient { modulus: 0.0, decay: 0.0 });
    }
    if degree >= MOST_TURNS {
        return Err(ModelError::NoSolution {
            what: "the transient's roots",
            why: format!(
                "sessions of up to {} turns have as many roots, and the time to find them grows as \
                 the square; expected at most {MOST_TURNS} turns",
                degree + 1
            ),
        });
    }
    // x^K - sum b_k x^(K-k) = (x - 1)(x^(K-1) + B_2 x^(K-2) + ... + B_K), B_j = sum_{k >= j} b_k.
    let roots = aberth::roots(&tails[1..]).ok_or_else(|| ModelError::NoSolution {
        what: "the transient's roots",
        why: "they did not come to rest".into(),
    })?;
    let decay = roots.iter().map(|x| x.modulus()).fold(0.0, f64::max);
    Ok(Transient { modulus: decay * trap.z, decay })
}
