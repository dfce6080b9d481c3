//! The all-miss server and its onset (Prop. 3, Table 20, App. E.9).

use super::question::{Answer, Question};
use crate::model::Theory;
use crate::model::cost::speed::all_miss_tokens_per_s;
use crate::model::curve::Onset;

pub(super) fn answer(q: &Question) -> Option<Answer> {
    let of_onset = |value: fn(&Onset) -> f64| of_curve_cell(q, value);
    let over_ref = |t: &Theory| t.all_miss.mu_b_per_s / t.cell.lambda_ref_per_s;
    Some(match q.quantity {
        "n_b" => of_onset(Onset::population),
        "tool part nu_b zbar'" => of_onset(|o| o.tool_part),
        "pool part M/E_S" | "M/E_S" => of_onset(|o| o.pool_part),
        "E_S (about)" => of_onset(|o| o.service_footprint_tokens),
        "256 E_S (million tokens, about)" => of_onset(|o| 256.0 * o.service_footprint_tokens / 1e6),
        "Llama tool-term test level (M/E_S+n_b)/2, a priori" => {
            of_onset(|o| 0.5 * (o.pool_part + o.population()))
        }
        "tool term min, A100 pools" | "tool term max, A100 pools" => {
            over_group(q, |t| Ok(t.curve()?.model().onset().tool_part))
        }
        "mu_b" => q.theory().map(|t| t.all_miss.mu_b_per_s),
        "decode share delta (ms)" => q.theory().map(|t| 1e3 * t.all_miss.delta_s),
        "c_60/c_1 min over cells" | "c_60/c_1 max over cells" => over_group(q, |t| {
            let costs = &t.all_miss.costs_s;
            Ok(costs[59] / costs[0])
        }),
        "lam_miss/lam_ref" | "lam_miss/lam_ref min" | "lam_miss/lam_ref max" => {
            over_group(q, |t| Ok(over_ref(t)))
        }
        "edge/lam_ref over edge/a-priori lam_miss (2.55/2.46)" => q.theory().map(over_ref),
        "H200 64-to-32 all-miss token ratio" => q.theory().and_then(|t| {
            let rate = |n| all_miss_tokens_per_s(&t.cell, &t.workload, n, t.all_miss.speed);
            Ok(rate(64.0)? / rate(32.0)?)
        }),
        _ => return None,
    })
}

fn of_curve_cell(q: &Question, value: fn(&Onset) -> f64) -> Answer {
    Ok(value(q.theory()?.curve()?.model().onset()))
}

/// The smaller or larger value over the question's cells.
pub(super) fn over_group(q: &Question, value: impl Fn(&Theory) -> Answer) -> Answer {
    let values: Result<Vec<f64>, _> = q.group()?.into_iter().map(value).collect();
    Ok(q.extreme(values?.into_iter()))
}
