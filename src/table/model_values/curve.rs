//! The entry model's curve: crossings, fixed points, slowed tools, gates (App. E.5, E.6,
//! E.9, F, Table 20).

use super::answer::{Answer, Unanswered};
use super::question::{At, Formula, needed};
use crate::model::curve::slowdown::{largest_delay_s, population_after, slowed};
use crate::model::curve::{Curve, StationaryState};
use crate::model::rescue::gate_drain_s;

pub(super) const QUANTITIES: &[(&str, Formula)] = &[
    ("half_hit_crossing", half_hit_crossing),
    ("good_state", good_population),
    ("unstable_state", unstable_population),
    ("unstable_less_good_state", |at| Ok(unstable_population(at)? - good_population(at)?)),
    ("in_service_at_peak", |at| Ok(in_service(at.theory.curve()?.peak()))),
    ("in_service_at_half_hit", |at| Ok(in_service(half_hit(at)?))),
    ("in_service_at_onset", |at| {
        let model = at.theory.curve()?.model();
        let state = model.all_miss_state(model.onset().population());
        Ok(in_service(state.ok_or_else(|| Unanswered::new("no onset"))?))
    }),
    ("longest_delay_with_a_good_state_s", |at| {
        let delay = largest_delay_s(at.theory.curve()?.model(), at.rate_per_s()?)?;
        delay.ok_or_else(|| Unanswered::new("no delay ends the good state"))
    }),
    ("slowed_peak_per_s", |at| Ok(slowed_curve(at)?.highest_mu_per_s())),
    ("slowed_population", slowed_population),
    ("slowed_good_state", |at| {
        let state = slowed_curve(at)?.good_state(at.rate_per_s()?);
        state.map(|s| s.population).ok_or_else(|| Unanswered::new("no good state"))
    }),
    ("mu_per_s", |at| mu_per_s(at, needed("population", at.with.population)?)),
    ("gate_drain_s", |at| {
        let cap = needed("population", at.with.population)?;
        let present = good_population(at)? + at.theory.paired.burst.sessions as f64;
        let drain = gate_drain_s(present, cap, mu_per_s(at, cap)?, at.rate_per_s()?);
        drain.ok_or_else(|| Unanswered::new("the cap does not serve the load"))
    }),
];

/// n_1, in sessions.
pub(crate) fn good_population(at: &At) -> Answer {
    Ok(at.good_state()?.population)
}

/// n_2, in sessions.
pub(crate) fn unstable_population(at: &At) -> Answer {
    Ok(at.unstable_state()?.population)
}

/// The population at which half of the turns hit.
pub fn half_hit_crossing(at: &At) -> Answer {
    Ok(half_hit(at)?.population)
}

/// The share of all turns that hit in the good state (App. E.5).
pub(crate) fn good_hit_fraction(at: &At) -> Answer {
    Ok(at.good_state()?.hit_probability * at.theory.means.followup_share())
}

/// The good state's population after a slowdown of every tool call (App. C, E.6).
pub(crate) fn slowed_population(at: &At) -> Answer {
    let length_s = needed("length_s", at.with.length_s)?;
    Ok(population_after(&slowed_curve(at)?, at.rate_per_s()?, good_population(at)?, length_s))
}

fn half_hit(at: &At) -> Result<StationaryState, Unanswered> {
    let state = at.theory.curve()?.half_hit_crossing();
    state.ok_or_else(|| Unanswered::new("fewer than half of the turns can hit"))
}

fn in_service(state: StationaryState) -> f64 {
    state.in_service / state.population
}

fn slowed_curve(at: &At) -> Result<Curve, Unanswered> {
    let delay_s = needed("delay_s", at.with.delay_s)?;
    Ok(Curve::of(&slowed(at.theory.curve()?.model(), delay_s)?)?)
}

fn mu_per_s(at: &At, population: f64) -> Answer {
    Ok(at.theory.curve()?.state(population).mu_per_s)
}
