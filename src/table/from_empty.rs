//! Runs from an empty engine (E0b, App. E.3): measured over their second half.

use crate::judged::ScoredRun;
use crate::measure::stretches::Stretches;
use crate::rule::stability::judge;
use crate::rule::state::Load;
use crate::setup::Span;
use crate::setup::registration::test::Stability;

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
    Column::new("stable", ""),
    Column::new("final_queue_requests", "requests"),
    Column::new("final_queue_below", "requests"),
    Column::new("queue_rise_requests", "requests"),
    Column::new("run_hit_fraction", ""),
    Column::new("early_hit_fraction", ""),
    Column::new("window_arrivals_multiple", "lambda_ref"),
    Column::new("arrivals_above_nominal_sd", "sd"),
    Column::new("collapse", ""),
    Column::new("completions_rank", ""),
];

/// From when on a run from empty is taken to have filled up, s (App. E.3: "hit over
/// [300, 1500) s, then the second half").
const EARLY_FROM_S: f64 = 300.0;

/// The table of from-empty runs.
pub fn table(runs: &[ScoredRun]) -> Table {
    let rates = stuck_completions(runs);
    let row = |run: &ScoredRun| {
        let (window, last) = (run.measures.window.as_ref()?, run.measures.last.as_ref()?);
        let load = run.load?;
        // Realized over the whole run, as the paper's edge in realized rates is.
        let realized = run.measures.whole.sessions_arrived as f64 / run.meta.duration_s;
        let key = run.dir.display().to_string();
        let mut cells = vec![
            Cell::text(&key),
            Cell::text(run.meta.source.word()),
            Cell::text(&run.meta.cell),
            Cell::optional(run.meta.rate.multiple, 2),
            Cell::Count(run.meta.seed),
            Cell::Number(realized / load.lambda_ref_per_s, 3),
            Cell::known(window.hits.value(), 3),
            Cell::known(window.follow_up_hits.value(), 3),
            Cell::known(window.backlog_slope_per_s, 4),
            Cell::Number(last.outstanding_end, 0),
            Cell::yes_no(run.stuck),
        ];
        cells.extend(stability(run));
        cells.extend(over_time(run, load));
        let rate = completions_multiple(run);
        let rank = rate.map(|rate| rates.iter().filter(|other| **other > rate).count() as u64 + 1);
        cells.push(rank.map_or(Cell::Empty, Cell::Count));
        Some(Row { key, cells, sources: run.sources.clone() })
    };
    Table {
        name: "from_empty".into(),
        title: "Runs from an empty engine, over their second half".into(),
        columns: COLUMNS.to_vec(),
        rows: runs.iter().filter(|run| run.meta.arm == "e0b").filter_map(row).collect(),
    }
}

/// The edge rule on the run's queue.
fn stability(run: &ScoredRun) -> [Cell; 4] {
    let rule = Stability::default();
    let stable = match judge(run.queue.as_ref(), &rule).label {
        "STABLE" => Some(true),
        "UNSTABLE" => Some(false),
        _ => None,
    };
    [
        stable.map_or(Cell::Empty, |stable| Cell::yes_no(Some(stable))),
        Cell::known(run.queue.map(|queue| queue.final_mean), 1),
        Cell::Number(rule.final_queue_below, 0),
        Cell::known(run.queue.and_then(|queue| queue.rise), 1),
    ]
}

/// Its hits and arrivals, and whether it collapsed.
fn over_time(run: &ScoredRun, load: Load) -> [Cell; 5] {
    let (measures, whole) = (&run.measures, &run.measures.whole);
    let early = Span::new(EARLY_FROM_S, measures.window_span.start_s);
    let early = Stretches::of(&measures.series.hits).within(early);
    let in_window = measures.window.as_ref().map(|w| w.base_arrivals_per_s / load.lambda_ref_per_s);
    let expected = load.lambda_per_s * run.meta.duration_s;
    let collapse = run.from_empty.as_ref().map(|life| match (life.onset_s, life.escape_s) {
        (None, _) => "NONE",
        (Some(_), None) => "COLLAPSED",
        (Some(_), Some(_)) => "RECOVERED",
    });
    [
        Cell::known(whole.hits.value(), 4),
        Cell::known(early.total().value(), 3),
        Cell::known(in_window, 4),
        // A Poisson count's standard deviation is the root of its mean.
        Cell::Number((whole.sessions_arrived as f64 - expected) / expected.sqrt(), 2),
        collapse.map_or(Cell::Unknown, Cell::text),
    ]
}

/// Completions of a stuck run over its window, in lambda_ref.
fn completions_multiple(run: &ScoredRun) -> Option<f64> {
    let window = run.measures.window.as_ref().filter(|_| run.stuck == Some(true))?;
    Some(window.completions_per_s / run.load?.lambda_ref_per_s)
}

fn stuck_completions(runs: &[ScoredRun]) -> Vec<f64> {
    let from_empty = runs.iter().filter(|run| run.meta.arm == "e0b");
    from_empty.filter_map(completions_multiple).collect()
}
