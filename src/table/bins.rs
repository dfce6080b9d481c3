//! Every run with an arrival rate by its bins of 100 s: how low the hit fraction got, from
//! when on it stayed low, and what was done to the run.

use crate::judged::ScoredRun;
use crate::measure::stretches::Stretches;
use crate::setup::Span;

use super::about_run::{AboutRun, state, with_identity};
use super::{Cell, Col, Heading, Table};

/// A run that stays below this has collapsed (App. E.6: "below 0.2 from this window on").
const COLLAPSED_BELOW: f64 = 0.2;

const COLUMNS: &[Col<ScoredRun>] = &[
    Heading("state", "", "State under the paired test's rule; none where no rule applies")
        .new(state),
    Heading("stuck", "", "Whether its follow-up hit fraction is below the threshold")
        .new(|run| run.load.map_or(Cell::Empty, |_| Cell::yes_no(run.stuck))),
    Heading("lowest_100s_hit", "", "Lowest hit fraction of a 100 s bin from the burst on").new(
        |run| {
            let since = Span::new(run.burst_start_s, run.meta.duration_s);
            super::of_stretches(&hits(run).within(since), Stretches::lowest, 3)
        },
    ),
    Heading("stays_below_02_from_s", "s", "From when on every 100 s bin hits below 0.2").new(
        |run| {
            let low = |bins: &Stretches| bins.below_to_the_end_from(COLLAPSED_BELOW);
            super::of_stretches(&hits(run), |bins| low(bins).map(|bin| bin.start_s), 0)
        },
    ),
    Heading("burst_sessions", "sessions", "Sessions of the burst")
        .count(|run| run.treatment.burst_sessions),
    Heading("burst_finished_s", "s", "When the last session of the burst completed")
        .optional(0, |run| run.burst.and_then(|burst| burst.last_completed_s)),
    Heading("queue_peak_requests", "requests", "Longest engine queue from the burst on")
        .known(0, |run| run.queue_lengths.and_then(|queue| queue.most_after_burst)),
    Heading("token_hit_fraction", "", "Share of prompt tokens found in the cache")
        .known(4, |run| run.window()?.token_hit_fraction),
    Heading("slowed_tool_calls", "calls", "Tool calls that were slowed").new(|run| {
        match run.treatment.has_plan {
            true => Cell::Count(run.treatment.slowed.map_or(0, |slowed| slowed.calls)),
            false => Cell::Unknown,
        }
    }),
];

/// The table. The lowest bin and the queue's peak are those from the start of the
/// protocol's burst on, whether the run has one or not.
pub fn table(runs: &[ScoredRun]) -> Table {
    let title = "Open runs by bins of 100 s: lowest hit fraction, collapse, burst and queue";
    let open = runs.iter().filter(|run| run.meta.rate.lambda.is_some());
    super::about_run::table("bins", title, &with_identity(COLUMNS), open)
}

fn hits(run: &ScoredRun) -> Stretches {
    Stretches::of(&run.measures.series.hits)
}
