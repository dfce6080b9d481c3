//! The entry model's curve: crossings, fixed points, slowed tools, gates (App. E.5, E.6,
//! E.9, F, Table 20).

use super::onset::over_group;
use super::question::{Answer, Question, Unanswered};
use crate::model::Theory;
use crate::model::curve::slowdown::{largest_delay_s, population_after, slowed};
use crate::model::curve::{Curve, State};
use crate::model::rescue::gate_drain_s;

/// TOOLSLOW slows the calls that start in these 900 s (App. E.6).
const SLOWED_FOR_S: f64 = 900.0;
/// The burst that a gate drains (App. E.5).
const BURST: f64 = 200.0;

pub(super) fn answer(q: &Question) -> Option<Answer> {
    let quantity = q.quantity;
    let population = |s: &State| s.population;
    Some(match quantity {
        "0.5-hit crossing n_1/2" | "0.5-hit crossing, two digits" => {
            q.theory().and_then(|t| half_hit(t).map(|s| s.population))
        }
        "n1" | "stable point n1" => good(q).map(|s| population(&s)),
        "n2" | "unstable point n2" => unstable(q).map(|s| population(&s)),
        "n2-n1" => unstable(q).and_then(|high| Ok(high.population - good(q)?.population)),
        "TOOLSLOW: largest delta with a good state (s)" => largest_delay(q),
        _ if quantity.starts_with("crossing shift A100->H200 at ") => crossing_shift(q),
        _ if quantity.starts_with("in-service fraction") => in_service(q),
        _ if quantity.starts_with("TOOLSLOW: peak of the slowed curve at ") => {
            slowed_curve(q, "curve at ").map(|curve| curve.highest_mu_per_s())
        }
        _ if quantity.starts_with("TOOLSLOW: n(2100), delta ") => slowed_curve(q, "delta ")
            .and_then(|curve| {
                let start = good(q)?.population;
                Ok(population_after(&curve, q.rate_per_s()?, start, SLOWED_FOR_S))
            }),
        _ if quantity.starts_with("TOOLSLOW: slowed good state, delta ") => {
            slowed_curve(q, "delta ").and_then(|curve| {
                let state = curve.good_state(q.rate_per_s()?);
                state.map(|s| s.population).ok_or_else(|| Unanswered::new("no good state"))
            })
        }
        _ if quantity.starts_with("mu(") && quantity.ends_with(", fluid") => {
            q.theory().and_then(|t| Ok(t.curve()?.state(q.number_after("mu(")?).mu_per_s))
        }
        _ if quantity.starts_with("gate drain (n1+200-") && quantity.ends_with("fluid") => {
            gate_drain(q)
        }
        _ => return None,
    })
}

fn good(q: &Question) -> Result<State, Unanswered> {
    let state = q.theory()?.curve()?.good_state(q.rate_per_s()?);
    state.ok_or_else(|| Unanswered::new("no good state at this rate"))
}

fn unstable(q: &Question) -> Result<State, Unanswered> {
    let state = q.theory()?.curve()?.unstable_state(q.rate_per_s()?);
    state.ok_or_else(|| Unanswered::new("no unstable state at this rate"))
}

/// The state at which half of the turns hit.
pub(super) fn half_hit(theory: &Theory) -> Result<State, Unanswered> {
    let state = theory.curve()?.half_hit_crossing();
    state.ok_or_else(|| Unanswered::new("fewer than half of the turns can hit"))
}

fn crossing_shift(q: &Question) -> Answer {
    let pool = q.quantity.rsplit(' ').next().unwrap_or_default();
    let at = |gpu: &str| Ok(half_hit(q.named(&format!("{gpu}-{pool}"))?)?.population);
    let (fast, slow): (Answer, Answer) = (at("h200"), at("sglang"));
    Ok(fast? - slow?)
}

fn in_service(q: &Question) -> Answer {
    over_group(q, |theory| {
        let curve = theory.curve()?;
        let state = if q.quantity.ends_with("fluid peak") {
            curve.peak()
        } else if q.quantity.ends_with("0.5-hit crossing") {
            half_hit(theory)?
        } else {
            let onset = curve.model().onset().population();
            curve.model().all_miss_state(onset).ok_or_else(|| Unanswered::new("no onset"))?
        };
        Ok(state.in_service / state.population)
    })
}

fn largest_delay(q: &Question) -> Answer {
    let delay = largest_delay_s(q.theory()?.curve()?.model(), q.rate_per_s()?)?;
    delay.ok_or_else(|| Unanswered::new("no delay ends the good state"))
}

fn slowed_curve(q: &Question, before_delay: &str) -> Result<Curve, Unanswered> {
    let delay_s = q.number_after(before_delay)?;
    Ok(Curve::of(&slowed(q.theory()?.curve()?.model(), delay_s)?)?)
}

fn gate_drain(q: &Question) -> Answer {
    let cap = q.number_after("mu(")?;
    let present = good(q)?.population + BURST;
    let mu = q.theory()?.curve()?.state(cap).mu_per_s;
    let drain = gate_drain_s(present, cap, mu, q.rate_per_s()?);
    drain.ok_or_else(|| Unanswered::new("the cap does not serve the load"))
}
