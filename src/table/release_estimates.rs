//! Two single-phase estimates of when a rescue is released, beside when it was (App. F).
//!
//! Both let the backlog above the cap drain at one rate. The measured one takes the greatest
//! rate of the cell's own closed runs and the backlog that the run had; the model's takes the
//! entry model's rate at the cap and model F's backlog. Layer H4, which lets every paused
//! session's next turn miss first, is among the model values.

use std::collections::BTreeMap;

use crate::judged::ScoredRun;
use crate::judged::statistics::RunStatistics;
use crate::judged::verdict::{Verdict, VerdictRun};
use crate::measure::rescue::RescueMeasures;
use crate::model::Theory;
use crate::model::rescue::{drain_s, gate_drain_s};
use crate::rule::rescue::RescueTest;
use crate::rule::test::TestMeasures;

use super::about_run::{AboutRun, rate_multiple, run, seed, source};
use super::measured_curve::MeasuredCurve;
use super::{Cell, Col, Heading, Table};

/// A rescue run, and what its release is estimated from.
struct Release<'a> {
    run: &'a VerdictRun,
    name: &'a str,
    rule: &'a RescueTest,
    rescue: &'a RescueMeasures,
    lambda_per_s: f64,
    /// Of the cell's own closed runs.
    curve: Option<MeasuredCurve>,
    theory: Option<&'a Theory>,
}

impl AboutRun for Release<'_> {
    fn run(&self) -> &RunStatistics {
        self.run
    }
}

impl Release<'_> {
    fn cap(&self) -> Option<f64> {
        self.rescue.cap.map(|cap| cap as f64)
    }

    /// How long the backlog above the cap takes at the greatest measured rate, s.
    fn measured_drain_s(&self) -> Option<f64> {
        let (present, peak_per_s) = (self.rescue.outstanding_on, self.curve.as_ref()?.peak_per_s());
        gate_drain_s(present, self.cap()?, peak_per_s, self.lambda_per_s)
    }

    /// How long model F's takes at the entry model's rate at the cap, s.
    fn model_drain_s(&self) -> Option<f64> {
        let (cap, theory, engage_s) = (self.cap()?, self.theory?, self.rule.engage_s);
        let burst = theory.burst(self.lambda_per_s);
        let fluid = burst.run(&theory.model_f, self.lambda_per_s, &[], engage_s + 1.0).ok()?;
        drain_s(theory.curve().ok()?, self.lambda_per_s, cap, fluid.backlog(engage_s))
    }

    /// When the gate, empty after `drain_s`, has held for as long as the rule asks.
    fn released(&self, drain_s: Option<f64>) -> Option<f64> {
        Some(self.rule.engage_s + drain_s? + self.rule.hold_s)
    }
}

/// The table: a row per rescue run that counts for its registration.
pub fn table(
    verdicts: &[Verdict],
    runs: &[ScoredRun],
    theories: &BTreeMap<String, Theory>,
) -> Table {
    let columns: &[Col<Release<'_>>] = &[
        run(),
        source(),
        Heading("registration", "", "The registration that judges, by its name or hash")
            .key(|of| Cell::text(of.name)),
        rate_multiple(),
        seed(),
        Heading("release_drain_estimate_s", "s", "Release by the measured curve")
            .known(0, |of| of.released(of.measured_drain_s())),
        Heading("release_single_phase_s", "s", "Release by the single-phase model")
            .known(0, |of| of.released(of.model_drain_s())),
        Heading("released_s", "s", "When the cap came off, as it was")
            .new(|of| of.rescue.released_s.map_or(Cell::text("never"), |t| Cell::Number(t, 0))),
    ];
    let tests =
        verdicts.iter().filter_map(|verdict| Some((verdict, RescueTest::of(verdict.test())?)));
    let rows = tests.flat_map(|(verdict, rule)| {
        verdict.subjects().filter_map(move |run| {
            let Some(TestMeasures::Rescue(found)) = &run.for_test else { return None };
            Some(Release {
                run,
                name: &verdict.registration.registration.name,
                rule,
                rescue: found.rescue()?,
                lambda_per_s: run.meta.rate.lambda?,
                curve: MeasuredCurve::of(runs, &run.meta.cell, run.meta.source.word()),
                theory: theories.get(&run.meta.cell),
            })
        })
    });
    let title = "When a rescue is released by single-phase drains, and when it was";
    super::about_run::table("release_estimates", title, columns, rows)
}
