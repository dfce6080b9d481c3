//! One row per run: what was measured over its window and how it was judged.

use crate::judged::ScoredRun;

use super::{Cell, Column, Row, Table};

const COLUMNS: &[Column] = &[
    Column::key("run", ""),
    Column::key("source", ""),
    Column::key("cell", ""),
    Column::key("arm", ""),
    Column::key("rate_multiple", "lambda_ref"),
    Column::key("population", "sessions"),
    Column::key("seed", ""),
    Column::new("state", ""),
    Column::new("registration", ""),
    Column::new("binding", ""),
    Column::new("stuck", ""),
    Column::new("window_start_s", "s"),
    Column::new("window_end_s", "s"),
    Column::new("hit_fraction", ""),
    Column::new("follow_up_hit_fraction", ""),
    Column::new("uncached_tokens_per_s", "tokens/s"),
    Column::new("uncached_over_all_miss", ""),
    Column::new("backlog_mean_sessions", "sessions"),
    Column::new("backlog_slope_per_s", "sessions/s"),
    Column::new("slope_threshold_per_s", "sessions/s"),
    Column::new("outstanding_end_sessions", "sessions"),
    Column::new("hit_fraction_end", ""),
    Column::new("completions_per_s", "sessions/s"),
    Column::new("realized_base_arrivals_per_s", "sessions/s"),
    Column::new("mean_prompt_tokens", "tokens"),
    Column::new("gap_median_s", "s"),
    Column::new("gap_slope", "s/s"),
    Column::new("churn_tokens_per_s", "tokens/s"),
    Column::new("turnover_s", "s"),
    Column::new("gap_over_turnover", ""),
    Column::new("latency_median_s", "s"),
    Column::new("latency_p90_s", "s"),
    Column::new("token_hit_fraction", ""),
    Column::new("pool_occupancy", ""),
    Column::new("sessions_arrived", "sessions"),
    Column::new("sessions_completed", "sessions"),
    Column::new("sessions_unfinished", "sessions"),
    Column::new("sessions_held_at_gate", "sessions"),
    Column::new("gate_hold_mean_s", "s"),
    Column::new("longest_queue_after_burst_requests", "requests"),
    Column::new("hits", "turns"),
    Column::new("hits_not_exact", "turns"),
    Column::new("hit_uncached_tokens_median", "tokens"),
];

/// The table of runs.
pub fn table(runs: &[ScoredRun]) -> Table {
    Table {
        name: "runs".into(),
        title: "Runs: measurements over the window, and the state under the paired test".into(),
        columns: COLUMNS.to_vec(),
        rows: runs.iter().map(row).collect(),
    }
}

fn row(run: &ScoredRun) -> Row {
    let key = run.dir.display().to_string();
    let mut cells = identity(run, &key);
    cells.extend(over_window(run));
    cells.extend(over_run(run));
    Row { key, cells, sources: run.sources.clone() }
}

fn identity(run: &ScoredRun, key: &str) -> Vec<Cell> {
    let meta = &run.meta;
    let asked = run.state.is_some() || run.fitting_rules().is_some();
    let stuck = run.load.map(|_| Cell::yes_no(run.stuck));
    vec![
        Cell::text(key),
        Cell::text(meta.source.word()),
        Cell::text(&meta.cell),
        Cell::text(&meta.arm),
        Cell::optional(meta.rate.multiple, 2),
        meta.population.map_or(Cell::Empty, Cell::Count),
        Cell::Count(meta.seed),
        run.state.as_ref().map_or(Cell::Empty, |s| Cell::text(s.state.word())),
        run.judged_by.as_ref().filter(|_| asked).map_or(Cell::Empty, Cell::text),
        if asked { Cell::text(run.binding.word()) } else { Cell::Empty },
        stuck.unwrap_or(Cell::Empty),
        Cell::Number(run.measures.window_span.start_s, 0),
        Cell::Number(run.measures.window_span.end_s, 0),
    ]
}

/// The clause's threshold on the backlog slope, where the run is judged.
pub(super) fn slope_threshold(run: &ScoredRun) -> Option<f64> {
    let clause = run.state.as_ref()?.trapped.iter().find(|c| c.quantity == "backlog slope")?;
    match clause.needs {
        crate::rule::Comparison::Above(threshold) => Some(threshold),
        _ => None,
    }
}

fn over_window(run: &ScoredRun) -> Vec<Cell> {
    let (Some(w), Some(last)) = (&run.measures.window, &run.measures.last) else {
        return vec![Cell::Unknown; 21];
    };
    let all_miss = run.state.as_ref().and(run.load).map(|l| l.all_miss_tokens_per_s);
    let token_ratio = match (w.uncached_tokens_per_s, all_miss) {
        // Without a measured all-miss rate the ratio is unknown.
        (Some(rate), Some(reference)) => {
            Cell::known(Some(rate / reference).filter(|ratio| ratio.is_finite()), 3)
        }
        (None, Some(_)) => Cell::Unknown,
        (_, None) => Cell::Empty,
    };
    vec![
        Cell::known(w.hits.value(), 3),
        Cell::known(w.follow_up_hits.value(), 3),
        Cell::known(w.uncached_tokens_per_s, 0),
        token_ratio,
        Cell::Number(w.backlog_mean, 1),
        Cell::known(w.backlog_slope_per_s, 4),
        Cell::optional(slope_threshold(run), 4),
        Cell::Number(last.outstanding_end, 0),
        Cell::known(last.hits.value(), 3),
        Cell::Number(w.completions_per_s, 4),
        Cell::Number(w.base_arrivals_per_s, 4),
        Cell::known(w.mean_prompt_tokens, 0),
        Cell::known(w.gap_median_s, 2),
        Cell::known(w.gap_slope, 4),
        Cell::known(w.churn_tokens_per_s, 0),
        Cell::known(w.turnover_s, 2),
        Cell::known(w.gap_over_turnover, 3),
        Cell::known(w.latency_median_s, 2),
        Cell::known(w.latency_p90_s, 2),
        Cell::known(w.token_hit_fraction, 4),
        Cell::known(w.pool_occupancy, 4),
    ]
}

fn over_run(run: &ScoredRun) -> Vec<Cell> {
    let whole = &run.measures.whole;
    vec![
        Cell::Count(whole.sessions_arrived),
        Cell::Count(whole.sessions_completed),
        Cell::Count(whole.sessions_unfinished),
        Cell::Count(whole.sessions_held),
        Cell::optional(whole.held_mean_s, 1),
        // Without an arrival rate there is no burst to come after.
        match (&run.meta.rate.lambda, run.queue_lengths) {
            (Some(_), lengths) => Cell::known(lengths.and_then(|q| q.most_after_burst), 0),
            (None, _) => Cell::Empty,
        },
        run.reuse.map_or(Cell::Unknown, |_| Cell::Count(whole.hits.hits)),
        run.reuse.map_or(Cell::Unknown, |reuse| Cell::Count(reuse.not_exact)),
        run.reuse.map_or(Cell::Unknown, |reuse| Cell::optional(reuse.uncached_median, 1)),
    ]
}
