//! The closed-population throughput curve mu(n) (Stage C, App. E.3).

use crate::judged::ScoredRun;
use crate::measure::stretches::Stretches;
use crate::setup::{Configs, Span};

use super::{Cell, Column, Row, Table, session_means};

/// Length of the longer bins, s (App. E.3: [900, 1200) s and [1200, 2700) s of a window
/// from 900 to 2700 s).
const LONG_BIN_S: f64 = 300.0;

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
    Column::new("early_hit_fraction", ""),
    Column::new("last_hit_fraction", ""),
    Column::new("late_completions_per_s", "sessions/s"),
    Column::new("least_100s_hit_fraction", ""),
    Column::new("least_300s_hit_fraction", ""),
    Column::new("most_300s_hit_fraction", ""),
    Column::new("degraded_from_s", "s"),
    Column::new("degraded_until_s", "s"),
    Column::new("waiting_mean_requests", "requests"),
    Column::new("turns_completed", "turns"),
];

/// The table of closed runs, in order of cell and population.
pub fn table(runs: &[ScoredRun], configs: &Configs) -> Table {
    let row = |run: &ScoredRun| {
        let window = run.measures.window.as_ref()?;
        let mean_turns = session_means(configs, &run.meta.cell)?.mean_turns;
        let key = run.dir.display().to_string();
        let mut cells = vec![
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
        cells.extend(over_time(run, window.span));
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

/// The run over time: its window's first and last 300 s, what it completed after the first,
/// its extreme bins, and the time between its first and last bin with few hits.
fn over_time(run: &ScoredRun, window: Span) -> Vec<Cell> {
    let series = &run.measures.series;
    let bins = Stretches::of(&series.hits).within(window);
    let long = bins.joined(LONG_BIN_S);
    let late = Span::new(window.start_s + LONG_BIN_S, window.end_s);
    let over = |span: Span| Cell::known(bins.within(span).total().value(), 3);
    vec![
        over(Span::new(window.start_s, late.start_s)),
        over(window.last(LONG_BIN_S)),
        if late.length_s() > 0.0 {
            Cell::Number(series.completions_per_s(late), 4)
        } else {
            Cell::Unknown
        },
        Cell::of_stretches(&bins, Stretches::lowest, 3),
        Cell::of_stretches(&long, Stretches::lowest, 3),
        Cell::of_stretches(&long, Stretches::highest, 3),
        Cell::optional(run.degraded.map(|span| span.start_s), 0),
        Cell::optional(run.degraded.map(|span| span.end_s), 0),
        Cell::known(run.queue_lengths.and_then(|queue| queue.window_mean), 1),
        Cell::Count(run.measures.whole.hits.total()),
    ]
}
