//! The runs whose arrivals were cut inside the trap, with model F driven by each run's own
//! plan from the burst on, and the two constant-throughput readings (CUT-A, CUT-B; App. C).

use crate::judged::ScoredRun;
use crate::judged::statistics::RunStatistics;
use crate::judged::verdict::Verdict;
use crate::measure::at_burst;
use crate::measure::bins::Series;
use crate::model::curve::EntryModel;
use crate::model::fluid::plan::PlanRun;
use crate::rule::cut::{CutArm, CutTest};
use crate::setup::{Arm, Configs, Span};

use super::about_run::{AboutRun, rate_multiple, run, seed, source};
use super::{Cell, Col, Heading, Table, plan_model};

/// Bins of the dip, spans just before the cut and at the run's end, and the one from whose
/// backlog a constant rate is followed (App. C), s.
const NEAR_S: f64 = 300.0;
/// The finer bins of the dip (App. C), s.
const FINE_S: f64 = 10.0;
/// How long before the cut the completion rate is read (App. C), s.
const BEFORE_S: f64 = 600.0;

/// A run whose arrivals were cut, beside what is predicted for it.
struct CutRun<'a> {
    run: &'a ScoredRun,
    test: &'a CutTest,
    configs: &'a Configs,
    arm: &'a CutArm,
    lambda_ref_per_s: f64,
    /// Arrivals after the cut, over the slope window, sessions/s.
    realized_per_s: f64,
    /// Model F on the run's plan.
    model: Option<PlanRun>,
    /// Completions over the slope window of the BURST run that was not cut, sessions/s.
    uncut_per_s: Option<f64>,
}

impl AboutRun for CutRun<'_> {
    fn run(&self) -> &RunStatistics {
        self.run
    }
}

impl<'a> CutRun<'a> {
    fn of(
        run: &'a ScoredRun,
        runs: &[ScoredRun],
        test: &'a CutTest,
        configs: &'a Configs,
    ) -> Option<Self> {
        let lambda_ref_per_s = run.load?.lambda_ref_per_s;
        run.measures.window.as_ref()?;
        let window_s = test.slope_window_s;
        let arrivals = run.from_burst.iter().filter(|a| window_s.holds(a.arrival_s)).count() as f64;
        let realized_per_s = arrivals / window_s.length_s();
        Some(Self {
            run,
            test,
            configs,
            arm: nearest(&test.arms, realized_per_s / lambda_ref_per_s)?,
            lambda_ref_per_s,
            realized_per_s,
            model: plan_model::serve(run, configs).ok(),
            uncut_per_s: uncut_control(run, runs).map(|c| c.completions_per_s(window_s)),
        })
    }

    fn series(&self) -> &Series {
        &self.run.measures.series
    }

    /// The evaluation window.
    fn late(&self) -> Span {
        self.run.measures.window_span
    }

    fn end_s(&self) -> f64 {
        self.run.meta.duration_s
    }

    /// A rate in lambda_ref.
    fn multiple(&self, per_s: f64) -> Option<f64> {
        Some(per_s / self.lambda_ref_per_s)
    }

    /// Model F's backlog slope over `span`, sessions/s.
    fn model_slope(&self, span: Span) -> Option<f64> {
        let of_cell = self.configs.of_cell(&self.run.meta.cell);
        let bin_s = of_cell.map_or(10.0, |(.., p)| p.bins.backlog_s);
        Some(self.model.as_ref()?.backlog_slope_per_s(span.start_s, span.end_s, bin_s))
    }

    /// Model F's mean backlog over `span`, sessions.
    fn model_backlog(&self, span: Span) -> Option<f64> {
        Some(self.model.as_ref()?.mean_backlog(span.start_s, span.end_s))
    }

    /// Arrivals less the completions of the run that was not cut, sessions/s.
    fn naive_slope(&self) -> Option<f64> {
        self.uncut_per_s.map(|per_s| self.realized_per_s - per_s)
    }

    /// Completions just before the cut, sessions/s.
    fn before_cut_per_s(&self) -> f64 {
        let before = Span::new(self.test.from_s - BEFORE_S, self.test.from_s);
        self.series().completions_per_s(before)
    }

    fn just_before(&self) -> Span {
        Span::new(self.test.from_s - NEAR_S, self.test.from_s)
    }

    /// The bin from whose backlog a constant rate is followed.
    fn reference(&self) -> Span {
        let start_s = self.test.slope_window_s.start_s;
        Span::new(start_s, start_s + NEAR_S)
    }

    /// The reading whose slope is closest, among those that the arm is compared with.
    fn closest(&self) -> Cell {
        let window = self.test.slope_window_s;
        let mut readings =
            vec![("MODEL F", self.model_slope(window)), ("NAIVE", self.naive_slope())];
        if self.arm.quasi_static {
            readings.push(("QUASI-STATIC", Some(self.realized_per_s - self.lambda_ref_per_s)));
        }
        let closest = self.series().backlog_slope_per_s(window).and_then(|slope| {
            let off = |(word, x): (_, Option<f64>)| Some((word, (x? - slope).abs()));
            let known: Option<Vec<(&str, f64)>> = readings.into_iter().map(off).collect();
            known?.into_iter().min_by(|a, b| a.1.total_cmp(&b.1))
        });
        closest.map_or(Cell::Unknown, |(word, _)| Cell::text(word))
    }

    /// When a backlog that changes at a constant rate from the reference on is down to n_b.
    fn onset_at(&self, per_s: Option<f64>) -> Cell {
        let onset = self.configs.of_cell(&self.run.meta.cell).and_then(|(cell, workload, _)| {
            EntryModel::new(cell, workload).ok().map(|model| model.onset().population())
        });
        let from = self.series().backlog_mean(self.reference());
        let (Some(per_s), Some(from), Some(onset)) = (per_s, from, onset) else {
            return Cell::Unknown;
        };
        let at_s = (per_s < 0.0).then(|| self.reference().middle_s() + (onset - from) / per_s);
        Cell::optional(at_s, 0)
    }

    /// How far the backlog dips after the cut, on bins of `bin_s`, %.
    fn dip(&self, bin_s: f64, mean: impl Fn(Span) -> Option<f64>) -> Option<f64> {
        dip(self.test.from_s, self.end_s(), bin_s, mean)
    }
}

fn columns<'a>() -> Vec<Col<CutRun<'a>>> {
    vec![
        run(),
        source(),
        Heading("arm_name", "", "CUT-A or CUT-B").key(|of| Cell::text(&of.arm.name)),
        rate_multiple(),
        seed(),
        Heading("realized_after_cut_multiple", "lambda_ref", "Arrivals after the cut")
            .known(3, |of| of.multiple(of.realized_per_s)),
        Heading("slope_per_s", "sessions/s", "Backlog slope over the test's window")
            .known(4, |of| of.series().backlog_slope_per_s(of.test.slope_window_s)),
        Heading(
            "slope_model_per_s",
            "sessions/s",
            "Backlog slope over the test's window by model F on the run's plan",
        )
        .known(4, |of| of.model_slope(of.test.slope_window_s)),
        Heading("slope_naive_per_s", "sessions/s", "Arrivals less the uncut run's completions")
            .known(4, |of| of.naive_slope()),
        Heading("slope_quasi_static_per_s", "sessions/s", "The quasi-static reading")
            .number(4, |of| of.realized_per_s - of.lambda_ref_per_s),
        Heading("closest", "", "The reading nearest to the measured slope").new(CutRun::closest),
        Heading("late_slope_per_s", "sessions/s", "Backlog slope over the evaluation window")
            .known(4, |of| of.series().backlog_slope_per_s(of.late())),
        Heading(
            "late_slope_model_per_s",
            "sessions/s",
            "Backlog slope over the evaluation window by model F",
        )
        .known(4, |of| of.model_slope(of.late())),
        Heading("late_completions_multiple", "lambda_ref", "Late completions")
            .known(3, |of| of.multiple(of.window()?.completions_per_s)),
        Heading(
            "late_completions_model_multiple",
            "lambda_ref",
            "Late completions over lambda_ref by model F",
        )
        .known(3, |of| {
            let (model, late) = (of.model.as_ref()?, of.late());
            let completed = model.sessions_completed(late.start_s, late.end_s) as f64;
            of.multiple(completed / late.length_s())
        }),
        Heading("late_prompt_model_tokens", "tokens", "Late mean prompt by model F").known(
            0,
            |of| {
                let prompt =
                    |model| plan_model::mean_prompt_tokens(model, of.run, of.late(), of.configs);
                of.model.as_ref().and_then(prompt)
            },
        ),
        Heading(
            "before_cut_completions_multiple",
            "lambda_ref",
            "Completions before the cut over lambda_ref",
        )
        .known(3, |of| of.multiple(of.before_cut_per_s())),
        Heading("uncut_completions_multiple", "lambda_ref", "Completions of the uncut run")
            .known(3, |of| of.multiple(of.uncut_per_s?)),
        Heading("dip_pct", "%", "Fall of the backlog below that before the cut, 300 s bins")
            .known(1, |of| of.dip(NEAR_S, |span| of.series().backlog_mean(span))),
        Heading("dip_model_pct", "%", "The same fall by model F")
            .known(1, |of| of.dip(NEAR_S, |span| of.model_backlog(span))),
        Heading("dip_10s_pct", "%", "The same fall by 10 s bins")
            .known(1, |of| of.dip(FINE_S, |span| of.series().backlog_mean(span))),
        Heading("backlog_before_cut_sessions", "sessions", "Backlog before the cut")
            .known(1, |of| of.series().backlog_mean(of.just_before())),
        Heading(
            "backlog_before_cut_model_sessions",
            "sessions",
            "Backlog before the cut by model F",
        )
        .known(1, |of| of.model_backlog(of.just_before())),
        Heading("backlog_last_300s_least_sessions", "sessions", "Lowest backlog of the last 300 s")
            .number(0, |of| {
                let last = Span::new(of.end_s() - NEAR_S, of.end_s());
                at_burst::present(&of.run.from_burst).min_over(last)
            }),
        Heading("backlog_end_sessions", "sessions", "Backlog at the end")
            .known(0, |of| of.series().backlog.last().map(|(_, n)| *n)),
        Heading("backlog_end_model_sessions", "sessions", "Backlog at the end by model F").new(
            |of| {
                let count = |model: &PlanRun| Cell::Count(model.backlog(of.end_s()) as u64);
                of.model.as_ref().map_or(Cell::Unknown, count)
            },
        ),
        Heading("naive_backlog_end_sessions", "sessions", "Backlog at the end by the naive slope")
            .known(0, |of| {
                let from = of.naive_slope().zip(of.series().backlog_mean(of.reference()));
                let after_s = of.end_s() - of.reference().middle_s();
                from.map(|(slope, from)| from + slope * after_s)
            }),
        Heading(
            "onset_at_precut_rate_s",
            "s",
            "When the backlog would be down to n_b at the completions before the cut",
        )
        .new(|of| of.onset_at(Some(of.realized_per_s - of.before_cut_per_s()))),
        Heading("onset_at_naive_rate_s", "s", "When the naive slope reaches n_b")
            .new(|of| of.onset_at(of.naive_slope())),
        Heading("follow_up_hit_fraction", "", "Share of the window's follow-ups that hit")
            .known(3, |of| of.window()?.follow_up_hits.value()),
        Heading("stuck", "", "Whether its follow-up hit fraction is below the threshold")
            .new(|of| Cell::yes_no(of.run.stuck)),
    ]
}

/// The table, a row per run of the arm `cut`, by name of the arm. The verdict's test gives
/// windows and arms; nothing where it is of another kind.
pub fn table(verdict: &Verdict, runs: &[ScoredRun], configs: &Configs) -> Option<Table> {
    let test = CutTest::of(verdict.test())?;
    let mut cut: Vec<&ScoredRun> = runs.iter().filter(|run| run.meta.arm == Arm::Cut).collect();
    cut.sort_by_key(|run| (run.dir.parent().map(ToOwned::to_owned), run.meta.seed));
    let mut rows: Vec<CutRun<'_>> =
        cut.iter().filter_map(|run| CutRun::of(run, runs, test, configs)).collect();
    rows.sort_by(|a, b| a.arm.name.cmp(&b.arm.name));
    let title = "Arrivals cut inside the trap: backlog slopes against model F on the run's plan";
    Some(super::about_run::table("cut", title, &columns(), rows))
}

/// The arm whose rate is nearest.
fn nearest(arms: &[CutArm], multiple: f64) -> Option<&CutArm> {
    let off = |arm: &CutArm| (arm.multiple - multiple).abs();
    arms.iter().min_by(|a, b| off(a).total_cmp(&off(b)))
}

/// The BURST run on the same seed and rate, which was not cut.
fn uncut_control<'a>(run: &ScoredRun, runs: &'a [ScoredRun]) -> Option<&'a Series> {
    super::judged_for_the_paired_test(runs)
        .find(|r| {
            r.meta.arm == Arm::Burst
                && r.meta.cell == run.meta.cell
                && r.meta.seed == run.meta.seed
                && r.meta.rate == run.meta.rate
                && r.meta.source == run.meta.source
        })
        .map(|r| &r.measures.series)
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
