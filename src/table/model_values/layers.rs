//! The heuristic layers (App. E.3, E.5, E.6, E.7, E.9, E.10, Tables 10, 11, 13).

use super::question::{Answer, Question, Unanswered};
use crate::model::cost::speed::all_miss_tokens_per_s;
use crate::model::curve::layers::h3::{BurstBasin, REMAINING_HORIZON_S};
use crate::model::curve::layers::h4::{Release, Rescue, release};
use crate::model::curve::layers::rr::{WindowMeans, window_means};
use crate::model::curve::layers::{demand_cv2, h1, h2};
use crate::model::fluid::Arrivals;
use crate::model::fluid::cut::BurstProtocol;
use crate::model::numeric::dot;
use crate::model::{ModelError, Theory};

/// How long a from-empty run lasts (App. E.3).
const FROM_EMPTY_S: f64 = 3000.0;
/// The registered window (App. E.5).
const WINDOW_S: (f64, f64) = (5700.0, 8700.0);
/// The population of the cache-off run behind a token rate (E0a).
const E0A: f64 = 32.0;
/// Bursts of BASIN-1, three seeds each (App. E.6).
const BASIN_1: ([f64; 2], usize) = ([25.0, 100.0], 3);
/// The registered rescues, R1 and R4 (sec 5): cell, cap, when it is engaged.
const RESCUES: [(&str, f64, f64); 2] =
    [("sglang-300k", 20.0, 1800.0), ("sglang-native", 64.0, 2100.0)];
/// How long the gate stays empty before release (App. E.7).
const HOLD_S: f64 = 300.0;

pub(super) fn answer(q: &Question) -> Option<Answer> {
    let quantity = q.quantity;
    Some(match quantity {
        "H1 peak ratio" => h1_peak(q),
        "H2 from-empty edge" => edge(q),
        "H2 edge in [2.5,3.0): midpoint test" => edge(q),
        "three stable at 2.5 under H2" => three_stable(q),
        "H3 critical fresh burst" => with_basin(q, |b| Ok(b.critical_burst())),
        "H3 P(BASIN-1 outcome) = (1-P(25))^3" => with_basin(q, |b| Ok(basin_1(b))),
        "RR gap/R_M" => {
            round_robin(q).and_then(|rr| Ok(rr.cycle_tokens / q.theory()?.cell.pool_tokens as f64))
        }
        "RR trapped backlog" => round_robin(q).map(|rr| rr.backlog),
        "RR token ratio to the n=32 rate" => {
            q.theory().and_then(|theory| Ok(token_ratio(theory, q.rate_per_s()?)?))
        }
        "H4 release time (s)" => release_time(q),
        _ if quantity.starts_with("H2 escape probability within ") => escape(q),
        _ if quantity.starts_with("H3 stuck probability, burst ") => with_basin(q, |b| {
            Ok(b.stuck_probability(q.number_after("burst ")?, REMAINING_HORIZON_S))
        }),
        _ if quantity.starts_with("H3 50% point of the committor") => {
            with_basin(q, |b| half(b.half_point(|burst| b.committor(burst))))
        }
        _ if quantity.starts_with("H3 50% point of the stuck probability") => with_basin(q, |b| {
            half(b.half_point(|burst| b.stuck_probability(burst, REMAINING_HORIZON_S)))
        }),
        _ => return None,
    })
}

/// The peak in units of lambda_ref; an a-priori cell's in units of its own lambda_miss,
/// since no lambda_ref had been measured.
fn h1_peak(q: &Question) -> Answer {
    let theory = q.theory()?;
    let peak = h1::averaged_peak(theory.curve()?.model(), demand_cv2(&theory.means))?;
    let unit = if q.subject.name.ends_with("apriori") {
        theory.all_miss.mu_b_per_s
    } else {
        theory.cell.lambda_ref_per_s
    };
    Ok(peak.mu_per_s / unit)
}

fn diffusion(theory: &Theory) -> Result<h2::Diffusion, Unanswered> {
    Ok(h2::Diffusion::of(theory.curve()?, demand_cv2(&theory.means)))
}

fn edge(q: &Question) -> Answer {
    let theory = q.theory()?;
    let edge = diffusion(theory)?.edge_per_s(FROM_EMPTY_S);
    Ok(half(edge)? / theory.cell.lambda_ref_per_s)
}

fn escape(q: &Question) -> Answer {
    let horizon_s = q.number_after("within ")?;
    Ok(diffusion(q.theory()?)?.escape_probability(q.rate_per_s()?, horizon_s))
}

fn three_stable(q: &Question) -> Answer {
    let theory = q.theory()?;
    let lambda = theory.rate_per_s(q.number_after("at ")?);
    let stable = 1.0 - diffusion(theory)?.escape_probability(lambda, FROM_EMPTY_S);
    Ok(stable * stable * stable)
}

fn with_basin(q: &Question, value: impl Fn(&BurstBasin) -> Answer) -> Answer {
    let theory = q.theory()?;
    let (_, fresh) = theory.means.peak_fresh_footprint();
    let cv2 = demand_cv2(&theory.means);
    let basin = BurstBasin::at(theory.curve()?, cv2, fresh, q.rate_per_s()?);
    value(&basin.ok_or_else(|| Unanswered::new("no good and unstable state at this rate"))?)
}

/// The smaller burst good and the larger stuck, in every seed.
fn basin_1(basin: &BurstBasin) -> f64 {
    let ([small, large], seeds) = BASIN_1;
    let outcome = (1.0 - basin.stuck_probability(small, REMAINING_HORIZON_S))
        * basin.stuck_probability(large, REMAINING_HORIZON_S);
    (0..seeds).map(|_| outcome).product()
}

fn round_robin(q: &Question) -> Result<WindowMeans, Unanswered> {
    Ok(in_the_window(q.theory()?, q.rate_per_s()?)?)
}

/// The processor-sharing round robin over the registered window, after the burst.
fn in_the_window(theory: &Theory, lambda: f64) -> Result<WindowMeans, ModelError> {
    let burst = BurstProtocol::of(theory.paired.burst, 0.0);
    let arrivals = Arrivals::constant(lambda)
        .and_then(|rates| rates.with_burst(burst.burst_s, burst.length_s, burst.sessions))?;
    let footprints = &theory.means.footprint_tokens;
    window_means(&theory.model_f, &arrivals, burst.burst_s, footprints, WINDOW_S)
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

fn release_time(q: &Question) -> Answer {
    let rescue = registered_rescue(q.theory()?)
        .ok_or_else(|| Unanswered::new("no rescue was registered in this cell"))?;
    let released = released(q.theory()?, q.rate_per_s()?, &rescue)?;
    Ok(released.ok_or_else(|| Unanswered::new("the cap does not serve the load"))?.release_s)
}

/// The rescue that was registered in a cell (R1, R4; sec 5).
pub fn registered_rescue(theory: &Theory) -> Option<Rescue> {
    let (_, cap, engage_s) = *RESCUES.iter().find(|(cell, ..)| *cell == theory.cell.name)?;
    Some(Rescue { engage_s, cap, hold_s: HOLD_S })
}

/// How a rescue goes at a rate by layer H4, from model F's backlog. `None` where the cap does
/// not serve the load.
///
/// # Errors
/// A rate that is not positive, or a cell without iteration costs.
pub fn released(
    theory: &Theory,
    lambda_per_s: f64,
    rescue: &Rescue,
) -> Result<Option<Release>, ModelError> {
    let burst = theory.burst(lambda_per_s);
    let fluid = burst.run(&theory.model_f, lambda_per_s, &[], rescue.engage_s + 1.0)?;
    let waiting = fluid.pending(rescue.engage_s);
    release(theory.curve()?, &theory.cell, &theory.workload, rescue, &waiting, lambda_per_s)
}

fn half(point: Option<f64>) -> Answer {
    point.ok_or_else(|| Unanswered::new("the probability does not reach one half"))
}
