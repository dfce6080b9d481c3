//! Good state against trapped state on one log time axis (page Fig. 3).
//!
//! Each bar spans the range of an arm's runs: the gap between a session's turns, and the time in
//! which the pool turns over. The two are shown beside each other; neither causes the other here.

use super::axis::Axis;
use super::label::Label;
use super::legend::Entry;
use super::mark::{Band, Mark, Marker};
use super::page::{Page, Row};
use super::panel::Panel;
use super::style::{BLUE, COLUMN_WIDTH_PT, INK, VERMILLION};
use super::{Figure, Origin};
use crate::table::{Cell, Col, Heading};

/// What the figure shows.
#[derive(Debug, Clone, PartialEq)]
pub struct TimeScales {
    /// What the figure is called.
    pub title: String,
    /// The cells and arms.
    pub measured: Vec<TimeScale>,
}

/// One cell's runs of one state.
#[derive(Debug, Clone, PartialEq)]
pub struct TimeScale {
    /// What was measured: cell and arm, as plain text.
    pub name: String,
    /// Which runs they are, and what made them.
    pub origin: Origin,
    /// Whether its runs were trapped.
    pub trapped: bool,
    /// Median gap between a session's consecutive turns, s.
    pub gap_s: Option<f64>,
    /// Turnover time of the pool, s.
    pub turnover_s: Option<f64>,
}

/// A bar: its height on the axis, its name, and what it spans.
struct Bar {
    at: f64,
    name: &'static str,
    trapped: bool,
    quantity: &'static str,
    of: fn(&TimeScale) -> Option<f64>,
}

const BARS: [Bar; 4] = [
    Bar { at: 4.0, name: "good: gap", trapped: false, quantity: "gap", of: |m| m.gap_s },
    Bar {
        at: 3.0,
        name: "good: turnover",
        trapped: false,
        quantity: "turnover",
        of: |m| m.turnover_s,
    },
    Bar { at: 2.0, name: "trapped: gap", trapped: true, quantity: "gap", of: |m| m.gap_s },
    Bar {
        at: 1.0,
        name: "trapped: turnover",
        trapped: true,
        quantity: "turnover",
        of: |m| m.turnover_s,
    },
];
const HEIGHT_PT: f64 = 70.0;

/// Draws the four bars.
pub fn time_scales(input: &TimeScales) -> Figure {
    let names = BARS.iter().map(|bar| (bar.at, Label::plain(bar.name)));
    let y = Axis::linear("").over(0.5, 4.5).named(names);
    let mut panel = Panel::new(Axis::log("time (s)"), y);
    let mut missing = Vec::new();
    for bar in &BARS {
        let values = values(input, bar);
        match extent(&values) {
            Some((low, high)) => {
                let (base, top) = (bar.at - 0.3, bar.at + 0.3);
                let points = vec![(low, base, top), (high, base, top)];
                panel.add(Mark::Band(Band { points, fill: colour(bar).tint(0.3) }));
            }
            None => missing.push(bar.name.to_owned()),
        }
        let at = bar.at;
        panel.add(Mark::points(values.into_iter().map(|v| (v, at)), Marker::Dot, colour(bar)));
    }
    let page = Page {
        width_pt: COLUMN_WIDTH_PT,
        title: input.title.clone(),
        description: "Gap between a session's turns and turnover time of the pool, in good and in \
                      trapped runs, on one logarithmic axis of time."
            .to_owned(),
        legend: vec![Entry::marker(Marker::Dot, INK, "one cell and arm; bars span their range")],
        rows: vec![Row { height_pt: HEIGHT_PT, panels: vec![panel] }],
        note: Label::plain("Medians over the runs of a cell and arm."),
        missing,
    };
    page.figure(&columns(), data(input))
}

fn colour(bar: &Bar) -> super::style::Colour {
    if bar.trapped { VERMILLION } else { BLUE }
}

fn values(input: &TimeScales, bar: &Bar) -> Vec<f64> {
    let of_state = input.measured.iter().filter(|m| m.trapped == bar.trapped);
    of_state.filter_map(bar.of).filter(|v| *v > 0.0 && v.is_finite()).collect()
}

fn extent(values: &[f64]) -> Option<(f64, f64)> {
    let low = values.iter().copied().reduce(f64::min)?;
    let high = values.iter().copied().reduce(f64::max)?;
    Some((low, high))
}

const fn columns<'a>() -> [Col<(&'a TimeScale, &'a Bar)>; 4] {
    [
        Heading("name", "", "What was measured").new(|(measured, _)| Cell::text(&measured.name)),
        Heading("state", "", "Its state")
            .new(|(_, bar)| Cell::text(if bar.trapped { "trapped" } else { "good" })),
        Heading("quantity", "", "Which time").new(|(_, bar)| Cell::text(bar.quantity)),
        Heading("time [s]", "s", "How long it is")
            .optional(3, |(measured, bar)| (bar.of)(measured)),
    ]
}

fn data(input: &TimeScales) -> Vec<(Origin, (&TimeScale, &Bar))> {
    let of_bar = |bar: &'static Bar| {
        let measured = input.measured.iter().filter(move |m| m.trapped == bar.trapped);
        measured.map(move |measured| (measured.origin.clone(), (measured, bar)))
    };
    BARS.iter().flat_map(of_bar).collect()
}
