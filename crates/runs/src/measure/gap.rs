//! The gap between a session's turns: from one completion to the next (App. B, E.9).

use crate::run::{Run, Turn};
use crate::setup::Span;

use super::stats::{self, Line};

/// One gap.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gap {
    /// Completion of the later turn, s.
    pub t_end_s: f64,
    /// Time since the same session's previous completion, s.
    pub gap_s: f64,
}

/// Every gap that ends in a served turn, in order of (session, turn).
pub fn gaps(run: &Run) -> Vec<Gap> {
    let mut served: Vec<_> = run
        .turns
        .iter()
        .filter_map(|turn| turn.served_at_s().map(|t| (turn.session, turn.number, t)))
        .collect();
    served.sort_by_key(|turn| (turn.0, turn.1));
    served
        .windows(2)
        .filter(|pair| pair[0].0 == pair[1].0 && pair[0].1 + 1 == pair[1].1)
        .map(|pair| Gap { t_end_s: pair[1].2, gap_s: pair[1].2 - pair[0].2 })
        .collect()
}

/// Mean tool time that the follow-ups completed in `span` came after, as the client slept
/// it, s; `None` if one is unknown, or there is none.
pub fn mean_tool_time_s(run: &Run, span: Span) -> Option<f64> {
    let mut awaited: Vec<_> = run
        .turns
        .iter()
        .filter(|turn| turn.is_follow_up() && turn.served_at_s().is_some_and(|t| span.holds(t)))
        .map(|turn| (turn.session, turn.number - 1))
        .collect();
    awaited.sort_unstable();
    let before = |turn: &&Turn| awaited.binary_search(&(turn.session, turn.number)).is_ok();
    let times: Option<Vec<f64>> = run.turns.iter().filter(before).map(|t| t.tool_s).collect();
    stats::mean(&times.filter(|times| times.len() == awaited.len())?)
}

/// Median gap of the turns completed in `span`, s.
pub fn median_gap_s(gaps: &[Gap], span: Span) -> Option<f64> {
    stats::median(&in_span(gaps, span))
}

/// Medians over consecutive bins of `span`, at the bins' midpoints; bins without
/// a gap are left out.
pub fn binned_medians(gaps: &[Gap], span: Span, width_s: f64) -> Vec<(f64, f64)> {
    span.bins(width_s)
        .into_iter()
        .filter_map(|bin| median_gap_s(gaps, bin).map(|m| (bin.middle_s(), m)))
        .collect()
}

/// Trend of the gap against completion time, least squares of the bin medians:
/// seconds of gap per second. Model F puts it at 1 - 1/z (App. B).
pub fn slope(gaps: &[Gap], span: Span, width_s: f64) -> Option<f64> {
    let line: Line = stats::least_squares(&binned_medians(gaps, span, width_s))?;
    Some(line.slope)
}

fn in_span(gaps: &[Gap], span: Span) -> Vec<f64> {
    gaps.iter().filter(|g| span.holds(g.t_end_s)).map(|g| g.gap_s).collect()
}
