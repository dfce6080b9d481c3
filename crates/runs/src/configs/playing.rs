//! A cell that plays another workload of the configuration than its own.

use crate::model::cost::speed::all_miss_tokens_per_s;
use crate::model::{AllMiss, ModelError, ModelF, SessionMeans};
use crate::setup::{Cell, Speed, Workload};
use trapcheck_sessions::workload::Playable;

/// The cell with what it plays.
#[derive(Debug, Clone)]
pub struct Playing {
    /// The cell, under a name of its own.
    pub cell: Cell,
    /// The other workload, and what is to be said of its sessions.
    pub played: Playable,
}

/// Its name: that of the cell, a plus and that of the workload.
pub fn name_of(cell: &str, workload: &str) -> String {
    format!("{cell}+{workload}")
}

impl Playing {
    /// A cell whose workload is `own`, playing another one. Nobody measured it so: its lambda_ref
    /// and its all-miss token rate are model F's, at the speed that the cell has.
    ///
    /// # Errors
    /// The model has no answer for the two: a sentence.
    pub fn of(cell: &Cell, own: &Workload, name: &str, played: Playable) -> Result<Self, String> {
        let (lambda_ref_per_s, tokens_per_s) = all_miss(cell, own, &played.workload)
            .map_err(|e| format!("cell {} with workload {name}: {e}", cell.name))?;
        let cell = Cell {
            name: name_of(&cell.name, name),
            workload: name.to_owned(),
            lambda_ref_per_s,
            all_miss_tokens_per_s: Some(tokens_per_s),
            ..cell.clone()
        };
        Ok(Self { cell, played })
    }
}

/// The all-miss rates of a cell with another workload, sessions/s and prompt tokens/s.
fn all_miss(cell: &Cell, own: &Workload, other: &Workload) -> Result<(f64, f64), ModelError> {
    let factor = AllMiss::of(cell, own)?.speed;
    let costs = AllMiss::of(&Cell { speed: Speed::Factor { factor }, ..cell.clone() }, other)?;
    let means = SessionMeans::of(other);
    let lambda_miss_per_s = ModelF::new(&costs.costs_s, &means.survival)?.lambda_miss_per_s();
    let tokens_per_s = match cell.speed {
        // What the speed is fitted to is that of a closed population.
        Speed::AllMissRate { population } => {
            all_miss_tokens_per_s(cell, other, population, factor)?
        }
        _ => lambda_miss_per_s * means.mean_turns * means.mean_prompt_tokens(),
    };
    Ok((lambda_miss_per_s, tokens_per_s))
}
