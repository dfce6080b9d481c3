//! The trap check: every stuck run against model F (App. B, Table 3).

use crate::analysis::ScoredRun;
use crate::law::TrapCheck;
use crate::law::trap_check::ServedTrap;

use super::about_run::{AboutRun, in_window, with_identity};
use super::{Cell, Col, Table};

/// A run and its check by one calibration, or why there is none.
type Checked<'a> = (&'a ScoredRun, Result<&'a TrapCheck, &'a str>);

fn columns<'a>() -> Vec<Col<Checked<'a>>> {
    with_identity(&[
        Col::key("calibration", "", |(_, check)| {
            Cell::text(check.map_or("none", |check| check.calibration.words()))
        }),
        Col::new("speed_factor", "", |row| number(row, |check| check.speed, 4)),
        Col::new("lambda_miss_per_s", "sessions/s", |row| {
            number(row, |check| check.lambda_miss_per_s, 4)
        }),
        Col::new("rho", "", |row| number(row, |check| check.rho, 3)),
        Col::new("z", "", |row| served(row, |served| Cell::Number(served.trap.z, 6))),
        Col::new("mean_prompt_tokens", "tokens", |row| {
            served(row, |_| in_window(row, |w| w.mean_prompt_tokens, 0))
        }),
        Col::new("tilted_mix_prompt_tokens", "tokens", |row| {
            served(row, |served| Cell::Number(served.prompt_tokens, 0))
        }),
        Col::new("prompt_ratio", "", |row| {
            served(row, |s| in_window(row, |w| Some(w.mean_prompt_tokens? / s.prompt_tokens), 3))
        }),
        Col::new("gap_slope", "s/s", |row| served(row, |_| in_window(row, |w| w.gap_slope, 4))),
        Col::new("one_minus_1_over_z", "s/s", |row| {
            served(row, |served| Cell::Number(served.trap.slope, 4))
        }),
        Col::new("gap_slope_over_one_minus_1_over_z", "", |row| {
            served(row, |s| in_window(row, |w| Some(w.gap_slope? / s.trap.slope), 3))
        }),
        Col::new("gamma", "s/s", |row| served(row, |served| Cell::Number(served.trap.gamma, 4))),
        Col::new("gap_slope_over_gamma", "", |row| {
            served(row, |s| in_window(row, |w| Some(w.gap_slope? / s.trap.gamma), 3))
        }),
        Col::new("completions_per_s", "sessions/s", |row| {
            served(row, |_| in_window(row, |w| Some(w.completions_per_s), 4))
        }),
        Col::new("model_completions_per_s", "sessions/s", |row| {
            served(row, |served| Cell::Number(served.trap.completions_per_s, 4))
        }),
        Col::new("completions_ratio", "", |row| {
            let over = |s: &ServedTrap, measured: f64| measured / s.trap.completions_per_s;
            served(row, |s| in_window(row, |w| Some(over(s, w.completions_per_s)), 3))
        }),
        Col::new("completions_over_lambda_ref", "", |row| {
            let reference = row.0.load.map(|load| load.lambda_ref_per_s);
            served(row, |_| in_window(row, |w| Some(w.completions_per_s / reference?), 3))
        }),
        Col::new("backlog_slope_per_s", "sessions/s", |row| {
            served(row, |_| in_window(row, |w| w.backlog_slope_per_s, 4))
        }),
        Col::new("alpha_per_s", "sessions/s", |row| {
            served(row, |served| Cell::Number(served.trap.alpha_per_s, 4))
        }),
        Col::new("backlog_slope_over_alpha", "", |row| {
            served(row, |s| {
                in_window(row, |w| Some(w.backlog_slope_per_s? / s.trap.alpha_per_s), 3)
            })
        }),
        Col::new("quasi_static_slope_per_s", "sessions/s", |row| {
            served(row, |s| Cell::Number(s.trap.lambda_per_s - s.trap.lambda_miss_per_s, 4))
        }),
        Col::new("quasi_static_over_alpha", "", |row| {
            served(row, |served| Cell::Number(served.trap.quasi_static_excess(), 3))
        }),
        Col::new("no_check_because", "", |row| match row.1 {
            Ok(_) if trap(row).is_some() => Cell::Empty,
            Ok(_) => Cell::text("model F drains at this load"),
            Err(why) => Cell::text(why),
        }),
    ])
}

/// The table of trap checks, a row per run and calibration.
pub fn table(runs: &[ScoredRun]) -> Table {
    let stuck = runs.iter().filter(|run| run.stuck == Some(true));
    let rows = stuck.flat_map(|run| -> Vec<Checked<'_>> {
        match &run.checks {
            Ok(checks) => checks.iter().map(|check| (run, Ok(check))).collect(),
            Err(why) => vec![(run, Err(why.as_str()))],
        }
    });
    let title = "Trap check: stuck runs against model F";
    Table::of("trap_check", title, &columns(), rows, |row| {
        let key = match row.1 {
            Ok(check) => format!("{}/{}", row.dir(), check.calibration.words()),
            Err(_) => row.dir(),
        };
        (key, row.sources())
    })
}

/// A number of the check; none without one.
fn number(row: &Checked<'_>, of: fn(&TrapCheck) -> f64, digits: usize) -> Cell {
    row.1.map_or(Cell::Empty, |check| Cell::Number(of(check), digits))
}

/// Model F's trap, for a run that was measured over its window.
fn trap<'a>((run, check): &Checked<'a>) -> Option<&'a ServedTrap> {
    check.ok()?.trap.as_ref().filter(|_| run.measures.window.is_some())
}

/// What is found beside model F's trap; none without a trap.
fn served(row: &Checked<'_>, found: impl FnOnce(&ServedTrap) -> Cell) -> Cell {
    trap(row).map_or(Cell::Empty, found)
}
