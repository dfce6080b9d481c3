//! One axis: its range, fitted to what is drawn on it, and its ticks at round numbers.
//!
//! Every range is checked before anything is drawn: no values, one value, or no positive value
//! for a logarithmic axis still give an axis. Dates and broken axes are left out.

use super::clip;
use super::drawing::Frame;
use super::label::Label;
use super::style::SMALL_PT;
use super::ticks;
pub use super::ticks::{Across, Tick};

/// How values are spread along an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Equal steps.
    Linear,
    /// Equal ratios; only positive values have a place.
    Log,
}

/// An axis as asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// What it measures, with its unit.
    pub label: Label,
    /// How values are spread.
    pub scale: Scale,
    /// The first value, when it does not follow from the data.
    pub from: Option<f64>,
    /// The last value, when it does not follow from the data.
    pub to: Option<f64>,
    /// Ticks, when they are not left to the axis.
    pub ticks: Option<Vec<Tick>>,
    /// Room that is kept beyond the values on either side, as a share of what they span.
    pub room: f64,
    /// Whether its tick labels and its label are printed.
    pub labelled: bool,
}

impl Axis {
    /// A linear axis with this label.
    pub fn linear(label: impl Into<Label>) -> Self {
        Self::new(label, Scale::Linear)
    }

    /// A logarithmic axis with this label.
    pub fn log(label: impl Into<Label>) -> Self {
        Self::new(label, Scale::Log)
    }

    /// A linear axis of a fraction: 0 to 1, with a little room so that neither is hidden by a frame.
    pub fn fraction(label: impl Into<Label>) -> Self {
        Self::linear(label).over(-0.04, 1.04)
    }

    fn new(label: impl Into<Label>, scale: Scale) -> Self {
        let label = label.into();
        Self { label, scale, from: None, to: None, ticks: None, room: 0.0, labelled: true }
    }

    /// The same axis with this range.
    pub fn over(mut self, from: f64, to: f64) -> Self {
        (self.from, self.to) = (Some(from), Some(to));
        self
    }

    /// The same axis, starting here.
    pub fn starting(mut self, from: f64) -> Self {
        self.from = Some(from);
        self
    }

    /// The same axis with room beyond its values, so that no mark of a point lies on an end.
    pub(crate) fn roomy(mut self) -> Self {
        self.room = 0.03;
        self
    }

    /// The same axis with labelled ticks at these values.
    pub(crate) fn ticks_at(mut self, ticks: &[f64]) -> Self {
        self.ticks = Some(ticks::at(ticks.iter().copied()));
        self
    }

    /// The same axis with named ticks, for categories.
    pub fn named(mut self, names: impl IntoIterator<Item = (f64, Label)>) -> Self {
        let tick = |(value, label)| Tick { value, label };
        self.ticks = Some(names.into_iter().map(tick).collect());
        self
    }

    /// The same axis, its labels printed or not.
    pub fn labelled(mut self, labelled: bool) -> Self {
        self.labelled = labelled;
        self
    }

    /// The axis fitted to these values over this length (pt), for text along or across it.
    pub fn fit(
        &self,
        values: impl Iterator<Item = f64>,
        length_pt: f64,
        across: Across,
    ) -> FittedAxis {
        let shown = |v: &f64| v.is_finite() && (self.scale == Scale::Linear || *v > 0.0);
        let extent = values.filter(shown).fold(None, |e: Option<(f64, f64)>, v| {
            Some(e.map_or((v, v), |(lo, hi)| (lo.min(v), hi.max(v))))
        });
        let (lo, hi) = self.range(extent);
        let ticks = match (&self.ticks, self.scale) {
            (Some(at), _) => at.iter().filter(|t| (lo..=hi).contains(&t.value)).cloned().collect(),
            (None, Scale::Linear) => ticks::linear(lo, hi, length_pt, across),
            (None, Scale::Log) => ticks::log(lo, hi, length_pt, across),
        };
        let mut fitted = FittedAxis { scale: self.scale, lo, hi, ticks, length_pt };
        if across == Across::Along {
            fitted.drop_crowded_labels();
        }
        fitted
    }

    /// A range with a positive length, and positive ends on a logarithmic axis.
    fn range(&self, extent: Option<(f64, f64)>) -> (f64, f64) {
        let usable = |v: &f64| v.is_finite() && (self.scale == Scale::Linear || *v > 0.0);
        let (from, to) = (self.from.filter(usable), self.to.filter(usable));
        let (data_lo, data_hi) = extent.unwrap_or(match self.scale {
            Scale::Linear => (0.0, 1.0),
            Scale::Log => (1.0, 10.0),
        });
        let (lo, hi) = match self.scale {
            Scale::Linear => {
                let room = self.room * (data_hi - data_lo);
                ticks::round_range(data_lo - room, data_hi + room)
            }
            Scale::Log => ticks::round_log_range(data_lo, data_hi),
        };
        let (lo, hi) = (from.unwrap_or(lo), to.unwrap_or(hi));
        match (lo < hi, self.scale) {
            (true, _) => (lo, hi),
            (false, Scale::Linear) => (lo, lo + 1.0),
            (false, Scale::Log) => (lo, lo * 10.0),
        }
    }
}

/// An axis whose range and ticks are settled.
#[derive(Debug, Clone, PartialEq)]
pub struct FittedAxis {
    scale: Scale,
    /// Its first value.
    pub lo: f64,
    /// Its last value.
    pub hi: f64,
    /// Its ticks, those with a label and the minor ones without, in rising order of each kind.
    pub ticks: Vec<Tick>,
    length_pt: f64,
}

impl FittedAxis {
    /// How far along the axis a value lies (pt), outside of it too; none for a value that has no
    /// place on it.
    pub(crate) fn place_pt(&self, value: f64) -> Option<f64> {
        let share = match self.scale {
            Scale::Linear => (value - self.lo) / (self.hi - self.lo),
            Scale::Log if value > 0.0 => {
                libm::log10(value / self.lo) / libm::log10(self.hi / self.lo)
            }
            Scale::Log => return None,
        };
        share.is_finite().then_some(share * self.length_pt)
    }

    /// Leaves out every label that would touch the one before it; its tick stays.
    fn drop_crowded_labels(&mut self) {
        let mut free_from = f64::NEG_INFINITY;
        let places: Vec<_> = self.ticks.iter().map(|t| self.place_pt(t.value)).collect();
        for (tick, place) in self.ticks.iter_mut().zip(places) {
            let half = 0.5 * tick.label.width_pt(SMALL_PT);
            match place {
                _ if tick.label.is_empty() => {}
                Some(at) if at - half >= free_from => free_from = at + half + 4.0,
                _ => tick.label = Label::default(),
            }
        }
    }

    /// The width of the widest tick label, pt.
    pub(crate) fn widest_label_pt(&self) -> f64 {
        let widths = self.ticks.iter().map(|t| t.label.width_pt(SMALL_PT));
        widths.fold(0.0, f64::max)
    }

    /// How far the last tick label reaches beyond the end of a horizontal axis, pt.
    pub(crate) fn overhang_pt(&self) -> f64 {
        let reach = |t: &Tick| {
            let half = 0.5 * t.label.width_pt(SMALL_PT);
            self.place_pt(t.value).map_or(0.0, |at| at + half - self.length_pt)
        };
        self.ticks.iter().filter(|t| !t.label.is_empty()).map(reach).fold(0.0, f64::max)
    }
}

/// The part of a frame that lies between two values of x, if any does.
pub(super) fn stretch(frame: &Frame, axis: &FittedAxis, from: f64, to: f64) -> Option<Frame> {
    let place = |v: f64| axis.place_pt(v).map(|at| frame.left + at);
    let (left, right) = (place(from)?.max(frame.left), place(to)?.min(frame.right));
    let part = Frame { left, right, ..*frame };
    (left < right && clip::holds(frame, &part.corners()[0])).then_some(part)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn fitted(axis: &Axis, values: &[f64]) -> FittedAxis {
        axis.fit(values.iter().copied(), 150.0, Across::Along)
    }

    #[test]
    fn no_value_one_value_and_zeros_still_give_an_axis() {
        for values in [&[][..], &[3.0], &[0.0, 0.0], &[-2.0], &[f64::NAN, f64::INFINITY]] {
            for axis in [Axis::linear("x"), Axis::log("x")] {
                let fit = fitted(&axis, values);
                assert!(fit.lo < fit.hi && fit.lo.is_finite() && fit.hi.is_finite());
                assert!(fit.ticks.iter().any(|t| !t.label.is_empty()), "{values:?} {axis:?}");
            }
        }
    }

    #[test]
    fn a_roomy_axis_keeps_its_values_off_its_ends() {
        let values = [0.9005, 1.21];
        let (close, roomy) = (fitted(&Axis::linear("y"), &values), Axis::linear("y").roomy());
        let roomy = fitted(&roomy, &values);
        let least_pt = |axis: &FittedAxis| axis.place_pt(0.9005).unwrap();
        assert!(least_pt(&close) < 1.0 && least_pt(&roomy) > 4.0, "{close:?} {roomy:?}");
    }

    #[test]
    fn zero_has_no_place_on_a_logarithmic_axis() {
        assert_eq!(fitted(&Axis::log("x"), &[1.0, 100.0]).place_pt(0.0), None);
        assert_eq!(fitted(&Axis::linear("x"), &[0.0, 100.0]).place_pt(0.0), Some(0.0));
    }

    #[test]
    fn a_decade_is_as_long_anywhere_on_a_logarithmic_axis() {
        let fit = fitted(&Axis::log("x").over(1.0, 1000.0), &[]);
        assert!((fit.place_pt(10.0).unwrap() - 50.0).abs() < 1e-9);
        assert!((fit.place_pt(100.0).unwrap() - 100.0).abs() < 1e-9);
    }

    proptest! {
        #[test]
        fn every_value_lies_on_the_axis_that_was_fitted_to_it(
            values in prop::collection::vec(1e-6..1e9f64, 1..20), log in any::<bool>(),
        ) {
            let axis = if log { Axis::log("x") } else { Axis::linear("x") };
            let fit = fitted(&axis, &values);
            for v in &values {
                let at = fit.place_pt(*v).unwrap();
                prop_assert!((-1e-6..=150.0 + 1e-6).contains(&at));
            }
        }

        #[test]
        fn labelled_ticks_are_apart_and_on_the_axis(
            lo in -1e6..1e6f64, span in 1e-6..1e6f64, log in any::<bool>(),
        ) {
            let axis = if log { Axis::log("x") } else { Axis::linear("x") };
            let fit = fitted(&axis, &[lo, lo + span]);
            let mut end = f64::NEG_INFINITY;
            for tick in fit.ticks.iter().filter(|t| !t.label.is_empty()) {
                let at = fit.place_pt(tick.value).unwrap();
                let half = 0.5 * tick.label.width_pt(SMALL_PT);
                prop_assert!(at - half > end, "{:?}", fit.ticks);
                prop_assert!((-1e-6..=150.0 + 1e-6).contains(&at));
                end = at + half;
            }
        }
    }
}
