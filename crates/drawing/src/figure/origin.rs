//! Where plotted values come from: the runs behind them, as each run's own `meta.json` says.
//!
//! Every row of a figure's data carries one. What stands above the panels, in the title and in
//! the description is put together from the rows, so it cannot differ from what is plotted.

use std::collections::BTreeSet;

/// Most cells that are named above the panels; more are counted.
const MOST_NAMED: usize = 3;

/// What made a value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// A real engine: its name, version and hardware, for example `vLLM 0.32.0, CPU`.
    Engine(String),
    /// The simulator.
    Simulated,
    /// A model, without any run.
    Model,
    /// Recorded sessions, without any run.
    Recorded,
}

/// Where a value, or everything in a figure, comes from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Origin {
    runs: BTreeSet<String>,
    cells: BTreeSet<String>,
    sources: BTreeSet<Source>,
}

impl Source {
    /// The words in figures and their data.
    pub fn words(&self) -> &str {
        match self {
            Self::Engine(words) => words,
            Self::Simulated => "simulated",
            Self::Model => "model",
            Self::Recorded => "recorded sessions",
        }
    }
}

impl Origin {
    /// A value of a model.
    pub fn model() -> Self {
        Self { sources: [Source::Model].into(), ..Self::default() }
    }

    /// A value of the recorded sessions of this name.
    pub fn recorded(name: &str) -> Self {
        Self {
            runs: [name.to_owned()].into(),
            sources: [Source::Recorded].into(),
            ..Self::default()
        }
    }

    /// A value of this run of this cell.
    pub fn run(name: &str, cell: &str, source: Source) -> Self {
        Self {
            runs: [name.to_owned()].into(),
            cells: [cell.to_owned()].into(),
            sources: [source].into(),
        }
    }

    /// A value of a model that was driven by this run, for example by its plan.
    pub fn model_driven_by(run: &Self) -> Self {
        Self { sources: [Source::Model].into(), ..run.clone() }
    }

    /// What several values come from together.
    pub fn of<'a>(origins: impl IntoIterator<Item = &'a Self>) -> Self {
        let mut all = Self::default();
        origins.into_iter().for_each(|origin| all.add(origin));
        all
    }

    /// Adds what another value comes from.
    pub fn add(&mut self, other: &Self) {
        self.runs.extend(other.runs.iter().cloned());
        self.cells.extend(other.cells.iter().cloned());
        self.sources.extend(other.sources.iter().cloned());
    }

    /// The names of the runs behind it, in order.
    pub fn runs(&self) -> impl Iterator<Item = &str> {
        self.runs.iter().map(String::as_str)
    }

    /// The runs behind it, separated by `;`; empty without any.
    pub(crate) fn run_names(&self) -> String {
        let names: Vec<_> = self.runs.iter().map(String::as_str).collect();
        names.join(";")
    }

    /// What made it: engines first, then the simulator, then models.
    pub fn source_words(&self) -> String {
        joined(self.sources.iter())
    }

    /// What made the runs behind it, models left out; none where no run is.
    pub fn runs_words(&self) -> Option<String> {
        let runs = || self.sources.iter().filter(|source| **source != Source::Model);
        runs().next().is_some().then(|| joined(runs()))
    }

    /// What stands above the panels: what made the runs, and of which cells they are.
    pub fn heading(&self) -> String {
        let Some(words) = self.runs_words() else {
            let model = self.sources.contains(&Source::Model);
            return if model { "model, no runs" } else { "no runs" }.to_owned();
        };
        let cells: Vec<_> = self.cells.iter().map(String::as_str).collect();
        match cells.len() {
            0 => words,
            1..=MOST_NAMED => format!("{words}: {}", cells.join(", ")),
            count => format!("{words}: {count} cells"),
        }
    }
}

fn joined<'a>(sources: impl Iterator<Item = &'a Source>) -> String {
    sources.map(Source::words).collect::<Vec<_>>().join(" and ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn simulated(run: &str, cell: &str) -> Origin {
        Origin::run(run, cell, Source::Simulated)
    }

    fn engine() -> Origin {
        Origin::run("c", "tiny", Source::Engine("vLLM 0.32.0, CPU".to_owned()))
    }

    #[test]
    fn a_mean_names_every_run_behind_it_once() {
        let mean = Origin::of(&[simulated("b", "x"), simulated("a", "x"), simulated("b", "x")]);
        assert_eq!(mean.run_names(), "a;b");
        assert_eq!(mean.source_words(), "simulated");
    }

    #[test]
    fn the_heading_says_what_made_the_runs_and_of_which_cells_they_are() {
        assert_eq!(simulated("a", "x").heading(), "simulated: x");
        assert_eq!(engine().heading(), "vLLM 0.32.0, CPU: tiny");
        let both = Origin::of(&[simulated("a", "x"), engine(), Origin::model()]);
        assert_eq!(both.heading(), "vLLM 0.32.0, CPU and simulated: tiny, x");
        let many: Vec<_> = ["p", "q", "r", "s"].map(|cell| simulated("a", cell)).into();
        assert_eq!(Origin::of(&many).heading(), "simulated: 4 cells");
    }

    #[test]
    fn a_model_has_no_runs_even_where_a_run_drove_it() {
        assert_eq!(Origin::model().heading(), "model, no runs");
        let driven = Origin::model_driven_by(&simulated("a", "x"));
        assert_eq!((driven.run_names().as_str(), driven.source_words().as_str()), ("a", "model"));
        assert_eq!(driven.runs_words(), None);
        assert_eq!(Origin::default().heading(), "no runs");
    }
}
