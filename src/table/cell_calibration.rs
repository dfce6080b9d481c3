//! The all-miss rates of each cell, from its cache-off runs (E0a, App. E.3).

use std::collections::BTreeMap;

use crate::judged::ScoredRun;
use crate::measure::{WindowMeasures, stats};
use crate::model::SessionMeans;
use crate::setup::Configs;

use super::{Cell, Col, Heading, Table, session_means};

/// The cache-off runs of a cell with so many sessions kept running.
struct CacheOff<'a> {
    cell: &'a str,
    source: &'static str,
    population: u64,
    runs: Vec<&'a ScoredRun>,
    means: SessionMeans,
}

impl CacheOff<'_> {
    /// What each run that was measured gives.
    fn each(&self, of: impl Fn(&WindowMeasures) -> Option<f64>) -> Vec<f64> {
        self.runs.iter().filter_map(|run| of(run.measures.window.as_ref()?)).collect()
    }

    fn tokens_per_s(&self) -> Vec<f64> {
        self.each(|w| Some(w.mean_prompt_tokens? * w.turns_per_s))
    }

    fn sessions_per_s(&self) -> Vec<f64> {
        self.each(|w| Some(w.turns_per_s / self.means.mean_turns))
    }

    fn completions_per_s(&self) -> Vec<f64> {
        self.each(|w| Some(w.completions_per_s))
    }
}

/// The table: a row per cell and number of sessions kept running. The rate per session is
/// turns-based, as the paper's lambda_ref.
pub fn table(runs: &[ScoredRun], configs: &Configs) -> Table {
    let columns: &[Col<CacheOff<'_>>] = &[
        Heading("cell", "", "Engine, GPU, model and pool, as named in configs/cells")
            .key(|of| Cell::text(of.cell)),
        Heading("source", "", "What made the runs: engine or simulator")
            .key(|of| Cell::text(of.source)),
        Heading("population", "sessions", "Sessions that a closed run keeps running")
            .key(|of| Cell::Count(of.population)),
        Heading("runs", "", "Runs that the row counts")
            .count(|of| of.each(|w| Some(w.turns_per_s)).len() as u64),
        Heading("all_miss_tokens_per_s", "tokens/s", "All-miss token rate, mean over runs")
            .known(0, |of| stats::mean(&of.tokens_per_s())),
        Heading(
            "all_miss_tokens_standard_error",
            "tokens/s",
            "Standard error of the all-miss token rate",
        )
        .optional(0, |of| stats::standard_error(&of.tokens_per_s())),
        Heading("lambda_ref_per_s", "sessions/s", "All-miss session rate by turns, mean over runs")
            .known(5, |of| stats::mean(&of.sessions_per_s())),
        Heading("lambda_ref_standard_error", "sessions/s", "Standard error of lambda_ref")
            .optional(5, |of| stats::standard_error(&of.sessions_per_s())),
        Heading(
            "lambda_miss_token_based_per_s",
            "sessions/s",
            "All-miss session rate by prompt tokens, mean over runs",
        )
        .known(5, |of| {
            let tokens = stats::mean(&of.tokens_per_s());
            tokens.map(|tokens| tokens / of.means.session_prompt_tokens())
        }),
        Heading("completions_per_s", "sessions/s", "Sessions completed per second, mean over runs")
            .known(5, |of| stats::mean(&of.completions_per_s())),
        Heading(
            "completions_standard_error",
            "sessions/s",
            "Standard error of the completions per second",
        )
        .optional(5, |of| stats::standard_error(&of.completions_per_s())),
    ];
    let mut groups: BTreeMap<(&str, &'static str, u64), Vec<&ScoredRun>> = BTreeMap::new();
    for run in runs.iter().filter(|run| !run.meta.prefix_caching) {
        let key =
            (run.meta.cell.as_str(), run.meta.source.word(), run.meta.population.unwrap_or(0));
        groups.entry(key).or_default().push(run);
    }
    let rows = groups.into_iter().filter_map(|((cell, source, population), runs)| {
        let means = session_means(configs, cell)?;
        Some(CacheOff { cell, source, population, runs, means })
    });
    let title = "All-miss token rate and lambda_ref per cell, from cache-off runs";
    Table::of("cell_calibration", title, columns, rows, |of| {
        let sources = of.runs.iter().flat_map(|run| run.sources.clone()).collect();
        (format!("{}/{}/n{}", of.cell, of.source, of.population), sources)
    })
}
