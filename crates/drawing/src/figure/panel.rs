//! One panel: two axes and the marks between them, drawn into a frame on the page.
//!
//! A panel that has nothing to show says so inside its frame. Legends, notes below the figure
//! and the arrangement of panels belong to the page.

use super::axis::{Across, Axis, FittedAxis};
use super::drawing::{Anchor, Drawing, Frame};
use super::label::Label;
use super::legend::{self, Entry};
use super::mark::Mark;
use super::names::{self, PlacedName};
use super::plot;
use super::style::{AXIS, GREY, INK, LABEL_PT, LINE_HEIGHT, MINOR_TICK_PT, SMALL_PT, TICK_PT};

/// Distance between a tick and its label, and between labels, pt.
const GAP_PT: f64 = 2.0;

/// A panel as asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Panel {
    /// What is printed above it; may be empty.
    pub title: Label,
    /// Its horizontal axis.
    pub x: Axis,
    /// Its vertical axis.
    pub y: Axis,
    /// A second horizontal axis along the top, in multiples of a value of x.
    pub top: Option<TopAxis>,
    /// What is drawn, from the back to the front.
    pub marks: Vec<Mark>,
    /// What its lines stand for, when that is said beside the panel and not above all of them.
    pub beside: Vec<Entry>,
}

/// An axis along the top that reads x in multiples of a unit.
#[derive(Debug, Clone, PartialEq)]
pub struct TopAxis {
    /// What the multiples are of.
    pub label: Label,
    /// The value of x that reads 1.
    pub unit: f64,
}

impl Panel {
    /// A panel without title and marks.
    pub fn new(x: Axis, y: Axis) -> Self {
        Self { title: Label::default(), x, y, top: None, marks: Vec::new(), beside: Vec::new() }
    }

    /// Adds a mark in front of the others.
    pub fn add(&mut self, mark: Mark) {
        self.marks.push(mark);
    }

    /// The y axis fitted for this height (pt).
    pub(crate) fn fit_y(&self, height_pt: f64) -> FittedAxis {
        self.y.fit(self.extent().map(|(_, y)| y), height_pt, Across::Stacked)
    }

    /// The x axis fitted for this width (pt).
    pub(crate) fn fit_x(&self, width_pt: f64) -> FittedAxis {
        self.x.fit(self.extent().map(|(x, _)| x), width_pt, Across::Along)
    }

    fn extent(&self) -> impl Iterator<Item = (f64, f64)> {
        self.marks.iter().flat_map(Mark::extent)
    }

    /// Why the panel shows less than its reader expects; none when it shows all it was given.
    pub(crate) fn shortfall(&self) -> Option<&'static str> {
        let points: Vec<_> = self.extent().collect();
        let log_y = self.y.scale == super::axis::Scale::Log;
        let positive = points.iter().filter(|(_, y)| *y > 0.0).count();
        match points.len() {
            0 => Some("no data"),
            _ if log_y && positive == 0 => Some("all values are 0: none on a log axis"),
            _ => None,
        }
    }

    /// Room needed left of the frame for tick labels and axis label, pt.
    pub(crate) fn left_pt(&self, y: &FittedAxis) -> f64 {
        let ticks = TICK_PT + GAP_PT + y.widest_label_pt();
        let label = if self.y.label.is_empty() { 0.0 } else { 2.0 * GAP_PT + LABEL_PT };
        if self.y.labelled { ticks + label } else { TICK_PT }
    }

    /// Room needed right of the names of levels for what stands beside the panel, pt.
    pub(crate) fn beside_pt(&self) -> f64 {
        legend::side_width_pt(&self.beside)
    }

    /// Room needed right of the frame for the names of levels, pt.
    pub(crate) fn level_names_pt(&self) -> f64 {
        let names = self.marks.iter().filter_map(|mark| match mark {
            Mark::Level(rule) if !rule.name.is_empty() => Some(&rule.name),
            _ => None,
        });
        names.map(|name| name.width_pt(SMALL_PT) + GAP_PT).fold(0.0, f64::max)
    }

    /// Room needed below the frame for tick labels and axis label, pt.
    pub(crate) fn below_pt(&self) -> f64 {
        let label = if self.x.label.is_empty() { 0.0 } else { GAP_PT + LABEL_PT };
        if self.x.labelled { TICK_PT + GAP_PT + SMALL_PT + label } else { TICK_PT }
    }

    /// Room needed above the frame for a second axis and the rows of names, pt.
    pub(crate) fn names_pt(&self, names: &[PlacedName]) -> f64 {
        self.ledge_pt() + names::height_pt(names)
    }

    /// Room needed above those for the title over a frame of this width (pt), pt.
    pub(crate) fn title_pt(&self, width_pt: f64) -> f64 {
        let lines = self.title_lines(width_pt).len() as f64;
        if lines > 0.0 { lines * LINE_HEIGHT * LABEL_PT + GAP_PT } else { 0.0 }
    }

    fn title_lines(&self, width_pt: f64) -> Vec<Label> {
        if self.title.is_empty() { Vec::new() } else { self.title.wrapped(LABEL_PT, width_pt) }
    }

    fn ledge_pt(&self) -> f64 {
        match &self.top {
            Some(top) if top.label.is_empty() => TICK_PT + GAP_PT + SMALL_PT,
            Some(_) => TICK_PT + 3.0 * GAP_PT + 2.0 * SMALL_PT,
            None => 0.0,
        }
    }

    /// Draws the panel into this frame, its names where they were placed, and what stands beside
    /// it at this distance (pt) from the frame.
    pub fn draw(&self, on: &mut Drawing, frame: Frame, names: &[PlacedName], beside_pt: f64) {
        let (x, y) = (self.fit_x(frame.width()), self.fit_y(frame.height()));
        let plot = plot::Plot { x: &x, y: &y, frame };
        self.marks.iter().for_each(|mark| plot.draw(on, mark));
        self.draw_x_axis(on, &x, frame);
        self.draw_y_axis(on, &y, frame);
        self.draw_top_axis(on, &x, frame);
        legend::draw_beside(on, &self.beside, (frame.right + beside_pt, frame.top));
        names::draw(on, names, &frame, frame.top - self.ledge_pt());
        if let Some(shortfall) = self.shortfall() {
            let middle = (0.5 * (frame.left + frame.right), 0.5 * (frame.top + frame.bottom));
            on.text(&Label::plain(shortfall), middle, Anchor::Middle, (SMALL_PT, GREY));
        }
    }

    /// Writes the title above this frame, its lines from this height (pt) downwards.
    pub(crate) fn draw_title(&self, on: &mut Drawing, frame: &Frame, top: f64) {
        for (i, line) in self.title_lines(frame.width()).iter().enumerate() {
            let baseline = top + LINE_HEIGHT * LABEL_PT * (i as f64 + 1.0) - GAP_PT;
            on.text(line, (frame.left, baseline), Anchor::Start, (LABEL_PT, INK));
        }
    }

    fn draw_x_axis(&self, on: &mut Drawing, axis: &FittedAxis, frame: Frame) {
        on.segment((frame.left, frame.bottom), (frame.right, frame.bottom), AXIS);
        let baseline = frame.bottom + TICK_PT + GAP_PT + 0.7 * SMALL_PT;
        for tick in &axis.ticks {
            let Some(at) = axis.place_pt(tick.value) else { continue };
            let x = frame.left + at;
            let long = if tick.label.is_empty() { MINOR_TICK_PT } else { TICK_PT };
            on.segment((x, frame.bottom), (x, frame.bottom + long), AXIS);
            if self.x.labelled && !tick.label.is_empty() {
                on.text(&tick.label, (x, baseline), Anchor::Middle, (SMALL_PT, INK));
            }
        }
        if self.x.labelled {
            let middle = 0.5 * (frame.left + frame.right);
            let at = (middle, baseline + GAP_PT + LABEL_PT);
            on.text(&self.x.label, at, Anchor::Middle, (LABEL_PT, INK));
        }
    }

    fn draw_y_axis(&self, on: &mut Drawing, axis: &FittedAxis, frame: Frame) {
        on.segment((frame.left, frame.top), (frame.left, frame.bottom), AXIS);
        for tick in &axis.ticks {
            let Some(at) = axis.place_pt(tick.value) else { continue };
            let y = frame.bottom - at;
            let long = if tick.label.is_empty() { MINOR_TICK_PT } else { TICK_PT };
            on.segment((frame.left - long, y), (frame.left, y), AXIS);
            if self.y.labelled {
                let place = (frame.left - TICK_PT - GAP_PT, y + 0.33 * SMALL_PT);
                on.text(&tick.label, place, Anchor::End, (SMALL_PT, INK));
            }
        }
        if self.y.labelled {
            let x = frame.left - self.left_pt(axis) + 0.8 * LABEL_PT;
            let middle = 0.5 * (frame.top + frame.bottom);
            on.text_upwards(&self.y.label, (x, middle), (LABEL_PT, INK));
        }
    }

    fn draw_top_axis(&self, on: &mut Drawing, x: &FittedAxis, frame: Frame) {
        let Some(top) = self.top.as_ref().filter(|t| t.unit > 0.0) else { return };
        on.segment((frame.left, frame.top), (frame.right, frame.top), AXIS);
        let axis = Axis::linear("").over(x.lo / top.unit, x.hi / top.unit);
        let axis = axis.fit(std::iter::empty(), frame.width(), Across::Along);
        let baseline = frame.top - TICK_PT - GAP_PT;
        for tick in &axis.ticks {
            let Some(at) = axis.place_pt(tick.value) else { continue };
            on.segment((frame.left + at, frame.top), (frame.left + at, frame.top - TICK_PT), AXIS);
            on.text(&tick.label, (frame.left + at, baseline), Anchor::Middle, (SMALL_PT, INK));
        }
        let at = (0.5 * (frame.left + frame.right), baseline - SMALL_PT - 1.5 * GAP_PT);
        on.text(&top.label, at, Anchor::Middle, (SMALL_PT, INK));
    }
}
