//! The closed-population throughput curve mu(n) (Stage C, App. E.3).

use crate::judged::ScoredRun;
use crate::judged::statistics::RunStatistics;
use crate::measure::WindowMeasures;
use crate::measure::stretches::Stretches;
use crate::setup::{Arm, Configs, Span};

use super::about_run::{AboutRun, cell, run, seed, source};
use super::{Cell, Col, Table, session_means};

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
        Col::key("population", "sessions", |of| {
            of.run.meta.population.map_or(Cell::Unknown, Cell::Count)
        }),
        seed(),
        Col::number("completions_per_s", "sessions/s", 4, |of| of.window.completions_per_s),
        Col::number("turns_based_per_s", "sessions/s", 4, |of| {
            of.window.turns_per_s / of.mean_turns
        }),
        Col::known("hit_fraction", "", 3, |of| of.window()?.hits.value()),
        Col::known("follow_up_hit_fraction", "", 3, |of| of.window()?.follow_up_hits.value()),
        Col::known("uncached_tokens_per_s", "tokens/s", 0, |of| of.window()?.uncached_tokens_per_s),
        Col::new("early_hit_fraction", "", |of| {
            of.hits_over(Span::new(of.window.span.start_s, of.late().start_s))
        }),
        Col::new("last_hit_fraction", "", |of| of.hits_over(of.window.span.last(LONG_BIN_S))),
        Col::known("late_completions_per_s", "sessions/s", 4, |of| {
            let late = Some(of.late()).filter(|late| late.length_s() > 0.0);
            let series = &of.run.measures.series;
            late.map(|late| series.completions_per_s(late))
        }),
        Col::new("least_100s_hit_fraction", "", |of| {
            Cell::of_stretches(&of.bins(), Stretches::lowest, 3)
        }),
        Col::new("least_300s_hit_fraction", "", |of| {
            Cell::of_stretches(&of.long_bins(), Stretches::lowest, 3)
        }),
        Col::new("most_300s_hit_fraction", "", |of| {
            Cell::of_stretches(&of.long_bins(), Stretches::highest, 3)
        }),
        Col::optional("degraded_from_s", "s", 0, |of| of.run.degraded.map(|span| span.start_s)),
        Col::optional("degraded_until_s", "s", 0, |of| of.run.degraded.map(|span| span.end_s)),
        Col::known("waiting_mean_requests", "requests", 1, |of| {
            of.run.queue_lengths.and_then(|queue| queue.window_mean)
        }),
        Col::count("turns_completed", "turns", |of| of.run.measures.whole.hits.total()),
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
    Table::of_runs("closed_curve", "Closed-population throughput curve", &columns(), rows)
}
