//! The trap check: every stuck run against model F (App. B, Table 3).

use crate::analysis::ScoredRun;

use super::{Cell, Column, Row, Table};

const COLUMNS: &[Column] = &[
    Column { name: "run", unit: "" },
    Column { name: "source", unit: "" },
    Column { name: "rate_multiple", unit: "lambda_ref" },
    Column { name: "seed", unit: "" },
    Column { name: "calibration", unit: "" },
    Column { name: "speed_factor", unit: "" },
    Column { name: "rho", unit: "" },
    Column { name: "z", unit: "" },
    Column { name: "quantity", unit: "" },
    Column { name: "model_f", unit: "" },
    Column { name: "unit", unit: "" },
    Column { name: "measured", unit: "see unit" },
    Column { name: "predicted", unit: "see unit" },
    Column { name: "ratio", unit: "" },
];

/// The table of trap checks, a row per run, calibration and quantity.
pub fn table(runs: &[ScoredRun]) -> Table {
    Table {
        name: "trap_check".into(),
        title: "Trap check: stuck runs against model F (follow-up hit fraction below the threshold over the window)".into(),
        columns: COLUMNS.to_vec(),
        rows: runs.iter().filter(|run| run.stuck == Some(true)).flat_map(rows).collect(),
    }
}

fn rows(run: &ScoredRun) -> Vec<Row> {
    let dir = run.dir.display().to_string();
    let head = |calibration: &str| {
        vec![
            Cell::text(&dir),
            Cell::text(run.meta.source.word()),
            Cell::optional(run.meta.rate.multiple, 2),
            Cell::Count(run.meta.seed),
            Cell::text(calibration),
        ]
    };
    let row = |key: String, cells: Vec<Cell>| Row { key, cells, sources: run.sources.clone() };
    let checks = match &run.checks {
        Ok(checks) => checks,
        Err(why) => {
            let mut cells = head("none");
            cells.extend(vec![Cell::Empty; 3]);
            cells.push(Cell::text(format!("no check: {why}")));
            cells.extend(vec![Cell::Empty; 5]);
            return vec![row(dir.clone(), cells)];
        }
    };
    checks
        .iter()
        .flat_map(|check| {
            let with_model = |quantity: Vec<Cell>| {
                let mut cells = head(check.calibration.words());
                cells.push(Cell::Number(check.speed, 4));
                cells.push(Cell::Number(check.rho, 3));
                cells.push(Cell::optional(check.trap.as_ref().map(|t| t.z), 6));
                cells.extend(quantity);
                cells
            };
            let name = check.calibration.words();
            if check.lines.is_empty() {
                let mut cells = vec![Cell::text("model F drains at this load")];
                cells.extend(vec![Cell::Empty; 5]);
                return vec![row(format!("{dir}/{name}"), with_model(cells))];
            }
            check
                .lines
                .iter()
                .map(|line| {
                    let cells = with_model(vec![
                        Cell::text(line.measured_name),
                        Cell::text(line.predicted_name),
                        Cell::text(line.unit),
                        Cell::known(line.measured, line.digits),
                        Cell::Number(line.predicted, line.digits),
                        Cell::known(line.ratio(), 3),
                    ]);
                    let (m, p) = (line.measured_name, line.predicted_name);
                    row(format!("{dir}/{name}/{m} against {p}"), cells)
                })
                .collect()
        })
        .collect()
}
