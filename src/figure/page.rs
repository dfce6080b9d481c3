//! A page: a legend, a grid of panels, the source and what is missing, one below the other.
//!
//! All room is computed from the measured texts, so that nothing overlaps or is cut off and
//! frames of one column and of one row are aligned.

use super::drawing::{Anchor, Drawing, Frame};
use super::label::Label;
use super::legend::{self, Entry};
use super::names;
use super::panel::Panel;
use super::style::{GREY, INK, LINE_HEIGHT, NOTE_PT};

/// A page as asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// Its width, pt.
    pub width_pt: f64,
    /// What the figure is called (not printed on it).
    pub title: String,
    /// What it shows, for readers who cannot see it (not printed on it).
    pub description: String,
    /// What the lines and markers stand for.
    pub legend: Vec<Entry>,
    /// The panels, from the top to the bottom.
    pub rows: Vec<Row>,
    /// Where the data come from.
    pub source: Label,
    /// What a reader expects to see and does not, in the markup of [`Label::parse`].
    pub missing: Vec<String>,
}

/// Panels beside each other.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Height of their frames, pt.
    pub height_pt: f64,
    /// The panels.
    pub panels: Vec<Panel>,
}

const MARGIN_PT: f64 = 2.0;
const BETWEEN_PT: f64 = 8.0;
const AFTER_LEGEND_PT: f64 = 3.0;

impl Page {
    /// The page as one drawing.
    pub fn draw(&self) -> Drawing {
        let mut drawing = Drawing::new(self.width_pt, &self.title, &self.description);
        let mut top = MARGIN_PT;
        if !self.legend.is_empty() {
            top = legend::draw(&mut drawing, &self.legend, top) + AFTER_LEGEND_PT;
        }
        let columns = self.columns();
        for row in &self.rows {
            top = draw_row(&mut drawing, row, &columns, top) + BETWEEN_PT;
        }
        drawing.height_pt = self.draw_footer(&mut drawing, top - BETWEEN_PT) + MARGIN_PT;
        drawing
    }

    /// The left and right edges of each column's frames: all frames equally wide.
    fn columns(&self) -> Vec<(f64, f64)> {
        let count = self.rows.iter().map(|row| row.panels.len()).max().unwrap_or(0);
        let lefts: Vec<_> = (0..count).map(|i| self.widest(i, left_pt)).collect();
        let mut frame_pt = self.width_pt / count.max(1) as f64;
        let mut rights = vec![0.0; count];
        // The last tick label's overhang depends on the frame's width: one more pass settles it.
        for _ in 0..3 {
            let gaps = BETWEEN_PT * count.saturating_sub(1) as f64 + 2.0 * MARGIN_PT;
            let taken = lefts.iter().chain(&rights).sum::<f64>() + gaps;
            frame_pt = ((self.width_pt - taken) / count.max(1) as f64).max(10.0);
            rights = (0..count).map(|i| self.widest(i, |p, _| right_pt(p, frame_pt))).collect();
        }
        let mut x = MARGIN_PT;
        let place = |(left, right): (&f64, &f64)| {
            let start = x + left;
            x = start + frame_pt + right + BETWEEN_PT;
            (start, start + frame_pt)
        };
        lefts.iter().zip(&rights).map(place).collect()
    }

    fn widest(&self, column: usize, room: impl Fn(&Panel, f64) -> f64) -> f64 {
        let of_row = |row: &Row| row.panels.get(column).map(|p| room(p, row.height_pt));
        self.rows.iter().filter_map(of_row).fold(0.0, f64::max)
    }

    fn draw_footer(&self, on: &mut Drawing, top: f64) -> f64 {
        let mut baseline = top + 2.0;
        let missing = match self.missing.is_empty() {
            true => Label::default(),
            false => Label::parse(&format!("Missing: {}.", self.missing.join("; "))),
        };
        for (note, colour) in [(&self.source, GREY), (&missing, INK)] {
            if note.is_empty() {
                continue;
            }
            for line in note.wrapped(NOTE_PT, self.width_pt - 2.0 * MARGIN_PT) {
                baseline += NOTE_PT * LINE_HEIGHT;
                on.text(&line, (MARGIN_PT, baseline), Anchor::Start, (NOTE_PT, colour));
            }
        }
        baseline + 0.25 * NOTE_PT
    }
}

fn draw_row(on: &mut Drawing, row: &Row, columns: &[(f64, f64)], top: f64) -> f64 {
    let names_of = |(panel, (left, right)): (&Panel, &(f64, f64))| {
        names::place(&panel.marks, &panel.fit_x(right - left), right - left)
    };
    let names: Vec<_> = row.panels.iter().zip(columns).map(names_of).collect();
    let above = row.panels.iter().zip(&names).zip(columns);
    let above = above.map(|((panel, names), (left, right))| panel.above_pt(names, right - left));
    let above = above.fold(0.0, f64::max);
    let below = row.panels.iter().map(Panel::below_pt).fold(0.0, f64::max);
    let (top, bottom) = (top + above, top + above + row.height_pt);
    for ((panel, names), &(left, right)) in row.panels.iter().zip(&names).zip(columns) {
        panel.draw(on, Frame { left, top, right, bottom }, names);
    }
    bottom + below
}

fn left_pt(panel: &Panel, height_pt: f64) -> f64 {
    panel.left_pt(&panel.fit_y(height_pt))
}

fn right_pt(panel: &Panel, frame_pt: f64) -> f64 {
    panel.right_pt().max(panel.fit_x(frame_pt).overhang_pt())
}
