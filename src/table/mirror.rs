//! The runs of the step-capped workload, with model F driven by each run's own plan from
//! the burst on (MIRROR, App. C).

use crate::analysis::ScoredRun;
use crate::analysis::statistics::extra::{Extra, MirrorMeasures};
use crate::analysis::verdict::{Verdict, VerdictRun};
use crate::run::Kind;
use crate::setup::registration::trap::MirrorTest;
use crate::setup::{Configs, Span};

use super::{Cell, Column, Row, Table, plan_model};

const COLUMNS: &[Column] = &[
    Column::key("run", ""),
    Column::key("source", ""),
    Column::key("rate_multiple", "lambda_ref"),
    Column::key("seed", ""),
    Column::new("early_completions_multiple", "lambda_ref"),
    Column::new("late_completions_multiple", "lambda_ref"),
    Column::new("wave_s", "s"),
    Column::new("wave_peak_multiple", "lambda_ref"),
    Column::new("backlog_slope_per_s", "sessions/s"),
    Column::new("mean_prompt_tokens", "tokens"),
    Column::new("label", ""),
    Column::new("early_model_multiple", "lambda_ref"),
    Column::new("late_model_multiple", "lambda_ref"),
    Column::new("wave_model_s", "s"),
    Column::new("wave_peak_model_multiple", "lambda_ref"),
    Column::new("slope_model_per_s", "sessions/s"),
    Column::new("slope_quasi_static_per_s", "sessions/s"),
];

/// The table, a row per BURST run that the verdict counts, rates from the largest.
pub fn table(
    verdict: &Verdict,
    test: &MirrorTest,
    scored: &[ScoredRun],
    configs: &Configs,
) -> Table {
    let mut runs: Vec<&VerdictRun> =
        verdict.runs.iter().filter(|r| r.role == "subject" && r.set_aside.is_none()).collect();
    let rate = |run: &VerdictRun| run.meta.rate.multiple.unwrap_or(0.0);
    runs.sort_by(|a, b| rate(b).total_cmp(&rate(a)).then(a.meta.seed.cmp(&b.meta.seed)));
    let lambda_ref = verdict.registration.registration.lambda_ref_per_s;
    let row = |run: &&VerdictRun| {
        let judged = scored.iter().find(|s| s.dir == run.dir)?;
        let Extra::Mirror(found) = &run.extra else { return None };
        Some(row(run, judged, found, test, lambda_ref, configs))
    };
    Table {
        name: "mirror".into(),
        title: "The step-capped workload: lull, wave and backlog against model F on the run's plan"
            .into(),
        columns: COLUMNS.to_vec(),
        rows: runs.iter().filter_map(row).collect(),
    }
}

fn row(
    run: &VerdictRun,
    judged: &ScoredRun,
    found: &MirrorMeasures,
    test: &MirrorTest,
    lambda_ref: f64,
    configs: &Configs,
) -> Row {
    let key = run.dir.display().to_string();
    let after = Span::new(test.blackout_s.end_s, run.meta.duration_s);
    let peak = run
        .measures
        .series
        .completions
        .iter()
        .filter(|(t, _)| after.holds(*t))
        .map(|(_, count)| *count)
        .max();
    let bin_s = configs.of_cell(&run.meta.cell).map_or(300.0, |(.., p)| p.bins.gap_s);
    let mut cells = vec![
        Cell::text(&key),
        Cell::text(run.meta.source.word()),
        Cell::optional(run.meta.rate.multiple, 2),
        Cell::Count(run.meta.seed),
        Cell::Number(found.blackout, 3),
        Cell::Number(found.lull, 3),
        Cell::known(found.wave_s, 0),
        Cell::known(peak.map(|count| count as f64 / bin_s / lambda_ref), 2),
        Cell::known(found.slope_per_s, 4),
        Cell::known(found.mean_prompt_tokens, 0),
        run.labelled.as_ref().map_or(Cell::Empty, |l| Cell::text(l.label)),
    ];
    match plan_model::serve(judged, configs) {
        Ok(model) => {
            let multiple = |span: Span| {
                let completed = model.sessions_completed(span.start_s, span.end_s) as f64;
                completed / span.length_s() / lambda_ref
            };
            let burst = |i: usize| run.from_burst[i].kind == Kind::Burst;
            let peak = after.bins(bin_s).into_iter().map(multiple).max_by(f64::total_cmp);
            let window = test.slope_window_s;
            let slope = model.backlog_slope_per_s(window.start_s, window.end_s, 10.0);
            cells.extend([
                Cell::Number(multiple(test.blackout_s), 3),
                Cell::Number(multiple(test.lull_s), 3),
                Cell::known(model.median_completion_s(burst), 0),
                Cell::known(peak, 2),
                Cell::Number(slope, 4),
            ]);
        }
        Err(_) => cells.extend(vec![Cell::Unknown; 5]),
    }
    // The quasi-static reading completes sessions at the workload's all-miss rate.
    let quasi_static = found.plan_rate_per_s - test.lambda_miss * lambda_ref;
    cells.push(Cell::Number(quasi_static, 4));
    Row { key, cells, sources: run.sources.clone() }
}
