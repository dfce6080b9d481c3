//! The closed-population throughput curve mu(n) (Stage C, App. E.3).

use crate::analysis::ScoredRun;
use crate::setup::Configs;

use super::{Cell, Column, Row, Table, session_means};

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
    let row = |run: &ScoredRun| {
        let window = run.measures.window.as_ref()?;
        let mean_turns = session_means(configs, &run.meta.cell)?.mean_turns;
        let key = run.dir.display().to_string();
        let cells = vec![
            Cell::text(&key),
            Cell::text(run.meta.source.word()),
            Cell::text(&run.meta.cell),
            run.meta.population.map_or(Cell::Unknown, Cell::Count),
            Cell::Count(run.meta.seed),
            Cell::Number(window.completions_per_s, 4),
            Cell::Number(window.turns_per_s / mean_turns, 4),
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
