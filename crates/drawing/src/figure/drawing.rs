//! One drawing: lines, areas, discs and texts at physical places, in pt from the top left.
//!
//! Everything that is printed is made from this list, and so is the check that no text is cut
//! off or covers another. It knows nothing of axes or data.

use super::font::{CAP_HEIGHT, DESCENT};
use super::label::{Label, PlacedPiece};
use super::style::{Colour, Stroke};

/// A place on the page, in pt.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// From the left edge.
    pub x: f64,
    /// From the top edge.
    pub y: f64,
}

/// An upright rectangle, in pt.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Frame {
    /// Its left edge.
    pub left: f64,
    /// Its top edge.
    pub top: f64,
    /// Its right edge.
    pub right: f64,
    /// Its bottom edge.
    pub bottom: f64,
}

impl Frame {
    /// Its width, pt.
    pub fn width(&self) -> f64 {
        self.right - self.left
    }

    /// Its height, pt.
    pub fn height(&self) -> f64 {
        self.bottom - self.top
    }

    /// Its four corners.
    pub fn corners(&self) -> Vec<Point> {
        let Frame { left, top, right, bottom } = *self;
        [(left, top), (right, top), (right, bottom), (left, bottom)]
            .map(|(x, y)| Point { x, y })
            .to_vec()
    }

    fn meets(&self, other: &Frame) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }
}

/// Something drawn.
#[derive(Debug, Clone, PartialEq)]
pub enum Item {
    /// An open line through points.
    Line {
        /// Its points.
        points: Vec<Point>,
        /// How it is drawn.
        stroke: Stroke,
    },
    /// A filled polygon.
    Area {
        /// Its corners.
        corners: Vec<Point>,
        /// Its colour.
        fill: Colour,
    },
    /// A filled disc.
    Disc {
        /// Its centre.
        centre: Point,
        /// Its radius, pt.
        radius: f64,
        /// Its colour.
        fill: Colour,
    },
    /// A text.
    Text(Text),
}

/// A text at its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Text {
    /// What it says.
    pub label: Label,
    /// Where its baseline starts.
    pub start: Point,
    /// Its font size, pt.
    pub size_pt: f64,
    /// Its colour.
    pub colour: Colour,
    /// Whether it reads upwards.
    pub upwards: bool,
}

/// Which point of a text is put at the given place, along the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    /// Its start.
    Start,
    /// Its middle.
    Middle,
    /// Its end.
    End,
}

/// A page of this size and what is drawn on it.
#[derive(Debug, Clone, PartialEq)]
pub struct Drawing {
    /// Width of the page, pt.
    pub width_pt: f64,
    /// Height of the page, pt.
    pub height_pt: f64,
    /// What the drawing is called.
    pub title: String,
    /// What it shows, for readers who cannot see it.
    pub description: String,
    /// What is drawn, from the back to the front; texts lie above everything else.
    pub items: Vec<Item>,
}

impl Drawing {
    /// An empty page of this width (pt); its height is set once its contents are known.
    pub fn new(width_pt: f64, title: &str, description: &str) -> Self {
        Self {
            width_pt,
            height_pt: 0.0,
            title: title.to_owned(),
            description: description.to_owned(),
            items: Vec::new(),
        }
    }

    /// Draws a line; fewer than two points draw nothing.
    pub fn line(&mut self, points: Vec<Point>, stroke: Stroke) {
        if points.len() > 1 {
            self.items.push(Item::Line { points, stroke });
        }
    }

    /// Draws a straight line.
    pub fn segment(&mut self, from: (f64, f64), to: (f64, f64), stroke: Stroke) {
        let [a, b] = [from, to].map(|(x, y)| Point { x, y });
        self.line(vec![a, b], stroke);
    }

    /// Fills a polygon.
    pub fn area(&mut self, corners: Vec<Point>, fill: Colour) {
        self.items.push(Item::Area { corners, fill });
    }

    /// Fills a disc of this radius (pt).
    pub fn disc(&mut self, centre: Point, radius: f64, fill: Colour) {
        self.items.push(Item::Disc { centre, radius, fill });
    }

    /// Writes a text along a baseline through this place.
    pub fn text(&mut self, label: &Label, at: (f64, f64), anchor: Anchor, font: (f64, Colour)) {
        let back = anchor.share() * label.width_pt(font.0);
        let start = Point { x: at.0 - back, y: at.1 };
        self.push_text(label, start, font, false);
    }

    /// Writes a text that reads upwards, centred on this place of its baseline.
    pub fn text_upwards(&mut self, label: &Label, at: (f64, f64), font: (f64, Colour)) {
        let start = Point { x: at.0, y: at.1 + 0.5 * label.width_pt(font.0) };
        self.push_text(label, start, font, true);
    }

    fn push_text(&mut self, label: &Label, start: Point, font: (f64, Colour), upwards: bool) {
        if label.is_empty() {
            return;
        }
        let (size_pt, colour) = font;
        let text = Text { label: label.clone(), start, size_pt, colour, upwards };
        self.items.push(Item::Text(text));
    }

    /// Every text of the drawing.
    pub fn texts(&self) -> impl Iterator<Item = &Text> {
        self.items.iter().filter_map(|item| match item {
            Item::Text(text) => Some(text),
            _ => None,
        })
    }

    /// What a reader would stumble over: texts cut off at the page's edge or over each other.
    pub fn faults(&self) -> Vec<String> {
        let texts: Vec<_> = self.texts().map(|t| (t.label.text(), t.frame())).collect();
        let cut = texts.iter().filter(|(_, f)| !self.holds(f));
        let cut = cut.map(|(name, _)| format!("\"{name}\" is cut off at the edge"));
        let pairs = texts.iter().enumerate().flat_map(|(i, (a, fa))| {
            let over = texts[i + 1..].iter().filter(move |(_, fb)| fa.meets(fb));
            over.map(move |(b, _)| format!("\"{a}\" and \"{b}\" overlap"))
        });
        cut.chain(pairs).collect()
    }

    fn holds(&self, frame: &Frame) -> bool {
        frame.left >= 0.0
            && frame.top >= 0.0
            && frame.right <= self.width_pt
            && frame.bottom <= self.height_pt
    }
}

impl Text {
    /// The rectangle that its letters fill, indices included.
    pub fn frame(&self) -> Frame {
        let (x, y) = (self.start.x, self.start.y);
        let runs = self.label.runs(self.size_pt);
        let reach = |of: fn(&PlacedPiece) -> f64| runs.iter().map(of).fold(0.0, f64::max);
        let up = reach(|run| CAP_HEIGHT * run.size_pt - run.dy_pt);
        let down = reach(|run| DESCENT * run.size_pt + run.dy_pt);
        let width = self.label.width_pt(self.size_pt);
        if self.upwards {
            Frame { left: x - up, top: y - width, right: x + down, bottom: y }
        } else {
            Frame { left: x, top: y - up, right: x + width, bottom: y + down }
        }
    }
}

impl Anchor {
    fn share(self) -> f64 {
        match self {
            Anchor::Start => 0.0,
            Anchor::Middle => 0.5,
            Anchor::End => 1.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::style::INK;

    fn page_with(texts: &[(&str, f64, f64)]) -> Drawing {
        let mut drawing = Drawing::new(100.0, "t", "d");
        drawing.height_pt = 50.0;
        for (text, x, y) in texts {
            drawing.text(&Label::plain(text), (*x, *y), Anchor::Start, (7.0, INK));
        }
        drawing
    }

    #[test]
    fn texts_apart_and_on_the_page_are_no_fault() {
        assert!(page_with(&[("one", 5.0, 10.0), ("two", 5.0, 20.0)]).faults().is_empty());
    }

    #[test]
    fn a_text_over_another_or_over_the_edge_is_a_fault() {
        assert_eq!(page_with(&[("one", 5.0, 10.0), ("two", 8.0, 12.0)]).faults().len(), 1);
        assert_eq!(page_with(&[("wide", 95.0, 10.0)]).faults().len(), 1);
        assert_eq!(page_with(&[("high", 5.0, 2.0)]).faults().len(), 1);
    }

    #[test]
    fn an_upward_text_is_as_tall_as_it_would_be_wide() {
        let mut drawing = Drawing::new(100.0, "t", "d");
        let label = Label::plain("fraction");
        drawing.text_upwards(&label, (20.0, 30.0), (8.0, INK));
        let frame = drawing.texts().next().map(Text::frame).unwrap();
        assert!((frame.height() - label.width_pt(8.0)).abs() < 1e-9);
        assert!((frame.top + frame.bottom - 60.0).abs() < 1e-9);
    }
}
