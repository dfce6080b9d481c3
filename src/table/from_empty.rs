//! Runs from an empty engine (E0b, App. E.3): measured over their second half.

use crate::judged::ScoredRun;
use crate::judged::statistics::RunStatistics;
use crate::measure::share::Share;
use crate::measure::stretches::Stretches;
use crate::rule::state::Load;
use crate::setup::{Arm, Span};

use super::about_run::{AboutRun, cell, rate_multiple, run, seed, source};
use super::{Cell, Col, Heading, Table};

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
        Heading("realized_multiple", "lambda_ref", "Arrivals over the run over lambda_ref").number(
            3,
            |of| {
                let realized =
                    of.run.measures.whole.sessions_arrived as f64 / of.run.meta.duration_s;
                realized / of.load.lambda_ref_per_s
            },
        ),
        Heading("hit_fraction", "", "Share of the window's turns that hit")
            .known(3, |of| of.window()?.hits.value()),
        Heading("follow_up_hit_fraction", "", "Share of the window's follow-ups that hit")
            .known(3, |of| of.window()?.follow_up_hits.value()),
        Heading("backlog_slope_per_s", "sessions/s", "Backlog slope over the window")
            .known(4, |of| of.window()?.backlog_slope_per_s),
        Heading("outstanding_end_sessions", "sessions", "Outstanding at the end of the window")
            .known(0, |of| of.run.measures.last.map(|last| last.outstanding_end)),
        Heading("stuck", "", "Whether its follow-up hit fraction is below the threshold")
            .new(|of| Cell::yes_no(of.run.stuck)),
        Heading("stable", "", "Whether the run is stable by the edge rule on the queue")
            .new(|of| of.run.stable().map_or(Cell::Empty, |s| Cell::yes_no(Some(s)))),
        Heading("final_queue_requests", "requests", "Engine queue at the end of the run")
            .known(1, |of| of.run.queue.map(|queue| queue.final_mean)),
        Heading("final_queue_below", "requests", "The edge rule's bound on the final queue")
            .number(0, |of| of.run.stability.final_queue_below),
        Heading("queue_rise_requests", "requests", "Fitted rise of the queue over the window")
            .known(1, |of| of.run.queue.and_then(|queue| queue.rise)),
        Heading("run_hit_fraction", "", "Share of turns that hit over the whole run")
            .known(4, |of| of.run.measures.whole.hits.value()),
        Heading("early_hit_fraction", "", "Share of turns that hit over the window's first 300 s")
            .known(3, |of| of.early().value()),
        Heading("window_arrivals_multiple", "lambda_ref", "Arrivals of the window")
            .known(4, |of| Some(of.window()?.base_arrivals_per_s / of.load.lambda_ref_per_s)),
        Heading("arrivals_above_nominal_sd", "sd", "Arrivals above nominal, Poisson deviations")
            .number(2, |of| of.arrivals_above_nominal_sd()),
        Heading("collapse", "", "NONE, COLLAPSED or RECOVERED").new(|of| {
            let life = of.run.from_empty.as_ref().map(|life| (life.trapped_from_s, life.escape_s));
            life.map_or(Cell::Unknown, |life| match life {
                (None, _) => Cell::text("NONE"),
                (Some(_), None) => Cell::text("COLLAPSED"),
                (Some(_), Some(_)) => Cell::text("RECOVERED"),
            })
        }),
        Heading("completions_rank", "", "Rank of the stuck run by completions")
            .new(|of| of.rank.map_or(Cell::Empty, Cell::Count)),
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
    super::about_run::table(
        "from_empty",
        "Runs from an empty engine, over their second half",
        &columns(),
        rows,
    )
}

/// Completions of a stuck run over its window, in lambda_ref.
fn completions_multiple(run: &ScoredRun) -> Option<f64> {
    let window = run.measures.window.as_ref().filter(|_| run.stuck == Some(true))?;
    Some(window.completions_per_s / run.load?.lambda_ref_per_s)
}
