//! Corollary 3 (App. A): what cuts of the arrivals do inside a trap.

use super::super::model_values::fluid::after_cut;
use super::super::model_values::{At, Cut, Load, Settings};
use super::super::{Cell, Col, Heading, Table};
use super::PredictionError;
use crate::model::Theory;
use crate::model::fluid::cut::{Fate, fate};

/// Corollary 3 (App. A): after the burst at `multiple` of lambda_ref, arrivals are cut at
/// `cut_s` to each of `cuts`, in multiples of lambda_miss; backlogs up to `end_s`.
///
/// # Errors
/// A rate that is not positive.
pub fn table(
    theory: &Theory,
    multiple: f64,
    (cut_s, end_s): (f64, f64),
    cuts: &[f64],
) -> Result<Table, PredictionError> {
    let after = |cut: &f64| -> Result<AfterCut, PredictionError> {
        let to = Load::Rho(*cut);
        let with = Settings {
            cut: Some(Cut { at_s: cut_s, to }),
            until_s: Some(end_s),
            ..Settings::default()
        };
        let fluid = after_cut(&At { with, ..At::multiple(theory, multiple) })?;
        let (lowest, lowest_at_s) = fluid.lowest_backlog(cut_s, end_s);
        Ok(AfterCut {
            cut: *cut,
            cut_s,
            before: fluid.backlog(cut_s),
            lowest,
            lowest_at_s,
            at_end: fluid.backlog(end_s),
            fate: fate(&theory.model_f, fluid.work_left_s(cut_s), to.per_s(theory))?,
        })
    };
    let rows = cuts.iter().map(after).collect::<Result<Vec<_>, _>>()?;
    let title = format!("Corollary 3: arrivals of {} cut at {cut_s:.0} s", theory.cell.name);
    let key = |of: &AfterCut| (format!("{:.2}", of.cut), Vec::new());
    Ok(Table::of("model_corollary_3", title, COROLLARY_3, rows, key))
}

/// What a cut of the arrivals does.
struct AfterCut {
    /// What they are cut to, in lambda_miss.
    cut: f64,
    cut_s: f64,
    /// The backlog when they are cut, sessions.
    before: f64,
    lowest: f64,
    lowest_at_s: f64,
    at_end: f64,
    fate: Fate,
}

const COROLLARY_3: &[Col<AfterCut>] = &[
    Heading("cut_to_over_lambda_miss", "lambda_miss", "Arrivals after the cut")
        .key(|of| Cell::Number(of.cut, 2)),
    Heading("cut_at_s", "s", "When arrivals are cut").number(0, |of| of.cut_s),
    Heading("backlog_at_cut_sessions", "sessions", "Backlog then").number(1, |of| of.before),
    Heading("lowest_backlog_sessions", "sessions", "Lowest backlog after the cut")
        .number(1, |of| of.lowest),
    Heading("dip_percent", "%", "Lowest backlog against that at the cut")
        .number(1, |of| 100.0 * (of.lowest / of.before - 1.0)),
    Heading("lowest_at_s", "s", "When the backlog is lowest").number(0, |of| of.lowest_at_s),
    Heading("backlog_at_end_sessions", "sessions", "Backlog at the end").number(1, |of| of.at_end),
    Heading("fate", "", "Whether the backlog empties, settles or grows").new(|of| {
        Cell::text(match of.fate {
            Fate::Empties { .. } => "empties",
            Fate::Settles { .. } => "settles",
            Fate::Grows { .. } => "grows",
        })
    }),
    Heading("empty_at_s", "s", "When the queue is empty, if it empties").optional(0, |of| match of
        .fate
    {
        Fate::Empties { after_s } => Some(of.cut_s + after_s),
        _ => None,
    }),
    Heading("settles_at_sessions", "sessions", "Backlog that it settles at, if it does").optional(
        1,
        |of| match of.fate {
            Fate::Settles { backlog } => Some(backlog),
            _ => None,
        },
    ),
];
