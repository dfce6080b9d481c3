//! The trap check: every stuck run against model F (App. B, Table 3).

use crate::judged::ScoredRun;
use crate::law::TrapCheck;
use crate::law::trap_check::ServedTrap;
use crate::measure::WindowMeasures;

use crate::about_run::{AboutRun, with_identity};
use crate::table::{Cell, Col, Heading, Table};

/// A run and its check by one calibration, or why there is none.
type Checked<'a> = (&'a ScoredRun, Result<&'a TrapCheck, &'a str>);

fn columns<'a>() -> Vec<Col<Checked<'a>>> {
    with_identity(&[
        Heading("calibration", "", "Which costs: the cell's, or the cell's at the run's own speed")
            .key(|(_, check)| Cell::text(check.map_or("none", |check| check.calibration.words()))),
        Heading("speed_factor", "", "What the cell's costs are divided by")
            .optional(4, |(_, check)| Some(check.ok()?.speed)),
        Heading("lambda_miss_per_s", "sessions/s", "All-miss session rate by model F")
            .optional(4, |(_, check)| Some(check.ok()?.lambda_miss_per_s)),
        Heading("rho", "", "Load: arrivals over lambda_miss")
            .optional(3, |(_, check)| Some(check.ok()?.rho)),
        Heading("z", "", "Perron root of the trap")
            .new(|row| served(row, 6, |_, s| Some(s.trap.z))),
        Heading("mean_prompt_tokens", "tokens", "Mean prompt of the turns served in the window")
            .new(|row| served(row, 0, |w, _| w.mean_prompt_tokens)),
        Heading("tilted_mix_prompt_tokens", "tokens", "Mean prompt of the tilted mix (model F)")
            .new(|row| served(row, 0, |_, s| Some(s.prompt_tokens))),
        Heading("prompt_ratio", "", "Mean prompt, measured over model F's")
            .new(|row| served(row, 3, |w, s| Some(w.mean_prompt_tokens? / s.prompt_tokens))),
        Heading("gap_slope", "s/s", "How fast the gap grows over the window")
            .new(|row| served(row, 4, |w, _| w.gap_slope)),
        Heading("one_minus_1_over_z", "s/s", "Growth of the gap by completion time, by model F")
            .new(|row| served(row, 4, |_, s| Some(s.trap.slope))),
        Heading("gap_slope_over_one_minus_1_over_z", "", "Gap slope, measured over 1 - 1/z")
            .new(|row| served(row, 3, |w, s| Some(w.gap_slope? / s.trap.slope))),
        Heading("gamma", "s/s", "Asymptotic growth rate of the gap, by model F")
            .new(|row| served(row, 4, |_, s| Some(s.trap.gamma))),
        Heading("gap_slope_over_gamma", "", "Gap slope, measured over gamma")
            .new(|row| served(row, 3, |w, s| Some(w.gap_slope? / s.trap.gamma))),
        Heading("completions_per_s", "sessions/s", "Sessions completed per second of the window")
            .new(|row| served(row, 4, |w, _| Some(w.completions_per_s))),
        Heading(
            "model_completions_per_s",
            "sessions/s",
            "Sessions completed per second in the trap, by model F",
        )
        .new(|row| served(row, 4, |_, s| Some(s.trap.completions_per_s))),
        Heading("completions_ratio", "", "Completions, measured over model F's")
            .new(|row| served(row, 3, |w, s| Some(w.completions_per_s / s.trap.completions_per_s))),
        Heading("completions_over_lambda_ref", "", "Completions over lambda_ref").new(|row| {
            served(row, 3, |w, _| Some(w.completions_per_s / row.0.load?.lambda_ref_per_s))
        }),
        Heading("backlog_slope_per_s", "sessions/s", "Backlog slope over the window")
            .new(|row| served(row, 4, |w, _| w.backlog_slope_per_s)),
        Heading("alpha_per_s", "sessions/s", "Growth of the backlog, by model F")
            .new(|row| served(row, 4, |_, s| Some(s.trap.alpha_per_s))),
        Heading("backlog_slope_over_alpha", "", "Backlog slope, measured over alpha")
            .new(|row| served(row, 3, |w, s| Some(w.backlog_slope_per_s? / s.trap.alpha_per_s))),
        Heading("quasi_static_slope_per_s", "sessions/s", "Arrivals less lambda_miss")
            .new(|row| served(row, 4, |_, s| Some(s.trap.lambda_per_s - s.trap.lambda_miss_per_s))),
        Heading("quasi_static_over_alpha", "", "Quasi-static slope over alpha")
            .new(|row| served(row, 3, |_, s| Some(s.trap.quasi_static_excess()))),
        Heading("no_check_because", "", "Why there is no check").new(|row| match row.1 {
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
