//! A run over time: what the figures draw.

use crate::run::{Run, Turn};
use crate::setup::Span;
use crate::setup::protocol::Bins;

use super::population::StepFunction;
use super::share::{Share, is_hit};

/// Binned series of one run, from its start to its end. Times are bin midpoints, s.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// Hit share of the turns completed in each bin (Fig. 1).
    pub hits: Vec<(f64, Share)>,
    /// Hit share of the follow-ups completed in each bin (Fig. 3).
    pub follow_up_hits: Vec<(f64, Share)>,
    /// Mean sessions in the system (Fig. 1).
    pub backlog: Vec<(f64, f64)>,
    /// Mean outstanding (Fig. 3).
    pub outstanding: Vec<(f64, f64)>,
}

impl Series {
    /// Bins a run; a last bin that the run does not fill is left out.
    pub fn of(run: &Run, bins: &Bins, backlog: &StepFunction, outstanding: &StepFunction) -> Self {
        let whole = Span::new(0.0, run.meta.duration_s);
        Self {
            hits: binned_shares(run, whole, bins.hit_s, |_| true),
            follow_up_hits: binned_shares(run, whole, bins.follow_up_s, Turn::is_follow_up),
            backlog: backlog.bin_means(whole, bins.backlog_s),
            outstanding: outstanding.bin_means(whole, bins.backlog_s),
        }
    }
}

fn binned_shares(
    run: &Run,
    whole: Span,
    width_s: f64,
    of: impl Fn(&Turn) -> bool,
) -> Vec<(f64, Share)> {
    let mut shares: Vec<_> =
        whole.bins(width_s).iter().map(|bin| (bin.middle_s(), Share::default())).collect();
    for turn in run.turns.iter().filter(|turn| of(turn)) {
        if let Some(t) = turn.served_at_s()
            && let Some((_, share)) = shares.get_mut((t / width_s).floor() as usize)
        {
            share.count(is_hit(turn));
        }
    }
    shares
}
