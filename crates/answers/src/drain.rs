//! What lowering or stopping arrivals does to a trap (Cor. 3, Prop. 1(a)).

use crate::facts::{answers, facts, near_one, significant};
use crate::model::fluid::cut::{Fate, fate};
use crate::model::{ModelError, Theory, positive};
use crate::table::{Cell, Col, Heading, Table};

/// The paper's cuts in Corollary 3's table, in multiples of lambda_miss (App. A).
pub const COROLLARY_3_CUTS: [f64; 6] = [1.18, 1.10, 1.05, 1.02, 1.00, 0.90];

/// When arrivals are cut unless another time is asked for, s.
pub const CUT_AT_S: f64 = 5000.0;
/// How far a backlog is followed unless another time is asked for, s.
pub const FOLLOWED_UNTIL_S: f64 = 30_000.0;
/// When arrivals stop unless another time is asked for, s.
pub const STOP_AT_S: f64 = 1800.0;

/// Rates to cut `lambda_per_s` to, in sessions/s, from multiples of lambda_ref; where none is
/// given, Corollary 3's own, as far as these are cuts.
pub fn cuts(theory: &Theory, lambda_per_s: f64, to: &[f64]) -> Vec<f64> {
    if to.is_empty() {
        let capacity = theory.model_f.lambda_miss_per_s();
        let cuts = COROLLARY_3_CUTS.map(|cut| cut * capacity);
        return cuts.into_iter().filter(|rate| *rate < lambda_per_s).collect();
    }
    to.iter().map(|multiple| theory.rate_per_s(*multiple)).collect()
}

/// A cut and what it leads to.
struct Cut {
    /// The rate it cuts to, in lambda_ref.
    to: f64,
    rho: f64,
    /// When it is made, s.
    cut_s: f64,
    fate: Fate,
    /// The lowest backlog after it, and when, s.
    lowest: (f64, f64),
    dip_percent: f64,
    at_end: f64,
}

const CUTS: &[Col<Cut>] = &[
    Heading("cut_to", "lambda_ref", "Arrivals after the cut").number(3, |cut| cut.to),
    Heading("rho", "", "Load: arrivals over lambda_miss").new(|cut| near_one(cut.rho, 3)),
    Heading("fate", "", "Whether the backlog empties, settles or grows").new(|cut| {
        Cell::text(match cut.fate {
            Fate::Empties { .. } => "empties",
            Fate::Settles { .. } => "settles",
            Fate::Grows { .. } => "grows",
        })
    }),
    Heading("empty_at", "s", "When the queue is empty, if it empties").new(|cut| match cut.fate {
        Fate::Empties { after_s } => Cell::Number(cut.cut_s + after_s, 0),
        _ => Cell::Empty,
    }),
    Heading("settles_at", "sessions", "Backlog that it settles at, if it does").new(
        |cut| match cut.fate {
            Fate::Settles { backlog } => Cell::Number(backlog, 1),
            _ => Cell::Empty,
        },
    ),
    Heading("grows_by", "sessions/s", "Growth of the backlog, if it grows").new(|cut| {
        match cut.fate {
            Fate::Grows { growth_per_s } => significant(growth_per_s, 4),
            _ => Cell::Empty,
        }
    }),
    Heading("lowest_backlog", "sessions", "Lowest backlog after the cut")
        .number(1, |cut| cut.lowest.0),
    Heading("lowest_at", "s", "When the backlog is lowest").number(0, |cut| cut.lowest.1),
    Heading("dip", "%", "Lowest backlog against that at the cut").number(1, |cut| cut.dip_percent),
    Heading("backlog_at_end", "sessions", "Backlog at the end").number(1, |cut| cut.at_end),
];

/// After the paper's burst at `lambda_per_s`, arrivals are cut at `cut_s` to each of `rates`
/// (sessions/s; 0 stops them); backlogs up to `end_s`.
///
/// # Errors
/// A base rate that makes no trap, a rate that is negative or no cut, a cut before the burst or
/// after the end, or an end that takes too many cycles to reach.
pub fn cut(
    theory: &Theory,
    lambda_per_s: f64,
    (cut_s, end_s): (f64, f64),
    rates: &[f64],
) -> Result<Vec<Table>, ModelError> {
    let model = &theory.model_f;
    let trapped = theory.trap_at("a cut", lambda_per_s)?;
    if let Some(to_per_s) = rates.iter().copied().find(|to| *to >= lambda_per_s) {
        return Err(ModelError::NoCut { to_per_s, from_per_s: lambda_per_s });
    }
    let burst = theory.burst(lambda_per_s);
    positive("time from the burst to the cut (s)", cut_s - burst.burst_s)?;
    positive("time from the cut to the end (s)", end_s - cut_s)?;
    let before = burst.run(model, lambda_per_s, &[], cut_s + 1.0)?;
    let work_s = before.work_left_s(cut_s);
    let mut cuts = Vec::new();
    for rate in rates {
        let fluid = burst.run(model, lambda_per_s, &[(cut_s, *rate)], end_s)?;
        let (lowest, at_s) = fluid.lowest_backlog(cut_s, end_s);
        cuts.push(Cut {
            to: *rate / theory.cell.lambda_ref_per_s,
            rho: model.rho(*rate),
            cut_s,
            fate: fate(model, work_s, *rate)?,
            lowest: (lowest, at_s),
            dip_percent: 100.0 * (lowest / fluid.backlog(cut_s) - 1.0),
            at_end: fluid.backlog(end_s),
        });
    }
    let lambda_ref = theory.cell.lambda_ref_per_s;
    let title = format!("A cut at {cut_s:.0} s in the trap of {}", theory.cell.name);
    let state = facts(
        "model_before_the_cut",
        title,
        vec![
            ("arrivals before", Cell::Number(lambda_per_s / lambda_ref, 3), "lambda_ref"),
            ("backlog at the cut", Cell::Number(before.backlog(cut_s), 1), "sessions"),
            ("remaining work at the cut", Cell::Number(work_s, 0), "s"),
            ("drains below", Cell::Number(model.lambda_miss_per_s() / lambda_ref, 3), "lambda_ref"),
            (
                "completions in the trap, no threshold",
                Cell::Number(trapped.completions_per_s / lambda_ref, 3),
                "lambda_ref",
            ),
        ],
    );
    let title = format!("Cuts, with backlogs at {end_s:.0} s");
    let table = answers("model_cut", title, CUTS, cuts);
    Ok(vec![state, table])
}

/// Arrivals stop at `stop_s` (SHED): when the backlog falls to the onset, and when the
/// queue is empty.
///
/// # Errors
/// A base rate that makes no trap, or a stop before the burst.
pub fn stop(theory: &Theory, lambda_per_s: f64, stop_s: f64) -> Result<Vec<Table>, ModelError> {
    let model = &theory.model_f;
    theory.trap_at("a stop", lambda_per_s)?;
    let burst = theory.burst(lambda_per_s);
    positive("time from the burst to the stop (s)", stop_s - burst.burst_s)?;
    let work_s = burst.work_left_s(model, lambda_per_s, stop_s)?;
    let end_s = stop_s + work_s + 1.0;
    let fluid = burst.run(model, lambda_per_s, &[(stop_s, 0.0)], end_s)?;
    let onset = theory.curve().ok().map(|curve| curve.model().onset().population());
    let reached = onset.and_then(|level| fluid.falls_to_s(stop_s, level)).map(|at| at - stop_s);
    let refused = reached.map(|seconds| seconds * lambda_per_s);
    Ok(vec![facts(
        "model_stop",
        format!("Arrivals of {} stopped at {stop_s:.0} s", theory.cell.name),
        vec![
            ("arrivals before", Cell::Number(lambda_per_s, 4), "sessions/s"),
            ("backlog at the stop", Cell::Number(fluid.backlog(stop_s), 1), "sessions"),
            ("all-miss onset n_b", Cell::optional(onset, 1), "sessions"),
            ("backlog falls to the onset after", Cell::optional(reached, 0), "s"),
            ("sessions refused until then", Cell::optional(refused, 0), "sessions"),
            ("queue empty after, V_tot", Cell::Number(work_s, 0), "s"),
        ],
    )])
}
