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
        for (i, row) in self.rows.iter().enumerate() {
            let between = if i > 0 { BETWEEN_PT } else { 0.0 };
            top = draw_row(&mut drawing, row, &columns, top + between);
        }
        drawing.height_pt = self.draw_footer(&mut drawing, top) + MARGIN_PT;
        drawing
    }

    /// Where each column's frames are: all equally wide.
    fn columns(&self) -> Vec<Column> {
        let count = self.rows.iter().map(|row| row.panels.len()).max().unwrap_or(0);
        let lefts: Vec<_> = (0..count).map(|i| self.widest(i, left_pt)).collect();
        let mut frame_pt = self.width_pt / count.max(1) as f64;
        let mut rights = vec![0.0; count];
        // The last tick label's overhang depends on the frame's width: one more pass settles it.
        for _ in 0..3 {
            let gaps = BETWEEN_PT * count.saturating_sub(1) as f64 + 2.0 * MARGIN_PT;
            let taken = lefts.iter().chain(&rights).sum::<f64>() + gaps;
            frame_pt = ((self.width_pt - taken) / count.max(1) as f64).max(10.0);
            rights = (0..count).map(|i| self.right_pt(i, frame_pt)).collect();
        }
        let mut x = MARGIN_PT;
        let place = |(i, (left_pt, right_pt)): (usize, (&f64, &f64))| {
            let left = x + left_pt;
            x = left + frame_pt + right_pt + BETWEEN_PT;
            let beside_pt = self.widest(i, |panel, _| panel.level_names_pt());
            Column { left, right: left + frame_pt, beside_pt }
        };
        lefts.iter().zip(&rights).enumerate().map(place).collect()
    }

    /// Room right of a column's frames: names of levels and legends, or a tick label's overhang.
    fn right_pt(&self, column: usize, frame_pt: f64) -> f64 {
        let levels = self.widest(column, |panel, _| panel.level_names_pt());
        let beside = self.widest(column, |panel, _| panel.beside_pt());
        let overhang = self.widest(column, |panel, _| panel.fit_x(frame_pt).overhang_pt());
        overhang.max(levels + beside)
    }

    fn widest(&self, column: usize, room: impl Fn(&Panel, f64) -> f64) -> f64 {
        let of_row = |row: &Row| row.panels.get(column).map(|p| room(p, row.height_pt));
        self.rows.iter().filter_map(of_row).fold(0.0, f64::max)
    }

    fn draw_footer(&self, on: &mut Drawing, top: f64) -> f64 {
        let mut baseline = top + 2.0;
        let empty = self.rows.iter().all(|row| row.panels.is_empty());
        let nothing = empty.then(|| "every panel".to_owned());
        let missing: Vec<_> = self.missing.iter().cloned().chain(nothing).collect();
        let missing = match missing.is_empty() {
            true => Label::default(),
            false => Label::parse(&format!("Missing: {}.", missing.join("; "))),
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

/// The left and right edges of a column's frames, and how far from them legends stand, pt.
struct Column {
    left: f64,
    right: f64,
    beside_pt: f64,
}

fn draw_row(on: &mut Drawing, row: &Row, columns: &[Column], top: f64) -> f64 {
    let names_of = |(panel, column): (&Panel, &Column)| {
        let width = column.right - column.left;
        names::place(&panel.marks, &panel.fit_x(width), width)
    };
    let names: Vec<_> = row.panels.iter().zip(columns).map(names_of).collect();
    let above = row.panels.iter().zip(&names).zip(columns);
    let above = above.map(|((panel, names), c)| panel.above_pt(names, c.right - c.left));
    let above = above.fold(0.0, f64::max);
    let below = row.panels.iter().map(Panel::below_pt).fold(0.0, f64::max);
    let (top, bottom) = (top + above, top + above + row.height_pt);
    for ((panel, names), column) in row.panels.iter().zip(&names).zip(columns) {
        let frame = Frame { left: column.left, top, right: column.right, bottom };
        panel.draw(on, frame, names, column.beside_pt);
    }
    bottom + below
}

fn left_pt(panel: &Panel, height_pt: f64) -> f64 {
    panel.left_pt(&panel.fit_y(height_pt))
}
