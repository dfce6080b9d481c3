//! The simulator's predictions beside what a real engine did.

use crate::measure::RunMeasures;
use crate::measure::closed_curve::half_hit_crossing;
use crate::replay::{Replay, ReplayError, Replayed};
use crate::run::{Meta, SourceFile};
use crate::setup::Arm;

use super::{Cell, Col, Heading, Table};

/// A row: what was predicted, of which run, beside what was measured.
struct PredictedRow<'a> {
    /// The run that it is about, or what runs are.
    about: About<'a>,
    quantity: &'a str,
    unit: &'static str,
    measured: Cell,
    predicted: Cell,
    ratio: Option<f64>,
    sources: Vec<SourceFile>,
}

enum About<'a> {
    Run(&'a Replayed),
    Other(String),
}

impl PredictedRow<'_> {
    /// A row without a measured side.
    fn note(about: impl Into<String>, quantity: &'static str, predicted: Cell) -> Self {
        let about = About::Other(about.into());
        let (measured, sources) = (Cell::Empty, Vec::new());
        Self { about, quantity, unit: "", measured, predicted, ratio: None, sources }
    }

    fn run(&self) -> String {
        match &self.about {
            About::Run(run) => run.dir.display().to_string(),
            About::Other(words) => words.clone(),
        }
    }

    /// What the run's record says; nothing where the row is about no run.
    fn meta(&self, of: impl FnOnce(&Meta) -> Cell) -> Cell {
        match &self.about {
            About::Run(run) => of(&run.meta),
            About::Other(_) => Cell::Empty,
        }
    }
}

/// The table: the costs that were fitted, then a row per run and quantity, then
/// what the closed runs say together.
pub fn table(replay: Result<&Replay, &ReplayError>) -> Table {
    let columns: &[Col<PredictedRow<'_>>] = &[
        Heading("run", "", "Path of the run's directory").key(|of| Cell::text(of.run())),
        Heading("arm", "", "What was done to the run: burst, noburst, capped, ...")
            .key(|of| of.meta(|meta| Cell::text(meta.arm.word()))),
        Heading("population", "sessions", "Sessions that a closed run keeps running")
            .key(|of| of.meta(|meta| meta.population.map_or(Cell::Empty, Cell::Count))),
        Heading("rate_multiple", "lambda_ref", "Nominal arrival rate; none for closed runs")
            .key(|of| of.meta(|meta| Cell::optional(meta.rate.multiple, 2))),
        Heading("seed", "", "Seed of the run's plan")
            .key(|of| of.meta(|meta| Cell::Count(meta.seed))),
        Heading("quantity", "", "What the value is of").key(|of| Cell::text(of.quantity)),
        Heading("unit", "", "Unit of the value in the same row").key(|of| Cell::text(of.unit)),
        Heading("measured", "", "The measured value").new(|of| of.measured.clone()),
        Heading("predicted", "", "The simulator's value").new(|of| of.predicted.clone()),
        Heading("predicted_over_measured", "", "The simulator's value over the measured one")
            .optional(3, |of| of.ratio),
    ];
    let rows = match replay {
        Ok(replay) => {
            let mut rows = costs(replay);
            rows.extend(replay.runs.iter().flat_map(|run| of_run(run, replay)));
            rows.extend(of_curve(replay));
            rows
        }
        Err(why) => vec![PredictedRow::note("none", "prediction", Cell::text(why.to_string()))],
    };
    let title = "The simulator, calibrated on a cache-off run alone, against the engine's runs";
    Table::of("sim_against_engine", title, columns, rows, |of| {
        (format!("{}.{}", of.run(), of.quantity), of.sources.clone())
    })
}

/// What was fitted, as rows without a measured side.
fn costs(replay: &Replay) -> Vec<PredictedRow<'_>> {
    let run = replay.calibrated_on.display();
    let fit = &replay.fit;
    [
        ("fixed_ms_per_iteration", Cell::Number(fit.fixed_s * 1e3, 2)),
        ("us_per_token", Cell::Number(fit.per_token_s * 1e6, 2)),
        ("relative_residual_rms", Cell::Number(fit.residual_rms, 3)),
        ("turns_fitted", Cell::Count(fit.spans as u64)),
    ]
    .into_iter()
    .map(|(quantity, value)| PredictedRow {
        sources: replay.calibration_sources.clone(),
        ..PredictedRow::note(run.to_string(), quantity, value)
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

fn of_run<'a>(run: &'a Replayed, replay: &Replay) -> Vec<PredictedRow<'a>> {
    let open: &[Quantity] = if run.meta.population.is_none() { OPEN } else { &[] };
    let row = |quantity, unit, measured, predicted, ratio| {
        let sources = run.sources.iter().chain(&replay.calibration_sources).cloned().collect();
        let about = About::Run(run);
        PredictedRow { about, quantity, unit, measured, predicted, ratio, sources }
    };
    let (predicted, predicted_state) = match &run.predicted {
        Ok((measures, state)) => (measures, state),
        Err(why) => return vec![row("none", "", Cell::Empty, Cell::text(why), None)],
    };
    let quantities = QUANTITIES.iter().chain(open);
    let mut rows: Vec<_> = quantities
        .map(|(name, unit, digits, of)| {
            let (measured, predicted) = (of(&run.measured), of(predicted));
            let ratio = measured.zip(predicted).filter(|(m, _)| *m != 0.0).map(|(m, p)| p / m);
            let [measured, predicted] = [measured, predicted].map(|x| Cell::known(x, *digits));
            row(name, unit, measured, predicted, ratio)
        })
        .collect();
    if let (Some(measured), Some(predicted)) = (run.measured_state, predicted_state) {
        let words = [measured, *predicted].map(|state| Cell::text(state.word()));
        let [measured, predicted] = words;
        rows.push(row("state", "", measured, predicted, None));
    }
    rows
}

/// The populations at which hits fall through one half and throughput peaks.
fn of_curve(replay: &Replay) -> Vec<PredictedRow<'_>> {
    let mut closed: Vec<(f64, &Replayed, &RunMeasures)> = replay
        .runs
        .iter()
        .filter(|run| run.meta.arm == Arm::Closed)
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
        .map(|(quantity, [measured, predicted], digits)| PredictedRow {
            unit: "sessions",
            measured: Cell::known(measured, digits),
            ratio: measured.zip(predicted).map(|(m, p)| p / m),
            sources: sources.iter().chain(&replay.calibration_sources).cloned().collect(),
            ..PredictedRow::note("closed curve", quantity, Cell::known(predicted, digits))
        })
        .collect()
}
