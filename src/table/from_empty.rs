//! Runs from an empty engine (E0b, App. E.3): measured over their second half.

use crate::analysis::ScoredRun;

use super::{Cell, Column, Row, Table};

const COLUMNS: &[Column] = &[
    Column::key("run", ""),
    Column::key("source", ""),
    Column::key("cell", ""),
    Column::key("rate_multiple", "lambda_ref"),
    Column::key("seed", ""),
    Column::new("realized_multiple", "lambda_ref"),
    Column::new("hit_fraction", ""),
    Column::new("follow_up_hit_fraction", ""),
    Column::new("backlog_slope_per_s", "sessions/s"),
    Column::new("outstanding_end_sessions", "sessions"),
    Column::new("stuck", ""),
];

/// The table of from-empty runs.
pub fn table(runs: &[ScoredRun]) -> Table {
    let row = |run: &ScoredRun| {
        let (window, last) = (run.measures.window.as_ref()?, run.measures.last.as_ref()?);
        let load = run.load?;
        // Realized over the whole run, as the paper's edge in realized rates is.
        let realized = run.measures.whole.sessions_arrived as f64 / run.meta.duration_s;
        let key = run.dir.display().to_string();
        let cells = vec![
            Cell::text(&key),
            Cell::text(run.meta.source.word()),
            Cell::text(&run.meta.cell),
            Cell::optional(run.meta.rate.multiple, 2),
            Cell::Count(run.meta.seed),
            Cell::Number(realized / load.lambda_ref_per_s, 3),
            Cell::known(window.hits.value(), 3),
            Cell::known(window.follow_up_hits.value(), 3),
            Cell::known(window.backlog_slope_per_s, 4),
            Cell::Number(last.outstanding_mean, 1),
            match run.stuck {
                Some(true) => Cell::text("yes"),
                Some(false) => Cell::text("no"),
                None => Cell::Unknown,
            },
        ];
        Some(Row { key, cells, sources: run.sources.clone() })
    };
    Table {
        name: "from_empty".into(),
        title: "Runs from an empty engine, over their second half".into(),
        columns: COLUMNS.to_vec(),
        rows: runs.iter().filter(|run| run.meta.arm == "e0b").filter_map(row).collect(),
    }
}
