//! What lowering or stopping arrivals does to a trapped queue (Corollary 3, Prop. 1(a)):
//! the backlog of model F over time, a line per rate.
//!
//! The trajectories are computed elsewhere; whether one clears is theirs to show.

use super::axis::Axis;
use super::label::Label;
use super::legend::Entry;
use super::mark::Mark;
use super::page::{Page, Row};
use super::panel::Panel;
use super::style::{
    BLUE, COLUMN_WIDTH_PT, DASH_DOT, DASHED, DOTTED, GREEN, GREY, INK, MAIN_PT, MOMENT, ORANGE,
    PURPLE, SOLID, Stroke, VERMILLION,
};
use super::{Figure, Origin};
use crate::table::{Cell, Col, Heading};

/// What the figure shows.
#[derive(Debug, Clone, PartialEq)]
pub struct Cuts {
    /// What the figure is called.
    pub title: String,
    /// When arrivals change, s.
    pub cut_at_s: f64,
    /// What the change is called, for example "cut".
    pub change: String,
    /// The trajectories, at most seven; more are named as missing.
    pub curves: Vec<CutCurve>,
    /// What was computed, as plain text.
    pub note: String,
}

/// One trajectory.
#[derive(Debug, Clone, PartialEq)]
pub struct CutCurve {
    /// What arrivals become, in the markup of [`Label::parse`].
    pub label: String,
    /// Time (s) and sessions in the system.
    pub backlog: Vec<(f64, f64)>,
}

const LOOKS: [Stroke; 7] = [
    Stroke::new(VERMILLION, MAIN_PT, SOLID),
    Stroke::new(ORANGE, MAIN_PT, DASHED),
    Stroke::new(PURPLE, MAIN_PT, DOTTED),
    Stroke::new(BLUE, MAIN_PT, DASH_DOT),
    Stroke::new(INK, MAIN_PT, SOLID),
    Stroke::new(GREEN, MAIN_PT, DASHED),
    Stroke::new(GREY, MAIN_PT, DOTTED),
];
const HEIGHT_PT: f64 = 120.0;

/// Draws the trajectories.
pub fn cuts(input: &Cuts) -> Figure {
    let mut panel = Panel::new(
        Axis::linear("time since start of run (s)"),
        Axis::linear("sessions in the system").starting(0.0),
    );
    panel.add(Mark::moment(input.cut_at_s, MOMENT, input.change.as_str()));
    for (curve, look) in input.curves.iter().zip(LOOKS) {
        panel.add(Mark::curve(curve.backlog.iter().copied(), look));
    }
    let named = input.curves.iter().zip(LOOKS);
    let page = Page {
        width_pt: COLUMN_WIDTH_PT,
        title: input.title.clone(),
        description: "Backlog of model F over time after arrivals change, a line per new rate."
            .to_owned(),
        legend: named.map(|(curve, look)| Entry::line(look, curve.label.as_str())).collect(),
        rows: vec![Row { height_pt: HEIGHT_PT, panels: vec![panel] }],
        note: Label::plain(&input.note),
        missing: input.curves.iter().skip(LOOKS.len()).map(|c| c.label.clone()).collect(),
    };
    page.figure(COLUMNS, data(input))
}

/// A point of a curve: what arrivals are cut to, and the backlog at a time.
type Point = (String, (f64, f64));

const COLUMNS: &[Col<Point>] = &[
    Heading("arrivals", "", "What arrivals are cut to").new(|(label, _)| Cell::text(label)),
    Heading("t [s]", "s", "Time since the start of the run").number(1, |(_, (t_s, _))| *t_s),
    Heading("sessions_in_system", "", "Backlog").number(3, |(_, (_, sessions))| *sessions),
];

fn data(input: &Cuts) -> Vec<(Origin, Point)> {
    let mut data = Vec::new();
    for curve in &input.curves {
        let label = Label::parse(&curve.label).text();
        data.extend(curve.backlog.iter().map(|at| (Origin::model(), (label.clone(), *at))));
    }
    data
}
