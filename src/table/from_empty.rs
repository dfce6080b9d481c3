//! Runs from an empty engine (E0b, App. E.3): measured over their second half.

use crate::judged::ScoredRun;
use crate::judged::statistics::RunStatistics;
use crate::measure::share::Share;
use crate::measure::stretches::Stretches;
use crate::rule::stability;
use crate::rule::state::Load;
use crate::setup::registration::test::Stability;
use crate::setup::{Arm, Span};

use super::about_run::{AboutRun, cell, rate_multiple, run, seed, source};
use super::{Cell, Col, Table};

/// From when on a run from empty is taken to have filled up, s (App. E.3: "hit over
/// [300, 1500) s, then the second half").
const EARLY_FROM_S: f64 = 300.0;

/// A run from empty, its load, and how fast it completes among those that are stuck.
struct FromEmpty<'a> {
    run: &'a ScoredRun,
    load: Load,
    rank: Option<u64>,
}

impl AboutRun for FromEmpty<'_> {
    fn run(&self) -> &RunStatistics {
        self.run
    }
}

impl FromEmpty<'_> {
    /// The share of hits since it filled up, up to its window.
    fn early(&self) -> Share {
        let early = Span::new(EARLY_FROM_S, self.run.measures.window_span.start_s);
        Stretches::of(&self.run.measures.series.hits).within(early).total()
    }

    /// By how many standard deviations more sessions arrived than expected. A Poisson count's
    /// is the root of its mean.
    fn arrivals_above_nominal_sd(&self) -> f64 {
        let expected = self.load.lambda_per_s * self.run.meta.duration_s;
        (self.run.measures.whole.sessions_arrived as f64 - expected) / expected.sqrt()
    }
}

fn columns<'a>() -> Vec<Col<FromEmpty<'a>>> {
    vec![
        run(),
        source(),
        cell(),
        rate_multiple(),
        seed(),
        // Over the whole run, as the paper's edge in realized rates is.
        Col::number("realized_multiple", "lambda_ref", 3, |of| {
            let realized = of.run.measures.whole.sessions_arrived as f64 / of.run.meta.duration_s;
            realized / of.load.lambda_ref_per_s
        }),
        Col::known("hit_fraction", "", 3, |of| of.window()?.hits.value()),
        Col::known("follow_up_hit_fraction", "", 3, |of| of.window()?.follow_up_hits.value()),
        Col::known("backlog_slope_per_s", "sessions/s", 4, |of| of.window()?.backlog_slope_per_s),
        Col::known("outstanding_end_sessions", "sessions", 0, |of| {
            of.run.measures.last.map(|last| last.outstanding_end)
        }),
        Col::new("stuck", "", |of| Cell::yes_no(of.run.stuck)),
        Col::new("stable", "", |of| {
            is_stable(of.run).map_or(Cell::Empty, |s| Cell::yes_no(Some(s)))
        }),
        Col::known("final_queue_requests", "requests", 1, |of| {
            of.run.queue.map(|queue| queue.final_mean)
        }),
        Col::number("final_queue_below", "requests", 0, |_| Stability::default().final_queue_below),
        Col::known("queue_rise_requests", "requests", 1, |of| {
            of.run.queue.and_then(|queue| queue.rise)
        }),
        Col::known("run_hit_fraction", "", 4, |of| of.run.measures.whole.hits.value()),
        Col::known("early_hit_fraction", "", 3, |of| of.early().value()),
        Col::known("window_arrivals_multiple", "lambda_ref", 4, |of| {
            Some(of.window()?.base_arrivals_per_s / of.load.lambda_ref_per_s)
        }),
        Col::number("arrivals_above_nominal_sd", "sd", 2, |of| of.arrivals_above_nominal_sd()),
        Col::new("collapse", "", |of| {
            let life = of.run.from_empty.as_ref().map(|life| (life.trapped_from_s, life.escape_s));
            life.map_or(Cell::Unknown, |life| match life {
                (None, _) => Cell::text("NONE"),
                (Some(_), None) => Cell::text("COLLAPSED"),
                (Some(_), Some(_)) => Cell::text("RECOVERED"),
            })
        }),
        Col::new("completions_rank", "", |of| of.rank.map_or(Cell::Empty, Cell::Count)),
    ]
}

/// The table of from-empty runs.
pub fn table(runs: &[ScoredRun]) -> Table {
    let from_empty = || runs.iter().filter(|run| run.meta.arm == Arm::E0b);
    let rates: Vec<f64> = from_empty().filter_map(completions_multiple).collect();
    let rows = from_empty().filter(|run| run.measures.window.is_some()).filter_map(|run| {
        let rate = completions_multiple(run);
        let rank = rate.map(|rate| rates.iter().filter(|other| **other > rate).count() as u64 + 1);
        Some(FromEmpty { run, load: run.load?, rank })
    });
    Table::of_runs(
        "from_empty",
        "Runs from an empty engine, over their second half",
        &columns(),
        rows,
    )
}

/// Whether the edge rule calls a run stable; `None` where it cannot tell.
pub(super) fn is_stable(run: &ScoredRun) -> Option<bool> {
    stability::is_stable(run.queue.as_ref(), &Stability::default())
}

/// Completions of a stuck run over its window, in lambda_ref.
fn completions_multiple(run: &ScoredRun) -> Option<f64> {
    let window = run.measures.window.as_ref().filter(|_| run.stuck == Some(true))?;
    Some(window.completions_per_s / run.load?.lambda_ref_per_s)
}
