//! Model F driven by a run's own plan, from the sessions present when the burst starts.

use crate::judged::ScoredRun;
use crate::law::trap_check::model_f;
use crate::model::fluid::plan::{self, ArrivingSession, PlanRun};
use crate::model::{ModelError, SessionMeans};
use crate::setup::{Configs, Span};

/// Why model F cannot serve a run's plan.
#[derive(Debug, thiserror::Error)]
pub enum PlanModelError {
    /// The cell is not configured.
    #[error("no cell {0} in the configuration")]
    NoCell(String),
    /// The run has no burst, so that there is nothing to start from.
    #[error("it has no burst")]
    NoBurst,
    /// Model F cannot serve it.
    #[error(transparent)]
    Model(#[from] ModelError),
}

/// Serves the plan of `run` to its end.
///
/// # Errors
/// [`PlanModelError`].
pub fn serve(run: &ScoredRun, configs: &Configs) -> Result<PlanRun, PlanModelError> {
    let name = &run.meta.cell;
    let (cell, workload, _) =
        configs.of_cell(name).ok_or_else(|| PlanModelError::NoCell(name.clone()))?;
    if run.from_burst.is_empty() {
        return Err(PlanModelError::NoBurst);
    }
    let (model, _) = model_f(cell, workload)?;
    let plan: Vec<ArrivingSession> = run
        .from_burst
        .iter()
        .map(|a| ArrivingSession { arrival_s: a.arrival_s, next_turn: a.next_turn, turns: a.turns })
        .collect();
    Ok(plan::serve(&model, &plan, run.meta.horizon_s)?)
}

/// Mean prompt of the turns that model F completes in `span`, tokens. `None` where it
/// completes none, or the cell is not configured.
pub fn mean_prompt_tokens(
    served: &PlanRun,
    run: &ScoredRun,
    span: Span,
    configs: &Configs,
) -> Option<f64> {
    let (_, workload, _) = configs.of_cell(&run.meta.cell)?;
    let prompts = SessionMeans::of(workload).prompt_tokens;
    served.served_mean(span.start_s, span.end_s, &prompts)
}
