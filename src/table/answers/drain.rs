//! What lowering or stopping arrivals does to a trap (Cor. 3, Prop. 1(a)).

use super::{columns, facts, near_one, rows, significant};
use crate::model::fluid::cut::{Fate, fate};
use crate::model::{ModelError, Theory, positive};
use crate::table::{Cell, Table};

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
        let none = || Cell::Empty;
        let fate = match fate(model, work_s, *rate)? {
            Fate::Empties { after_s } => {
                [Cell::text("empties"), Cell::Number(cut_s + after_s, 0), none(), none()]
            }
            Fate::Settles { backlog } => {
                [Cell::text("settles"), none(), Cell::Number(backlog, 1), none()]
            }
            Fate::Grows { growth_per_s } => {
                [Cell::text("grows"), none(), none(), significant(growth_per_s, 4)]
            }
        };
        let mut row = vec![
            Cell::Number(rate / theory.cell.lambda_ref_per_s, 3),
            near_one(model.rho(*rate), 3),
        ];
        row.extend(fate);
        row.extend([
            Cell::Number(lowest, 1),
            Cell::Number(at_s, 0),
            Cell::Number(100.0 * (lowest / fluid.backlog(cut_s) - 1.0), 1),
            Cell::Number(fluid.backlog(end_s), 1),
        ]);
        cuts.push(row);
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
    let names = [
        ("cut_to", "lambda_ref"),
        ("rho", ""),
        ("fate", ""),
        ("empty_at", "s"),
        ("settles_at", "sessions"),
        ("grows_by", "sessions/s"),
        ("lowest_backlog", "sessions"),
        ("lowest_at", "s"),
        ("dip", "%"),
        ("backlog_at_end", "sessions"),
    ];
    let table = Table {
        name: "model_cut".into(),
        title: format!("Cuts, with backlogs at {end_s:.0} s"),
        columns: columns(&names),
        rows: rows(cuts.into_iter()),
    };
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
