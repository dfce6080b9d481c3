//! The step-capped workload (MIRROR, App. C): its BURST runs and NOBURST controls, and the
//! standard workload's BURST runs beside them, over the same windows and with model F driven
//! by each run's own plan from the burst on.

use crate::judged::ScoredRun;
use crate::judged::statistics::extra::Extra;
use crate::judged::verdict::{Verdict, VerdictRun};
use crate::measure::{at_burst, stats};
use crate::model::fluid::plan::PlanRun;
use crate::rule::Arm;
use crate::run::Kind;
use crate::setup::registration::trap::MirrorTest;
use crate::setup::{Configs, Span};

use super::{Cell, Column, Row, Table, holds, judged_for_the_paired_test, open_run, plan_model};

const COLUMNS: &[Column] = &[
    Column::new("label", ""),
    Column::new("early_completions", "sessions"),
    Column::new("early_completions_multiple", "lambda_ref"),
    Column::new("late_completions", "sessions"),
    Column::new("late_completions_multiple", "lambda_ref"),
    Column::new("end_completions_multiple", "lambda_ref"),
    Column::new("wave_s", "s"),
    Column::new("wave_peak_multiple", "lambda_ref"),
    Column::new("burst_sessions_completed", "sessions"),
    Column::new("backlog_slope_per_s", "sessions/s"),
    Column::new("mean_prompt_tokens", "tokens"),
    Column::new("early_model_multiple", "lambda_ref"),
    Column::new("late_model_multiple", "lambda_ref"),
    Column::new("end_model_multiple", "lambda_ref"),
    Column::new("wave_model_s", "s"),
    Column::new("wave_model_quartile_1_s", "s"),
    Column::new("wave_model_quartile_3_s", "s"),
    Column::new("wave_peak_model_multiple", "lambda_ref"),
    Column::new("slope_model_per_s", "sessions/s"),
    Column::new("mean_prompt_model_tokens", "tokens"),
    Column::new("slope_quasi_static_per_s", "sessions/s"),
    Column::new("wave_calibrated_s", "s"),
    Column::new("wave_calibrated_tolerance_s", "s"),
    Column::new("w5_holds", ""),
    Column::new("w7_holds", ""),
];

/// The cell with the standard workload, whose BURST runs gave W5's timing factor (App. C).
const STANDARD: &str = "sglang-300k";
/// The end of a run, where a second wave may complete (App. C).
const END: Span = Span::new(7500.0, 8700.0);
/// Shares of the burst's sessions: the quartiles of their completion times.
const QUARTILES: [f64; 2] = [0.25, 0.75];

/// A run of the table, with model F on its plan.
struct Seen<'a> {
    run: &'a ScoredRun,
    label: Cell,
    /// The quasi-static reading of its backlog slope; none where the test has no such reading.
    quasi_static: Option<f64>,
    /// Whether W5 and W7 are asked of it.
    is_subject: bool,
    /// `None` without a burst.
    model: Option<PlanRun>,
}

/// The table: the BURST runs that the verdict counts, rates from the largest, then its
/// NOBURST controls, then the standard workload's BURST runs.
pub fn table(
    verdict: &Verdict,
    test: &MirrorTest,
    scored: &[ScoredRun],
    configs: &Configs,
) -> Table {
    let of_role = |role: &'static str| {
        let mut runs: Vec<&VerdictRun> =
            verdict.runs.iter().filter(|r| r.role == role && r.set_aside.is_none()).collect();
        let rate = |run: &VerdictRun| run.meta.rate.multiple.unwrap_or(0.0);
        runs.sort_by(|a, b| rate(b).total_cmp(&rate(a)).then(a.meta.seed.cmp(&b.meta.seed)));
        runs
    };
    let lambda_ref = verdict.registration.registration.lambda_ref_per_s;
    let registered = [of_role("subject"), of_role("control")].concat();
    let registered = registered.into_iter().filter_map(|run| {
        let Extra::Mirror(found) = &run.extra else { return None };
        let judged = scored.iter().find(|s| s.dir == run.dir)?;
        let is_subject = run.role == "subject";
        let label = run.labelled.as_ref().filter(|_| is_subject);
        // The quasi-static reading completes sessions at the workload's all-miss rate.
        let quasi_static = found.plan_rate_per_s - test.lambda_miss * lambda_ref;
        Some(Seen {
            run: judged,
            label: label.map_or(Cell::Empty, |l| Cell::text(l.label)),
            quasi_static: Some(quasi_static),
            is_subject,
            model: plan_model::serve(judged, configs).ok(),
        })
    });
    let standard = judged_for_the_paired_test(scored)
        .filter(|run| run.meta.cell == STANDARD && Arm::of(&run.meta.arm) == Some(Arm::Burst))
        .map(|run| Seen {
            run,
            label: Cell::Empty,
            quasi_static: None,
            is_subject: false,
            model: plan_model::serve(run, configs).ok(),
        });
    let standard: Vec<Seen<'_>> = standard.collect();
    let timing = timing_factor(&standard);
    let rows = registered
        .chain(standard)
        .map(|seen| row(&seen, timing, test, lambda_ref, configs))
        .collect();
    Table {
        name: "mirror".into(),
        title: "The step-capped workload: lull, wave and backlog against model F on the run's plan"
            .into(),
        columns: open_run::columns(COLUMNS),
        rows,
    }
}

/// Model F's median completion time of a run's burst, s.
fn wave_model_s(seen: &Seen<'_>) -> Option<f64> {
    let burst = |i: usize| seen.run.from_burst[i].kind == Kind::Burst;
    seen.model.as_ref()?.median_completion_s(burst)
}

/// W5's factor from the standard workload's runs here: the mean of the wave's elapsed time
/// over model F's. `None` without such runs.
fn timing_factor(standard: &[Seen<'_>]) -> Option<f64> {
    let factors: Vec<f64> = standard
        .iter()
        .filter_map(|seen| {
            let start_s = seen.run.burst_start_s;
            let measured = at_burst::wave_s(&seen.run.from_burst)? - start_s;
            Some(measured / (wave_model_s(seen)? - start_s))
        })
        .collect();
    stats::mean(&factors)
}

fn row(
    seen: &Seen<'_>,
    timing: Option<f64>,
    test: &MirrorTest,
    lambda_ref: f64,
    configs: &Configs,
) -> Row {
    let run = seen.run;
    let mut cells = vec![seen.label.clone()];
    cells.extend(measured(run, test, lambda_ref, configs));
    cells.extend(predicted(seen, test, lambda_ref, configs));
    cells.push(Cell::optional(seen.quasi_static, 4));
    cells.extend(secondary(seen, timing, test, configs));
    open_run::row(run, cells)
}

/// After the lull, where the wave peaks, and the bins of that peak.
fn wave_bins(run: &ScoredRun, test: &MirrorTest, configs: &Configs) -> (Span, f64) {
    let bin_s = configs.of_cell(&run.meta.cell).map_or(300.0, |(.., p)| p.bins.gap_s);
    (Span::new(test.blackout_s.end_s, run.meta.duration_s), bin_s)
}

fn measured(run: &ScoredRun, test: &MirrorTest, lambda_ref: f64, configs: &Configs) -> Vec<Cell> {
    let series = &run.measures.series;
    let multiple = |span: Span| series.completions_per_s(span) / lambda_ref;
    let count = |span: Span| {
        Cell::Count(libm::round(series.completions_per_s(span) * span.length_s()) as u64)
    };
    let (after, bin_s) = wave_bins(run, test, configs);
    let peak = series.completions.iter().filter(|(t, _)| after.holds(*t)).map(|(_, n)| *n).max();
    let burst = run.from_burst.iter().filter(|a| a.kind == Kind::Burst);
    let completed = burst.clone().filter(|a| a.completed_s().is_some()).count() as u64;
    let has_burst = burst.count() > 0;
    let of_burst = |cell: Cell| if has_burst { cell } else { Cell::Empty };
    let prompt = run.measures.window.as_ref().and_then(|w| w.mean_prompt_tokens);
    vec![
        count(test.blackout_s),
        Cell::Number(multiple(test.blackout_s), 3),
        count(test.lull_s),
        Cell::Number(multiple(test.lull_s), 3),
        Cell::Number(multiple(END), 3),
        of_burst(Cell::known(at_burst::wave_s(&run.from_burst), 0)),
        of_burst(Cell::known(peak.map(|count| count as f64 / bin_s / lambda_ref), 2)),
        of_burst(Cell::Count(completed)),
        Cell::known(series.backlog_slope_per_s(test.slope_window_s), 4),
        Cell::known(prompt, 0),
    ]
}

fn predicted(seen: &Seen<'_>, test: &MirrorTest, lambda_ref: f64, configs: &Configs) -> Vec<Cell> {
    let run = seen.run;
    let Some(model) = &seen.model else {
        // Nothing to start from without a burst; with one, the model could not serve the plan.
        let none = if run.from_burst.is_empty() { Cell::Empty } else { Cell::Unknown };
        return vec![none; 9];
    };
    let multiple = |span: Span| {
        let completed = model.sessions_completed(span.start_s, span.end_s) as f64;
        completed / span.length_s() / lambda_ref
    };
    let (after, bin_s) = wave_bins(run, test, configs);
    let burst = |i: usize| run.from_burst[i].kind == Kind::Burst;
    let window = test.slope_window_s;
    let backlog_s = configs.of_cell(&run.meta.cell).map_or(10.0, |(.., p)| p.bins.backlog_s);
    let peak = after.bins(bin_s).into_iter().map(multiple).max_by(f64::total_cmp);
    vec![
        Cell::Number(multiple(test.blackout_s), 3),
        Cell::Number(multiple(test.lull_s), 3),
        Cell::Number(multiple(END), 3),
        Cell::known(model.median_completion_s(burst), 0),
        Cell::known(model.completed_by_s(QUARTILES[0], burst), 0),
        Cell::known(model.completed_by_s(QUARTILES[1], burst), 0),
        Cell::known(peak, 2),
        Cell::Number(model.backlog_slope_per_s(window.start_s, window.end_s, backlog_s), 4),
        Cell::known(prompt_model(seen, configs), 0),
    ]
}

/// Model F's mean prompt over the evaluation window, tokens.
fn prompt_model(seen: &Seen<'_>, configs: &Configs) -> Option<f64> {
    let model = seen.model.as_ref()?;
    plan_model::mean_prompt_tokens(model, seen.run, seen.run.measures.window_span, configs)
}

/// W5 with the timing factor of the runs here, and W7, both against model F on the run's plan
/// (the registered clauses hold them against what was frozen for other plans).
fn secondary(
    seen: &Seen<'_>,
    timing: Option<f64>,
    test: &MirrorTest,
    configs: &Configs,
) -> Vec<Cell> {
    if !seen.is_subject {
        return vec![Cell::Empty; 4];
    }
    let run = seen.run;
    let elapsed = timing.zip(wave_model_s(seen)).map(|(f, wave)| f * (wave - run.burst_start_s));
    let tolerance = elapsed.map(|elapsed| test.calibrated_tolerance * elapsed);
    let calibrated = elapsed.map(|elapsed| run.burst_start_s + elapsed);
    // A wave that did not come is not within any time of model F's.
    let wave = at_burst::wave_s(&run.from_burst).unwrap_or(f64::INFINITY);
    let w5 = calibrated.zip(tolerance).map(|(at, within)| (wave - at).abs() <= within);
    let prompt = run.measures.window.as_ref().and_then(|w| w.mean_prompt_tokens);
    let w7 = prompt
        .zip(prompt_model(seen, configs))
        .map(|(prompt, model)| (prompt / model - 1.0).abs() <= test.prompt_tolerance);
    vec![Cell::known(calibrated, 0), Cell::known(tolerance, 0), holds(w5), holds(w7)]
}
