//! Model F's asymptotic laws (sec 3, 4, App. A, B, C, Table 3).

use super::answer::{Answer, Unanswered};
use super::question::{At, Formula, Load, needed};
use crate::model::fifo::{premium, roots, sharing};
use crate::model::numeric::dot;
use crate::model::window::slope_threshold_per_s;
use crate::model::{ModelF, Regime};

pub(super) const QUANTITIES: &[(&str, Formula)] = &[
    ("rho", rho),
    ("mean_served_prompt_tokens", mean_served_prompt),
    ("gap_slope", gap_slope),
    ("completions_over_lambda_ref", completions_over_lambda_ref),
    ("completions_over_lambda_miss", completions_over_lambda_miss),
    ("quasi_static_excess", quasi_static_excess),
    ("growth_over_excess", growth_over_excess),
    ("turn_factor", turn_factor),
    ("cost_factor", cost_factor),
    ("gamma_over_gap_slope_percent", |at| {
        let trap = at.trap()?;
        Ok(100.0 * (trap.gamma / trap.slope - 1.0))
    }),
    ("growth_over_slope_threshold_percent", |at| {
        let line = slope_threshold_per_s(at.rate_per_s()?, at.theory.cell.lambda_ref_per_s);
        Ok(100.0 * (growth_per_s(at)? / line - 1.0))
    }),
    ("growth_over_excess_sharing", sharing_ratio),
    ("mean_turns_over_mean_cost", |at| {
        Ok(at.theory.model_f.mean_turns() / at.theory.model_f.kbar_c())
    }),
    ("transient_modulus", |at| Ok(transient(at)?.modulus)),
    ("transient_decay", transient_decay),
    ("premium_proved_from_rho", |at| Ok(proved(at)?.rho)),
    ("non_positive_brackets", |at| {
        let brackets = needed("brackets", at.with.brackets)?;
        let from = needed("from_gamma", at.with.from_gamma)?;
        let check = premium::bracket_check(&at.theory.model_f, from, proved(at)?.gamma, brackets);
        Ok(check.not_positive as f64)
    }),
    ("premium_sign_of_growing_costs", premium_sign),
    ("token_ratio_from_composition", composition_ratio),
];

/// lambda / lambda_miss.
pub fn rho(at: &At) -> Answer {
    Ok(at.theory.model_f.rho(at.rate_per_s()?))
}

/// L_bar: the mean prompt that is served in the trap, in tokens.
pub(crate) fn mean_served_prompt(at: &At) -> Answer {
    Ok(at.trap()?.served_mean(&at.theory.means.prompt_tokens))
}

/// 1 - 1/z: how fast the gap between a session's turns grows, in s/s.
pub fn gap_slope(at: &At) -> Answer {
    Ok(at.trap()?.slope)
}

/// D / lambda_ref.
pub fn completions_over_lambda_ref(at: &At) -> Answer {
    Ok(at.trap()?.completions_per_s / at.theory.cell.lambda_ref_per_s)
}

/// D / lambda_miss: one plus the youth premium.
pub fn completions_over_lambda_miss(at: &At) -> Answer {
    Ok(at.trap()?.premium() + 1.0)
}

/// alpha, in sessions/s.
pub fn growth_per_s(at: &At) -> Answer {
    Ok(at.trap()?.alpha_per_s)
}

/// (lambda - lambda_miss) / alpha.
pub fn quasi_static_excess(at: &At) -> Answer {
    Ok(at.trap()?.quasi_static_excess())
}

/// alpha / (lambda - lambda_miss).
pub(crate) fn growth_over_excess(at: &At) -> Answer {
    Ok(1.0 / at.trap()?.quasi_static_excess())
}

/// H (App. C).
pub fn turn_factor(at: &At) -> Answer {
    Ok(at.trap()?.turn_factor)
}

/// Gamma (App. C).
pub fn cost_factor(at: &At) -> Answer {
    Ok(at.trap()?.cost_factor)
}

/// theta = r/z: what is left of the transient after one generation (App. A).
pub(crate) fn transient_decay(at: &At) -> Answer {
    Ok(transient(at)?.decay)
}

fn transient(at: &At) -> Result<roots::Transient, Unanswered> {
    Ok(roots::transient(&at.theory.model_f, &at.trap()?)?)
}

/// The growth over the excess load under processor sharing (App. A).
fn sharing_ratio(at: &At) -> Answer {
    let (model, lambda) = (&at.theory.model_f, at.rate_per_s()?);
    let sharing = sharing::sharing(model, lambda)?
        .ok_or_else(|| Unanswered::new("the rate is not above capacity"))?;
    Ok(sharing.growth_per_s / (lambda - model.lambda_miss_per_s()))
}

fn proved(at: &At) -> Result<premium::ProvedFrom, Unanswered> {
    premium::proved_from(&at.theory.model_f)
        .ok_or_else(|| Unanswered::new("Theorem 2 proves no premium for a cell"))
}

/// The sign of the premium where each turn costs a little more than the one before (sec 3);
/// the load is one of these costs.
fn premium_sign(at: &At) -> Answer {
    let growth = needed("growth_per_turn", at.with.growth_per_turn)?;
    let survival = &at.theory.means.survival;
    let costs: Vec<f64> = (0..survival.len()).map(|k| 1.0 + growth * k as f64).collect();
    let model = ModelF::new(&costs, survival)?;
    let Load::Rho(rho) = at.load()? else {
        return Err(Unanswered::new("a cell's lambda_ref is no rate of other costs"));
    };
    match model.at(rho * model.lambda_miss_per_s())? {
        Regime::Trapped(trap) => Ok(trap.premium().signum()),
        Regime::Critical | Regime::Drains { .. } => Err(Unanswered::new("not above capacity")),
    }
}

/// Prompt tokens per GPU second of the tilted mix over those of the stationary mix.
fn composition_ratio(at: &At) -> Answer {
    let (theory, trap) = (at.theory, at.trap()?);
    let (prompts, costs) = (&theory.means.prompt_tokens, theory.model_f.costs_s());
    let trapped = trap.served_mean(prompts) / trap.served_mean(costs);
    Ok(trapped / (theory.means.mean_prompt_tokens() / dot(&theory.means.mix, costs)))
}
