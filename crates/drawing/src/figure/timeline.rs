//! What happens when in a run, marked alike in every figure over time.

use super::Origin;
use super::axis::Axis;
use super::label::Label;
use super::mark::Mark;
use super::panel::Panel;
use super::style::{CAP_OFF, CAP_ON, CAP_SHADE, MOMENT, WINDOW_SHADE, arm_name};
use crate::setup::Arm;
use crate::table::{Cell, Col, Heading};

/// The marked times of a run or of several runs of one protocol, s on the run's own clock.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Timeline {
    /// When the runs end.
    pub end_s: f64,
    /// When the burst starts.
    pub burst_at_s: Option<f64>,
    /// When the session cap is engaged.
    pub cap_on_s: Option<f64>,
    /// When the session cap is removed; none if it stays to the end.
    pub cap_off_s: Option<f64>,
    /// A window in which something is measured: start, end and name.
    pub window: Option<(f64, f64, &'static str)>,
}

impl Timeline {
    /// The axis of time, from the start to the end of the run.
    pub fn axis(&self) -> Axis {
        Axis::linear("time since start of run (s)").over(0.0, self.end_s)
    }

    /// Marks a panel, behind what is added later; the names are printed in one panel of a column.
    pub fn mark(&self, panel: &mut Panel, named: bool) {
        let name = |text: &str| Label::plain(if named { text } else { "" });
        if let Some((from, to, what)) = self.window {
            panel.add(Mark::span((from, to), WINDOW_SHADE, name(what)));
        }
        if let Some(on) = self.cap_on_s {
            let off = self.cap_off_s.unwrap_or(self.end_s);
            panel.add(Mark::span((on, off), CAP_SHADE, Label::default()));
        }
        let moments = [
            (self.burst_at_s, MOMENT, "burst"),
            (self.cap_on_s, CAP_ON, "cap on"),
            (self.cap_off_s, CAP_OFF, "cap off"),
        ];
        for (at, stroke, what) in moments {
            if let Some(at) = at {
                panel.add(Mark::moment(at, stroke, name(what)));
            }
        }
    }

    /// The same timeline, ending no earlier than these times.
    pub fn holding(mut self, times: impl Iterator<Item = f64>) -> Self {
        self.end_s = times.filter(|t| t.is_finite()).fold(self.end_s, f64::max);
        self
    }
}

/// A logarithmic axis for counts, from 1 or less to a round number above the largest.
pub fn counts_axis(label: impl Into<Label>, counts: impl Iterator<Item = f64>) -> Axis {
    let drawn = counts.filter(|n| *n > 0.0 && n.is_finite());
    let (least, most) = drawn.fold((1.0_f64, 10.0_f64), |(lo, hi), n| (lo.min(n), hi.max(n)));
    let (low, high) = super::ticks::round_log_range(least, most);
    Axis::log(label).over(low, high)
}

/// A value of a series over time.
#[derive(Debug)]
pub struct Sample {
    /// The column of panels it is in.
    column: String,
    quantity: &'static str,
    arm: Arm,
    seed: u64,
    t_s: f64,
    value: Option<f64>,
}

/// The columns of series over time.
pub const SAMPLE: &[Col<Sample>] = &[
    Heading("column", "", "The column of panels").new(|of| Cell::text(&of.column)),
    Heading("quantity", "", "What the value is of").new(|of| Cell::text(of.quantity)),
    Heading("arm", "", "The run's arm").new(|of| Cell::text(arm_name(&of.arm))),
    Heading("seed", "", "The run's seed").new(|of| Cell::Count(of.seed)),
    Heading("t [s]", "s", "Time since the start of the run").number(3, |of| of.t_s),
    Heading("value", "", "The value at that time").optional(6, |of| of.value),
];

/// Adds one series of a run; `column` is in the markup of [`Label::parse`].
pub fn push_series(
    data: &mut Vec<(Origin, Sample)>,
    column: &str,
    quantity: &'static str,
    (arm, seed, origin): (&Arm, u64, &Origin),
    points: impl Iterator<Item = (f64, Option<f64>)>,
) {
    let column = Label::parse(column).text();
    data.extend(points.map(|(t_s, value)| {
        let (column, arm) = (column.clone(), arm.clone());
        (origin.clone(), Sample { column, quantity, arm, seed, t_s, value })
    }));
}

/// A series whose values are all known.
pub fn known(points: &[(f64, f64)]) -> impl Iterator<Item = (f64, Option<f64>)> {
    points.iter().map(|(t, value)| (*t, Some(*value)))
}

/// A panel's title with its letter, when there is more than one panel to tell apart.
pub fn lettered(index: usize, count: usize, title: &str) -> Label {
    const LETTERS: &str = "abcdefghijkl";
    match LETTERS.chars().nth(index) {
        Some(letter) if count > 1 => Label::parse(&format!("({letter}) {title}")),
        _ => Label::parse(title),
    }
}
