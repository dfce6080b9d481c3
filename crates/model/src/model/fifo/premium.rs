//! Where the youth premium is proved positive: z_1 of Theorem 2, and the bracket check
//! between the threshold and z_1 (App. A). Evaluated in floating point, so a bracket
//! that comes out positive is evidence, not an interval-arithmetic proof.

use crate::model::numeric::root_between;

use super::ModelF;

/// The two factors of D / lambda_miss at a given root (Theorem 2).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Factors {
    /// H(z) = E\[T\] E\[z^-T\] / sum G_k z^-k.
    pub turn_factor: f64,
    /// Gamma(z): stationary over tilted mean cost.
    pub cost_factor: f64,
}

/// From where on Theorem 2 proves D > lambda_miss.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProvedFrom {
    /// z_1 - 1.
    pub gamma: f64,
    /// The load whose Perron root is z_1.
    pub rho: f64,
}

/// The bracket check on (1, z_1\].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BracketCheck {
    /// Brackets looked at.
    pub brackets: usize,
    /// Brackets whose lower bound of the premium is not positive.
    pub not_positive: usize,
    /// The smallest lower bound, divided by its bracket's lower z - 1.
    pub smallest_bound_per_gamma: f64,
}

/// H and Gamma at `gamma` = z - 1.
pub fn factors(model: &ModelF, gamma: f64) -> Factors {
    let y = 1.0 / (1.0 + gamma);
    let (mut power, mut total, mut cost, mut leaving) = (1.0, 0.0, 0.0, 0.0);
    for (k, (g, c)) in model.survival.iter().zip(&model.costs_s).enumerate() {
        power *= y;
        total += g * power;
        cost += c * g * power;
        leaving += (g - model.survival.get(k + 1).unwrap_or(&0.0)) * power;
    }
    Factors {
        turn_factor: model.mean_turns * leaving / total,
        cost_factor: (model.tail_work_s[0] / model.mean_turns) / (cost / total),
    }
}

/// rho at which the Perron root is `1 + gamma`: 1 / sum omega_k z^-k (Remark 1).
pub(crate) fn rho_of_root(model: &ModelF, gamma: f64) -> f64 {
    let y = 1.0 / (1.0 + gamma);
    let mut power = 1.0;
    let tilted: f64 = model
        .survival
        .iter()
        .zip(&model.costs_s)
        .map(|(g, c)| {
            power *= y;
            c * g * power
        })
        .sum();
    model.tail_work_s[0] / tilted
}

/// z_1 with Gamma(z_1) = 1 / H(inf), beyond which the premium is positive (Theorem 2).
///
/// Holds for turn laws whose H falls to its limit E\[T\] P(T = 1), as a truncated geometric
/// law's does, and for costs that do not fall with k. `None` when Gamma never gets there:
/// the theorem then proves no premium at any load.
pub fn proved_from(model: &ModelF) -> Option<ProvedFrom> {
    let first_is_last = 1.0 - model.survival.get(1).unwrap_or(&0.0);
    let least_turn_factor = model.mean_turns * first_is_last;
    let largest_cost_factor = model.tail_work_s[0] / model.mean_turns / model.costs_s[0];
    if largest_cost_factor * least_turn_factor <= 1.0 {
        return None;
    }
    // In the slope 1 - 1/z, (0, 1) covers every z.
    let slope = root_between(0.0, 1.0 - 1e-12, |u| {
        factors(model, u / (1.0 - u)).cost_factor * least_turn_factor - 1.0
    })?;
    let gamma = slope / (1.0 - slope);
    Some(ProvedFrom { gamma, rho: rho_of_root(model, gamma) })
}

/// Bounds the premium below by H(z_{i+1}) Gamma(z_i) - 1 on a geometric grid of z - 1 from
/// `from_gamma` to `to_gamma`, using that H falls and Gamma rises (App. A: 53 brackets from 1e-12 to z_1).
pub fn bracket_check(
    model: &ModelF,
    from_gamma: f64,
    to_gamma: f64,
    brackets: usize,
) -> BracketCheck {
    let step = libm::pow(to_gamma / from_gamma, 1.0 / brackets as f64);
    let mut check =
        BracketCheck { brackets, not_positive: 0, smallest_bound_per_gamma: f64::INFINITY };
    let mut low = from_gamma;
    for i in 0..brackets {
        let high = if i + 1 == brackets { to_gamma } else { low * step };
        let bound = factors(model, high).turn_factor * factors(model, low).cost_factor - 1.0;
        check.not_positive += usize::from(bound <= 0.0);
        check.smallest_bound_per_gamma = check.smallest_bound_per_gamma.min(bound / low);
        low = high;
    }
    check
}
