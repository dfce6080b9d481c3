//! The capped phase of a rescue run, from the engage to the release, or to the end where
//! the cap never came off (App. E.7, Fig. 3).

use crate::setup::Span;

use super::bins::Series;
use super::stretches::Stretches;

/// Follow-ups hit again once a bin is above this (the tiles' limit, App. E.7).
const BACK_ABOVE: f64 = 0.5;

/// A bin below this is a low one (App. E.7: "the last bin below 0.8").
const LOW_BELOW: f64 = 0.8;

/// Length of the longer bins, s (App. E.7).
const LONG_BIN_S: f64 = 300.0;

/// What the follow-ups did in it, by the 60 s bins of Fig. 3 that lie wholly in it.
#[derive(Debug, Clone, PartialEq)]
pub struct CappedPhase {
    /// The phase.
    pub span: Span,
    /// Its bins.
    follow_ups: Stretches,
    /// The most sessions in the engine, at the gate or paused, bin means.
    pub outstanding_most: Option<f64>,
}

impl CappedPhase {
    /// Reads it from a run's series.
    pub fn of(series: &Series, span: Span) -> Self {
        let outstanding = series.outstanding.iter().filter(|(t, _)| span.holds(*t));
        Self {
            span,
            follow_ups: Stretches::of(&series.follow_up_hits).within(span),
            outstanding_most: outstanding.map(|bin| bin.1).max_by(f64::total_cmp),
        }
    }

    /// Whether it is known of every follow-up if it hit.
    pub fn is_known(&self) -> bool {
        self.follow_ups.is_known()
    }

    /// End of the first bin in which follow-ups hit again, s of the run.
    pub fn hits_back_s(&self) -> Option<f64> {
        self.follow_ups.first_above(BACK_ABOVE).map(|bin| bin.end_s)
    }

    /// The last low bin.
    pub fn last_low(&self) -> Option<Span> {
        self.follow_ups.last_below(LOW_BELOW)
    }

    /// The lowest bin after the first that was not low.
    pub fn lowest_after_return(&self) -> Option<f64> {
        let back = self.follow_ups.first_from(LOW_BELOW)?;
        self.follow_ups.within(Span::new(back.end_s, self.span.end_s)).lowest()
    }

    /// The lowest and the highest of the 300 s bins, from the engage on.
    pub fn long_bins(&self) -> Option<[f64; 2]> {
        let long = self.follow_ups.joined(LONG_BIN_S);
        Some([long.lowest()?, long.highest()?])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Share;

    fn phase(tenths: &[u64], span: Span) -> CappedPhase {
        let share = |hits: u64| Share { hits, misses: 10 - hits, unknown: 0 };
        let bins = (0..).zip(tenths).map(|(i, h)| (30.0 + 60.0 * f64::from(i), share(*h)));
        let outstanding = vec![(5.0, 90.0), (605.0, 40.0), (615.0, 60.0), (1205.0, 99.0)];
        let series = Series { follow_up_hits: bins.collect(), outstanding, ..Series::default() };
        CappedPhase::of(&series, span)
    }

    #[test]
    fn hits_come_back_sag_and_hold() {
        // Engaged at 600.003 s, in bin 10; released at 1150 s, within bin 19.
        let mut bins = vec![0; 10];
        bins.extend([0, 6, 9, 7, 3, 8, 7, 10, 10, 0]);
        let phase = phase(&bins, Span::new(600.003, 1150.0));
        assert_eq!(phase.hits_back_s(), Some(720.0));
        assert_eq!(phase.lowest_after_return(), Some(0.3));
        assert_eq!(phase.last_low(), Some(Span::new(960.0, 1020.0)));
        // One bin of five: 0, 6, 9, 7, 3; the four that are left make none.
        assert_eq!(phase.long_bins(), Some([0.5, 0.5]));
        assert_eq!(phase.outstanding_most, Some(60.0));
    }

    #[test]
    fn hits_that_never_come_back_have_no_return() {
        let phase = phase(&[0; 20], Span::new(600.0, 1200.0));
        assert_eq!((phase.hits_back_s(), phase.lowest_after_return()), (None, None));
        assert_eq!(phase.last_low(), Some(Span::new(1140.0, 1200.0)));
    }
}
