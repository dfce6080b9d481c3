//! Every run around the burst: hits before it, backlog after it and over the window, the
//! first bin without a hit, and how long a gate took to drain it.

use std::collections::{BTreeMap, BTreeSet};

use crate::judged::ScoredRun;
use crate::measure::burst::BurstMeasures;
use crate::measure::stretches::Stretches;
use crate::setup::{Arm, Span};

use super::about_run::{AboutRun, with_identity};
use super::measured_curve::MeasuredCurve;
use super::{Cell, Col, Heading, Table};

/// Hits return in a bin above this (inferred: the paper says "hits returning").
const HITTING_ABOVE: f64 = 0.5;

/// A run around its burst, and the measured curves.
type Around<'a> = (&'a ScoredRun, (&'a BurstMeasures, &'a Curves<'a>));

fn columns<'a>() -> Vec<Col<Around<'a>>> {
    with_identity(&[
        Heading("hit_fraction_before", "", "Share of turns that hit before the burst")
            .known(3, |(_, (burst, _))| burst.hits_before.value()),
        Heading("backlog_before_sessions", "sessions", "Backlog before the burst")
            .number(0, |(_, (burst, _))| burst.backlog_before),
        Heading("backlog_after_burst_sessions", "sessions", "Backlog after the burst")
            .number(0, |(_, (burst, _))| burst.backlog_after),
        Heading("backlog_window_mean_sessions", "sessions", "Mean backlog over the window")
            .known(1, |of| Some(of.window()?.backlog_mean)),
        Heading("first_bin_without_hits_s", "s", "First bin from the burst on without a hit")
            .optional(0, |(_, (burst, _))| burst.no_hits_from_s),
        // A gate that never empties has no drain time; a run without a gate no gate.
        Heading("gate_drained_after_s", "s", "From the burst until the gate was empty").new(
            |(run, (burst, _))| match burst.gate_drained_after_s {
                Some(s) => Cell::Number(s, 0),
                None if run.meta.gate.is_some() => Cell::text("never"),
                None => Cell::Empty,
            },
        ),
        Heading(
            "gate_drain_quasi_static_s",
            "s",
            "Time for the gate to empty by the measured curve, quasi-static",
        )
        .new(|(run, (_, curves))| match is_capped(run) {
            true => Cell::known(quasi_static_drain_s(run, curves), 0),
            false => Cell::Empty,
        }),
        Heading(
            "follow_up_hit_fraction_before",
            "",
            "Share of follow-ups that hit before the burst",
        )
        .known(3, |(_, (burst, _))| burst.follow_up_hits_before.value()),
        Heading("first_low_hit_150s_s", "s", "Start of the first 150 s with few hits")
            .optional(0, |(_, (burst, _))| burst.first_low_s),
        Heading("good_from_s", "s", "Start of the first good bin of a run that ends well")
            .new(|(run, _)| good_from(run)),
        Heading("hits_return_after_stop_s", "s", "From the stop to the first bin that hits")
            .new(|(run, _)| hits_return(run)),
    ])
}

/// The table, a row per run of an open arm.
pub fn table(runs: &[ScoredRun]) -> Table {
    let capped = runs.iter().filter(|run| is_capped(run));
    let curves: Curves<'_> = capped
        .map(|run| (run.meta.cell.as_str(), run.meta.source.word()))
        .collect::<BTreeSet<_>>()
        .into_iter()
        .filter_map(|(cell, source)| Some(((cell, source), MeasuredCurve::of(runs, cell, source)?)))
        .collect();
    let title = "Runs around the burst: before, after, the first bin without a hit, the drain";
    let rows = runs.iter().filter_map(|run| Some((run, (run.burst.as_ref()?, &curves))));
    super::about_run::table("burst", title, &columns(), rows)
}

/// Measured curves by cell and source of runs.
type Curves<'a> = BTreeMap<(&'a str, &'static str), MeasuredCurve>;

fn is_capped(run: &ScoredRun) -> bool {
    run.meta.arm == Arm::Capped
}

/// How long the cell's own measured curve lets the cap drain the burst (App. E.4), s.
fn quasi_static_drain_s(run: &ScoredRun, curves: &Curves<'_>) -> Option<f64> {
    let curve = curves.get(&(run.meta.cell.as_str(), run.meta.source.word()))?;
    let cap = run.meta.gate?.n_cap as f64;
    curve.gate_drain_s(run.treatment.burst_sessions as f64, cap, run.meta.rate.lambda?)
}

/// Start of the first bin after the burst above 0.8, of a run whose end is above it too.
fn good_from(run: &ScoredRun) -> Cell {
    let good_above = run.rule.recovered_hit_above;
    let ends_good = run.measures.last.and_then(|last| last.hits.is_above(good_above));
    let after = Stretches::of(&run.measures.series.hits)
        .within(Span::new(run.burst_start_s, run.meta.duration_s));
    match ends_good {
        Some(true) => super::of_stretches(
            &after,
            |bins| bins.first_above(good_above).map(|bin| bin.start_s),
            0,
        ),
        Some(false) => Cell::Empty,
        None => Cell::Unknown,
    }
}

/// From the bin in which arrivals stop to the first one, while they are stopped, in which
/// more than half of the turns hit. Only whole bins are told apart, so the stop counts from
/// the start of its first.
fn hits_return(run: &ScoredRun) -> Cell {
    let Some(refused) = run.treatment.refused else { return Cell::Empty };
    let bins = Stretches::of(&run.measures.series.hits);
    let Some(stop) = bins.bin_at(refused.span_s.start_s) else { return Cell::Unknown };
    let stopped = bins.within(Span::new(stop.start_s, refused.span_s.end_s));
    let back = |bins: &Stretches| bins.first_above(HITTING_ABOVE).map(|b| b.start_s - stop.start_s);
    super::of_stretches(&stopped, back, 0)
}
