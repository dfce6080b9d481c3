//! The theory's own tables: what the paper prints as predictions, computed from the cells.
//!
//! Table 3 and the from-empty predictions, Corollary 3, MIRROR, Table 13 and Table 20. Rows
//! carry no sources of their own: they follow from `configs/` alone.

use std::collections::BTreeMap;

use super::model_values::Printed;
use super::{Cell, Column, Row, Table};
use crate::model::curve::layers::{demand_cv2, h1, h2};
use crate::model::fluid::sojourn::completed_by_s;
use crate::model::{ModelError, Theory};

/// One of the theory's tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prediction {
    /// Model F at the rates of Table 3.
    Traps,
    /// Model F at the rates of the runs stuck from empty (App. B).
    FromEmpty,
    /// Cuts of a trap (App. A).
    Corollary3,
    /// The step-capped workload (App. C).
    Mirror,
    /// Peak ratio and from-empty edge (Table 13).
    Windows,
    /// The 0.5-hit crossing (Table 20).
    Crossings,
}

/// Why a table could not be made.
#[derive(Debug, thiserror::Error)]
pub enum PredictionError {
    /// The configuration lacks a cell that the table is about.
    #[error("no cell {0} in the configuration")]
    NoCell(String),
    /// The model has no answer.
    #[error(transparent)]
    Model(#[from] ModelError),
}

/// The paper's cuts in Corollary 3's table, in multiples of lambda_miss (App. A).
pub const COROLLARY_3_CUTS: [f64; 6] = [1.18, 1.10, 1.05, 1.02, 1.00, 0.90];

/// Makes one of the theory's tables for the paper's cells and rates.
///
/// # Errors
/// A cell that is not there, or that a model cannot answer for.
pub fn predict(
    which: Prediction,
    theories: &BTreeMap<String, Theory>,
    printed: &Printed,
) -> Result<Table, PredictionError> {
    let named =
        |name: &str| theories.get(name).ok_or_else(|| PredictionError::NoCell(name.to_owned()));
    let at = |rows: Vec<(&str, f64)>| -> Result<Vec<(&Theory, f64)>, PredictionError> {
        rows.into_iter().map(|(name, multiple)| Ok((named(name)?, multiple))).collect()
    };
    let eight = || printed.cells().map(named).collect::<Result<Vec<_>, _>>();
    Ok(match which {
        Prediction::Traps => trap_predictions(
            "model_table_3",
            "Model F at the rates of Table 3",
            &at(printed.table_3().collect())?,
        )?,
        Prediction::FromEmpty => trap_predictions(
            "model_from_empty",
            "Model F at the rates of the runs stuck from empty",
            &at(printed.from_empty().collect())?,
        )?,
        Prediction::Corollary3 => {
            corollary_3(named("sglang-300k")?, 1.65, (5000.0, 30_000.0), &COROLLARY_3_CUTS)?
        }
        Prediction::Mirror => mirror(named("mirror")?, &[1.65, 1.35])?,
        Prediction::Windows => windows(&eight()?, 3000.0)?,
        Prediction::Crossings => crossings(&eight()?)?,
    })
}

/// Model F at a cell's rates (Table 3, App. B): one row per (cell, multiple of lambda_ref).
///
/// # Errors
/// A rate that is not positive.
pub fn trap_predictions(
    name: &str,
    title: &str,
    rows: &[(&Theory, f64)],
) -> Result<Table, ModelError> {
    let columns = vec![
        Column::key("cell", ""),
        Column::key("rate_multiple", "lambda_ref"),
        column("rho", ""),
        column("mean_served_prompt_tokens", "tokens"),
        column("gap_slope", "s/s"),
        column("completions_over_lambda_ref", "lambda_ref"),
        column("backlog_growth_per_s", "sessions/s"),
        column("quasi_static_excess", ""),
    ];
    let row = |(theory, multiple): &(&Theory, f64)| -> Result<Row, ModelError> {
        let lambda = theory.rate_per_s(*multiple);
        let mut cells = vec![
            Cell::text(&theory.cell.name),
            Cell::Number(*multiple, 2),
            Cell::Number(theory.model_f.rho(lambda), 2),
        ];
        match theory.trap(lambda)? {
            Some(trap) => cells.extend([
                Cell::Number(trap.served_mean(&theory.means.prompt_tokens), 0),
                Cell::Number(trap.slope, 3),
                Cell::Number(trap.completions_per_s / theory.cell.lambda_ref_per_s, 2),
                Cell::Number(trap.alpha_per_s, 4),
                Cell::Number(trap.quasi_static_excess(), 2),
            ]),
            None => cells.extend(vec![Cell::Empty; 5]),
        }
        Ok(keyed(theory, *multiple, cells))
    };
    Ok(Table {
        name: name.into(),
        title: title.into(),
        columns,
        rows: rows.iter().map(row).collect::<Result<_, _>>()?,
    })
}

/// Corollary 3 (App. A): after the burst at `multiple` of lambda_ref, arrivals are cut at
/// `cut_s` to each of `cuts`, in multiples of lambda_miss; backlogs up to `end_s`.
///
/// # Errors
/// A rate that is not positive.
pub fn corollary_3(
    theory: &Theory,
    multiple: f64,
    (cut_s, end_s): (f64, f64),
    cuts: &[f64],
) -> Result<Table, ModelError> {
    use crate::model::fluid::cut::{Fate, fate};
    let columns = vec![
        Column::key("cut_to_over_lambda_miss", "lambda_miss"),
        column("cut_at_s", "s"),
        column("backlog_at_cut_sessions", "sessions"),
        column("lowest_backlog_sessions", "sessions"),
        column("dip_percent", "%"),
        column("lowest_at_s", "s"),
        column("backlog_at_end_sessions", "sessions"),
        column("fate", ""),
        column("empty_at_s", "s"),
        column("settles_at_sessions", "sessions"),
    ];
    let model = &theory.model_f;
    let lambda = theory.rate_per_s(multiple);
    let row = |cut: &f64| -> Result<Row, ModelError> {
        let next = cut * model.lambda_miss_per_s();
        let fluid = theory.burst(lambda).run(model, lambda, &[(cut_s, next)], end_s)?;
        let before = fluid.backlog(cut_s);
        let (lowest, lowest_at_s) = fluid.lowest_backlog(cut_s, end_s);
        let (word, empty_at, settles_at) = match fate(model, fluid.work_left_s(cut_s), next)? {
            Fate::Empties { after_s } => ("empties", Cell::Number(cut_s + after_s, 0), Cell::Empty),
            Fate::Settles { backlog } => ("settles", Cell::Empty, Cell::Number(backlog, 1)),
            Fate::Grows { .. } => ("grows", Cell::Empty, Cell::Empty),
        };
        let cells = vec![
            Cell::Number(*cut, 2),
            Cell::Number(cut_s, 0),
            Cell::Number(before, 1),
            Cell::Number(lowest, 1),
            Cell::Number(100.0 * (lowest / before - 1.0), 1),
            Cell::Number(lowest_at_s, 0),
            Cell::Number(fluid.backlog(end_s), 1),
            Cell::text(word),
            empty_at,
            settles_at,
        ];
        Ok(Row { key: format!("{cut:.2}"), cells, sources: Vec::new() })
    };
    Ok(Table {
        name: "model_corollary_3".into(),
        title: format!("Corollary 3: arrivals of {} cut at {cut_s:.0} s", theory.cell.name),
        columns,
        rows: cuts.iter().map(row).collect::<Result<_, _>>()?,
    })
}

/// MIRROR (sec 4.1, App. C): the reversed premium, and the nominal fluid's wave. The
/// paper's per-seed predictions need the client's plans; these are at the nominal rate.
///
/// # Errors
/// A rate that is not positive, or a cell without iteration costs.
pub fn mirror(theory: &Theory, multiples: &[f64]) -> Result<Table, ModelError> {
    let columns = vec![
        Column::key("rate_multiple", "lambda_ref"),
        column("rho", ""),
        column("completions_over_lambda_miss", "lambda_miss"),
        column("turn_factor", ""),
        column("cost_factor", ""),
        column("growth_over_excess", ""),
        column("completions_over_lambda_ref", "lambda_ref"),
        column("stable_point_sessions", "sessions"),
        column("unstable_point_sessions", "sessions"),
        column("completions_2400_3600_over_lambda_ref", "lambda_ref"),
        column("completions_6600_8700_over_lambda_ref", "lambda_ref"),
        column("slope_6000_8700_per_s", "sessions/s"),
        column("burst_median_completion_s", "s"),
    ];
    let row = |multiple: &f64| -> Result<Row, ModelError> {
        let lambda = theory.rate_per_s(*multiple);
        let burst = theory.burst(lambda);
        let fluid = burst.run(&theory.model_f, lambda, &[], 12_000.0)?;
        let during = |from_s: f64, to_s: f64| {
            fluid.sessions_completed(from_s, to_s) / (to_s - from_s) / theory.cell.lambda_ref_per_s
        };
        let cohort = (burst.burst_s, burst.burst_s + burst.length_s);
        let curve = theory.curve()?;
        let mut cells =
            vec![Cell::Number(*multiple, 2), Cell::Number(theory.model_f.rho(lambda), 3)];
        match theory.trap(lambda)? {
            Some(trap) => cells.extend([
                Cell::Number(trap.premium() + 1.0, 3),
                Cell::Number(trap.turn_factor, 3),
                Cell::Number(trap.cost_factor, 3),
                Cell::Number(1.0 / trap.quasi_static_excess(), 3),
                Cell::Number(trap.completions_per_s / theory.cell.lambda_ref_per_s, 2),
            ]),
            None => cells.extend(vec![Cell::Empty; 5]),
        }
        cells.extend([
            Cell::optional(curve.good_state(lambda).map(|s| s.population), 1),
            Cell::optional(curve.unstable_state(lambda).map(|s| s.population), 1),
            Cell::Number(during(2400.0, 3600.0), 3),
            Cell::Number(during(6600.0, 8700.0), 3),
            Cell::Number(fluid.backlog_slope_per_s(6000.0, 8700.0, 10.0), 4),
            Cell::optional(completed_by_s(&fluid, &theory.model_f, cohort, 0.5), 0),
        ]);
        Ok(keyed(theory, *multiple, cells))
    };
    Ok(Table {
        name: "model_mirror".into(),
        title: "MIRROR at its nominal rates".into(),
        columns,
        rows: multiples.iter().map(row).collect::<Result<_, _>>()?,
    })
}

/// The window's two upper bounds (Table 13): H1's peak ratio and H2's from-empty edge within
/// `horizon_s`.
///
/// # Errors
/// A cell without iteration costs.
pub fn windows(theories: &[&Theory], horizon_s: f64) -> Result<Table, ModelError> {
    let columns = vec![
        Column::key("cell", ""),
        column("fluid_peak_over_lambda_ref", "lambda_ref"),
        column("averaged_peak_over_lambda_ref", "lambda_ref"),
        column("averaged_peak_at_sessions", "sessions"),
        column("from_empty_edge_over_lambda_ref", "lambda_ref"),
    ];
    let row = |theory: &&Theory| -> Result<Row, ModelError> {
        let (curve, lambda_ref) = (theory.curve()?, theory.cell.lambda_ref_per_s);
        let cv2 = demand_cv2(&theory.means);
        let peak = h1::averaged_peak(curve.model(), cv2)?;
        let edge = h2::Diffusion::of(curve, cv2).edge_per_s(horizon_s);
        let cells = vec![
            Cell::text(&theory.cell.name),
            Cell::Number(curve.peak().mu_per_s / lambda_ref, 2),
            Cell::Number(peak.mu_per_s / lambda_ref, 2),
            Cell::Count(peak.population as u64),
            Cell::optional(edge.map(|edge| edge / lambda_ref), 2),
        ];
        Ok(Row { key: theory.cell.name.clone(), cells, sources: Vec::new() })
    };
    Ok(Table {
        name: "model_windows".into(),
        title: "Predicted window across pool and GPU (layers H1 and H2)".into(),
        columns,
        rows: theories.iter().map(row).collect::<Result<_, _>>()?,
    })
}

/// Where half of the turns hit, and the onset behind it (Table 20).
///
/// # Errors
/// A cell without iteration costs.
pub fn crossings(theories: &[&Theory]) -> Result<Table, ModelError> {
    let columns = vec![
        Column::key("cell", ""),
        column("half_hit_crossing_sessions", "sessions"),
        column("onset_sessions", "sessions"),
        column("tool_part_sessions", "sessions"),
        column("pool_part_sessions", "sessions"),
        column("pool_over_mean_footprint_sessions", "sessions"),
        column("folds", ""),
    ];
    let row = |theory: &&Theory| -> Result<Row, ModelError> {
        let curve = theory.curve()?;
        let onset = curve.model().onset();
        let capacity = curve.model().pool_tokens() / theory.means.mean_footprint_tokens();
        let cells = vec![
            Cell::text(&theory.cell.name),
            Cell::optional(curve.half_hit_crossing().map(|s| s.population), 1),
            Cell::Number(onset.population(), 2),
            Cell::Number(onset.tool_part, 2),
            Cell::Number(onset.pool_part, 2),
            Cell::Number(capacity, 1),
            Cell::Count(curve.folds().len() as u64),
        ];
        Ok(Row { key: theory.cell.name.clone(), cells, sources: Vec::new() })
    };
    Ok(Table {
        name: "model_crossings".into(),
        title: "The 0.5-hit crossing and the all-miss onset".into(),
        columns,
        rows: theories.iter().map(row).collect::<Result<_, _>>()?,
    })
}

fn column(name: &'static str, unit: &'static str) -> Column {
    Column::new(name, unit)
}

fn keyed(theory: &Theory, multiple: f64, cells: Vec<Cell>) -> Row {
    Row { key: format!("{} {multiple}", theory.cell.name), cells, sources: Vec::new() }
}
