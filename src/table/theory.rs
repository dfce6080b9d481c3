//! The theory's own tables: what the paper prints as predictions, computed from the cells.
//!
//! Table 3 and the from-empty predictions, Corollary 3, MIRROR, Table 13 and Table 20. Rows
//! carry no sources of their own: they follow from `configs/` alone.

mod corollary_3;

use std::collections::BTreeMap;

use super::model_values::fluid::SLOPE_BIN_S;
use super::model_values::{
    Answer, At, Formula, Load, Printed, Unanswered, curve, layers, onset, sessions, trap,
};
use super::{Cell, Col, Heading, Table};
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

/// A column of model values: its heading, the digits it is printed with (none: a count), and
/// its quantity.
type Predicted = (Heading, Option<usize>, Formula);

pub(crate) use trapcheck_answers::drain::COROLLARY_3_CUTS;

/// Makes one of the theory's tables for the paper's cells and rates.
///
/// # Errors
/// A cell that is not there, or that a model cannot answer for.
pub fn predict(
    which: Prediction,
    theories: &BTreeMap<String, Theory>,
    printed: &Printed,
) -> Result<Table, Unanswered> {
    let named = |name: &str| theories.get(name).ok_or_else(|| Unanswered::no_cell(name));
    let at = |rows: Vec<(&str, f64)>| -> Result<Vec<(&Theory, f64)>, Unanswered> {
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
            corollary_3::table(named("sglang-300k")?, 1.65, (5000.0, 30_000.0), &COROLLARY_3_CUTS)?
        }
        Prediction::Mirror => mirror(named("mirror")?, &[1.65, 1.35])?,
        Prediction::Windows => windows(&eight()?)?,
        Prediction::Crossings => crossings(&eight()?)?,
    })
}

const TRAPS: [Predicted; 6] = [
    (Heading("rho", "", "Load: arrivals over lambda_miss"), Some(2), trap::rho),
    (
        Heading("mean_served_prompt_tokens", "tokens", "Mean prompt over the tilted mix"),
        Some(0),
        trap::mean_served_prompt,
    ),
    (Heading("gap_slope", "s/s", "Growth of the gap in the trap"), Some(3), trap::gap_slope),
    (
        Heading("completions_over_lambda_ref", "lambda_ref", "Completions in the trap"),
        Some(2),
        trap::completions_over_lambda_ref,
    ),
    (
        Heading("backlog_growth_per_s", "sessions/s", "Growth of the backlog, alpha"),
        Some(4),
        trap::growth_per_s,
    ),
    (
        Heading("quasi_static_excess", "", "Arrivals less lambda_miss, over alpha"),
        Some(2),
        trap::quasi_static_excess,
    ),
];

/// Model F at a cell's rates (Table 3, App. B): one row per (cell, multiple of lambda_ref).
///
/// # Errors
/// A rate that is not positive.
fn trap_predictions(name: &str, title: &str, rows: &[(&Theory, f64)]) -> Result<Table, Unanswered> {
    let rows: Vec<At<'_>> = rows.iter().map(|(theory, n)| At::multiple(theory, *n)).collect();
    predicted(name, title, &[cell_name(), rate_multiple()], &TRAPS, &rows)
}

const MIRROR: [Predicted; 8] = [
    (Heading("rho", "", "Load: arrivals over lambda_miss"), Some(3), trap::rho),
    (
        Heading("completions_over_lambda_miss", "lambda_miss", "Completions in the trap"),
        Some(3),
        trap::completions_over_lambda_miss,
    ),
    (Heading("turn_factor", "", "H: turns against the stationary mix"), Some(3), trap::turn_factor),
    (
        Heading("cost_factor", "", "Gamma: cost per turn against the stationary mix"),
        Some(3),
        trap::cost_factor,
    ),
    (
        Heading("growth_over_excess", "", "alpha over arrivals less lambda_miss"),
        Some(3),
        trap::growth_over_excess,
    ),
    (
        Heading("completions_over_lambda_ref", "lambda_ref", "Completions in the trap"),
        Some(2),
        trap::completions_over_lambda_ref,
    ),
    (
        Heading("stable_point_sessions", "sessions", "Good state of the curve"),
        Some(1),
        curve::good_population,
    ),
    (
        Heading("unstable_point_sessions", "sessions", "Tipping point of the curve"),
        Some(1),
        curve::unstable_population,
    ),
];

/// MIRROR (sec 4.1, App. C): the reversed premium, and the nominal fluid's wave. The
/// paper's per-seed predictions need the client's plans; these are at the nominal rate.
///
/// # Errors
/// A rate that is not positive, or a cell without iteration costs.
pub fn mirror(theory: &Theory, multiples: &[f64]) -> Result<Table, Unanswered> {
    let rows: Vec<At<'_>> = multiples.iter().map(|n| At::multiple(theory, *n)).collect();
    let title = "MIRROR at its nominal rates";
    let table = predicted("model_mirror", title, &[rate_multiple()], &MIRROR, &rows)?;
    let waves = multiples.iter().map(|multiple| Wave::of(theory, *multiple));
    Ok(table.beside(WAVE, waves.collect::<Result<Vec<_>, _>>()?))
}

/// The nominal fluid's wave.
struct Wave {
    /// Completions before the wave and in it, in lambda_ref.
    completions: [f64; 2],
    slope_per_s: f64,
    median_s: Option<f64>,
}

const WAVE: &[Col<Wave>] = &[
    Heading(
        "completions_2400_3600_over_lambda_ref",
        "lambda_ref",
        "Completions between 2400 and 3600 s",
    )
    .number(3, |of| of.completions[0]),
    Heading(
        "completions_6600_8700_over_lambda_ref",
        "lambda_ref",
        "Completions between 6600 and 8700 s",
    )
    .number(3, |of| of.completions[1]),
    Heading("slope_6000_8700_per_s", "sessions/s", "Growth of the backlog from 6000 to 8700 s")
        .number(4, |of| of.slope_per_s),
    Heading("burst_median_completion_s", "s", "When half of the burst is done")
        .optional(0, |of| of.median_s),
];

impl Wave {
    fn of(theory: &Theory, multiple: f64) -> Result<Self, ModelError> {
        let lambda = theory.rate_per_s(multiple);
        let burst = theory.burst(lambda);
        let fluid = burst.run(&theory.model_f, lambda, &[], 12_000.0)?;
        let during = |from_s: f64, to_s: f64| {
            fluid.sessions_completed(from_s, to_s) / (to_s - from_s) / theory.cell.lambda_ref_per_s
        };
        let cohort = (burst.burst_s, burst.burst_s + burst.length_s);
        Ok(Self {
            completions: [during(2400.0, 3600.0), during(6600.0, 8700.0)],
            slope_per_s: fluid.backlog_slope_per_s(6000.0, 8700.0, SLOPE_BIN_S),
            median_s: completed_by_s(&fluid, &theory.model_f, cohort, 0.5),
        })
    }
}

/// The window's two upper bounds (Table 13): H1's peak ratio and H2's from-empty edge.
///
/// # Errors
/// A cell without iteration costs.
pub fn windows(theories: &[&Theory]) -> Result<Table, Unanswered> {
    let title = "Predicted window across pool and GPU (layers H1 and H2)";
    of_cells("model_windows", title, &WINDOWS, theories)
}

const WINDOWS: [Predicted; 4] = [
    (
        Heading("fluid_peak_over_lambda_ref", "lambda_ref", "Peak of the fluid's curve"),
        Some(2),
        |at| Ok(at.theory.curve()?.peak().mu_per_s / at.theory.cell.lambda_ref_per_s),
    ),
    (
        Heading("averaged_peak_over_lambda_ref", "lambda_ref", "Peak averaged by layer H1"),
        Some(2),
        layers::averaged_peak_over_lambda_ref,
    ),
    (
        Heading("averaged_peak_at_sessions", "sessions", "Population of the averaged peak"),
        None,
        |at| Ok(layers::averaged_peak(at)?.population as f64),
    ),
    (
        Heading(
            "from_empty_edge_over_lambda_ref",
            "lambda_ref",
            "Highest stable load from empty, by layer H2",
        ),
        Some(2),
        layers::edge_over_lambda_ref,
    ),
];

/// Where half of the turns hit, and the onset behind it (Table 20).
///
/// # Errors
/// A cell without iteration costs.
pub fn crossings(theories: &[&Theory]) -> Result<Table, Unanswered> {
    let title = "The 0.5-hit crossing and the all-miss onset";
    of_cells("model_crossings", title, &CROSSINGS, theories)
}

const CROSSINGS: [Predicted; 6] = [
    (
        Heading(
            "half_hit_crossing_sessions",
            "sessions",
            "Population at which half of the turns hit",
        ),
        Some(1),
        curve::half_hit_crossing,
    ),
    (Heading("onset_sessions", "sessions", "All-miss onset n_b"), Some(2), onset::onset),
    (
        Heading("tool_part_sessions", "sessions", "Part of n_b in tool calls"),
        Some(2),
        onset::tool_part,
    ),
    (
        Heading("pool_part_sessions", "sessions", "Part of n_b in the pool"),
        Some(2),
        onset::pool_part,
    ),
    (
        Heading(
            "pool_over_mean_footprint_sessions",
            "sessions",
            "Pool over a session's mean footprint",
        ),
        Some(1),
        |at| Ok(sessions::pool_over_mean_footprint(at)),
    ),
    (Heading("folds", "", "How many folds the curve has"), None, |at| {
        Ok(at.theory.curve()?.folds().len() as f64)
    }),
];

/// One row per cell.
fn of_cells(
    name: &str,
    title: &str,
    columns: &[Predicted],
    theories: &[&Theory],
) -> Result<Table, Unanswered> {
    let rows: Vec<At<'_>> = theories.iter().map(|theory| At::cell(theory)).collect();
    predicted(name, title, &[cell_name()], columns, &rows)
}

const fn cell_name<'a>() -> Col<At<'a>> {
    Heading("cell", "", "The cell").key(|at| Cell::text(&at.theory.cell.name))
}

const fn rate_multiple<'a>() -> Col<At<'a>> {
    Heading("rate_multiple", "lambda_ref", "Arrival rate").key(|at| Cell::optional(multiple(at), 2))
}

fn multiple(at: &At<'_>) -> Option<f64> {
    match at.load {
        Some(Load::Multiple(multiple)) => Some(multiple),
        _ => None,
    }
}

/// A row for each of `rows`, with what is predicted of it; empty where there is no such state.
fn predicted<'a>(
    name: &str,
    title: &str,
    keys: &[Col<At<'a>>],
    columns: &[Predicted],
    rows: &[At<'a>],
) -> Result<Table, Unanswered> {
    let key = |at: &At<'_>| {
        let rate = multiple(at).map_or(String::new(), |multiple| format!(" {multiple}"));
        (format!("{}{rate}", at.theory.cell.name), Vec::new())
    };
    let mut table = Table::of(name, title, keys, rows, key);
    table.columns.extend(columns.iter().map(|(heading, ..)| heading.column()));
    for (row, at) in table.rows.iter_mut().zip(rows) {
        for (_, digits, of) in columns {
            row.cells.push(cell(of(at), *digits)?);
        }
    }
    Ok(table)
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
