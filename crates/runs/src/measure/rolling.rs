//! Rolling windows over what turns did: hit fractions and times to first token.
//!
//! A window [t - width, t) is looked at every step; it holds the turns whose event
//! (last token, or first token) falls in it. Between two looks nothing is seen.

use serde::{Deserialize, Serialize};

use crate::run::{Run, Turn};
use crate::setup::Span;

use super::share::{Share, is_hit};

/// One window: where it ends, and what fell in it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Rolled<T> {
    /// End of the window, s.
    pub end_s: f64,
    /// What fell in it.
    pub value: T,
}

/// Follow-up hits of the turns completed in each window of `width_s` that ends at
/// `from_s + width_s + i step_s`, up to the run's end.
pub fn follow_up_hits(run: &Run, from_s: f64, width_s: f64, step_s: f64) -> Vec<Rolled<Share>> {
    rolled_hits(run, from_s, width_s, step_s, Turn::is_follow_up)
}

/// The same of all turns.
pub fn hits(run: &Run, from_s: f64, width_s: f64, step_s: f64) -> Vec<Rolled<Share>> {
    rolled_hits(run, from_s, width_s, step_s, |_| true)
}

fn rolled_hits(
    run: &Run,
    from_s: f64,
    width_s: f64,
    step_s: f64,
    of: impl Fn(&Turn) -> bool,
) -> Vec<Rolled<Share>> {
    let events = events(run, |turn| {
        let at = turn.served_at_s().filter(|_| of(turn))?;
        Some((at, is_hit(turn)))
    });
    roll(&events, run.meta.duration_s, from_s, width_s, step_s, |inside| {
        let mut share = Share::default();
        inside.iter().for_each(|(_, hit)| share.count(*hit));
        share
    })
}

/// Mean time from submission to first token of the turns whose first token came in
/// each window, s; `None` in a window without one.
pub(crate) fn mean_first_token_s(
    run: &Run,
    from_s: f64,
    width_s: f64,
    step_s: f64,
) -> Vec<Rolled<Option<f64>>> {
    let events = events(run, |turn| turn.t_first_s.map(|first| (first, first - turn.t_submit_s)));
    roll(&events, run.meta.duration_s, from_s, width_s, step_s, |inside| {
        let sum: f64 = inside.iter().map(|(_, wait)| wait).sum();
        (!inside.is_empty()).then(|| sum / inside.len() as f64)
    })
}

/// The end of the first bin of `width_s`, aligned to the run's start, from which no
/// turn that completes in `[from_s, end)` hits; `None` if turns hit to the end or the
/// cached tokens of a turn are unknown. Returns the bin.
pub(crate) fn first_bin_without_hits(run: &Run, from_s: f64, width_s: f64) -> Option<Span> {
    let mut last_hit_s = f64::NEG_INFINITY;
    for turn in &run.turns {
        let Some(at) = turn.served_at_s().filter(|at| *at >= from_s) else { continue };
        if is_hit(turn)? {
            last_hit_s = last_hit_s.max(at);
        }
    }
    let first = Span::new(0.0, run.meta.duration_s)
        .bins(width_s)
        .into_iter()
        .find(|bin| bin.start_s >= from_s && bin.start_s > last_hit_s)?;
    let served = |turn: &&Turn| turn.served_at_s().is_some_and(|at| at >= first.start_s);
    // With nothing served afterwards there is no turn that failed to hit.
    run.turns.iter().find(served).map(|_| first)
}

fn events<T>(run: &Run, of: impl Fn(&Turn) -> Option<(f64, T)>) -> Vec<(f64, T)> {
    let mut events: Vec<(f64, T)> = run.turns.iter().filter_map(of).collect();
    // Stable: turns at one instant keep their order in the file.
    events.sort_by(|a, b| a.0.total_cmp(&b.0));
    events
}

fn roll<T, U>(
    events: &[(f64, T)],
    until_s: f64,
    from_s: f64,
    width_s: f64,
    step_s: f64,
    of: impl Fn(&[(f64, T)]) -> U,
) -> Vec<Rolled<U>> {
    let looks = ((until_s - from_s - width_s) / step_s + 1e-9).floor();
    if looks < 0.0 {
        return Vec::new();
    }
    (0..=looks as usize)
        .map(|i| {
            let start_s = from_s + step_s * i as f64;
            let end_s = start_s + width_s;
            let low = events.partition_point(|e| e.0 < start_s);
            let high = events.partition_point(|e| e.0 < end_s);
            Rolled { end_s, value: of(&events[low..high]) }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_holds_what_falls_in_it_and_is_looked_at_every_step() {
        let events = [(0.0, 1.0), (9.9, 2.0), (10.0, 4.0), (25.0, 8.0)];
        let sums: Vec<(f64, f64)> =
            roll(&events, 30.0, 0.0, 10.0, 5.0, |inside| inside.iter().map(|e| e.1).sum::<f64>())
                .into_iter()
                .map(|w| (w.end_s, w.value))
                .collect();
        assert_eq!(sums, [(10.0, 3.0), (15.0, 6.0), (20.0, 4.0), (25.0, 0.0), (30.0, 8.0)]);
    }

    #[test]
    fn a_run_shorter_than_a_window_has_none() {
        assert!(roll(&[(1.0, 1.0)], 5.0, 0.0, 10.0, 1.0, |w| w.len()).is_empty());
    }
}
