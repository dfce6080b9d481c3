//! The legend: one row of samples above all panels, wrapped when it is wider than the page.

use super::drawing::{Anchor, Drawing, Frame, Point};
use super::label::Label;
use super::mark::Marker;
use super::style::{Colour, INK, SMALL_PT, Stroke};

/// A sample and what it stands for.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// What is shown.
    pub sample: Sample,
    /// What it stands for.
    pub label: Label,
}

/// What an entry shows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Sample {
    /// A line.
    Line(Stroke),
    /// A marker.
    Marker(Marker, Colour),
    /// A line through a marker.
    MarkedLine(Stroke, Marker),
    /// A shade.
    Shade(Colour),
}

const SAMPLE_PT: f64 = 17.0;
const AFTER_SAMPLE_PT: f64 = 3.0;
const APART_PT: f64 = 11.0;
const SIDE_GAP_PT: f64 = 6.0;
const ROW_PT: f64 = SMALL_PT + 3.5;

impl Entry {
    /// A line and what it stands for.
    pub fn line(stroke: Stroke, label: impl Into<Label>) -> Self {
        Self { sample: Sample::Line(stroke), label: label.into() }
    }

    /// A marker and what it stands for.
    pub fn marker(marker: Marker, colour: Colour, label: impl Into<Label>) -> Self {
        Self { sample: Sample::Marker(marker, colour), label: label.into() }
    }

    /// A line through a marker and what it stands for.
    pub(crate) fn marked_line(stroke: Stroke, marker: Marker, label: impl Into<Label>) -> Self {
        Self { sample: Sample::MarkedLine(stroke, marker), label: label.into() }
    }

    /// A shade and what it stands for.
    pub(crate) fn shade(colour: Colour, label: impl Into<Label>) -> Self {
        Self { sample: Sample::Shade(colour), label: label.into() }
    }

    fn sample_pt(&self) -> f64 {
        if matches!(self.sample, Sample::Marker(..)) { 6.0 } else { SAMPLE_PT }
    }

    fn width_pt(&self) -> f64 {
        self.sample_pt() + AFTER_SAMPLE_PT + self.label.width_pt(SMALL_PT)
    }
}

/// Draws the entries from this height (pt) downwards, centred; returns where they end.
pub fn draw(on: &mut Drawing, entries: &[Entry], top: f64) -> f64 {
    let rows = rows(entries, on.width_pt - 4.0);
    for (i, row) in rows.iter().enumerate() {
        let baseline = top + i as f64 * ROW_PT + SMALL_PT;
        let mut x = 0.5 * (on.width_pt - row_width(row));
        for entry in *row {
            draw_entry(on, entry, x, baseline);
            x += entry.width_pt() + APART_PT;
        }
    }
    top + rows.len() as f64 * ROW_PT
}

/// Room that entries beside a panel need, pt.
pub(crate) fn side_width_pt(entries: &[Entry]) -> f64 {
    let widest = entries.iter().map(Entry::width_pt).fold(0.0, f64::max);
    if entries.is_empty() { 0.0 } else { SIDE_GAP_PT + widest }
}

/// Draws entries beside a panel, one below the other, from this corner on.
pub(crate) fn draw_beside(on: &mut Drawing, entries: &[Entry], (left, top): (f64, f64)) {
    for (i, entry) in entries.iter().enumerate() {
        let baseline = top + i as f64 * ROW_PT + SMALL_PT;
        draw_entry(on, entry, left + SIDE_GAP_PT, baseline);
    }
}

fn draw_entry(on: &mut Drawing, entry: &Entry, left: f64, baseline: f64) {
    let sample = Frame {
        left,
        right: left + entry.sample_pt(),
        top: baseline - 0.66 * SMALL_PT,
        bottom: baseline,
    };
    draw_sample(on, entry.sample, sample);
    let at = (sample.right + AFTER_SAMPLE_PT, baseline);
    on.text(&entry.label, at, Anchor::Start, (SMALL_PT, INK));
}

fn draw_sample(on: &mut Drawing, sample: Sample, frame: Frame) {
    let middle = Point { x: 0.5 * (frame.left + frame.right), y: 0.5 * (frame.top + frame.bottom) };
    match sample {
        Sample::Line(stroke) | Sample::MarkedLine(stroke, _) => {
            on.segment((frame.left, middle.y), (frame.right, middle.y), stroke);
        }
        Sample::Shade(colour) => on.area(frame.corners(), colour),
        Sample::Marker(..) => {}
    }
    match sample {
        Sample::Marker(marker, colour) => marker.draw(on, middle, colour),
        Sample::MarkedLine(stroke, marker) => marker.draw(on, middle, stroke.colour),
        Sample::Line(_) | Sample::Shade(_) => {}
    }
}

fn rows(entries: &[Entry], width_pt: f64) -> Vec<&[Entry]> {
    let (mut rows, mut start) = (Vec::new(), 0);
    for end in 1..=entries.len() {
        if end > start + 1 && row_width(&entries[start..end]) > width_pt {
            rows.push(&entries[start..end - 1]);
            start = end - 1;
        }
    }
    rows.extend((start < entries.len()).then(|| &entries[start..]));
    rows
}

fn row_width(row: &[Entry]) -> f64 {
    let widths = row.iter().map(Entry::width_pt).sum::<f64>();
    widths + APART_PT * row.len().saturating_sub(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::style::AXIS;

    #[test]
    fn entries_that_do_not_fit_go_to_another_row_and_none_is_lost() {
        let entries: Vec<_> =
            (0..7).map(|i| Entry::line(AXIS, format!("a rather long entry {i}"))).collect();
        let rows = rows(&entries, 237.6);
        assert!(rows.len() > 1);
        assert!(rows.iter().all(|row| row_width(row) <= 237.6));
        assert_eq!(rows.concat(), entries);
    }
}
