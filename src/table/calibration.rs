//! The all-miss capacity: cache-off runs and the cost of a turn fitted to each
//! (App. E.3's E0a).

use crate::judged::ScoredRun;
use crate::setup::Configs;

use super::{Cell, Column, Row, Table, session_means};

const COLUMNS: &[Column] = &[
    Column::key("run", ""),
    Column::key("source", ""),
    Column::key("cell", ""),
    Column::key("population", "sessions"),
    Column::key("seed", ""),
    Column::new("turns_per_s", "turns/s"),
    Column::new("mean_prompt_tokens", "tokens"),
    Column::new("uncached_tokens_per_s", "tokens/s"),
    Column::new("completions_per_s", "sessions/s"),
    Column::new("turns_based_sessions_per_s", "sessions/s"),
    Column::new("token_based_sessions_per_s", "sessions/s"),
    Column::new("fixed_s", "s"),
    Column::new("per_token_us", "us/token"),
    Column::new("residual_rms_s", "s per bin"),
    Column::new("bins", ""),
];

/// The table of cache-off runs.
pub fn table(runs: &[ScoredRun], configs: &Configs) -> Table {
    let row = |run: &ScoredRun| {
        let fit = run.turn_cost.as_ref()?;
        let window = run.measures.window.as_ref()?;
        let means = session_means(configs, &run.meta.cell)?;
        // The cache is off: every prompt token is computed, said so or not.
        let tokens_per_s = window.mean_prompt_tokens? * window.turns_per_s;
        let mut cells = vec![
            Cell::text(run.dir.display().to_string()),
            Cell::text(run.meta.source.word()),
            Cell::text(&run.meta.cell),
            run.meta.population.map_or(Cell::Empty, Cell::Count),
            Cell::Count(run.meta.seed),
            Cell::Number(window.turns_per_s, 3),
            Cell::known(window.mean_prompt_tokens, 0),
            Cell::Number(tokens_per_s, 0),
            Cell::Number(window.completions_per_s, 4),
            Cell::Number(window.turns_per_s / means.mean_turns, 4),
            Cell::Number(tokens_per_s / means.session_prompt_tokens(), 4),
        ];
        match fit {
            Ok(fit) => cells.extend([
                Cell::Number(fit.fixed_s, 5),
                Cell::Number(fit.per_token_s * 1e6, 2),
                Cell::Number(fit.residual_rms_s, 3),
                Cell::Count(fit.bins as u64),
            ]),
            Err(_) => cells.extend(vec![Cell::Unknown; 4]),
        }
        Some(Row { key: run.dir.display().to_string(), cells, sources: run.sources.clone() })
    };
    Table {
        name: "calibration".into(),
        title: "All-miss capacity: cache-off runs and the fitted cost of a turn".into(),
        columns: COLUMNS.to_vec(),
        rows: runs.iter().filter_map(row).collect(),
    }
}
