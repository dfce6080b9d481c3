//! A run over time: what the figures draw.

use serde::{Deserialize, Serialize};

use crate::run::{Run, SessionStatus, Turn};
use crate::setup::Span;
use crate::setup::protocol::Bins;

use super::population::held_at_gate;
use super::share::{Share, is_hit};
use super::{Course, gap, stats};

/// Binned series of one run, from its start to its end. Times are bin midpoints, s.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// Hit share of the turns completed in each bin (Fig. 1).
    pub hits: Vec<(f64, Share)>,
    /// Hit share of the follow-ups completed in each bin (Fig. 3).
    pub follow_up_hits: Vec<(f64, Share)>,
    /// Mean sessions in the system (Fig. 1).
    pub backlog: Vec<(f64, f64)>,
    /// Mean outstanding (Fig. 3).
    pub outstanding: Vec<(f64, f64)>,
    /// Mean sessions held at the gate (Fig. 3); empty where no session was held.
    pub held: Vec<(f64, f64)>,
    /// Uncached prompt tokens of the turns completed in each bin, per second; `None`
    /// where a turn's cached tokens are unknown.
    pub uncached_tokens_per_s: Vec<(f64, Option<f64>)>,
    /// Median gap between a session's turns (App. B), s; `None` where none ended.
    pub gap_median_s: Vec<(f64, Option<f64>)>,
    /// R_M = M / churn (App. E.9), s; `None` where churn is unknown or 0.
    pub turnover_s: Vec<(f64, Option<f64>)>,
    /// Sessions that completed in each bin (Fig. 4).
    pub completions: Vec<(f64, u64)>,
    /// Sessions admitted, waiting at the gate, and paused, from each event on; empty
    /// without a gate.
    pub gate: Vec<(f64, [u64; 3])>,
}

impl Series {
    /// Least-squares slope of the backlog's bins in `span`, sessions/s.
    pub fn backlog_slope_per_s(&self, span: Span) -> Option<f64> {
        let inside: Vec<(f64, f64)> =
            self.backlog.iter().filter(|(t, _)| span.holds(*t)).copied().collect();
        stats::least_squares(&inside).map(|line| line.slope)
    }

    /// Mean backlog over the bins in `span`, sessions.
    pub fn backlog_mean(&self, span: Span) -> Option<f64> {
        let inside: Vec<f64> =
            self.backlog.iter().filter(|(t, _)| span.holds(*t)).map(|(_, n)| *n).collect();
        stats::mean(&inside)
    }

    /// Sessions completed in the bins of `span` per second of it.
    pub fn completions_per_s(&self, span: Span) -> f64 {
        let inside = self.completions.iter().filter(|(t, _)| span.holds(*t));
        inside.map(|(_, count)| *count as f64).sum::<f64>() / span.length_s()
    }

    /// Bins a run of this course. A last bin that the run does not fill is left out.
    pub(super) fn of(run: &Run, bins: &Bins, course: &Course) -> Self {
        let whole = Span::new(0.0, run.meta.duration_s);
        let tokens = binned_tokens(run, whole, bins.hit_s);
        let written = binned_tokens(run, whole, bins.gap_s);
        Self {
            hits: binned_shares(run, whole, bins.hit_s, |_| true),
            follow_up_hits: binned_shares(run, whole, bins.follow_up_s, Turn::is_follow_up),
            backlog: course.backlog.bin_means(whole, bins.backlog_s),
            outstanding: course.outstanding.bin_means(whole, bins.backlog_s),
            held: if run.gate.is_empty() {
                Vec::new()
            } else {
                held_at_gate(run).bin_means(whole, bins.backlog_s)
            },
            uncached_tokens_per_s: tokens
                .iter()
                .map(|bin| (bin.middle_s, bin.uncached.map(|u| u as f64 / bins.hit_s)))
                .collect(),
            gap_median_s: gap::binned_medians(&course.gaps, whole, bins.gap_s),
            turnover_s: written
                .iter()
                .map(|bin| (bin.middle_s, bin.turnover_s(run.meta.pool_tokens, bins.gap_s)))
                .collect(),
            completions: binned_completions(run, whole, bins.gap_s),
            gate: run.gate.iter().map(|g| (g.t_s, [g.admitted, g.gated, g.paused])).collect(),
        }
    }
}

/// Tokens of the turns completed in a bin.
struct TokenBin {
    middle_s: f64,
    uncached: Option<u64>,
    decoded: Option<u64>,
}

impl TokenBin {
    fn turnover_s(&self, pool_tokens: u64, width_s: f64) -> Option<f64> {
        let written = self.uncached? + self.decoded?;
        (written > 0).then(|| pool_tokens as f64 * width_s / written as f64)
    }
}

/// The bin of a time, if the run fills it.
fn bin_of<T>(bins: &mut [T], t_s: f64, width_s: f64) -> Option<&mut T> {
    // What lies before the first is in it, as no time does.
    bins.get_mut((t_s / width_s) as usize)
}

fn binned_tokens(run: &Run, whole: Span, width_s: f64) -> Vec<TokenBin> {
    let mut bins: Vec<TokenBin> = whole
        .bins(width_s)
        .iter()
        .map(|bin| TokenBin { middle_s: bin.middle_s(), uncached: Some(0), decoded: Some(0) })
        .collect();
    for turn in &run.turns {
        if let Some(t) = turn.served_at_s()
            && let Some(bin) = bin_of(&mut bins, t, width_s)
        {
            let uncached = turn.cached_tokens.map(|c| turn.prompt_tokens - c);
            bin.uncached = bin.uncached.zip(uncached).map(|(sum, u)| sum + u);
            bin.decoded = bin.decoded.zip(turn.completion_tokens).map(|(sum, d)| sum + d);
        }
    }
    bins
}

fn binned_completions(run: &Run, whole: Span, width_s: f64) -> Vec<(f64, u64)> {
    let mut bins: Vec<_> = whole.bins(width_s).iter().map(|bin| (bin.middle_s(), 0)).collect();
    let own = run.sessions.iter().filter(|s| s.was_in_system());
    for session in own.filter(|s| s.status == SessionStatus::Completed) {
        if let Some(t) = session.t_end_s
            && let Some((_, count)) = bin_of(&mut bins, t, width_s)
        {
            *count += 1;
        }
    }
    bins
}

/// Hits of the turns `of` a kind that completed in each bin, at the bins' midpoints.
pub(super) fn binned_shares(
    run: &Run,
    whole: Span,
    width_s: f64,
    of: impl Fn(&Turn) -> bool,
) -> Vec<(f64, Share)> {
    let mut shares: Vec<_> =
        whole.bins(width_s).iter().map(|bin| (bin.middle_s(), Share::default())).collect();
    for turn in run.turns.iter().filter(|turn| of(turn)) {
        if let Some(t) = turn.served_at_s()
            && let Some((_, share)) = bin_of(&mut shares, t, width_s)
        {
            share.count(is_hit(turn));
        }
    }
    shares
}
