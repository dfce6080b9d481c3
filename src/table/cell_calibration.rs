//! The all-miss rates of each cell, from its cache-off runs (E0a, App. E.3).

use std::collections::BTreeMap;

use crate::judged::ScoredRun;
use crate::measure::stats;
use crate::setup::Configs;

use super::{Cell, Column, Row, Table, session_means};

const COLUMNS: &[Column] = &[
    Column::key("cell", ""),
    Column::key("source", ""),
    Column::key("population", "sessions"),
    Column::new("runs", ""),
    Column::new("all_miss_tokens_per_s", "tokens/s"),
    Column::new("all_miss_tokens_standard_error", "tokens/s"),
    Column::new("lambda_ref_per_s", "sessions/s"),
    Column::new("lambda_ref_standard_error", "sessions/s"),
    Column::new("lambda_miss_token_based_per_s", "sessions/s"),
    Column::new("completions_per_s", "sessions/s"),
    Column::new("completions_standard_error", "sessions/s"),
];

/// The table: a row per cell and number of sessions kept running. The rate per session is
/// turns-based, as the paper's lambda_ref.
pub fn table(runs: &[ScoredRun], configs: &Configs) -> Table {
    let mut groups: BTreeMap<(&str, &str, u64), Vec<&ScoredRun>> = BTreeMap::new();
    for run in runs.iter().filter(|run| !run.meta.prefix_caching) {
        let key =
            (run.meta.cell.as_str(), run.meta.source.word(), run.meta.population.unwrap_or(0));
        groups.entry(key).or_default().push(run);
    }
    Table {
        name: "cell_calibration".into(),
        title: "All-miss token rate and lambda_ref per cell, from cache-off runs".into(),
        columns: COLUMNS.to_vec(),
        rows: groups.iter().filter_map(|(key, runs)| row(*key, runs, configs)).collect(),
    }
}

fn row(key: (&str, &str, u64), runs: &[&ScoredRun], configs: &Configs) -> Option<Row> {
    let (cell, source, population) = key;
    let means = session_means(configs, cell)?;
    let windows: Vec<_> = runs.iter().filter_map(|run| run.measures.window.as_ref()).collect();
    let tokens: Vec<f64> =
        windows.iter().filter_map(|w| Some(w.mean_prompt_tokens? * w.turns_per_s)).collect();
    let sessions: Vec<f64> = windows.iter().map(|w| w.turns_per_s / means.mean_turns).collect();
    let completed: Vec<f64> = windows.iter().map(|w| w.completions_per_s).collect();
    let by_tokens = stats::mean(&tokens).map(|t| t / means.session_prompt_tokens());
    Some(Row {
        key: format!("{cell}/{source}/n{population}"),
        cells: vec![
            Cell::text(cell),
            Cell::text(source),
            Cell::Count(population),
            Cell::Count(windows.len() as u64),
            Cell::known(stats::mean(&tokens), 0),
            Cell::optional(stats::standard_error(&tokens), 0),
            Cell::known(stats::mean(&sessions), 5),
            Cell::optional(stats::standard_error(&sessions), 5),
            Cell::known(by_tokens, 5),
            Cell::known(stats::mean(&completed), 5),
            Cell::optional(stats::standard_error(&completed), 5),
        ],
        sources: runs.iter().flat_map(|run| run.sources.clone()).collect(),
    })
}
