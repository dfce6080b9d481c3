//! The trap check: every stuck run against model F (App. B, Table 3).

use crate::judged::ScoredRun;
use crate::law::TrapCheck;
use crate::law::trap_check::ServedTrap;
use crate::measure::WindowMeasures;

use super::about_run::{AboutRun, with_identity};
use super::{Cell, Col, Table};

/// A run and its check by one calibration, or why there is none.
type Checked<'a> = (&'a ScoredRun, Result<&'a TrapCheck, &'a str>);

fn columns<'a>() -> Vec<Col<Checked<'a>>> {
    with_identity(&[
        Col::key("calibration", "", |(_, check)| {
            Cell::text(check.map_or("none", |check| check.calibration.words()))
        }),
        Col::optional("speed_factor", "", 4, |(_, check)| Some(check.ok()?.speed)),
        Col::optional("lambda_miss_per_s", "sessions/s", 4, |(_, check)| {
            Some(check.ok()?.lambda_miss_per_s)
        }),
        Col::optional("rho", "", 3, |(_, check)| Some(check.ok()?.rho)),
        Col::new("z", "", |row| served(row, 6, |_, s| Some(s.trap.z))),
        Col::new("mean_prompt_tokens", "tokens", |row| served(row, 0, |w, _| w.mean_prompt_tokens)),
        Col::new("tilted_mix_prompt_tokens", "tokens", |row| {
            served(row, 0, |_, s| Some(s.prompt_tokens))
        }),
        Col::new("prompt_ratio", "", |row| {
            served(row, 3, |w, s| Some(w.mean_prompt_tokens? / s.prompt_tokens))
        }),
        Col::new("gap_slope", "s/s", |row| served(row, 4, |w, _| w.gap_slope)),
        Col::new("one_minus_1_over_z", "s/s", |row| served(row, 4, |_, s| Some(s.trap.slope))),
        Col::new("gap_slope_over_one_minus_1_over_z", "", |row| {
            served(row, 3, |w, s| Some(w.gap_slope? / s.trap.slope))
        }),
        Col::new("gamma", "s/s", |row| served(row, 4, |_, s| Some(s.trap.gamma))),
        Col::new("gap_slope_over_gamma", "", |row| {
            served(row, 3, |w, s| Some(w.gap_slope? / s.trap.gamma))
        }),
        Col::new("completions_per_s", "sessions/s", |row| {
            served(row, 4, |w, _| Some(w.completions_per_s))
        }),
        Col::new("model_completions_per_s", "sessions/s", |row| {
            served(row, 4, |_, s| Some(s.trap.completions_per_s))
        }),
        Col::new("completions_ratio", "", |row| {
            served(row, 3, |w, s| Some(w.completions_per_s / s.trap.completions_per_s))
        }),
        Col::new("completions_over_lambda_ref", "", |row| {
            served(row, 3, |w, _| Some(w.completions_per_s / row.0.load?.lambda_ref_per_s))
        }),
        Col::new("backlog_slope_per_s", "sessions/s", |row| {
            served(row, 4, |w, _| w.backlog_slope_per_s)
        }),
        Col::new("alpha_per_s", "sessions/s", |row| {
            served(row, 4, |_, s| Some(s.trap.alpha_per_s))
        }),
        Col::new("backlog_slope_over_alpha", "", |row| {
            served(row, 3, |w, s| Some(w.backlog_slope_per_s? / s.trap.alpha_per_s))
        }),
        Col::new("quasi_static_slope_per_s", "sessions/s", |row| {
            served(row, 4, |_, s| Some(s.trap.lambda_per_s - s.trap.lambda_miss_per_s))
        }),
        Col::new("quasi_static_over_alpha", "", |row| {
            served(row, 3, |_, s| Some(s.trap.quasi_static_excess()))
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

/// A run's window beside model F's trap; `None` without either.
fn trap<'a>((run, check): &Checked<'a>) -> Option<(&'a WindowMeasures, &'a ServedTrap)> {
    Some((run.measures.window.as_ref()?, check.ok()?.trap.as_ref()?))
}

/// A number of them; none without a trap.
fn served(
    row: &Checked<'_>,
    digits: usize,
    of: impl FnOnce(&WindowMeasures, &ServedTrap) -> Option<f64>,
) -> Cell {
    trap(row).map_or(Cell::Empty, |(window, served)| Cell::known(of(window, served), digits))
}
