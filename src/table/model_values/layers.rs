//! The heuristic layers (App. E.3, E.5, E.6, E.7, E.9, E.10, Tables 10, 11, 13).

use super::answer::{Answer, Unanswered};
use super::question::{At, Formula, needed};
use crate::model::cost::speed::all_miss_tokens_per_s;
use crate::model::curve::layers::h3::{BurstBasin, REMAINING_HORIZON_S};
use crate::model::curve::layers::h4::{Release, release};
use crate::model::curve::layers::rr::{WindowMeans, window_means};
use crate::model::curve::layers::{demand_cv2, h1, h2};
use crate::model::fluid::Arrivals;
use crate::model::fluid::cut::BurstProtocol;
use crate::model::numeric::dot;
use crate::model::theory::RegisteredRescue;
use crate::model::{ModelError, Theory};

/// The population of the cache-off run behind a token rate (E0a).
const E0A: f64 = 32.0;

pub(super) const QUANTITIES: &[(&str, Formula)] = &[
    ("averaged_peak_over_lambda_ref", averaged_peak_over_lambda_ref),
    // Of an a-priori cell, for which no lambda_ref had been measured.
    ("averaged_peak_over_lambda_miss", |at| {
        Ok(averaged_peak(at)?.mu_per_s / at.theory.all_miss.mu_b_per_s)
    }),
    ("edge_over_lambda_ref", edge_over_lambda_ref),
    ("escape_probability", |at| escape(at, needed("within_s", at.with.within_s)?)),
    ("every_run_stable_probability", |at| {
        let stable = 1.0 - escape(at, at.theory.from_empty_s)?;
        Ok((0..needed("runs", at.with.runs)?).map(|_| stable).product())
    }),
    ("critical_burst", |at| Ok(basin(at)?.critical_burst())),
    ("stuck_probability", |at| {
        Ok(basin(at)?.stuck_probability(needed("burst", at.with.burst)?, REMAINING_HORIZON_S))
    }),
    ("smaller_good_larger_stuck_probability", bursts_part),
    ("half_point_of_committor", |at| {
        let basin = basin(at)?;
        half(basin.half_point(|burst| basin.committor(burst)))
    }),
    ("half_point_of_stuck_probability", |at| {
        let basin = basin(at)?;
        half(basin.half_point(|burst| basin.stuck_probability(burst, REMAINING_HORIZON_S)))
    }),
    ("gap_over_turnover", |at| Ok(gap_over_turnover(at.theory, at.rate_per_s()?)?)),
    ("round_robin_backlog", |at| Ok(in_the_window(at.theory, at.rate_per_s()?)?.backlog)),
    ("round_robin_token_ratio", |at| Ok(token_ratio(at.theory, at.rate_per_s()?)?)),
    ("rescue_release_s", |at| Ok(rescue_release(at)?.1.release_s)),
];

/// H1's averaged peak: where it lies and how high it is.
pub fn averaged_peak(at: &At) -> Result<h1::AveragedPeak, Unanswered> {
    Ok(h1::averaged_peak(at.theory.curve()?.model(), demand_cv2(&at.theory.means))?)
}

/// Its height.
pub(crate) fn averaged_peak_over_lambda_ref(at: &At) -> Answer {
    Ok(averaged_peak(at)?.mu_per_s / at.theory.cell.lambda_ref_per_s)
}

fn diffusion(theory: &Theory) -> Result<h2::Diffusion, Unanswered> {
    Ok(h2::Diffusion::of(theory.curve()?, demand_cv2(&theory.means)))
}

/// H2's from-empty edge.
pub(crate) fn edge_over_lambda_ref(at: &At) -> Answer {
    let edge = diffusion(at.theory)?.edge_per_s(at.theory.from_empty_s);
    Ok(half(edge)? / at.theory.cell.lambda_ref_per_s)
}

fn escape(at: &At, within_s: f64) -> Answer {
    Ok(diffusion(at.theory)?.escape_probability(at.rate_per_s()?, within_s))
}

fn basin<'a>(at: &At<'a>) -> Result<BurstBasin<'a>, Unanswered> {
    let theory = at.theory;
    let (_, fresh) = theory.means.peak_fresh_footprint();
    let cv2 = demand_cv2(&theory.means);
    let basin = BurstBasin::at(theory.curve()?, cv2, fresh, at.rate_per_s()?);
    basin.ok_or_else(|| Unanswered::new("no good and unstable state at this rate"))
}

/// The smaller burst good and the larger stuck, in every seed (BASIN-1, App. E.6).
fn bursts_part(at: &At) -> Answer {
    let basin = basin(at)?;
    let small = needed("burst", at.with.burst)?;
    let large = needed("larger_burst", at.with.larger_burst)?;
    let outcome = (1.0 - basin.stuck_probability(small, REMAINING_HORIZON_S))
        * basin.stuck_probability(large, REMAINING_HORIZON_S);
    Ok((0..needed("runs", at.with.runs)?).map(|_| outcome).product())
}

/// The processor-sharing round robin over the registered window, after the burst.
fn in_the_window(theory: &Theory, lambda: f64) -> Result<WindowMeans, ModelError> {
    let burst = BurstProtocol::of(theory.paired.burst, 0.0);
    let arrivals = Arrivals::constant(lambda)
        .and_then(|rates| rates.with_burst(burst.burst_s, burst.length_s, burst.sessions))?;
    let footprints = &theory.means.footprint_tokens;
    let window_s = theory.paired.window_s.into();
    window_means(&theory.model_f, &arrivals, burst.burst_s, footprints, window_s)
}

/// Prompt tokens per second of the round robin at a rate over the model's cache-off rate
/// (App. E.9).
///
/// # Errors
/// A rate that is not positive, or a cell without iteration costs.
pub fn token_ratio(theory: &Theory, lambda_per_s: f64) -> Result<f64, ModelError> {
    let by_turn = in_the_window(theory, lambda_per_s)?.by_turn;
    let tokens =
        dot(&by_turn, &theory.means.prompt_tokens) / dot(&by_turn, theory.model_f.costs_s());
    let speed = theory.all_miss.speed;
    Ok(tokens / all_miss_tokens_per_s(&theory.cell, &theory.workload, E0A, speed)?)
}

/// The trapped gap over the pool's turnover time: the tokens of one cycle over the pool
/// (Prop. 5; App. E.9, Table 10).
///
/// # Errors
/// A rate that is not positive.
pub fn gap_over_turnover(theory: &Theory, lambda_per_s: f64) -> Result<f64, ModelError> {
    let cycle_tokens = in_the_window(theory, lambda_per_s)?.cycle_tokens;
    Ok(cycle_tokens / theory.cell.pool_tokens as f64)
}

/// The rescue that was registered in a cell (R1, R4; sec 5), and how it goes at a rate by
/// layer H4, from model F's backlog.
pub(crate) fn rescue_release(at: &At) -> Result<(RegisteredRescue, Release), Unanswered> {
    let theory = at.theory;
    let registered =
        theory.rescue.ok_or_else(|| Unanswered::new("no rescue was registered in this cell"))?;
    let rescue = registered.rescue;
    let waiting = at.fluid(&[], rescue.engage_s + 1.0)?.pending(rescue.engage_s);
    let lambda = at.rate_per_s()?;
    let released =
        release(theory.curve()?, &theory.cell, &theory.workload, &rescue, &waiting, lambda)?;
    let released = released.ok_or_else(|| Unanswered::new("the cap does not serve the load"))?;
    Ok((registered, released))
}

/// The least share of layer H4's rates at which the rescue is still released in time, in
/// percent: both phases take 1/share as long (App. E.7).
pub(crate) fn least_release_share_percent(at: &At) -> Answer {
    let (RegisteredRescue { rescue, released_by_s }, release) = rescue_release(at)?;
    let available_s = released_by_s - rescue.engage_s - rescue.hold_s;
    Ok(100.0 * (release.first_phase_s + release.second_phase_s) / available_s)
}

fn half(point: Option<f64>) -> Answer {
    point.ok_or_else(|| Unanswered::new("the probability does not reach one half"))
}
