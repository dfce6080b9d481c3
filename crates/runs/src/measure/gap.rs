//! The gap between a session's turns: from one completion to the next (App. B, E.9).

use crate::run::{BySession, Run, Turn};
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
pub fn gaps(run: &Run, of_session: &BySession) -> Vec<Gap> {
    let gap = |pair: [&Turn; 2]| {
        let [before, t_end_s] = pair.map(Turn::served_at_s);
        t_end_s.zip(before).map(|(t_end_s, before)| Gap { t_end_s, gap_s: t_end_s - before })
    };
    of_session.iter().flat_map(|places| successive(run, places)).filter_map(gap).collect()
}

/// The pairs of a turn and the one numbered next.
fn successive<'a>(run: &'a Run, places: &'a [usize]) -> impl Iterator<Item = [&'a Turn; 2]> {
    let pairs = places.windows(2).map(|pair| [&run.turns[pair[0]], &run.turns[pair[1]]]);
    pairs.filter(|[before, after]| before.number + 1 == after.number)
}

/// Mean tool time that the follow-ups completed in `span` came after, as the client slept
/// it, s; `None` if one is unknown, or there is none.
pub(crate) fn mean_tool_time_s(run: &Run, of_session: &BySession, span: Span) -> Option<f64> {
    let awaits =
        |turn: &Turn| turn.is_follow_up() && turn.served_at_s().is_some_and(|t| span.holds(t));
    let mut awaited = vec![false; run.turns.len()];
    for places in of_session.iter() {
        for pair in places.windows(2) {
            let [before, after] = [pair[0], pair[1]].map(|place| &run.turns[place]);
            awaited[pair[0]] |= before.number + 1 == after.number && awaits(after);
        }
    }
    let before = run.turns.iter().zip(&awaited).filter(|(_, awaited)| **awaited);
    let times: Option<Vec<f64>> = before.map(|(turn, _)| turn.tool_s).collect();
    let awaiting = run.turns.iter().filter(|turn| awaits(turn)).count();
    stats::mean(&times.filter(|times| times.len() == awaiting)?)
}

/// Median gap of the turns completed in `span`, s.
pub fn median_gap_s(gaps: &[Gap], span: Span) -> Option<f64> {
    stats::quantile_of(&mut in_span(gaps, span), 0.5)
}

/// Medians over consecutive bins of `span`, at the bins' midpoints; `None` where no gap ended.
pub(crate) fn binned_medians(gaps: &[Gap], span: Span, width_s: f64) -> Vec<(f64, Option<f64>)> {
    let bins = span.bins(width_s);
    let mut inside = vec![Vec::new(); bins.len()];
    // Into its bin at one look, but for what rounding puts beside it.
    for gap in gaps {
        let near = ((gap.t_end_s - span.start_s) / width_s) as usize;
        let mut near = near.saturating_sub(1)..bins.len().min(near.saturating_add(2));
        if let Some(bin) = near.find(|bin| bins[*bin].holds(gap.t_end_s)) {
            inside[bin].push(gap.gap_s);
        }
    }
    let medians = bins.iter().zip(&mut inside);
    medians.map(|(bin, inside)| (bin.middle_s(), stats::quantile_of(inside, 0.5))).collect()
}

/// The *gap slope*: the trend of the gap against completion time, least squares of the bin
/// medians, seconds of gap per second. Model F puts it at 1 - 1/z (App. B).
pub fn slope(gaps: &[Gap], span: Span, width_s: f64) -> Option<f64> {
    let medians = binned_medians(gaps, span, width_s).into_iter();
    let known: Vec<(f64, f64)> = medians.filter_map(|(t, gap)| Some((t, gap?))).collect();
    let line: Line = stats::least_squares(&known)?;
    Some(line.slope)
}

fn in_span(gaps: &[Gap], span: Span) -> Vec<f64> {
    gaps.iter().filter(|g| span.holds(g.t_end_s)).map(|g| g.gap_s).collect()
}
