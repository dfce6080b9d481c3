//! Every run with an arrival rate by its bins of 100 s: how low the hit fraction got, from
//! when on it stayed low, and what was done to the run.

use crate::judged::ScoredRun;
use crate::measure::stretches::Stretches;
use crate::setup::Span;

use super::{Cell, Column, Row, Table, open_run};

/// A run that stays below this has collapsed (App. E.6: "below 0.2 from this window on").
const COLLAPSED_BELOW: f64 = 0.2;

const COLUMNS: &[Column] = &[
    Column::new("state", ""),
    Column::new("stuck", ""),
    Column::new("lowest_100s_hit", ""),
    Column::new("stays_below_02_from_s", "s"),
    Column::new("burst_sessions", "sessions"),
    Column::new("burst_finished_s", "s"),
    Column::new("queue_peak_requests", "requests"),
    Column::new("token_hit_fraction", ""),
    Column::new("slowed_tool_calls", "calls"),
];

/// The table. The lowest bin and the queue's peak are those from the start of the
/// protocol's burst on, whether the run has one or not.
pub fn table(runs: &[ScoredRun]) -> Table {
    Table {
        name: "bins".into(),
        title: "Open runs by bins of 100 s: lowest hit fraction, collapse, burst and queue".into(),
        columns: open_run::columns(COLUMNS),
        rows: runs.iter().filter(|run| run.meta.rate.lambda.is_some()).map(row).collect(),
    }
}

fn row(run: &ScoredRun) -> Row {
    let hits = Stretches::of(&run.measures.series.hits);
    let since = hits.within(Span::new(run.burst_start_s, run.meta.duration_s));
    let treatment = &run.treatment;
    let slowed = treatment.slowed.map_or(0, |slowed| slowed.calls);
    let found = vec![
        run.state.as_ref().map_or(Cell::Empty, |s| Cell::text(s.state.word())),
        run.load.map_or(Cell::Empty, |_| Cell::yes_no(run.stuck)),
        Cell::of_stretches(&since, Stretches::lowest, 3),
        Cell::of_stretches(
            &hits,
            |bins| bins.below_to_the_end_from(COLLAPSED_BELOW).map(|bin| bin.start_s),
            0,
        ),
        Cell::Count(treatment.burst_sessions),
        Cell::optional(run.burst.and_then(|burst| burst.last_completed_s), 0),
        Cell::known(run.queue_lengths.and_then(|queue| queue.most_after_burst), 0),
        Cell::known(run.measures.window.as_ref().and_then(|w| w.token_hit_fraction), 4),
        if treatment.has_plan { Cell::Count(slowed) } else { Cell::Unknown },
    ];
    open_run::row(run, found)
}
