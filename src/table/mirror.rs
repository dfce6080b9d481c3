//! The step-capped workload (MIRROR, App. C): its BURST runs and NOBURST controls, and the
//! standard workload's BURST runs beside them, over the same windows and with model F driven
//! by each run's own plan from the burst on.

use crate::judged::ScoredRun;
use crate::judged::statistics::RunStatistics;
use crate::judged::verdict::{Verdict, VerdictRun};
use crate::measure::at_burst::{self, Arrival};
use crate::model::fluid::plan::PlanRun;
use crate::rule::mirror::MirrorTest;
use crate::rule::test::TestMeasures;
use crate::run::Kind;
use crate::setup::{Arm, Configs, Span};

use super::about_run::{AboutRun, with_identity};
use super::{Cell, Col, Heading, Table, judged_for_the_paired_test, plan_model};

/// The cell with the standard workload, whose BURST runs stand beside (App. C).
const STANDARD: &str = "sglang-300k";
/// The end of a run, where a second wave may complete (App. C).
const END: Span = Span::new(7500.0, 8700.0);
/// Shares of the burst's sessions: the quartiles of their completion times.
const QUARTILES: [f64; 2] = [0.25, 0.75];

/// What a run of the table is measured by.
#[derive(Clone, Copy)]
struct Rule<'a> {
    test: &'a MirrorTest,
    lambda_ref: f64,
    configs: &'a Configs,
}

/// A run of the table, with model F on its plan.
struct Seen<'a> {
    run: &'a ScoredRun,
    rule: Rule<'a>,
    label: Cell,
    /// The quasi-static reading of its backlog slope; none where the test has no such reading.
    quasi_static: Option<f64>,
    /// Whether W5 and W7 are asked of it.
    is_subject: bool,
    /// `None` without a burst.
    model: Option<PlanRun>,
}

impl AboutRun for Seen<'_> {
    fn run(&self) -> &RunStatistics {
        self.run
    }
}

impl<'a> Seen<'a> {
    /// A run that is only looked at.
    fn of(run: &'a ScoredRun, rule: Rule<'a>) -> Self {
        let model = plan_model::serve(run, rule.configs).ok();
        let (label, quasi_static) = (Cell::Empty, None);
        Self { run, rule, label, quasi_static, is_subject: false, model }
    }

    fn completed(&self, span: Span) -> Cell {
        let per_s = self.run.measures.series.completions_per_s(span);
        Cell::Count(libm::round(per_s * span.length_s()) as u64)
    }

    fn multiple(&self, span: Span) -> Cell {
        let per_s = self.run.measures.series.completions_per_s(span);
        Cell::Number(per_s / self.rule.lambda_ref, 3)
    }

    /// What is found of its burst; nothing without one.
    fn of_burst(&self, found: impl FnOnce(&[Arrival]) -> Cell) -> Cell {
        let has_burst = self.run.from_burst.iter().any(|a| a.kind == Kind::Burst);
        if has_burst { found(&self.run.from_burst) } else { Cell::Empty }
    }

    /// What model F predicts. There is nothing to start from without a burst; with one, the
    /// model could not serve the plan.
    fn predicted(&self, digits: usize, found: impl FnOnce(&PlanRun) -> Option<f64>) -> Cell {
        match &self.model {
            Some(model) => Cell::known(found(model), digits),
            None if self.run.from_burst.is_empty() => Cell::Empty,
            None => Cell::Unknown,
        }
    }

    /// Model F's completion rate over `span`, in lambda_ref.
    fn model_multiple(&self, model: &PlanRun, span: Span) -> Option<f64> {
        let completed = model.sessions_completed(span.start_s, span.end_s) as f64;
        Some(completed / span.length_s() / self.rule.lambda_ref)
    }

    fn is_of_burst(&self, i: usize) -> bool {
        self.run.from_burst[i].kind == Kind::Burst
    }

    /// After the lull, where the wave peaks, and the bins of that peak.
    fn wave_bins(&self) -> (Span, f64) {
        let of_cell = self.rule.configs.of_cell(&self.run.meta.cell);
        let bin_s = of_cell.map_or(300.0, |(.., p)| p.bins.gap_s);
        (Span::new(self.rule.test.blackout_s.end_s, self.run.meta.duration_s), bin_s)
    }

    /// The wave's greatest completion rate in a bin, in lambda_ref.
    fn wave_peak(&self) -> Option<f64> {
        let (after, bin_s) = self.wave_bins();
        let bins = self.run.measures.series.completions.iter();
        let peak = bins.filter(|(t, _)| after.holds(*t)).map(|(_, n)| *n).max();
        peak.map(|count| count as f64 / bin_s / self.rule.lambda_ref)
    }

    fn model_wave_peak(&self, model: &PlanRun) -> Option<f64> {
        let (after, bin_s) = self.wave_bins();
        let rates = after.bins(bin_s).into_iter().filter_map(|bin| self.model_multiple(model, bin));
        rates.max_by(f64::total_cmp)
    }

    /// Model F's backlog slope, sessions/s.
    fn model_slope(&self, model: &PlanRun) -> f64 {
        let of_cell = self.rule.configs.of_cell(&self.run.meta.cell);
        let bin_s = of_cell.map_or(10.0, |(.., p)| p.bins.backlog_s);
        let window = self.rule.test.slope_window_s;
        model.backlog_slope_per_s(window.start_s, window.end_s, bin_s)
    }

    /// Model F's mean prompt over the evaluation window, tokens.
    fn prompt_model(&self) -> Option<f64> {
        let model = self.model.as_ref()?;
        let window = self.run.measures.window_span;
        plan_model::mean_prompt_tokens(model, self.run, window, self.rule.configs)
    }

    /// Model F's median completion time of its burst, s.
    fn wave_model_s(&self) -> Option<f64> {
        self.model.as_ref()?.median_completion_s(|i| self.is_of_burst(i))
    }

    /// From the burst to the wave, by model F and the registered timing factor, s.
    fn calibrated_s(&self) -> Option<f64> {
        let elapsed = self.wave_model_s()? - self.run.burst_start_s;
        Some(self.rule.test.calibrated_factor * elapsed)
    }

    fn tolerance_s(&self) -> Option<f64> {
        Some(self.rule.test.calibrated_tolerance * self.calibrated_s()?)
    }

    /// What is asked of a subject: W5 and W7, both against model F on the run's plan (the
    /// registered clauses hold them against what was frozen for other plans).
    fn asked(&self, cell: Cell) -> Cell {
        if self.is_subject { cell } else { Cell::Empty }
    }

    fn w5_holds(&self) -> Option<bool> {
        let at_s = self.run.burst_start_s + self.calibrated_s()?;
        // A wave that did not come is not within any time of model F's.
        let wave = at_burst::wave_s(&self.run.from_burst).unwrap_or(f64::INFINITY);
        Some((wave - at_s).abs() <= self.tolerance_s()?)
    }

    fn w7_holds(&self) -> Option<bool> {
        let prompt = self.run.measures.window.as_ref()?.mean_prompt_tokens?;
        Some((prompt / self.prompt_model()? - 1.0).abs() <= self.rule.test.prompt_tolerance)
    }
}

fn columns<'a>() -> Vec<Col<Seen<'a>>> {
    with_identity(&[
        Heading("label", "", "The run's label under the rule")
            .new(|seen: &Seen<'a>| seen.label.clone()),
        Heading("early_completions", "sessions", "Sessions completed in the test's blackout span")
            .new(|seen| seen.completed(seen.rule.test.blackout_s)),
        Heading("early_completions_multiple", "lambda_ref", "Completions of the blackout")
            .new(|seen| seen.multiple(seen.rule.test.blackout_s)),
        Heading("late_completions", "sessions", "Sessions completed in the test's lull span")
            .new(|seen| seen.completed(seen.rule.test.lull_s)),
        Heading("late_completions_multiple", "lambda_ref", "Completions of the lull span")
            .new(|seen| seen.multiple(seen.rule.test.lull_s)),
        Heading("end_completions_multiple", "lambda_ref", "Completions of the end span")
            .new(|seen| seen.multiple(END)),
        Heading("wave_s", "s", "When half of the burst had completed")
            .new(|seen| seen.of_burst(|from_burst| Cell::known(at_burst::wave_s(from_burst), 0))),
        Heading(
            "wave_peak_multiple",
            "lambda_ref",
            "Greatest completion rate of a bin after the lull, over lambda_ref",
        )
        .new(|seen| seen.of_burst(|_| Cell::known(seen.wave_peak(), 2))),
        Heading("burst_sessions_completed", "sessions", "Sessions of the burst that completed")
            .new(|seen| {
                let done = |a: &&Arrival| a.kind == Kind::Burst && a.completed_s().is_some();
                seen.of_burst(|from| Cell::Count(from.iter().filter(done).count() as u64))
            }),
        Heading("backlog_slope_per_s", "sessions/s", "Backlog slope over the test's window")
            .known(4, |seen| {
                seen.run.measures.series.backlog_slope_per_s(seen.rule.test.slope_window_s)
            }),
        Heading("mean_prompt_tokens", "tokens", "Mean prompt of the turns served in the window")
            .known(0, |seen| seen.window()?.mean_prompt_tokens),
        Heading("early_model_multiple", "lambda_ref", "Completions of the blackout by model F")
            .new(|seen| {
                seen.predicted(3, |model| seen.model_multiple(model, seen.rule.test.blackout_s))
            }),
        Heading("late_model_multiple", "lambda_ref", "Completions of the lull by model F").new(
            |seen| seen.predicted(3, |model| seen.model_multiple(model, seen.rule.test.lull_s)),
        ),
        Heading("end_model_multiple", "lambda_ref", "Completions of the end by model F")
            .new(|seen| seen.predicted(3, |model| seen.model_multiple(model, END))),
        Heading("wave_model_s", "s", "When half of the burst is done by model F")
            .new(|seen| seen.predicted(0, |_| seen.wave_model_s())),
        Heading(
            "wave_model_quartile_1_s",
            "s",
            "When a quarter of the burst had completed by model F",
        )
        .new(|seen| seen.predicted(0, |m| m.completed_by_s(QUARTILES[0], |i| seen.is_of_burst(i)))),
        Heading("wave_model_quartile_3_s", "s", "When three quarters are done by model F").new(
            |seen| seen.predicted(0, |m| m.completed_by_s(QUARTILES[1], |i| seen.is_of_burst(i))),
        ),
        Heading("wave_peak_model_multiple", "lambda_ref", "The wave's peak by model F")
            .new(|seen| seen.predicted(2, |model| seen.model_wave_peak(model))),
        Heading(
            "slope_model_per_s",
            "sessions/s",
            "Backlog slope over the test's window by model F on the run's plan",
        )
        .new(|seen| seen.predicted(4, |model| Some(seen.model_slope(model)))),
        Heading("mean_prompt_model_tokens", "tokens", "Mean prompt over the window by model F")
            .new(|seen| seen.predicted(0, |_| seen.prompt_model())),
        Heading("slope_quasi_static_per_s", "sessions/s", "The quasi-static reading")
            .optional(4, |seen| seen.quasi_static),
        Heading("wave_calibrated_s", "s", "Burst to wave by model F and W5's factor").new(|seen| {
            let at_s = seen.calibrated_s().map(|elapsed| seen.run.burst_start_s + elapsed);
            seen.asked(Cell::known(at_s, 0))
        }),
        Heading("wave_calibrated_tolerance_s", "s", "What W5 allows around that time")
            .new(|seen| seen.asked(Cell::known(seen.tolerance_s(), 0))),
        Heading("w5_holds", "", "Whether the wave comes at its time (clause W5)")
            .new(|seen| seen.asked(Cell::yes_no(seen.w5_holds()))),
        Heading("w7_holds", "", "Whether the mean prompt is model F's (clause W7)")
            .new(|seen| seen.asked(Cell::yes_no(seen.w7_holds()))),
    ])
}

/// The table: the BURST runs that the verdict counts, rates from the largest, then its
/// NOBURST controls, then the standard workload's BURST runs; nothing for a test of another
/// kind.
pub fn table(verdict: &Verdict, scored: &[ScoredRun], configs: &Configs) -> Option<Table> {
    let test = MirrorTest::of(verdict.test())?;
    let of_role = |role: &'static str| {
        let mut runs: Vec<&VerdictRun> =
            verdict.runs.iter().filter(|r| r.role == role && r.set_aside.is_none()).collect();
        let rate = |run: &VerdictRun| run.meta.rate.multiple.unwrap_or(0.0);
        runs.sort_by(|a, b| rate(b).total_cmp(&rate(a)).then(a.meta.seed.cmp(&b.meta.seed)));
        runs
    };
    let lambda_ref = verdict.registration.registration.lambda_ref_per_s;
    let rule = Rule { test, lambda_ref, configs };
    let registered = [of_role("subject"), of_role("control")].concat();
    let registered = registered.into_iter().filter_map(|run| {
        let Some(TestMeasures::Mirror(found)) = &run.for_test else { return None };
        let is_subject = run.role == "subject";
        let label = run.labelled.as_ref().filter(|_| is_subject);
        Some(Seen {
            label: label.map_or(Cell::Empty, |l| Cell::text(l.label)),
            // The quasi-static reading completes sessions at the workload's all-miss rate.
            quasi_static: Some(found.plan_rate_per_s - test.lambda_miss * lambda_ref),
            is_subject,
            ..Seen::of(scored.iter().find(|s| s.dir == run.dir)?, rule)
        })
    });
    let standard = judged_for_the_paired_test(scored)
        .filter(|run| run.meta.cell == STANDARD && run.meta.arm == Arm::Burst)
        .map(|run| Seen::of(run, rule));
    let rows = registered.chain(standard);
    let title =
        "The step-capped workload: lull, wave and backlog against model F on the run's plan";
    Some(super::about_run::table("mirror", title, &columns(), rows))
}
