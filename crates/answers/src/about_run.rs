//! What says which run a row is about: one group of columns for all tables.

use std::borrow::Borrow;

use crate::judged::ScoredRun;
use crate::judged::statistics::RunStatistics;
use crate::judged::verdict::VerdictRun;
use crate::judged::what_if::RunWhatIf;
use crate::measure::WindowMeasures;
use crate::run::SourceFile;

use crate::table::{Cell, Col, Heading, Table};

/// What a row is about, where that is one run, alone or with what else the row needs.
pub trait AboutRun {
    /// The run.
    fn run(&self) -> &RunStatistics;

    /// What was measured over its window, if anything was.
    fn window(&self) -> Option<&WindowMeasures> {
        self.run().measures.window.as_ref()
    }

    /// Its directory, as it is printed.
    fn dir(&self) -> String {
        self.run().dir.display().to_string()
    }

    /// The files it was read from.
    fn sources(&self) -> Vec<SourceFile> {
        self.run().sources.clone()
    }
}

impl AboutRun for ScoredRun {
    fn run(&self) -> &RunStatistics {
        self
    }
}

impl AboutRun for VerdictRun {
    fn run(&self) -> &RunStatistics {
        self
    }
}

impl AboutRun for RunWhatIf {
    fn run(&self) -> &RunStatistics {
        &self.run
    }
}

impl<R: AboutRun> AboutRun for &R {
    fn run(&self) -> &RunStatistics {
        (*self).run()
    }
}

impl<R: AboutRun, A> AboutRun for (R, A) {
    fn run(&self) -> &RunStatistics {
        self.0.run()
    }
}

/// Its directory.
pub const fn run<T: AboutRun>() -> Col<T> {
    Heading("run", "", "Path of the run's directory").key(|of| Cell::text(of.dir()))
}

/// What made it.
pub const fn source<T: AboutRun>() -> Col<T> {
    Heading("source", "", "What made the runs: engine or simulator")
        .key(|of| Cell::text(of.run().meta.source.word()))
}

/// Its cell.
pub const fn cell<T: AboutRun>() -> Col<T> {
    Heading("cell", "", "Engine, GPU, model and pool, as named in configs/cells")
        .key(|of| Cell::text(&of.run().meta.cell))
}

/// Its arm.
pub const fn arm<T: AboutRun>() -> Col<T> {
    Heading("arm", "", "What was done to the run: burst, noburst, capped, ...")
        .key(|of| Cell::text(of.run().meta.arm.word()))
}

/// Its nominal arrival rate; none for a closed run.
pub const fn rate_multiple<T: AboutRun>() -> Col<T> {
    Heading("rate_multiple", "lambda_ref", "Nominal arrival rate; none for closed runs")
        .key(|of| Cell::optional(of.run().meta.rate.multiple, 2))
}

/// The sessions that a closed run keeps running; none for others.
pub const fn population<T: AboutRun>() -> Col<T> {
    let of = |of: &T| of.run().meta.population.map_or(Cell::Empty, Cell::Count);
    Heading("population", "sessions", "Sessions that a closed run keeps running").key(of)
}

/// The seed of its plan.
pub const fn seed<T: AboutRun>() -> Col<T> {
    Heading("seed", "", "Seed of the run's plan").key(|of| Cell::Count(of.run().meta.seed))
}

/// The columns that identify a run of an open arm.
pub const fn identity<T: AboutRun>() -> [Col<T>; 6] {
    [run(), source(), cell(), arm(), rate_multiple(), seed()]
}

/// The columns that identify a run of an open arm, then those of what was `found`.
pub fn with_identity<T: AboutRun>(found: &[Col<T>]) -> Vec<Col<T>> {
    [&identity()[..], found].concat()
}

/// The run's state under the paired test, where it is judged.
pub fn state(run: &ScoredRun) -> Cell {
    run.state.as_ref().map_or(Cell::Empty, |judged| Cell::text(judged.state.word()))
}

/// Its uncached token rate over its window, over the all-miss rate of its cell. `None` where
/// either is unknown.
pub fn token_rate_ratio(run: &ScoredRun) -> Option<f64> {
    let rate = run.measures.window.as_ref()?.uncached_tokens_per_s?;
    Some(rate / run.load?.all_miss_tokens_per_s).filter(|ratio| ratio.is_finite())
}

/// A table with a row per run, which is what identifies it.
pub fn table<T: AboutRun>(
    name: &str,
    title: impl Into<String>,
    columns: &[Col<T>],
    rows: impl IntoIterator<Item: Borrow<T>>,
) -> Table {
    Table::of(name, title, columns, rows, |of| (of.dir(), of.sources()))
}
