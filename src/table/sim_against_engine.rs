//! The simulator's predictions beside what a real engine did.

use crate::measure::RunMeasures;
use crate::measure::closed_curve::half_hit_crossing;
use crate::replay::{Replay, ReplayError, Replayed};

use super::{Cell, Column, Row, Table};

const COLUMNS: &[Column] = &[
    Column::key("run", ""),
    Column::key("arm", ""),
    Column::key("population", "sessions"),
    Column::key("rate_multiple", "lambda_ref"),
    Column::key("seed", ""),
    Column::key("quantity", ""),
    Column::key("unit", ""),
    Column::new("measured", ""),
    Column::new("predicted", ""),
    Column::new("predicted_over_measured", ""),
];

/// The table: the costs that were fitted, then a row per run and quantity, then
/// what the closed runs say together.
pub fn table(replay: Result<&Replay, &ReplayError>) -> Table {
    let rows = match replay {
        Ok(replay) => {
            let mut rows = costs(replay);
            rows.extend(replay.runs.iter().flat_map(|run| of_run(run, replay)));
            rows.extend(of_curve(replay));
            rows
        }
        Err(why) => vec![note("none", "prediction", Cell::text(why.to_string()))],
    };
    Table {
        name: "sim_against_engine".into(),
        title: "The simulator, calibrated on a cache-off run alone, against the engine's runs"
            .into(),
        columns: COLUMNS.to_vec(),
        rows,
    }
}

fn note(run: &str, quantity: &str, predicted: Cell) -> Row {
    let cells = vec![
        Cell::text(run),
        Cell::Empty,
        Cell::Empty,
        Cell::Empty,
        Cell::Empty,
        Cell::text(quantity),
        Cell::Empty,
        Cell::Empty,
        predicted,
        Cell::Empty,
    ];
    Row { key: format!("{run}.{quantity}"), cells, sources: Vec::new() }
}

/// What was fitted, as rows without a measured side.
fn costs(replay: &Replay) -> Vec<Row> {
    let run = replay.calibrated_on.display().to_string();
    let fit = &replay.fit;
    [
        ("fixed_ms_per_iteration", Cell::Number(fit.fixed_s * 1e3, 2)),
        ("us_per_token", Cell::Number(fit.per_token_s * 1e6, 2)),
        ("relative_residual_rms", Cell::Number(fit.residual_rms, 3)),
        ("turns_fitted", Cell::Count(fit.spans as u64)),
    ]
    .into_iter()
    .map(|(quantity, value)| Row {
        sources: replay.calibration_sources.clone(),
        ..note(&run, quantity, value)
    })
    .collect()
}

/// A quantity of a run, its unit and digits.
type Quantity = (&'static str, &'static str, usize, fn(&RunMeasures) -> Option<f64>);

const QUANTITIES: &[Quantity] = &[
    ("turns_per_s", "turns/s", 2, |m| Some(m.window.as_ref()?.turns_per_s)),
    ("hit_fraction", "", 3, |m| m.window.as_ref()?.hits.value()),
    ("uncached_tokens_per_s", "tokens/s", 0, |m| m.window.as_ref()?.uncached_tokens_per_s),
    ("latency_median_s", "s", 3, |m| m.window.as_ref()?.latency_median_s),
];

/// Quantities of runs with arrivals.
const OPEN: &[Quantity] = &[
    ("completions_per_s", "sessions/s", 4, |m| Some(m.window.as_ref()?.completions_per_s)),
    ("backlog_mean_sessions", "sessions", 1, |m| Some(m.window.as_ref()?.backlog_mean)),
    ("backlog_slope_per_s", "sessions/s", 4, |m| m.window.as_ref()?.backlog_slope_per_s),
];

fn of_run(run: &Replayed, replay: &Replay) -> Vec<Row> {
    let open: &[Quantity] = if run.meta.population.is_none() { OPEN } else { &[] };
    let row = |quantity: &str, unit: &str, values: [Cell; 3]| {
        let dir = run.dir.display().to_string();
        let key = format!("{dir}.{quantity}");
        let [measured, predicted, ratio] = values;
        let cells = vec![
            Cell::text(dir),
            Cell::text(&run.meta.arm),
            run.meta.population.map_or(Cell::Empty, Cell::Count),
            Cell::optional(run.meta.rate.multiple, 2),
            Cell::Count(run.meta.seed),
            Cell::text(quantity),
            Cell::text(unit),
            measured,
            predicted,
            ratio,
        ];
        let mut sources = run.sources.clone();
        sources.extend(replay.calibration_sources.iter().cloned());
        Row { key, cells, sources }
    };
    let (predicted, predicted_state) = match &run.predicted {
        Ok((measures, state)) => (measures, state),
        Err(why) => return vec![row("none", "", [Cell::Empty, Cell::text(why), Cell::Empty])],
    };
    let mut rows: Vec<Row> = QUANTITIES
        .iter()
        .chain(open)
        .map(|(name, unit, digits, of)| {
            let (measured, predicted) = (of(&run.measured), of(predicted));
            let ratio = measured.zip(predicted).filter(|(m, _)| *m != 0.0).map(|(m, p)| p / m);
            let values = [
                Cell::known(measured, *digits),
                Cell::known(predicted, *digits),
                Cell::optional(ratio, 3),
            ];
            row(name, unit, values)
        })
        .collect();
    if let (Some(measured), Some(predicted)) = (run.measured_state, predicted_state) {
        let values = [Cell::text(measured.word()), Cell::text(predicted.word()), Cell::Empty];
        rows.push(row("state", "", values));
    }
    rows
}

/// The populations at which hits fall through one half and throughput peaks.
fn of_curve(replay: &Replay) -> Vec<Row> {
    let mut closed: Vec<(f64, &Replayed, &RunMeasures)> = replay
        .runs
        .iter()
        .filter(|run| run.meta.arm == "closed")
        .filter_map(|run| Some((run.meta.population? as f64, run, &run.predicted.as_ref().ok()?.0)))
        .collect();
    closed.sort_by(|a, b| a.0.total_cmp(&b.0));
    if closed.is_empty() {
        return Vec::new();
    }
    let curve = |of: &dyn Fn(&RunMeasures) -> Option<f64>| {
        let side = |predicted: bool| -> Vec<(f64, f64)> {
            closed
                .iter()
                .filter_map(|(n, run, ours)| {
                    Some((*n, of(if predicted { ours } else { &run.measured })?))
                })
                .collect()
        };
        [side(false), side(true)]
    };
    let hits = curve(&|m| m.window.as_ref()?.hits.value()).map(|points| half_hit_crossing(&points));
    let peaks = curve(&|m| Some(m.window.as_ref()?.turns_per_s))
        .map(|points| points.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1)).map(|(n, _)| n));
    let sources: Vec<_> = closed.iter().flat_map(|(_, run, _)| run.sources.clone()).collect();
    [("half_hit_crossing", hits, 1), ("peak_population", peaks, 0)]
        .into_iter()
        .map(|(quantity, [measured, predicted], digits)| {
            let mut row = note("closed curve", quantity, Cell::known(predicted, digits));
            row.cells[6] = Cell::text("sessions");
            row.cells[7] = Cell::known(measured, digits);
            let ratio = measured.zip(predicted).map(|(m, p)| p / m);
            row.cells[9] = Cell::optional(ratio, 3);
            let all = sources.iter().chain(&replay.calibration_sources);
            Row { sources: all.cloned().collect(), ..row }
        })
        .collect()
}
