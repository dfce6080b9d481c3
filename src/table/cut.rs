//! The runs whose arrivals were cut inside the trap, with model F driven by each run's own
//! plan from the burst on, and the two constant-throughput readings (CUT-A, CUT-B; App. C).

use crate::judged::ScoredRun;
use crate::measure::at_burst;
use crate::model::curve::EntryModel;
use crate::model::fluid::plan::PlanRun;
use crate::rule::Arm;
use crate::setup::registration::trap::{CutArm, CutTest};
use crate::setup::{Configs, Span};

use super::{Cell, Column, Row, Table, plan_model};

const COLUMNS: &[Column] = &[
    Column::key("run", ""),
    Column::key("source", ""),
    Column::key("arm_name", ""),
    Column::key("rate_multiple", "lambda_ref"),
    Column::key("seed", ""),
    Column::new("realized_after_cut_multiple", "lambda_ref"),
    Column::new("slope_per_s", "sessions/s"),
    Column::new("slope_model_per_s", "sessions/s"),
    Column::new("slope_naive_per_s", "sessions/s"),
    Column::new("slope_quasi_static_per_s", "sessions/s"),
    Column::new("closest", ""),
    Column::new("late_slope_per_s", "sessions/s"),
    Column::new("late_slope_model_per_s", "sessions/s"),
    Column::new("late_completions_multiple", "lambda_ref"),
    Column::new("late_completions_model_multiple", "lambda_ref"),
    Column::new("late_prompt_model_tokens", "tokens"),
    Column::new("before_cut_completions_multiple", "lambda_ref"),
    Column::new("uncut_completions_multiple", "lambda_ref"),
    Column::new("dip_pct", "%"),
    Column::new("dip_model_pct", "%"),
    Column::new("dip_10s_pct", "%"),
    Column::new("backlog_before_cut_sessions", "sessions"),
    Column::new("backlog_before_cut_model_sessions", "sessions"),
    Column::new("backlog_last_300s_least_sessions", "sessions"),
    Column::new("backlog_end_sessions", "sessions"),
    Column::new("backlog_end_model_sessions", "sessions"),
    Column::new("naive_backlog_end_sessions", "sessions"),
    Column::new("onset_at_precut_rate_s", "s"),
    Column::new("onset_at_naive_rate_s", "s"),
    Column::new("follow_up_hit_fraction", ""),
    Column::new("stuck", ""),
];

/// Bins of the dip, spans just before the cut and at the run's end, and the one from whose
/// backlog a constant rate is followed (App. C), s.
const NEAR_S: f64 = 300.0;
/// The finer bins of the dip (App. C), s.
const FINE_S: f64 = 10.0;
/// How long before the cut the completion rate is read (App. C), s.
const BEFORE_S: f64 = 600.0;

/// The table, a row per run of the arm `cut`. `test` gives windows and arms.
pub fn table(runs: &[ScoredRun], test: &CutTest, configs: &Configs) -> Table {
    let mut cut: Vec<&ScoredRun> = runs.iter().filter(|run| run.meta.arm == "cut").collect();
    cut.sort_by_key(|run| (run.dir.parent().map(ToOwned::to_owned), run.meta.seed));
    let mut rows: Vec<Row> = cut.iter().filter_map(|run| row(run, runs, test, configs)).collect();
    rows.sort_by_key(|row| row.cells[2].print());
    Table {
        name: "cut".into(),
        title: "Arrivals cut inside the trap: backlog slopes against model F on the run's plan"
            .into(),
        columns: COLUMNS.to_vec(),
        rows,
    }
}

fn row(run: &ScoredRun, runs: &[ScoredRun], test: &CutTest, configs: &Configs) -> Option<Row> {
    let lambda_ref = run.load?.lambda_ref_per_s;
    let end_s = run.meta.duration_s;
    let window_s = test.slope_window_s;
    let arrivals = run.from_burst.iter().filter(|a| window_s.holds(a.arrival_s)).count() as f64;
    let realized = arrivals / window_s.length_s();
    let arm = nearest(&test.arms, realized / lambda_ref)?;
    let series = &run.measures.series;
    let window = run.measures.window.as_ref()?;
    let late = run.measures.window_span;
    let model = plan_model::serve(run, configs).ok();
    let slope = series.backlog_slope_per_s(window_s);
    let uncut = uncut_control(run, runs).map(|c| c.completions_per_s(window_s));
    let readings = [
        ("MODEL F", model.as_ref().map(|m| model_slope(m, window_s, configs, run))),
        ("NAIVE", uncut.map(|d| realized - d)),
        ("QUASI-STATIC", Some(realized - lambda_ref)),
    ];
    let before = Span::new(test.from_s - BEFORE_S, test.from_s);
    let multiple = |per_s: f64| Cell::Number(per_s / lambda_ref, 3);
    let completed = |m: &PlanRun, span: Span| {
        m.sessions_completed(span.start_s, span.end_s) as f64 / span.length_s()
    };
    let reference = Span::new(window_s.start_s, window_s.start_s + NEAR_S);
    let reference_backlog = series.backlog_mean(reference);
    let naive_end = readings[1]
        .1
        .zip(reference_backlog)
        .map(|(slope, from)| from + slope * (end_s - reference.middle_s()));
    let onset = configs.of_cell(&run.meta.cell).and_then(|(cell, workload, _)| {
        EntryModel::new(cell, workload).ok().map(|model| model.onset().population())
    });
    // When a backlog that changes at a constant rate from the reference on is down to n_b.
    let onset_at = |per_s: Option<f64>| {
        let per_s = per_s?;
        let (from, onset) = reference_backlog.zip(onset)?;
        Some((per_s < 0.0).then(|| reference.middle_s() + (onset - from) / per_s))
    };
    let reached = |per_s: Option<f64>| match onset_at(per_s) {
        None => Cell::Unknown,
        Some(at_s) => Cell::optional(at_s, 0),
    };
    let just_before = Span::new(test.from_s - NEAR_S, test.from_s);
    let last = Span::new(end_s - NEAR_S, end_s);
    let key = run.dir.display().to_string();
    let cells = vec![
        Cell::text(&key),
        Cell::text(run.meta.source.word()),
        Cell::text(&arm.name),
        Cell::optional(run.meta.rate.multiple, 2),
        Cell::Count(run.meta.seed),
        multiple(realized),
        Cell::known(slope, 4),
        Cell::known(readings[0].1, 4),
        Cell::known(readings[1].1, 4),
        Cell::known(readings[2].1, 4),
        closest(slope, &readings, arm),
        Cell::known(series.backlog_slope_per_s(late), 4),
        Cell::known(model.as_ref().map(|m| model_slope(m, late, configs, run)), 4),
        multiple(window.completions_per_s),
        model.as_ref().map_or(Cell::Unknown, |m| multiple(completed(m, late))),
        Cell::known(
            model.as_ref().and_then(|m| plan_model::mean_prompt_tokens(m, run, late, configs)),
            0,
        ),
        multiple(series.completions_per_s(before)),
        uncut.map_or(Cell::Unknown, multiple),
        Cell::known(dip(test.from_s, end_s, NEAR_S, |span| series.backlog_mean(span)), 1),
        Cell::known(
            model.as_ref().and_then(|m| {
                dip(test.from_s, end_s, NEAR_S, |s| Some(m.mean_backlog(s.start_s, s.end_s)))
            }),
            1,
        ),
        Cell::known(dip(test.from_s, end_s, FINE_S, |span| series.backlog_mean(span)), 1),
        Cell::known(series.backlog_mean(just_before), 1),
        Cell::known(
            model.as_ref().map(|m| m.mean_backlog(just_before.start_s, just_before.end_s)),
            1,
        ),
        Cell::Number(at_burst::present(&run.from_burst).min_over(last), 0),
        Cell::known(series.backlog.last().map(|(_, n)| *n), 0),
        model.as_ref().map_or(Cell::Unknown, |m| Cell::Count(m.backlog(end_s) as u64)),
        Cell::known(naive_end, 0),
        reached(Some(realized - series.completions_per_s(before))),
        reached(readings[1].1),
        Cell::known(window.follow_up_hits.value(), 3),
        run.stuck.map_or(Cell::Unknown, |stuck| Cell::text(if stuck { "yes" } else { "no" })),
    ];
    let sources = run.sources.clone();
    Some(Row { key, cells, sources })
}

/// The arm whose rate is nearest.
fn nearest(arms: &[CutArm], multiple: f64) -> Option<&CutArm> {
    let off = |arm: &CutArm| (arm.multiple - multiple).abs();
    arms.iter().min_by(|a, b| off(a).total_cmp(&off(b)))
}

/// The BURST run on the same seed and rate, which was not cut.
fn uncut_control<'a>(
    run: &ScoredRun,
    runs: &'a [ScoredRun],
) -> Option<&'a crate::measure::bins::Series> {
    super::judged_for_the_paired_test(runs)
        .find(|r| {
            Arm::of(&r.meta.arm) == Some(Arm::Burst)
                && r.meta.cell == run.meta.cell
                && r.meta.seed == run.meta.seed
                && r.meta.rate == run.meta.rate
                && r.meta.source == run.meta.source
        })
        .map(|r| &r.measures.series)
}

fn model_slope(model: &PlanRun, span: Span, configs: &Configs, run: &ScoredRun) -> f64 {
    let bin_s = configs.of_cell(&run.meta.cell).map_or(10.0, |(.., p)| p.bins.backlog_s);
    model.backlog_slope_per_s(span.start_s, span.end_s, bin_s)
}

/// The reading whose slope is closest, among those that the arm is compared with.
fn closest(slope: Option<f64>, readings: &[(&str, Option<f64>); 3], arm: &CutArm) -> Cell {
    let count = if arm.quasi_static { 3 } else { 2 };
    let Some(slope) = slope else { return Cell::Unknown };
    let known: Option<Vec<(&str, f64)>> =
        readings[..count].iter().map(|(word, x)| x.map(|x| (*word, (x - slope).abs()))).collect();
    let least = known.and_then(|all| all.into_iter().min_by(|a, b| a.1.total_cmp(&b.1)));
    least.map_or(Cell::Unknown, |(word, _)| Cell::text(word))
}

/// How far the backlog dips after the cut below its level in the bin before it, on bins of
/// `bin_s`, %.
fn dip(from_s: f64, end_s: f64, bin_s: f64, mean: impl Fn(Span) -> Option<f64>) -> Option<f64> {
    let before = mean(Span::new(from_s - bin_s, from_s))?;
    let least =
        Span::new(from_s, end_s).bins(bin_s).into_iter().filter_map(mean).min_by(f64::total_cmp)?;
    Some(100.0 * (1.0 - least / before).max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dip_is_read_against_the_bin_before_the_cut_and_is_never_negative() {
        // 100 up to the cut at 600, then 90 for 10 s, then 110.
        let level = |span: Span| {
            Some(match span.start_s {
                t if t < 600.0 => 100.0,
                t if t < 610.0 && span.length_s() < 11.0 => 90.0,
                _ => 110.0,
            })
        };
        assert_eq!(dip(600.0, 1200.0, 10.0, level).map(f64::round), Some(10.0));
        assert_eq!(dip(600.0, 1200.0, 300.0, level), Some(0.0));
        assert_eq!(dip(600.0, 1200.0, 10.0, |_| None), None);
    }
}
