//! The trap check: every stuck run against model F (App. B, Table 3).

use crate::judged::ScoredRun;
use crate::law::TrapCheck;
use crate::law::trap_check::ServedTrap;

use super::{Cell, Column, Row, Table};

const COLUMNS: &[Column] = &[
    Column::key("run", ""),
    Column::key("source", ""),
    Column::key("cell", ""),
    Column::key("arm", ""),
    Column::key("rate_multiple", "lambda_ref"),
    Column::key("seed", ""),
    Column::key("calibration", ""),
    Column::new("speed_factor", ""),
    Column::new("lambda_miss_per_s", "sessions/s"),
    Column::new("rho", ""),
    Column::new("z", ""),
    Column::new("mean_prompt_tokens", "tokens"),
    Column::new("tilted_mix_prompt_tokens", "tokens"),
    Column::new("prompt_ratio", ""),
    Column::new("gap_slope", "s/s"),
    Column::new("one_minus_1_over_z", "s/s"),
    Column::new("gap_slope_over_one_minus_1_over_z", ""),
    Column::new("gamma", "s/s"),
    Column::new("gap_slope_over_gamma", ""),
    Column::new("completions_per_s", "sessions/s"),
    Column::new("model_completions_per_s", "sessions/s"),
    Column::new("completions_ratio", ""),
    Column::new("completions_over_lambda_ref", ""),
    Column::new("backlog_slope_per_s", "sessions/s"),
    Column::new("alpha_per_s", "sessions/s"),
    Column::new("backlog_slope_over_alpha", ""),
    Column::new("quasi_static_slope_per_s", "sessions/s"),
    Column::new("quasi_static_over_alpha", ""),
    Column::new("no_check_because", ""),
];

/// The table of trap checks, a row per run and calibration.
pub fn table(runs: &[ScoredRun]) -> Table {
    Table {
        name: "trap_check".into(),
        title: "Trap check: stuck runs against model F".into(),
        columns: COLUMNS.to_vec(),
        rows: runs.iter().filter(|run| run.stuck == Some(true)).flat_map(rows).collect(),
    }
}

fn rows(run: &ScoredRun) -> Vec<Row> {
    let dir = run.dir.display().to_string();
    let row = |key: String, calibration: &str, found: Vec<Cell>| {
        let mut cells = vec![
            Cell::text(&dir),
            Cell::text(run.meta.source.word()),
            Cell::text(&run.meta.cell),
            Cell::text(&run.meta.arm),
            Cell::optional(run.meta.rate.multiple, 2),
            Cell::Count(run.meta.seed),
            Cell::text(calibration),
        ];
        cells.extend(found);
        Row { key, cells, sources: run.sources.clone() }
    };
    match &run.checks {
        Ok(checks) => checks
            .iter()
            .map(|check| {
                let name = check.calibration.words();
                row(format!("{dir}/{name}"), name, found(run, check))
            })
            .collect(),
        Err(why) => {
            let mut cells = vec![Cell::Empty; COLUMNS.len() - 8];
            cells.push(Cell::text(why));
            vec![row(dir.clone(), "none", cells)]
        }
    }
}

fn found(run: &ScoredRun, check: &TrapCheck) -> Vec<Cell> {
    let mut cells = vec![
        Cell::Number(check.speed, 4),
        Cell::Number(check.lambda_miss_per_s, 4),
        Cell::Number(check.rho, 3),
    ];
    let (Some(ServedTrap { trap, prompt_tokens }), Some(window)) =
        (&check.trap, &run.measures.window)
    else {
        cells.extend(vec![Cell::Empty; COLUMNS.len() - 11]);
        cells.push(Cell::text("model F drains at this load"));
        return cells;
    };
    let completions = window.completions_per_s;
    let slope = window.backlog_slope_per_s;
    let lambda_ref = run.load.map(|load| load.lambda_ref_per_s);
    let over =
        |measured: Option<f64>, predicted: f64| Cell::known(measured.map(|m| m / predicted), 3);
    cells.extend([
        Cell::Number(trap.z, 6),
        Cell::known(window.mean_prompt_tokens, 0),
        Cell::Number(*prompt_tokens, 0),
        over(window.mean_prompt_tokens, *prompt_tokens),
        Cell::known(window.gap_slope, 4),
        Cell::Number(trap.slope, 4),
        over(window.gap_slope, trap.slope),
        Cell::Number(trap.gamma, 4),
        over(window.gap_slope, trap.gamma),
        Cell::Number(completions, 4),
        Cell::Number(trap.completions_per_s, 4),
        over(Some(completions), trap.completions_per_s),
        Cell::known(lambda_ref.map(|reference| completions / reference), 3),
        Cell::known(slope, 4),
        Cell::Number(trap.alpha_per_s, 4),
        over(slope, trap.alpha_per_s),
        Cell::Number(trap.lambda_per_s - trap.lambda_miss_per_s, 4),
        Cell::Number(trap.quasi_static_excess(), 3),
        Cell::Empty,
    ]);
    cells
}
