//! Model F: the all-miss FIFO round robin whose overloaded state is the trap (sec 3, App. A).
//!
//! A fluid single-server queue in which every turn misses and a finished turn rejoins the
//! tail at once. Left out: concurrency, preemption, tool time, and the hits that return as
//! the queue empties. This file has the asymptotic laws; `model::fluid` has the transient.

pub mod kendall;
pub mod premium;
pub mod roots;
pub mod sharing;
pub mod threshold;

use super::numeric::dot;
use super::{ModelError, positive};

/// Below this distance of rho from 1 a load is called critical: rho itself is a sum with
/// rounding errors of this order.
const CRITICAL_WIDTH: f64 = 1e-12;

/// Newton's steps towards the Perron root; it takes about ten.
const MOST_STEPS: usize = 10_000;

/// What model F does at a load (Prop. 1, Theorem 1).
#[derive(Debug, Clone, PartialEq)]
pub enum Regime {
    /// rho < 1: the queue empties after V_tot / (1 - rho).
    Drains {
        /// rho = lambda / lambda_miss.
        rho: f64,
    },
    /// rho = 1: the queue settles at V_tot / kbar_c.
    Critical,
    /// rho > 1: the gap between turns and the backlog grow linearly.
    Trapped(Trap),
}

/// Model F of one cell: costs and turn law, at no particular load.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelF {
    costs_s: Vec<f64>,
    survival: Vec<f64>,
    /// A_k = sum_{j >= k} c_j G_j, in seconds: what Eq. (1) needs at every load.
    tail_work_s: Vec<f64>,
    mean_turns: f64,
    kbar_c: f64,
}

/// The asymptotic state of model F at rho > 1 (Theorem 1(a), Theorem 2).
#[derive(Debug, Clone, PartialEq)]
pub struct Trap {
    /// lambda, in sessions/s.
    pub lambda_per_s: f64,
    /// lambda_miss = 1 / sum c_k G_k, in sessions/s.
    pub lambda_miss_per_s: f64,
    /// rho = lambda / lambda_miss.
    pub rho: f64,
    /// z, the *Perron root*: lambda sum c_k G_k z^-k = 1.
    pub z: f64,
    /// 1 - 1/z: growth of the gap per second of completion time.
    pub slope: f64,
    /// An interval of relative width at most 1e-12 on whose ends the Perron equation has
    /// different signs.
    pub z_bracket: (f64, f64),
    /// gamma = z - 1: growth of the gap per second of joining time.
    pub gamma: f64,
    /// alpha, growth of the backlog, in sessions/s.
    pub alpha_per_s: f64,
    /// D = lambda E\[z^-T\], the completion rate, in sessions/s.
    pub completions_per_s: f64,
    /// H(z): what the law of T contributes to D / lambda_miss (Theorem 2).
    pub turn_factor: f64,
    /// Gamma(z): what the growth of costs contributes to D / lambda_miss (Theorem 2).
    pub cost_factor: f64,
    /// nu^z_k, the turn mix of the backlog and of what is served.
    pub tilted_mix: Vec<f64>,
}

/// What model F does with the given costs and turn law at `lambda_per_s`.
///
/// # Errors
/// As [`ModelF::new`] and [`ModelF::at`].
pub fn regime(costs_s: &[f64], survival: &[f64], lambda_per_s: f64) -> Result<Regime, ModelError> {
    ModelF::new(costs_s, survival)?.at(lambda_per_s)
}

impl ModelF {
    /// `costs_s` is c_k in GPU seconds, `survival` is G_k = P(T >= k), both for k = 1..=K.
    ///
    /// # Errors
    /// A cost that is not positive, different lengths, or a survival function that does not
    /// start at 1, increases, or is not positive up to K.
    pub fn new(costs_s: &[f64], survival: &[f64]) -> Result<Self, ModelError> {
        check_survival(survival)?;
        if costs_s.len() != survival.len() {
            return Err(ModelError::Lengths { costs: costs_s.len(), turns: survival.len() });
        }
        for cost in costs_s {
            positive("turn cost (s)", *cost)?;
        }
        let mut tail_work_s: Vec<f64> = costs_s.iter().zip(survival).map(|(c, g)| c * g).collect();
        let weighted: f64 = tail_work_s.iter().zip(1u32..).map(|(a, k)| a * f64::from(k)).sum();
        for k in (1..tail_work_s.len()).rev() {
            tail_work_s[k - 1] += tail_work_s[k];
        }
        Ok(Self {
            kbar_c: weighted / tail_work_s[0],
            mean_turns: survival.iter().sum(),
            costs_s: costs_s.to_vec(),
            survival: survival.to_vec(),
            tail_work_s,
        })
    }

    /// lambda_miss = 1 / sum c_k G_k, in sessions/s.
    pub fn lambda_miss_per_s(&self) -> f64 {
        1.0 / self.tail_work_s[0]
    }

    /// kbar_c, the cost-weighted mean turn index (sec 3).
    pub fn kbar_c(&self) -> f64 {
        self.kbar_c
    }

    /// E\[T\], in turns.
    pub fn mean_turns(&self) -> f64 {
        self.mean_turns
    }

    /// c_k, in seconds.
    pub fn costs_s(&self) -> &[f64] {
        &self.costs_s
    }

    /// G_k = P(T >= k).
    pub fn survival(&self) -> &[f64] {
        &self.survival
    }

    /// rho = lambda / lambda_miss.
    pub fn rho(&self, lambda_per_s: f64) -> f64 {
        lambda_per_s * self.tail_work_s[0]
    }

    /// R_k = sum_{j >= k} c_j G_j / G_k: all-miss work left in a session whose next turn is
    /// `k` (1-based), in seconds (App. A).
    pub fn work_left_s(&self, k: usize) -> f64 {
        self.tail_work_s[k - 1] / self.survival[k - 1]
    }

    /// What the queue does at a load.
    ///
    /// # Errors
    /// The rate is not positive.
    pub fn at(&self, lambda_per_s: f64) -> Result<Regime, ModelError> {
        let lambda = positive("lambda (sessions/s)", lambda_per_s)?;
        let rho = self.rho(lambda);
        if (rho - 1.0).abs() <= CRITICAL_WIDTH {
            return Ok(Regime::Critical);
        }
        if rho < 1.0 {
            return Ok(Regime::Drains { rho });
        }
        Ok(Regime::Trapped(self.trap(lambda, rho)))
    }

    fn trap(&self, lambda: f64, rho: f64) -> Trap {
        // u = 1 - 1/z and y = 1/z, each from the equation in which it keeps its digits.
        let (slope, y, z_bracket) = if rho < 2.0 {
            let (u, (low, high)) = self.slope(lambda, rho);
            (u, 1.0 - u, (1.0 / (1.0 - low), 1.0 / (1.0 - high)))
        } else {
            let (y, (low, high)) = self.inverse_root(lambda);
            (1.0 - y, y, (1.0 / high, 1.0 / low))
        };
        let mut tilted_mix: Vec<f64> = Vec::with_capacity(self.survival.len());
        let (mut power, mut total, mut tilted_cost, mut leaving) = (1.0, 0.0, 0.0, 0.0);
        for (k, (g, c)) in self.survival.iter().zip(&self.costs_s).enumerate() {
            power *= y;
            let mass = g * power;
            tilted_mix.push(mass);
            total += mass;
            tilted_cost += c * mass;
            leaving += (g - self.survival.get(k + 1).unwrap_or(&0.0)) * power;
        }
        tilted_mix.iter_mut().for_each(|m| *m /= total);
        Trap {
            lambda_per_s: lambda,
            lambda_miss_per_s: self.lambda_miss_per_s(),
            rho,
            z: 1.0 / y,
            slope,
            z_bracket,
            gamma: slope / y,
            // 1 - E[y^T] = (1 - y) sum G_k y^(k-1), which loses no digits near rho = 1.
            alpha_per_s: lambda * slope * total / y,
            completions_per_s: lambda * leaving,
            turn_factor: self.mean_turns * leaving / total,
            cost_factor: (self.tail_work_s[0] / self.mean_turns) / (tilted_cost / total),
            tilted_mix,
        }
    }

    /// The root u = 1 - 1/z of lambda sum_k A_k u (1-u)^(k-1) = rho - 1, which is the Perron
    /// equation with the 1 taken out: nothing cancels as rho falls to 1. Its left side is
    /// increasing and concave in u, so Newton's steps from 0 approach from below.
    fn slope(&self, lambda: f64, rho: f64) -> (f64, (f64, f64)) {
        let excess = |u: f64| {
            let (q, dq) = horner_with_derivative(&self.tail_work_s, 1.0 - u);
            (lambda * u * q - (rho - 1.0), lambda * (q - u * dq))
        };
        let mut u = 0.0;
        for _ in 0..MOST_STEPS {
            let (f, df) = excess(u);
            let next = u - f / df;
            if next - u <= 1e-15 * next {
                break;
            }
            u = next;
        }
        (u, bracket(u, |u| excess(u).0))
    }

    /// The root y = 1/z of lambda sum c_k G_k y^k = 1. Its left side is increasing and convex,
    /// so Newton's steps from an upper bound approach from above.
    fn inverse_root(&self, lambda: f64) -> (f64, (f64, f64)) {
        let excess = |y: f64| {
            let terms = self.costs_s.iter().zip(&self.survival).rev();
            let (q, dq) = terms.fold((0.0, 0.0), |(q, dq), (c, g)| (q * y + c * g, dq * y + q));
            (lambda * y * q - 1.0, lambda * (q + y * dq))
        };
        // The first turn alone bounds it: lambda c_1 y <= 1.
        let mut y = (1.0 / (lambda * self.costs_s[0])).min(1.0);
        for _ in 0..MOST_STEPS {
            let (f, df) = excess(y);
            let next = y - f / df;
            if y - next <= 1e-15 * y {
                break;
            }
            y = next;
        }
        (y, bracket(y, |y| excess(y).0))
    }
}

impl Trap {
    /// A per-turn quantity averaged over what is served: `per_turn[k - 1]` belongs to turn
    /// `k`. With prompts, the mean served prompt L_bar (App. B).
    pub fn served_mean(&self, per_turn: &[f64]) -> f64 {
        dot(&self.tilted_mix, per_turn)
    }

    /// The *youth premium* D / lambda_miss - 1 (Theorem 2).
    pub fn premium(&self) -> f64 {
        self.completions_per_s / self.lambda_miss_per_s - 1.0
    }

    /// (lambda - lambda_miss) / alpha: how far the reading that completions stay at
    /// lambda_miss overstates the backlog's growth (App. B, Table 3).
    pub fn quasi_static_excess(&self) -> f64 {
        (self.lambda_per_s - self.lambda_miss_per_s) / self.alpha_per_s
    }
}

/// An interval around a root of an increasing function on whose ends its sign differs, as
/// narrow as rounding allows, from 4e-13 of the root to either side on.
fn bracket(root: f64, excess: impl Fn(f64) -> f64) -> (f64, f64) {
    std::iter::successors(Some(4e-13), |width| Some(2.0 * width))
        .take_while(|width| *width < 1.0)
        .map(|width| (root * (1.0 - width), root * (1.0 + width)))
        .find(|(low, high)| excess(*low) <= 0.0 && excess(*high) >= 0.0)
        .unwrap_or((root, root))
}

/// sum_i coefficients\[i\] y^i and its derivative.
fn horner_with_derivative(coefficients: &[f64], y: f64) -> (f64, f64) {
    coefficients.iter().rev().fold((0.0, 0.0), |(p, dp), a| (p * y + a, dp * y + p))
}

fn check_survival(survival: &[f64]) -> Result<(), ModelError> {
    let wrong = |message: String| Err(ModelError::TurnLaw { message });
    if survival.is_empty() {
        return wrong("expected at least one turn".into());
    }
    if survival[0] != 1.0 {
        return wrong(format!("P(T >= 1) must be 1, found {}", survival[0]));
    }
    for (i, pair) in survival.windows(2).enumerate() {
        if !(pair[1] > 0.0 && pair[1] <= pair[0]) {
            return wrong(format!(
                "P(T >= {}) = {} must be positive and at most P(T >= {}) = {}",
                i + 2,
                pair[1],
                i + 1,
                pair[0]
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
#[path = "fifo/tests.rs"]
pub(crate) mod tests;
