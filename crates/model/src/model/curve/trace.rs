//! The whole curve: states over all eviction ages, in order of age, with its peak, its
//! crossings and its folds.

use crate::model::ModelError;
use crate::model::numeric::root_between;

use super::entry::{EntryModel, StationaryState};

/// Ages looked at, between `LONGEST_AGE` and `SHORTEST_AGE` mean tool times: evenly in a
/// stretched ln R, densest around the mean tool time, where hits turn into misses.
const AGES: usize = 4000;
const LONGEST_AGE: f64 = 1e6;
const SHORTEST_AGE: f64 = 1e-8;
/// How much denser the middle is than the ends.
const STRETCH: f64 = 3.0;

/// A fold narrower than this share of the population is rounding: near its capacity a server
/// with a large pool knows its own population no better.
const LEAST_FOLD: f64 = 1e-6;

/// The traced curve. States run from an empty engine (R = infinity) to the onset n_b (R = 0).
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    model: EntryModel,
    states: Vec<StationaryState>,
    /// Indices at which the population reaches a new maximum: the good branch.
    good_branch: Vec<usize>,
}

/// A band of populations with more than one stationary state (App. E.9, Prop. 4).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fold {
    /// Least population of the band.
    pub from_population: f64,
    /// Largest population of the band.
    pub to_population: f64,
}

impl Curve {
    /// Traces the curve of a model.
    ///
    /// # Errors
    /// The tool time has no positive mean, or a state does not exist.
    pub fn of(model: &EntryModel) -> Result<Self, ModelError> {
        let mean_s = crate::model::positive("mean tool time (s)", model.tool_time().mean_s())?;
        let mut states = Vec::with_capacity(AGES + 2);
        states.push(StationaryState {
            population: 0.0,
            mu_per_s: 0.0,
            eviction_age_s: f64::INFINITY,
            hit_probability: 1.0,
            in_service: 0.0,
            queued: 0.0,
            reserved_tokens: 0.0,
        });
        states.extend((0..AGES).map(|i| model.state_at_age(mean_s * relative_age(i))));
        states.extend(model.all_miss_state(model.onset().population()));
        if states.iter().any(|s| !s.population.is_finite()) {
            return Err(ModelError::NoSolution {
                what: "a state of the population curve",
                why: "check costs, pool and tool time".into(),
            });
        }
        let mut largest = f64::NEG_INFINITY;
        let good_branch = (0..states.len())
            .filter(|i| {
                let further = states[*i].population > largest;
                largest = largest.max(states[*i].population);
                further
            })
            .collect();
        Ok(Self { model: model.clone(), states, good_branch })
    }

    /// The model that was traced.
    pub fn model(&self) -> &EntryModel {
        &self.model
    }

    /// The traced states, from an empty engine to the onset.
    pub fn states(&self) -> &[StationaryState] {
        &self.states
    }

    /// mu(n) in sessions/s, on the good branch where the curve folds, by interpolation
    /// between traced states: a relative error of 1e-5 or so, most where the decode cost has its
    /// kink ([`Curve::state`] is exact). mu_b past the curve's end.
    pub fn mu_per_s(&self, population: f64) -> f64 {
        self.interpolate(population, |s| s.mu_per_s)
    }

    /// The state at a population, on the good branch where the curve folds; the all-miss
    /// state past the curve's end.
    pub fn state(&self, population: f64) -> StationaryState {
        let (low, high) = match self.bracket(population) {
            Some((low, high)) if low.eviction_age_s.is_finite() => (low, high),
            _ => return self.beyond(population),
        };
        self.solve(low, high, |s| s.population - population)
    }

    /// Every stationary state at a population, from most to fewest hits: one, or several
    /// where the curve folds or overlaps the all-miss branch.
    pub fn states_at(&self, population: f64) -> Vec<StationaryState> {
        let crosses = |pair: &&[StationaryState]| {
            (pair[0].population < population) != (pair[1].population < population)
        };
        let mut states: Vec<StationaryState> = self
            .states
            .windows(2)
            .filter(crosses)
            .map(|pair| self.solve(&pair[0], &pair[1], |s| s.population - population))
            .collect();
        states.extend(self.model.all_miss_state(population));
        states
    }

    /// mu*, the largest throughput of the queue-free states, and where it is reached.
    pub fn peak(&self) -> StationaryState {
        let best = (0..self.states.len())
            .max_by(|a, b| self.states[*a].mu_per_s.total_cmp(&self.states[*b].mu_per_s))
            .unwrap_or(0);
        let around = |i: usize| self.states[i.min(self.states.len() - 1)].eviction_age_s;
        let (mut long, mut short) = (around(best.saturating_sub(1)), around(best + 1));
        if !(long.is_finite() && short > 0.0) {
            return self.states[best];
        }
        // Golden section on R; mu is smooth and single-peaked between grid neighbours.
        let golden = 0.5 * (5.0_f64.sqrt() - 1.0);
        for _ in 0..80 {
            let (a, b) = (long - golden * (long - short), short + golden * (long - short));
            if self.model.state_at_age(a).mu_per_s < self.model.state_at_age(b).mu_per_s {
                short = a;
            } else {
                long = b;
            }
        }
        self.model.state_at_age(0.5 * (long + short))
    }

    /// mu* including the all-miss branch: the supremum that Prop. 4 is about, in sessions/s.
    pub fn highest_mu_per_s(&self) -> f64 {
        self.peak().mu_per_s.max(self.model.onset().mu_b_per_s)
    }

    /// n_1, the good state at an arrival rate: the first population with mu = lambda.
    /// `None` when the curve never gets there, so that there is no good state.
    pub fn good_state(&self, lambda_per_s: f64) -> Option<StationaryState> {
        self.first_crossing(0, |s| s.mu_per_s - lambda_per_s)
    }

    /// n_2, the unstable state past the peak, beyond which the population grows. `None`
    /// below mu_b, where there is none, and above the peak.
    pub fn unstable_state(&self, lambda_per_s: f64) -> Option<StationaryState> {
        let up = self.states.iter().position(|s| s.mu_per_s > lambda_per_s)?;
        self.first_crossing(up, |s| s.mu_per_s - lambda_per_s)
    }

    /// The *predicted half-hit crossing* n_1/2: where the share of turns that hit, (1 - 1/E\[T\]) h, falls
    /// to one half (Table 20). `None` when it starts below.
    pub fn half_hit_crossing(&self) -> Option<StationaryState> {
        let followup_share = self.model.followup_share();
        self.first_crossing(0, |s| followup_share * s.hit_probability - 0.5)
    }

    /// Bands of populations with several states.
    pub fn folds(&self) -> Vec<Fold> {
        let mut folds = Vec::new();
        let mut top = f64::NEG_INFINITY;
        let mut bottom = f64::INFINITY;
        for state in &self.states {
            // Rounding near R = 0, where states accumulate at n_b, is no fold.
            if state.population < top * (1.0 - LEAST_FOLD) {
                bottom = bottom.min(state.population);
            } else if bottom.is_finite() && state.population >= top {
                folds.push(Fold { from_population: bottom, to_population: top });
                bottom = f64::INFINITY;
            }
            top = top.max(state.population);
        }
        if bottom.is_finite() {
            folds.push(Fold { from_population: bottom, to_population: top });
        }
        folds
    }

    /// The first sign change of `excess` at or after a traced state, solved for R.
    fn first_crossing(
        &self,
        from: usize,
        excess: impl Fn(&StationaryState) -> f64,
    ) -> Option<StationaryState> {
        let positive = excess(&self.states[from]) > 0.0;
        let next =
            (from + 1..self.states.len()).find(|i| (excess(&self.states[*i]) > 0.0) != positive)?;
        Some(self.solve(&self.states[next - 1], &self.states[next], excess))
    }

    /// The state between two neighbours at which `excess` is 0.
    fn solve(
        &self,
        low: &StationaryState,
        high: &StationaryState,
        excess: impl Fn(&StationaryState) -> f64,
    ) -> StationaryState {
        if !low.eviction_age_s.is_finite() {
            return *high;
        }
        // At R = 0 the formulas give the onset itself.
        let at = |age_s: f64| if age_s > 0.0 { self.model.state_at_age(age_s) } else { *high };
        root_between(high.eviction_age_s, low.eviction_age_s, |r| excess(&at(r))).map_or(*high, at)
    }

    fn bracket(&self, population: f64) -> Option<(&StationaryState, &StationaryState)> {
        let branch = &self.good_branch;
        let above = branch.partition_point(|i| self.states[*i].population <= population);
        if above == 0 {
            return None;
        }
        let high = *branch.get(above)?;
        Some((&self.states[high - 1], &self.states[high]))
    }

    fn beyond(&self, population: f64) -> StationaryState {
        if population <= 0.0 {
            return self.states[0];
        }
        self.model.all_miss_state(population).unwrap_or(self.states[self.states.len() - 1])
    }

    fn interpolate(&self, population: f64, value: impl Fn(&StationaryState) -> f64) -> f64 {
        match self.bracket(population) {
            None => value(&self.beyond(population)),
            Some((low, high)) => {
                let width = high.population - low.population;
                let share = ((population - low.population) / width).clamp(0.0, 1.0);
                value(low) + share * (value(high) - value(low))
            }
        }
    }
}

/// The i-th age in mean tool times, from longest to shortest.
fn relative_age(i: usize) -> f64 {
    let place = 1.0 - 2.0 * i as f64 / (AGES - 1) as f64;
    let reach = if place > 0.0 { libm::log(LONGEST_AGE) } else { -libm::log(SHORTEST_AGE) };
    libm::exp(reach * libm::sinh(STRETCH * place) / libm::sinh(STRETCH))
}
