//! What figures over a closed population share: the axis, and an estimate with its error.

use super::axis::Axis;
use super::mark::{Mark, Marker, Points};
use super::style::Colour;

/// A measured or computed value with its standard error, if it has one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The value.
    pub value: f64,
    /// One standard error, over seeds.
    pub standard_error: Option<f64>,
}

impl Estimate {
    /// A value without an error.
    pub fn exact(value: f64) -> Self {
        Self { value, standard_error: None }
    }
}

/// A logarithmic axis of these populations, with ticks at powers of two and, up to 96, at half as much again.
pub(crate) fn population_axis(populations: impl Iterator<Item = f64>) -> Axis {
    let shown = populations.filter(|n| *n > 0.0 && n.is_finite());
    let extent = shown.fold(None, |e: Option<(f64, f64)>, n| {
        Some(e.map_or((n, n), |(lo, hi)| (lo.min(n), hi.max(n))))
    });
    let (low, high) = extent.unwrap_or((16.0, 96.0));
    let powers = (0..20).map(|k| f64::from(1_u32 << k));
    let halves = |power: f64| if power < 128.0 { vec![power, 1.5 * power] } else { vec![power] };
    let whole: Vec<f64> = powers.flat_map(halves).filter(|n| n.fract() == 0.0).collect();
    Axis::log("closed population *n*").over(low / 1.12, high * 1.12).ticks_at(&whole)
}

/// Markers with their error bars.
pub fn estimates(
    points: impl Iterator<Item = (f64, Estimate)>,
    marker: Marker,
    colour: Colour,
) -> Mark {
    let points = points.map(|(n, estimate)| (n, estimate.value, estimate.standard_error)).collect();
    Mark::Points(Points { points, marker, colour })
}
