//! The theory's own tables: what the paper prints as predictions, computed from the cells.
//!
//! Table 3 and the from-empty predictions, Corollary 3, MIRROR, Table 13 and Table 20. Rows
//! carry no sources of their own: they follow from `configs/` alone.

use std::collections::BTreeMap;

use super::model_values::fluid::{SLOPE_BIN_S, after_cut};
use super::model_values::{
    Answer, At, Cut, Load, Printed, Settings, Unanswered, Value, curve, layers, onset, sessions,
    trap,
};
use super::{Cell, Column, Row, Table};
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
    /// A state that the table is about is not there.
    #[error(transparent)]
    Unanswered(#[from] Unanswered),
}

/// A column of model values: its name and unit, the digits it is printed with (none: a
/// count), and its quantity.
type Predicted = (&'static str, &'static str, Option<usize>, Value);

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
        Prediction::Windows => windows(&eight()?)?,
        Prediction::Crossings => crossings(&eight()?)?,
    })
}

const TRAPS: [Predicted; 6] = [
    ("rho", "", Some(2), trap::rho),
    ("mean_served_prompt_tokens", "tokens", Some(0), trap::mean_served_prompt),
    ("gap_slope", "s/s", Some(3), trap::gap_slope),
    ("completions_over_lambda_ref", "lambda_ref", Some(2), trap::completions_over_lambda_ref),
    ("backlog_growth_per_s", "sessions/s", Some(4), trap::growth_per_s),
    ("quasi_static_excess", "", Some(2), trap::quasi_static_excess),
];

/// Model F at a cell's rates (Table 3, App. B): one row per (cell, multiple of lambda_ref).
///
/// # Errors
/// A rate that is not positive.
pub fn trap_predictions(
    name: &str,
    title: &str,
    rows: &[(&Theory, f64)],
) -> Result<Table, PredictionError> {
    let row = |(theory, multiple): &(&Theory, f64)| -> Result<Row, PredictionError> {
        let mut cells = vec![Cell::text(&theory.cell.name), Cell::Number(*multiple, 2)];
        cells.extend(values(&TRAPS, &At::multiple(theory, *multiple))?);
        Ok(keyed(format!("{} {multiple}", theory.cell.name), cells))
    };
    let keys = [Column::key("cell", ""), Column::key("rate_multiple", "lambda_ref")];
    Ok(Table {
        name: name.into(),
        title: title.into(),
        columns: keys.into_iter().chain(columns(&TRAPS)).collect(),
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
) -> Result<Table, PredictionError> {
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
    let row = |cut: &f64| -> Result<Row, PredictionError> {
        let to = Load::Rho(*cut);
        let with = Settings {
            cut: Some(Cut { at_s: cut_s, to }),
            until_s: Some(end_s),
            ..Settings::default()
        };
        let fluid = after_cut(&At { with, ..At::multiple(theory, multiple) })?;
        let next = to.per_s(theory);
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
        Ok(keyed(format!("{cut:.2}"), cells))
    };
    Ok(Table {
        name: "model_corollary_3".into(),
        title: format!("Corollary 3: arrivals of {} cut at {cut_s:.0} s", theory.cell.name),
        columns,
        rows: cuts.iter().map(row).collect::<Result<_, _>>()?,
    })
}

const MIRROR: [Predicted; 8] = [
    ("rho", "", Some(3), trap::rho),
    ("completions_over_lambda_miss", "lambda_miss", Some(3), trap::completions_over_lambda_miss),
    ("turn_factor", "", Some(3), trap::turn_factor),
    ("cost_factor", "", Some(3), trap::cost_factor),
    ("growth_over_excess", "", Some(3), trap::growth_over_excess),
    ("completions_over_lambda_ref", "lambda_ref", Some(2), trap::completions_over_lambda_ref),
    ("stable_point_sessions", "sessions", Some(1), curve::good_population),
    ("unstable_point_sessions", "sessions", Some(1), curve::unstable_population),
];

/// MIRROR (sec 4.1, App. C): the reversed premium, and the nominal fluid's wave. The
/// paper's per-seed predictions need the client's plans; these are at the nominal rate.
///
/// # Errors
/// A rate that is not positive, or a cell without iteration costs.
pub fn mirror(theory: &Theory, multiples: &[f64]) -> Result<Table, PredictionError> {
    let wave = [
        column("completions_2400_3600_over_lambda_ref", "lambda_ref"),
        column("completions_6600_8700_over_lambda_ref", "lambda_ref"),
        column("slope_6000_8700_per_s", "sessions/s"),
        column("burst_median_completion_s", "s"),
    ];
    let row = |multiple: &f64| -> Result<Row, PredictionError> {
        let lambda = theory.rate_per_s(*multiple);
        let burst = theory.burst(lambda);
        let fluid = burst.run(&theory.model_f, lambda, &[], 12_000.0)?;
        let during = |from_s: f64, to_s: f64| {
            fluid.sessions_completed(from_s, to_s) / (to_s - from_s) / theory.cell.lambda_ref_per_s
        };
        let cohort = (burst.burst_s, burst.burst_s + burst.length_s);
        let mut cells = vec![Cell::Number(*multiple, 2)];
        cells.extend(values(&MIRROR, &At::multiple(theory, *multiple))?);
        cells.extend([
            Cell::Number(during(2400.0, 3600.0), 3),
            Cell::Number(during(6600.0, 8700.0), 3),
            Cell::Number(fluid.backlog_slope_per_s(6000.0, 8700.0, SLOPE_BIN_S), 4),
            Cell::optional(completed_by_s(&fluid, &theory.model_f, cohort, 0.5), 0),
        ]);
        Ok(keyed(format!("{} {multiple}", theory.cell.name), cells))
    };
    let key = [Column::key("rate_multiple", "lambda_ref")];
    Ok(Table {
        name: "model_mirror".into(),
        title: "MIRROR at its nominal rates".into(),
        columns: key.into_iter().chain(columns(&MIRROR)).chain(wave).collect(),
        rows: multiples.iter().map(row).collect::<Result<_, _>>()?,
    })
}

/// The window's two upper bounds (Table 13): H1's peak ratio and H2's from-empty edge.
///
/// # Errors
/// A cell without iteration costs.
pub fn windows(theories: &[&Theory]) -> Result<Table, PredictionError> {
    let title = "Predicted window across pool and GPU (layers H1 and H2)";
    of_cells("model_windows", title, &WINDOWS, theories)
}

const WINDOWS: [Predicted; 4] = [
    ("fluid_peak_over_lambda_ref", "lambda_ref", Some(2), |at| {
        Ok(at.theory.curve()?.peak().mu_per_s / at.theory.cell.lambda_ref_per_s)
    }),
    ("averaged_peak_over_lambda_ref", "lambda_ref", Some(2), layers::averaged_peak_over_lambda_ref),
    ("averaged_peak_at_sessions", "sessions", None, |at| {
        Ok(layers::averaged_peak(at)?.population as f64)
    }),
    ("from_empty_edge_over_lambda_ref", "lambda_ref", Some(2), layers::edge_over_lambda_ref),
];

/// Where half of the turns hit, and the onset behind it (Table 20).
///
/// # Errors
/// A cell without iteration costs.
pub fn crossings(theories: &[&Theory]) -> Result<Table, PredictionError> {
    let title = "The 0.5-hit crossing and the all-miss onset";
    of_cells("model_crossings", title, &CROSSINGS, theories)
}

const CROSSINGS: [Predicted; 6] = [
    ("half_hit_crossing_sessions", "sessions", Some(1), curve::half_hit_crossing),
    ("onset_sessions", "sessions", Some(2), onset::onset),
    ("tool_part_sessions", "sessions", Some(2), onset::tool_part),
    ("pool_part_sessions", "sessions", Some(2), onset::pool_part),
    ("pool_over_mean_footprint_sessions", "sessions", Some(1), |at| {
        Ok(sessions::pool_over_mean_footprint(at))
    }),
    ("folds", "", None, |at| Ok(at.theory.curve()?.folds().len() as f64)),
];

/// One row per cell.
fn of_cells(
    name: &str,
    title: &str,
    predicted: &[Predicted],
    theories: &[&Theory],
) -> Result<Table, PredictionError> {
    let row = |theory: &&Theory| -> Result<Row, PredictionError> {
        let mut cells = vec![Cell::text(&theory.cell.name)];
        cells.extend(values(predicted, &At::cell(theory))?);
        Ok(keyed(theory.cell.name.clone(), cells))
    };
    Ok(Table {
        name: name.into(),
        title: title.into(),
        columns: [Column::key("cell", "")].into_iter().chain(columns(predicted)).collect(),
        rows: theories.iter().map(row).collect::<Result<_, _>>()?,
    })
}

fn columns(predicted: &[Predicted]) -> impl Iterator<Item = Column> {
    predicted.iter().map(|(name, unit, ..)| column(name, unit))
}

/// The cells of a row: empty where there is no such state.
fn values(predicted: &[Predicted], at: &At) -> Result<Vec<Cell>, ModelError> {
    predicted.iter().map(|(_, _, digits, of)| cell(of(at), *digits)).collect()
}

/// A model's answer as a cell; a count without digits.
///
/// # Errors
/// The model refuses what it is given.
pub(super) fn cell(answer: Answer, digits: Option<usize>) -> Result<Cell, ModelError> {
    match (answer, digits) {
        (Ok(value), Some(digits)) => Ok(Cell::Number(value, digits)),
        (Ok(value), None) => Ok(Cell::Count(value as u64)),
        (Err(Unanswered::Because(_)), _) => Ok(Cell::Empty),
        (Err(Unanswered::Model(error)), _) => Err(error),
    }
}

fn column(name: &'static str, unit: &'static str) -> Column {
    Column::new(name, unit)
}

fn keyed(key: String, cells: Vec<Cell>) -> Row {
    Row { key, cells, sources: Vec::new() }
}
