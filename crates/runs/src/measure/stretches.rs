//! What a run's hit fraction did over time, read off its bins: when it was low, how low it
//! got, over which stretch.
//!
//! A bin in which no turn completed says nothing and is passed over.

use crate::run::{Run, Turn};
use crate::setup::Span;

use super::bins::binned_shares;
use super::share::Share;

/// Consecutive bins with the hits of the turns completed in each.
#[derive(Debug, Clone, PartialEq)]
pub struct Stretches(Vec<(Span, Share)>);

/// How far an edge of a stretch may lie off a bin's: a client's lateness, s.
const LATENESS_S: f64 = 0.5;

impl Stretches {
    /// From a binned series of a run ([`super::bins::Series`]). Its bins start with the
    /// run, so the first midpoint is half a bin.
    pub fn of(series: &[(f64, Share)]) -> Self {
        let half_s = series.first().map_or(0.0, |bin| bin.0);
        let spanned = |(t, share): &(f64, Share)| (Span::new(t - half_s, t + half_s), *share);
        Self(series.iter().map(spanned).collect())
    }

    /// In bins of another width, from the run's start.
    pub fn binned(run: &Run, width_s: f64, of: impl Fn(&Turn) -> bool) -> Self {
        let whole = Span::new(0.0, run.meta.duration_s);
        Self::of(&binned_shares(run, whole, width_s, of))
    }

    /// The bins that lie wholly in `span`.
    #[must_use]
    pub fn within(&self, span: Span) -> Self {
        let inside = |bin: &Span| {
            bin.start_s >= span.start_s - LATENESS_S && bin.end_s <= span.end_s + LATENESS_S
        };
        Self(self.0.iter().filter(|(bin, _)| inside(bin)).copied().collect())
    }

    /// The bins joined to ones of `length_s`, a multiple of theirs, from the first on;
    /// a remainder is left out.
    #[must_use]
    pub fn joined(&self, length_s: f64) -> Self {
        let width_s = self.0.first().map_or(length_s, |(bin, _)| bin.length_s());
        let count = ((length_s / width_s).round() as usize).max(1);
        let join = |bins: &[(Span, Share)]| {
            let span = Span::new(bins[0].0.start_s, bins[bins.len() - 1].0.end_s);
            (span, total(bins))
        };
        Self(self.0.chunks_exact(count).map(join).collect())
    }

    /// The bin that a time lies in.
    pub fn bin_at(&self, t_s: f64) -> Option<Span> {
        self.0.iter().map(|(bin, _)| *bin).find(|bin| bin.holds(t_s))
    }

    /// The hits of all of them.
    pub fn total(&self) -> Share {
        total(&self.0)
    }

    /// Whether it is known of every turn if it hit, and there is one.
    pub fn is_known(&self) -> bool {
        self.total().value().is_some()
    }

    /// The bins in which a turn completed, with their hit fraction.
    fn values(&self) -> impl DoubleEndedIterator<Item = (Span, f64)> + '_ {
        self.0.iter().filter_map(|(bin, share)| share.value().map(|x| (*bin, x)))
    }

    /// The lowest hit fraction of a bin.
    pub fn lowest(&self) -> Option<f64> {
        self.values().map(|bin| bin.1).min_by(f64::total_cmp)
    }

    /// The highest.
    pub fn highest(&self) -> Option<f64> {
        self.values().map(|bin| bin.1).max_by(f64::total_cmp)
    }

    /// The first bin above `x`.
    pub fn first_above(&self, x: f64) -> Option<Span> {
        self.values().find(|bin| bin.1 > x).map(|bin| bin.0)
    }

    /// The first bin at or above `x`.
    pub(crate) fn first_from(&self, x: f64) -> Option<Span> {
        self.values().find(|bin| bin.1 >= x).map(|bin| bin.0)
    }

    pub(crate) fn first_below(&self, x: f64) -> Option<Span> {
        self.values().find(|bin| bin.1 < x).map(|bin| bin.0)
    }

    pub(crate) fn last_below(&self, x: f64) -> Option<Span> {
        self.values().rfind(|bin| bin.1 < x).map(|bin| bin.0)
    }

    /// The first bin from which none is at or above `x` to the end; `None` if the last is.
    pub fn below_to_the_end_from(&self, x: f64) -> Option<Span> {
        self.values().rev().take_while(|bin| bin.1 < x).last().map(|bin| bin.0)
    }

    /// From the start of the first bin below `x` to the end of the last.
    pub(crate) fn span_below(&self, x: f64) -> Option<Span> {
        let (first, last) = (self.first_below(x)?, self.last_below(x)?);
        Some(Span::new(first.start_s, last.end_s))
    }
}

fn total(bins: &[(Span, Share)]) -> Share {
    bins.iter().fold(Share::default(), |sum, (_, share)| Share {
        hits: sum.hits + share.hits,
        misses: sum.misses + share.misses,
        unknown: sum.unknown + share.unknown,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tenths(hits: &[u64]) -> Stretches {
        let share = |hits: u64| Share { hits, misses: 10 - hits, unknown: 0 };
        let bins: Vec<(f64, Share)> =
            (0..).zip(hits).map(|(i, h)| (50.0 + 100.0 * f64::from(i), share(*h))).collect();
        Stretches::of(&bins)
    }

    #[test]
    fn a_low_stretch_runs_from_the_first_low_bin_to_the_last() {
        let run = tenths(&[9, 4, 6, 3, 8]);
        assert_eq!(run.span_below(0.5), Some(Span::new(100.0, 400.0)));
        assert_eq!((run.lowest(), run.highest()), (Some(0.3), Some(0.9)));
        assert_eq!(run.first_above(0.5), Some(Span::new(0.0, 100.0)));
        assert_eq!(run.span_below(0.2), None);
    }

    #[test]
    fn low_to_the_end_starts_after_the_last_bin_that_hit() {
        assert_eq!(tenths(&[9, 1, 5, 1, 0]).below_to_the_end_from(0.2).unwrap().start_s, 300.0);
        assert_eq!(tenths(&[9, 1, 5]).below_to_the_end_from(0.2), None);
        assert_eq!(tenths(&[0, 1]).below_to_the_end_from(0.2).unwrap().start_s, 0.0);
    }

    #[test]
    fn a_bin_without_a_turn_says_nothing() {
        let mut run = tenths(&[9, 1, 0, 1]);
        run.0[2].1 = Share::default();
        assert_eq!(run.lowest(), Some(0.1));
        assert_eq!(run.below_to_the_end_from(0.2).unwrap().start_s, 100.0);
    }

    #[test]
    fn bins_are_chosen_whole_and_joined_by_their_turns() {
        let run = tenths(&[0, 2, 4, 6, 8]);
        let inside = run.within(Span::new(100.003, 450.0));
        assert_eq!(inside.total().value(), Some(0.4));
        let joined = run.joined(200.0);
        assert_eq!((joined.lowest(), joined.highest()), (Some(0.1), Some(0.5)));
        assert_eq!(joined.first_above(0.3), Some(Span::new(200.0, 400.0)));
    }

    #[test]
    fn one_turn_that_cannot_be_told_leaves_the_stretch_unknown() {
        let mut run = tenths(&[9, 1]);
        assert!(run.is_known());
        run.0[1].1.unknown = 1;
        assert!(!run.is_known() && !tenths(&[]).is_known());
    }
}
