//! The closed-population throughput curve mu(n) (Stage C, App. E.3).

use std::collections::BTreeMap;

use crate::analysis::ScoredRun;
use crate::setup::Configs;

use super::{Cell, Column, Row, Table};

const COLUMNS: &[Column] = &[
    Column::key("run", ""),
    Column::key("source", ""),
    Column::key("cell", ""),
    Column::key("population", "sessions"),
    Column::key("seed", ""),
    Column::new("completions_per_s", "sessions/s"),
    Column::new("turns_based_per_s", "sessions/s"),
    Column::new("hit_fraction", ""),
    Column::new("follow_up_hit_fraction", ""),
    Column::new("uncached_tokens_per_s", "tokens/s"),
];

/// The table of closed runs, in order of cell and population.
pub fn table(runs: &[ScoredRun], configs: &Configs) -> Table {
    let mean_turns: BTreeMap<&str, f64> = configs
        .cells
        .keys()
        .filter_map(|name| configs.of_cell(name).map(|(_, workload, _)| (name, workload)))
        .map(|(name, workload)| (name.as_str(), workload.survival().iter().sum()))
        .collect();
    let row = |run: &ScoredRun| {
        let window = run.measures.window.as_ref()?;
        let turns = mean_turns.get(run.meta.cell.as_str())?;
        let key = run.dir.display().to_string();
        let cells = vec![
            Cell::text(&key),
            Cell::text(run.meta.source.word()),
            Cell::text(&run.meta.cell),
            run.meta.population.map_or(Cell::Unknown, Cell::Count),
            Cell::Count(run.meta.seed),
            Cell::Number(window.completions_per_s, 4),
            Cell::Number(window.turns_per_s / turns, 4),
            Cell::known(window.hits.value(), 3),
            Cell::known(window.follow_up_hits.value(), 3),
            Cell::known(window.uncached_tokens_per_s, 0),
        ];
        Some(Row { key, cells, sources: run.sources.clone() })
    };
    let mut closed: Vec<_> = runs.iter().filter(|run| run.meta.arm == "closed").collect();
    closed.sort_by(|a, b| {
        let key = |r: &ScoredRun| (r.meta.cell.clone(), r.meta.population, r.dir.clone());
        key(a).cmp(&key(b))
    });
    Table {
        name: "closed_curve".into(),
        title: "Closed-population throughput curve".into(),
        columns: COLUMNS.to_vec(),
        rows: closed.into_iter().filter_map(row).collect(),
    }
}
