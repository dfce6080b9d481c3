//! Arithmetic on printed measurements.

use super::answer::{Answer, Unanswered};
use super::question::{At, Formula, Load, needed};
use super::{curve, onset, sessions};
use crate::model::window::{
    BurstDrain, largest_feasible_multiple, predicted_drain_s, slope_threshold_per_s,
};

pub(super) const QUANTITIES: &[(&str, Formula)] = &[
    ("all_miss_sessions_per_s", |at| sessions_per_s(at, at.measured()?.all_miss_tokens_per_s()?)),
    ("all_miss_over_lambda_ref", |at| over_lambda_ref(at, at.measured()?.all_miss_tokens_per_s()?)),
    ("all_miss_of_64_over_lambda_ref", |at| {
        over_lambda_ref(at, at.measured()?.cache_off_tokens_per_s(64)?)
    }),
    ("zero_hit_of_96_over_lambda_ref", |at| {
        over_lambda_ref(at, at.measured()?.zero_hit_tokens_per_s()?)
    }),
    ("slope_threshold_per_s", |at| {
        Ok(slope_threshold_per_s(at.rate_per_s()?, at.theory.cell.lambda_ref_per_s))
    }),
    ("predicted_drain_s", |at| {
        let Load::Multiple(multiple) = at.load()? else {
            return Err(Unanswered::new("rates are registered as multiples of lambda_ref"));
        };
        let lambda = at.measured()?.registered_rate_per_s(multiple)?;
        let drain = predicted_drain_s(mu_at_cap_per_s(at)?, lambda, BurstDrain::paper());
        drain.ok_or_else(|| Unanswered::new("the cap does not serve the load"))
    }),
    ("largest_multiple_that_drains_in_time", |at| {
        let lambda_ref = at.theory.cell.lambda_ref_per_s;
        Ok(largest_feasible_multiple(mu_at_cap_per_s(at)?, lambda_ref, BurstDrain::paper()))
    }),
    ("scaled_pool_over_mean_footprint", scaled_capacity),
    ("crossing_error_of_scaled_pool", |at| crossing_error(at, scaled_capacity(at)?)),
    ("crossing_error_of_half_hit", |at| crossing_error(at, curve::half_hit_crossing(at)?)),
    ("crossing_error_of_pool_part", |at| crossing_error(at, onset::pool_part(at)?)),
];

/// The measured mu at the cap.
fn mu_at_cap_per_s(at: &At) -> Answer {
    at.measured()?.mu_per_s(needed("population", at.with.population)?)
}

/// Tokens per second as sessions per second, C / E\[W\].
fn sessions_per_s(at: &At, tokens_per_s: f64) -> Answer {
    Ok(tokens_per_s / at.theory.means.session_prompt_tokens())
}

fn over_lambda_ref(at: &At, tokens_per_s: f64) -> Answer {
    Ok(sessions_per_s(at, tokens_per_s)? / at.theory.cell.lambda_ref_per_s)
}

/// The crossing that a measured constant of proportion predicts, h(W/C).
fn scaled_capacity(at: &At) -> Answer {
    Ok(needed("factor", at.with.factor)? * sessions::pool_over_mean_footprint(at))
}

/// How far a predicted crossing lies from the measured one of Table 20, in sessions.
fn crossing_error(at: &At, predicted: f64) -> Answer {
    Ok((predicted - at.printed()?.measured_crossing(&at.theory.cell.name)?).abs())
}
