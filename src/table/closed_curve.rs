//! The closed-population throughput curve mu(n) (Stage C, App. E.3).

use crate::judged::ScoredRun;
use crate::judged::statistics::RunStatistics;
use crate::measure::WindowMeasures;
use crate::measure::stretches::Stretches;
use crate::setup::{Arm, Configs, Span};

use super::about_run::{AboutRun, cell, run, seed, source};
use super::{Cell, Col, Heading, Table, session_means};

/// Length of the longer bins, s (App. E.3: [900, 1200) s and [1200, 2700) s of a window
/// from 900 to 2700 s).
const LONG_BIN_S: f64 = 300.0;

/// A closed run over its window.
struct Closed<'a> {
    run: &'a ScoredRun,
    window: &'a WindowMeasures,
    mean_turns: f64,
}

impl AboutRun for Closed<'_> {
    fn run(&self) -> &RunStatistics {
        self.run
    }
}

impl Closed<'_> {
    /// Its hits, in the bins of its window.
    fn bins(&self) -> Stretches {
        Stretches::of(&self.run.measures.series.hits).within(self.window.span)
    }

    /// The same in longer bins.
    fn long_bins(&self) -> Stretches {
        self.bins().joined(LONG_BIN_S)
    }

    /// The window but for its first long bin.
    fn late(&self) -> Span {
        Span::new(self.window.span.start_s + LONG_BIN_S, self.window.span.end_s)
    }

    fn hits_over(&self, span: Span) -> Cell {
        Cell::known(self.bins().within(span).total().value(), 3)
    }
}

fn columns<'a>() -> Vec<Col<Closed<'a>>> {
    vec![
        run(),
        source(),
        cell(),
        Heading("population", "sessions", "Sessions that a closed run keeps running")
            .key(|of| of.run.meta.population.map_or(Cell::Unknown, Cell::Count)),
        seed(),
        Heading("completions_per_s", "sessions/s", "Sessions completed per second of the window")
            .number(4, |of| of.window.completions_per_s),
        Heading("turns_based_per_s", "sessions/s", "Completed turns over a session's mean turns")
            .number(4, |of| of.window.turns_per_s / of.mean_turns),
        Heading("hit_fraction", "", "Share of the window's turns that hit")
            .known(3, |of| of.window()?.hits.value()),
        Heading("follow_up_hit_fraction", "", "Share of the window's follow-ups that hit")
            .known(3, |of| of.window()?.follow_up_hits.value()),
        Heading("uncached_tokens_per_s", "tokens/s", "Uncached token rate of the window")
            .known(0, |of| of.window()?.uncached_tokens_per_s),
        Heading("early_hit_fraction", "", "Share of turns that hit over the window's first 300 s")
            .new(|of| of.hits_over(Span::new(of.window.span.start_s, of.late().start_s))),
        Heading("last_hit_fraction", "", "Share of turns that hit over the window's last 300 s")
            .new(|of| of.hits_over(of.window.span.last(LONG_BIN_S))),
        Heading("late_completions_per_s", "sessions/s", "Completions after the first 300 s").known(
            4,
            |of| {
                let late = Some(of.late()).filter(|late| late.length_s() > 0.0);
                let series = &of.run.measures.series;
                late.map(|late| series.completions_per_s(late))
            },
        ),
        Heading("least_100s_hit_fraction", "", "Lowest hit fraction of a 100 s bin")
            .new(|of| super::of_stretches(&of.bins(), Stretches::lowest, 3)),
        Heading("least_300s_hit_fraction", "", "Lowest hit fraction of a 300 s bin")
            .new(|of| super::of_stretches(&of.long_bins(), Stretches::lowest, 3)),
        Heading("most_300s_hit_fraction", "", "Highest hit fraction of a 300 s bin")
            .new(|of| super::of_stretches(&of.long_bins(), Stretches::highest, 3)),
        Heading("degraded_from_s", "s", "Start of the first bin with fewer than half hits")
            .optional(0, |of| of.run.degraded.map(|span| span.start_s)),
        Heading("degraded_until_s", "s", "End of the last bin with fewer than half hits")
            .optional(0, |of| of.run.degraded.map(|span| span.end_s)),
        Heading("waiting_mean_requests", "requests", "Mean engine queue over the window")
            .known(1, |of| of.run.queue_lengths.and_then(|queue| queue.window_mean)),
        Heading("turns_completed", "turns", "Turns completed over the whole run")
            .count(|of| of.run.measures.whole.hits.total()),
    ]
}

/// The table of closed runs, in order of cell and population.
pub fn table(runs: &[ScoredRun], configs: &Configs) -> Table {
    let mut closed: Vec<_> = runs.iter().filter(|run| run.meta.arm == Arm::Closed).collect();
    closed.sort_by(|a, b| {
        let key = |r: &ScoredRun| (r.meta.cell.clone(), r.meta.population, r.dir.clone());
        key(a).cmp(&key(b))
    });
    let rows = closed.into_iter().filter_map(|run| {
        let window = run.measures.window.as_ref()?;
        let mean_turns = session_means(configs, &run.meta.cell)?.mean_turns;
        Some(Closed { run, window, mean_turns })
    });
    super::about_run::table("closed_curve", "Closed-population throughput curve", &columns(), rows)
}
