//! How a knee is looked for: populations, seeds, durations, levels, a host tier.

use serde::Deserialize;

use crate::digits::fixed;
use crate::engine::Chosen;
use crate::facts::Fact;
use crate::knee::{Knee, Predicted, landmarks, populations};
use crate::ladder::{Found, Levels, Outcome, Question, Rungs, Start};
use crate::model::{ModelError, SessionMeans, Theory};
use crate::refused::Refused;
use crate::setup::Workload;
use crate::setup::protocol::WarmUp;
use crate::sim::options::HostTier;
use crate::sim::{Options, SimError};
use crate::table::{Cell, Table};

/// What is looked at; each field is a flag of `trapcheck knee`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default)]
pub struct Search {
    /// Populations to simulate; they are searched where none is given.
    pub population: Vec<u32>,
    /// The largest population to look at.
    pub most: u32,
    /// Seeds per population.
    pub seeds: u64,
    /// The first seed.
    pub first_seed: u64,
    /// Time before what is measured, s (App. E.3: 900).
    pub warm_up: f64,
    /// Time that is measured, s (App. E.3: 1800).
    pub window: f64,
    /// A run is good from this share of hits on.
    pub good: f64,
    /// A run is trapped below this share of hits.
    pub trapped: f64,
    /// Host memory behind the pool, tokens.
    pub host_tokens: Option<u64>,
    /// Tokens per second that are loaded from it.
    pub host_load_rate: Option<f64>,
}

impl Default for Search {
    fn default() -> Self {
        let Levels { good, trapped } = Levels::default();
        Self {
            population: Vec::new(),
            most: 1024,
            seeds: 5,
            first_seed: 0,
            warm_up: 900.0,
            window: 1800.0,
            good,
            trapped,
            host_tokens: None,
            host_load_rate: None,
        }
    }
}

/// Simulates populations under their seeds, in this order; who has threads uses them.
pub trait Simulate {
    /// The outcomes, in the order asked for.
    ///
    /// # Errors
    /// The first run that cannot be simulated.
    fn outcomes(
        &self,
        question: &Question<'_>,
        start: Start,
        runs: &[(u32, u64)],
    ) -> Result<Vec<Outcome>, SimError>;
}

/// One run after the other.
#[derive(Debug, Clone, Copy)]
pub struct InTurn;

impl Simulate for InTurn {
    fn outcomes(
        &self,
        question: &Question<'_>,
        start: Start,
        runs: &[(u32, u64)],
    ) -> Result<Vec<Outcome>, SimError> {
        runs.iter().map(|(n, seed)| question.run(*n, start, *seed)).collect()
    }
}

/// What was found: without and with a host tier.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The engine as it is.
    pub knee: Knee,
    /// With a host tier, where one was asked for.
    pub with_host: Option<Knee>,
}

impl Search {
    /// Whether its values make sense.
    ///
    /// # Errors
    /// The first that does not.
    pub fn check(&self) -> Result<(), Refused> {
        for (name, value) in [("--warm-up", self.warm_up), ("--window", self.window)] {
            if !(value > 0.0 && value.is_finite()) {
                return Err(Refused(format!(
                    "{name}: expected a positive number of seconds, found {value}"
                )));
            }
        }
        if !(0.0 < self.trapped && self.trapped <= self.good && self.good <= 1.0) {
            return Err(Refused::new("--trapped and --good: expected 0 < trapped <= good <= 1"));
        }
        if self.seeds == 0 || self.most == 0 || self.population.contains(&0) {
            return Err(Refused::new("--seeds, --most and --population: expected at least 1"));
        }
        if self.host_load_rate.is_some_and(|rate| !(rate > 0.0 && rate.is_finite())) {
            return Err(Refused::new("--host-load-rate: expected a positive number of tokens/s"));
        }
        Ok(())
    }

    /// What is asked of each run, about these sessions on this engine.
    pub fn question<'a>(&self, engine: &'a Chosen, workload: &'a Workload) -> Question<'a> {
        Question {
            cell: &engine.cell,
            workload,
            protocol: &engine.protocol,
            options: engine.options,
            run: WarmUp { warm_up_s: self.warm_up, window_s: self.window },
            levels: Levels { good: self.good, trapped: self.trapped },
        }
    }

    /// Looks for the knee from both starts.
    ///
    /// # Errors
    /// The first run that cannot be simulated.
    pub fn answer(
        &self,
        question: &Question<'_>,
        simulate: &impl Simulate,
    ) -> Result<Answer, SimError> {
        let knee = self.both_starts(question, simulate)?;
        let with_host = self.host().map(|host| {
            let options = Options { host: Some(host), ..question.options };
            self.both_starts(&Question { options, ..question.clone() }, simulate)
        });
        Ok(Answer { knee, with_host: with_host.transpose()? })
    }

    fn host(&self) -> Option<HostTier> {
        Some(HostTier { tokens: self.host_tokens?, s_per_token: 1.0 / self.host_load_rate? })
    }

    fn both_starts(
        &self,
        question: &Question<'_>,
        simulate: &impl Simulate,
    ) -> Result<Knee, SimError> {
        let rungs = self.rungs(question);
        let look = |start| -> Result<Found, SimError> {
            Found::search(&rungs, |populations| {
                let seeds = self.first_seed..self.first_seed.saturating_add(self.seeds);
                let runs: Vec<(u32, u64)> = populations
                    .iter()
                    .flat_map(|n| seeds.clone().map(move |seed| (*n, seed)))
                    .collect();
                let outcomes = simulate.outcomes(question, start, &runs)?;
                Ok(outcomes.chunks(self.seeds as usize).map(<[Outcome]>::to_vec).collect())
            })
        };
        Ok(Knee { empty: look(Start::Empty)?, trap: look(Start::Trap)? })
    }

    /// Searched from as many sessions as the pool holds of mean size.
    fn rungs(&self, question: &Question<'_>) -> Rungs {
        if !self.population.is_empty() {
            return Rungs::Given(self.population.clone());
        }
        let means = SessionMeans::of(question.workload);
        let recorded = question.workload.recorded.as_ref().map(|r| r.traces.len() as u32);
        let most = recorded.map_or(self.most, |traces| traces.min(self.most));
        let guess = question.cell.pool_tokens as f64 / means.mean_footprint_tokens();
        Rungs::Searched { guess: (guess as u32).clamp(1, most), most }
    }

    /// The answer in tables: its landmarks, and every population.
    pub fn tables(
        &self,
        question: &Question<'_>,
        answer: &Answer,
        predicted: Option<Predicted>,
    ) -> [Table; 2] {
        let Answer { knee, with_host } = answer;
        [
            landmarks(knee, with_host.as_ref(), predicted, self.sizes(question)),
            populations(knee, with_host.as_ref()),
        ]
    }

    /// What was simulated, in facts.
    fn sizes(&self, question: &Question<'_>) -> Vec<Fact> {
        let (cell, workload) = (question.cell, question.workload);
        let ceiling = workload.recorded.as_ref().map(|recorded| 100.0 * recorded.reuse_ceiling());
        vec![
            ("sessions", Cell::text(&workload.name), ""),
            ("engine", Cell::text(&cell.name), ""),
            ("pool", Cell::Count(cell.pool_tokens), "tokens"),
            ("reuse ceiling", Cell::optional(ceiling, 1), "%"),
            ("seeds", Cell::Count(self.seeds), ""),
            (
                "run",
                Cell::text(format!("{} + {}", fixed(self.warm_up, 0), fixed(self.window, 0))),
                "s",
            ),
        ]
    }
}

/// The entry model's answer beside it.
///
/// # Errors
/// What keeps it from one.
pub fn predicted(question: &Question<'_>) -> Result<Predicted, ModelError> {
    let theory = Theory::of(question.cell, question.workload)?;
    let curve = theory.curve()?;
    let half_hit = curve.half_hit_crossing().map(|state| state.population);
    Ok(Predicted { onset: curve.model().onset().population(), half_hit })
}
