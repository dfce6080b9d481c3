//! Everything the theory says about one cell, solved once: model F, and the entry model's
//! curve where the cell has iteration costs.

use crate::setup::protocol::Paired;
use crate::setup::{Cell, Workload};

use super::curve::layers::h4::Rescue;
use super::curve::{Curve, EntryModel};
use super::fluid::cut::BurstProtocol;
use super::{AllMiss, ModelError, ModelF, Regime, SessionMeans, Trap};

/// How long the paper's runs from empty last (App. E.3), in seconds.
pub const FROM_EMPTY_S: f64 = 3000.0;

/// A cell's models.
#[derive(Debug, Clone)]
pub struct Theory {
    /// The cell.
    pub cell: Cell,
    /// Its workload.
    pub workload: Workload,
    /// Means of its sessions.
    pub means: SessionMeans,
    /// Its server with every turn missing.
    pub all_miss: AllMiss,
    /// Model F with its costs and turn law.
    pub model_f: ModelF,
    /// The burst and the window of its paired test; the paper's unless [`Self::under`]
    /// says otherwise.
    pub paired: Paired,
    /// Length of a run from empty, in seconds; the paper's likewise.
    pub from_empty_s: f64,
    /// The rescue that was registered in the cell; none until it is set.
    pub rescue: Option<RegisteredRescue>,
    curve: Option<Curve>,
}

/// A rescue as it was registered.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RegisteredRescue {
    /// When its cap engages, which, and for how long both queues stay empty.
    pub rescue: Rescue,
    /// By when of the run the cap has to be released, in seconds.
    pub released_by_s: f64,
}

impl Theory {
    /// Solves a cell.
    ///
    /// # Errors
    /// As [`AllMiss::of`], [`ModelF::new`] and [`Curve::of`].
    pub fn of(cell: &Cell, workload: &Workload) -> Result<Self, ModelError> {
        let means = SessionMeans::of(workload);
        let all_miss = AllMiss::of(cell, workload)?;
        let model_f = ModelF::new(&all_miss.costs_s, &means.survival)?;
        let curve = match cell.iteration_parts() {
            Some(_) => Some(Curve::of(&EntryModel::new(cell, workload)?)?),
            None => None,
        };
        Ok(Self {
            cell: cell.clone(),
            workload: workload.clone(),
            means,
            all_miss,
            model_f,
            paired: Paired::PAPER,
            from_empty_s: FROM_EMPTY_S,
            rescue: None,
            curve,
        })
    }

    /// The same cell under a protocol: its paired test, and how long its runs from empty last,
    /// in seconds.
    #[must_use]
    pub fn under(self, paired: Paired, from_empty_s: f64) -> Self {
        Self { paired, from_empty_s, ..self }
    }

    /// lambda of a multiple of lambda_ref, in sessions/s.
    pub fn rate_per_s(&self, multiple: f64) -> f64 {
        multiple * self.cell.lambda_ref_per_s
    }

    /// The entry model's curve.
    ///
    /// # Errors
    /// The cell gives costs per turn only.
    pub fn curve(&self) -> Result<&Curve, ModelError> {
        self.curve.as_ref().ok_or(ModelError::NeedsIterationCosts { what: "the entry model" })
    }

    /// The trapped state at a rate, `None` at or below capacity.
    ///
    /// # Errors
    /// The rate is not positive.
    pub fn trap(&self, lambda_per_s: f64) -> Result<Option<Trap>, ModelError> {
        Ok(match self.model_f.at(lambda_per_s)? {
            Regime::Trapped(trap) => Some(trap),
            Regime::Critical | Regime::Drains { .. } => None,
        })
    }

    /// The trapped state at a rate, for a question that only a trap has (`what`, for the error).
    ///
    /// # Errors
    /// The rate is not positive, or at or below capacity.
    pub fn trap_at(&self, what: &'static str, lambda_per_s: f64) -> Result<Trap, ModelError> {
        self.trap(lambda_per_s)?.ok_or_else(|| ModelError::NoTrap {
            what,
            rho: self.model_f.rho(lambda_per_s),
            lambda_miss_per_s: self.model_f.lambda_miss_per_s(),
        })
    }

    /// The protocol's burst on top of the good state at a rate: n_1 of the entry model, or
    /// an empty engine where there is no curve or no good state.
    pub fn burst(&self, lambda_per_s: f64) -> BurstProtocol {
        let good = self.curve.as_ref().and_then(|curve| curve.good_state(lambda_per_s));
        BurstProtocol::of(self.paired.burst, good.map_or(0.0, |state| state.population))
    }
}
