//! What a quantity is asked of: a cell, a load and what else it is asked with.

use serde::Deserialize;

use super::answer::{Answer, Unanswered};
use super::printed::{Printed, PrintedCell};
use crate::model::curve::StationaryState;
use crate::model::fluid::Trajectory;
use crate::model::{Theory, Trap};

/// How a quantity is computed.
pub type Formula = fn(&At) -> Answer;

/// An offered load.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Load {
    /// A multiple of lambda_ref.
    Multiple(f64),
    /// rho: a multiple of lambda_miss.
    Rho(f64),
}

impl Load {
    /// lambda in a cell, in sessions/s.
    pub fn per_s(self, theory: &Theory) -> f64 {
        match self {
            Self::Multiple(multiple) => theory.rate_per_s(multiple),
            Self::Rho(rho) => rho * theory.model_f.lambda_miss_per_s(),
        }
    }
}

/// A change of the arrivals.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cut {
    /// When, in seconds.
    pub at_s: f64,
    /// The load from then on.
    pub to: Load,
}

/// What some quantities are asked with beside a cell and a load.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// A population, or the cap that holds it, in sessions.
    pub population: Option<f64>,
    /// A burst, in sessions.
    pub burst: Option<f64>,
    /// A larger one.
    pub larger_burst: Option<f64>,
    /// How many runs have to come out alike.
    pub runs: Option<u32>,
    /// A horizon, in seconds.
    pub within_s: Option<f64>,
    /// How much longer each tool call takes, in seconds.
    pub delay_s: Option<f64>,
    /// For how long, in seconds.
    pub length_s: Option<f64>,
    /// A time after the burst's start, in seconds.
    pub after_s: Option<f64>,
    /// When arrivals stop, in seconds.
    pub stop_s: Option<f64>,
    /// How arrivals are cut.
    pub cut: Option<Cut>,
    /// Until when the fluid runs, in seconds.
    pub until_s: Option<f64>,
    /// A measured constant of proportion.
    pub factor: Option<f64>,
    /// How much a turn costs more than the one before, relative to the first.
    pub growth_per_turn: Option<f64>,
    /// Brackets of the premium's proof that are looked at (App. A).
    pub brackets: Option<usize>,
    /// The lowest z - 1 among them.
    pub from_gamma: Option<f64>,
}

/// What a quantity is asked of.
#[derive(Debug, Clone, Copy)]
pub struct At<'a> {
    /// The cell.
    pub theory: &'a Theory,
    /// The load, for a quantity that has one.
    pub load: Option<Load>,
    /// What else.
    pub with: Settings,
    /// The printed measurements, for arithmetic on them.
    pub printed: Option<&'a Printed>,
}

impl<'a> At<'a> {
    /// A cell.
    pub fn cell(theory: &'a Theory) -> Self {
        Self { theory, load: None, with: Settings::default(), printed: None }
    }

    /// A cell at a multiple of lambda_ref.
    pub fn multiple(theory: &'a Theory, multiple: f64) -> Self {
        Self { load: Some(Load::Multiple(multiple)), ..Self::cell(theory) }
    }

    pub(super) fn load(&self) -> Result<Load, Unanswered> {
        needed("load", self.load)
    }

    /// lambda, in sessions/s.
    pub fn rate_per_s(&self) -> Answer {
        Ok(self.load()?.per_s(self.theory))
    }

    pub(super) fn trap(&self) -> Result<Trap, Unanswered> {
        self.theory
            .trap(self.rate_per_s()?)?
            .ok_or_else(|| Unanswered::new("the rate is not above capacity: model F drains"))
    }

    /// The good state of the entry model.
    pub(super) fn good_state(&self) -> Result<StationaryState, Unanswered> {
        let state = self.theory.curve()?.good_state(self.rate_per_s()?);
        state.ok_or_else(|| Unanswered::new("no good state at this rate"))
    }

    /// The unstable state of the entry model.
    pub(super) fn unstable_state(&self) -> Result<StationaryState, Unanswered> {
        let state = self.theory.curve()?.unstable_state(self.rate_per_s()?);
        state.ok_or_else(|| Unanswered::new("no unstable state at this rate"))
    }

    /// Model F from the protocol's burst to `end_s`, with later rate changes.
    pub(super) fn fluid(
        &self,
        changes: &[(f64, f64)],
        end_s: f64,
    ) -> Result<Trajectory, Unanswered> {
        let lambda = self.rate_per_s()?;
        Ok(self.theory.burst(lambda).run(&self.theory.model_f, lambda, changes, end_s)?)
    }

    /// What is printed of the cell's measurements.
    pub(super) fn measured(&self) -> Result<&'a PrintedCell, Unanswered> {
        self.printed()?.cell(&self.theory.cell.name)
    }

    pub(super) fn printed(&self) -> Result<&'a Printed, Unanswered> {
        needed("printed measurement", self.printed)
    }
}

/// A part of a question that the quantity cannot do without.
pub(super) fn needed<T>(what: &str, given: Option<T>) -> Result<T, Unanswered> {
    given.ok_or_else(|| Unanswered::new(format!("no {what} is given")))
}
