//! The all-miss server and its onset (Prop. 3, Table 20, App. E.9).

use super::answer::{Answer, Unanswered};
use super::question::{At, Formula};
use crate::model::cost::speed::all_miss_tokens_per_s;

pub(super) const QUANTITIES: &[(&str, Formula)] = &[
    ("onset", onset),
    ("onset_tool_part", tool_part),
    ("onset_pool_part", pool_part),
    ("service_footprint_tokens", service_footprint),
    // What the deepest prefill queue of App. E.9 would hold, in millions of tokens.
    ("footprint_of_256_in_service_millions", |at| Ok(256.0 * service_footprint(at)? / 1e6)),
    ("midway_from_pool_part_to_onset", |at| Ok(0.5 * (pool_part(at)? + onset(at)?))),
    ("mu_b_per_s", |at| Ok(at.theory.all_miss.mu_b_per_s)),
    ("decode_share_ms", |at| Ok(1e3 * at.theory.all_miss.delta_s)),
    ("cost_of_turn_60_over_first", |at| {
        let costs = &at.theory.all_miss.costs_s;
        let last = costs.get(59).ok_or_else(|| Unanswered::new("fewer than 60 turns"))?;
        Ok(last / costs[0])
    }),
    ("lambda_miss_over_lambda_ref", |at| {
        Ok(at.theory.all_miss.mu_b_per_s / at.theory.cell.lambda_ref_per_s)
    }),
    ("all_miss_tokens_64_over_32", |at| {
        let t = at.theory;
        let rate = |n| all_miss_tokens_per_s(&t.cell, &t.workload, n, t.all_miss.speed);
        Ok(rate(64.0)? / rate(32.0)?)
    }),
];

/// n_b, in sessions (Prop. 3).
pub fn onset(at: &At) -> Answer {
    Ok(at.theory.curve()?.model().onset().population())
}

/// Its part in tool calls, nu_b z', in sessions.
pub fn tool_part(at: &At) -> Answer {
    Ok(at.theory.curve()?.model().onset().tool_part)
}

/// Its part in the pool, M / E_S, in sessions.
pub fn pool_part(at: &At) -> Answer {
    Ok(at.theory.curve()?.model().onset().pool_part)
}

fn service_footprint(at: &At) -> Answer {
    Ok(at.theory.curve()?.model().onset().service_footprint_tokens)
}
