//! Model F's asymptotic laws (sec 3, 4, App. A, B, C, Table 3).

use super::onset::over_group;
use super::question::{Answer, Question, Unanswered, trap};
use crate::model::fifo::{premium, roots, sharing};
use crate::model::numeric::dot;
use crate::model::window::slope_threshold_per_s;
use crate::model::{ModelF, Theory, Trap};

/// Loads at which the transient's range over rho in [1.01, 6.6] is looked up.
const LOADS: [f64; 9] = [1.01, 1.1, 1.3, 1.6, 2.0, 2.6, 3.5, 5.0, 6.6];

/// Brackets of the premium check and its lower end in z - 1 (App. A).
const BRACKETS: (usize, f64) = (53, 1e-12);

pub(super) fn answer(q: &Question) -> Option<Answer> {
    let of_trap = |value: fn(&Trap, &Theory) -> f64| Ok(value(&q.trap()?, q.theory()?));
    Some(match q.quantity {
        "rho" => of_trap(|trap, _| trap.rho),
        "L_bar" => of_trap(|trap, t| trap.served_mean(&t.means.prompt_tokens)),
        "1-1/z" => of_trap(|trap, _| trap.slope),
        "D/lam_ref" => of_trap(|trap, t| trap.completions_per_s / t.cell.lambda_ref_per_s),
        "D/lam_miss" => of_trap(|trap, _| trap.premium() + 1.0),
        "(lam-lam_miss)/alpha" => of_trap(|trap, _| trap.quasi_static_excess()),
        "alpha/(lam-lam_miss)" => of_trap(|trap, _| 1.0 / trap.quasi_static_excess()),
        "H" => of_trap(|trap, _| trap.turn_factor),
        "Gamma" => of_trap(|trap, _| trap.cost_factor),
        "gamma/(gamma/z)-1 (%) at 1.35" => {
            of_trap(|trap, _| 100.0 * (trap.gamma / trap.slope - 1.0))
        }
        "alpha over 0.5(lam-lam_ref) minus 1 (%) (about)" => of_trap(|trap, t| {
            let line = slope_threshold_per_s(trap.lambda_per_s, t.cell.lambda_ref_per_s);
            100.0 * (trap.alpha_per_s / line - 1.0)
        }),
        "processor sharing alpha ratio" => sharing_ratio(q),
        "E[T]/kbar_c min" | "E[T]/kbar_c max" => {
            over_group(q, |t| Ok(t.model_f.mean_turns() / t.model_f.kbar_c()))
        }
        "r min, rho in [1.01,6.6]" | "r max" => over_loads(q, |r| r.modulus),
        "theta=r/z min" | "theta max" => over_loads(q, |r| r.decay),
        "rho(z_1), max over cells (premium proved from)" => over_group(q, |t| {
            premium::proved_from(&t.model_f)
                .map(|from| from.rho)
                .ok_or_else(|| Unanswered::new("Theorem 2 proves no premium for a cell"))
        }),
        "non-positive brackets of 53 x 8 cells" => not_positive_brackets(q),
        "premium of c=1+1e-3(k-1) negative (largest D/lam_miss-1 sign)" => slow_cost_premium(q),
        "token ratio from composition, min" | "token ratio from composition, max" => {
            composition_ratio(q)
        }
        _ => return None,
    })
}

fn sharing_ratio(q: &Question) -> Answer {
    let (theory, lambda) = (q.theory()?, q.rate_per_s()?);
    let sharing = sharing::sharing(&theory.model_f, lambda)?
        .ok_or_else(|| Unanswered::new("the rate is not above capacity"))?;
    Ok(sharing.growth_per_s / (lambda - theory.model_f.lambda_miss_per_s()))
}

/// The smaller or larger value over cells and loads.
fn over_loads(q: &Question, value: fn(&roots::Transient) -> f64) -> Answer {
    over_group(q, |theory| {
        let model = &theory.model_f;
        let at = |rho: &f64| -> Answer {
            let trap = trap(theory, rho * model.lambda_miss_per_s())?;
            Ok(value(&roots::transient(model, &trap)?))
        };
        let values: Result<Vec<f64>, _> = LOADS.iter().map(at).collect();
        Ok(q.extreme(values?.into_iter()))
    })
}

fn not_positive_brackets(q: &Question) -> Answer {
    let (brackets, from) = BRACKETS;
    let count = |theory: &Theory| -> Result<usize, Unanswered> {
        let proved = premium::proved_from(&theory.model_f)
            .ok_or_else(|| Unanswered::new("Theorem 2 proves no premium for a cell"))?;
        let check = premium::bracket_check(&theory.model_f, from, proved.gamma, brackets);
        Ok(check.not_positive)
    };
    let counts: Result<Vec<usize>, _> = q.group()?.into_iter().map(count).collect();
    Ok(counts?.into_iter().sum::<usize>() as f64)
}

/// The sign of the largest premium over loads, for costs that grow by 1e-3 a turn.
fn slow_cost_premium(q: &Question) -> Answer {
    let survival = &q.theory()?.means.survival;
    let costs: Vec<f64> = (0..survival.len()).map(|k| 1.0 + 1e-3 * k as f64).collect();
    let model = ModelF::new(&costs, survival)?;
    let premium = |rho: &f64| -> Answer {
        match model.at(rho * model.lambda_miss_per_s())? {
            crate::model::Regime::Trapped(trap) => Ok(trap.premium()),
            _ => Err(Unanswered::new("not above capacity")),
        }
    };
    let premiums: Result<Vec<f64>, _> = LOADS.iter().map(premium).collect();
    Ok(premiums?.into_iter().fold(f64::NEG_INFINITY, f64::max).signum())
}

/// Prompt tokens per GPU second of the tilted mix over those of the stationary mix, over the
/// rows of Table 3.
fn composition_ratio(q: &Question) -> Answer {
    let ratio = |(cell, multiple): (&str, f64)| -> Answer {
        let theory = q.named(cell)?;
        let trap = trap(theory, theory.rate_per_s(multiple))?;
        let (prompts, costs) = (&theory.means.prompt_tokens, theory.model_f.costs_s());
        let trapped = trap.served_mean(prompts) / trap.served_mean(costs);
        Ok(trapped / (theory.means.mean_prompt_tokens() / dot(&theory.means.mix, costs)))
    };
    let ratios: Result<Vec<f64>, _> = q.printed.table_3().map(ratio).collect();
    Ok(q.extreme(ratios?.into_iter()))
}
