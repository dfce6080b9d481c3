//! The trap check: what a stuck run did over its window against model F at its
//! load (Theorem 1; App. B, Table 3).
//!
//! It is made with the cell's own calibration and, beside it, with one speed
//! factor that makes the model's all-miss token rate the run's own, because an
//! engine's speed is not the same on every day. Nothing else is fitted.

use serde::{Deserialize, Serialize};

use crate::measure::WindowMeasures;
use crate::model::fifo::{ModelF, Regime, Trap};
use crate::model::{AllMiss, ModelError, SessionMeans};
use crate::run::Run;
use crate::setup::{Arm, Cell, Span, Workload};

/// Which costs a check used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Calibration {
    /// The cell's, as its file states them.
    #[default]
    Cell,
    /// The cell's, with one speed factor set to the run's own all-miss token rate.
    RunSpeed,
}

impl Calibration {
    /// The words of the output.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Cell => "the cell's calibration",
            Self::RunSpeed => "the cell's calibration at the run's own speed",
        }
    }
}

/// How a stuck run came into its trap, which says with which others it is counted (sec. 4: 57
/// runs after a trigger, 13 from empty).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entry {
    /// By a trigger, a burst or slower tool calls, on a running engine (E2); a stop of arrivals
    /// that leaves it stuck (SHED) belongs here too.
    Triggered,
    /// On its own, from an empty engine (E0b).
    FromEmpty,
    /// Its arrivals or its admission were changed in the trap: it is not compared with the rest.
    Changed,
}

impl Entry {
    /// By the arm of a run.
    pub fn of(arm: &Arm) -> Self {
        match arm {
            Arm::E0b => Self::FromEmpty,
            Arm::Burst | Arm::Shed | Arm::Toolslow => Self::Triggered,
            _ => Self::Changed,
        }
    }

    /// The words of the output.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Triggered => "triggered",
            Self::FromEmpty => "from empty",
            Self::Changed => "changed in the trap",
        }
    }
}

/// One line of a check.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CheckLine {
    /// What is compared, by the run's name for it.
    pub measured_name: &'static str,
    /// What it is compared with, by the model's name for it.
    pub predicted_name: &'static str,
    /// Unit of both.
    pub unit: &'static str,
    /// Digits after the point that both are printed with.
    pub digits: usize,
    /// What the run did; `None` when it cannot say.
    pub measured: Option<f64>,
    /// What model F does.
    pub predicted: f64,
}

impl CheckLine {
    /// Measured over predicted.
    pub fn ratio(&self) -> Option<f64> {
        self.measured.filter(|_| self.predicted != 0.0).map(|m| m / self.predicted)
    }
}

/// A run against model F under one calibration.
#[derive(Debug, Clone, PartialEq)]
pub struct TrapCheck {
    /// Which costs.
    pub calibration: Calibration,
    /// The speed factor that divided the cell's costs, beyond the cell's own.
    pub speed: f64,
    /// lambda_miss, the model's all-miss session rate, sessions/s.
    pub lambda_miss_per_s: f64,
    /// rho = lambda / lambda_miss.
    pub rho: f64,
    /// Model F's state; `None` when it drains at this load.
    pub trap: Option<ServedTrap>,
}

/// Model F's trapped state with the prompts it serves.
#[derive(Debug, Clone, PartialEq)]
pub struct ServedTrap {
    /// The state.
    pub trap: Trap,
    /// L_bar, the mean prompt over the tilted mix, tokens.
    pub prompt_tokens: f64,
}

/// Model F at a stuck run's load under both calibrations; `own_speed` is the run's, by
/// [`own_speed`].
///
/// # Errors
/// The cell's costs do not give a model.
pub fn trap_checks(
    own_speed: Option<f64>,
    lambda_per_s: f64,
    cell: &Cell,
    workload: &Workload,
) -> Result<Vec<TrapCheck>, ModelError> {
    let costs = AllMiss::of(cell, workload)?;
    let means = SessionMeans::of(workload);
    [(Calibration::Cell, Some(1.0)), (Calibration::RunSpeed, own_speed)]
        .into_iter()
        .filter_map(|(calibration, speed)| speed.map(|speed| (calibration, speed)))
        .map(|(calibration, speed)| {
            let costs_s: Vec<f64> = costs.costs_s.iter().map(|c| c / speed).collect();
            let model = ModelF::new(&costs_s, &means.survival)?;
            let trap = match model.at(lambda_per_s)? {
                Regime::Trapped(trap) => {
                    let prompt_tokens = trap.served_mean(&means.prompt_tokens);
                    Some(ServedTrap { trap, prompt_tokens })
                }
                Regime::Drains { .. } | Regime::Critical => None,
            };
            Ok(TrapCheck {
                calibration,
                speed,
                lambda_miss_per_s: model.lambda_miss_per_s(),
                rho: model.rho(lambda_per_s),
                trap,
            })
        })
        .collect()
}

/// Model F with a cell's own calibration, and the prompt of each turn, tokens.
///
/// # Errors
/// The cell's costs do not give a model.
pub fn model_f(cell: &Cell, workload: &Workload) -> Result<(ModelF, Vec<f64>), ModelError> {
    let costs = AllMiss::of(cell, workload)?;
    let means = SessionMeans::of(workload);
    Ok((ModelF::new(&costs.costs_s, &means.survival)?, means.prompt_tokens))
}

/// The factor by which the run worked faster than the cell's costs say: the cost
/// of the turns it completed in `window`, all missing, over the time it took. `None` when
/// a turn lies beyond the workload's last, or the cell's costs give no model.
pub fn own_speed(run: &Run, window: Span, cell: &Cell, workload: &Workload) -> Option<f64> {
    let costs = AllMiss::of(cell, workload).ok()?;
    let work_s: Option<f64> = run
        .turns
        .iter()
        .filter(|turn| turn.served_at_s().is_some_and(|t| window.holds(t)))
        .map(|turn| costs.costs_s.get(turn.number as usize - 1).copied())
        .sum();
    work_s.filter(|w| *w > 0.0).map(|w| w / window.length_s())
}

impl TrapCheck {
    /// The comparison with what the run did over its window, line by line; empty
    /// when model F drains.
    pub fn lines(&self, window: &WindowMeasures, lambda_ref_per_s: f64) -> Vec<CheckLine> {
        let Some(ServedTrap { trap, prompt_tokens }) = &self.trap else { return Vec::new() };
        let line = |measured_name, predicted_name, unit, digits, measured, predicted| CheckLine {
            measured_name,
            predicted_name,
            unit,
            digits,
            measured,
            predicted,
        };
        let rate = "sessions/s";
        let (prompt, gap) = (window.mean_prompt_tokens, window.gap_slope);
        let (completions, slope) = (Some(window.completions_per_s), window.backlog_slope_per_s);
        let stationary = trap.lambda_per_s - trap.lambda_miss_per_s;
        vec![
            line("mean served prompt", "tilted mix L_bar", "tokens", 0, prompt, *prompt_tokens),
            line("gap slope", "1 - 1/z", "s/s", 4, gap, trap.slope),
            line("gap slope", "gamma", "s/s", 4, gap, trap.gamma),
            line("completions", "D", rate, 4, completions, trap.completions_per_s),
            line("completions", "lambda_ref", rate, 4, completions, lambda_ref_per_s),
            line("backlog slope", "alpha", rate, 4, slope, trap.alpha_per_s),
            line("backlog slope", "quasi-static lambda - lambda_miss", rate, 4, slope, stationary),
        ]
    }
}
