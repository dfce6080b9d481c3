//! Predicted closed-population curves against runs (paper Fig. 8, page Fig. 6).
//!
//! No run's point enters a prediction here or in what is drawn.

use super::axis::Axis;
use super::label::Label;
use super::legend::Entry;
use super::mark::{Mark, Marker};
use super::page::{Page, Row};
use super::panel::Panel;
use super::population::population_axis;
use super::style::{
    BLUE, COLUMN_WIDTH_PT, DASH_DOT, DASHED, DOTTED, GREY, INK, MAIN_PT, PAGE_WIDTH_PT, SOLID,
    Stroke, VERMILLION, WINDOW_SHADE,
};
use super::timeline::lettered;
use super::{Figure, Origin};
use crate::table::{Cell, Col, Heading};

/// What the figure shows: one panel per cell.
#[derive(Debug, Clone, PartialEq)]
pub struct PredictedCurves {
    /// What the figure is called.
    pub title: String,
    /// The cells, from the left.
    pub cells: Vec<PredictedCell>,
    /// How many runs stand behind a point, as plain text; may be empty.
    pub note: String,
}

/// One cell.
#[derive(Debug, Clone, PartialEq)]
pub struct PredictedCell {
    /// The cell, in the markup of [`Label::parse`].
    pub title: String,
    /// Population and sessions/s of the fluid model.
    pub fluid: Vec<(f64, f64)>,
    /// Population and sessions/s with the layer H1.
    pub h1: Vec<(f64, f64)>,
    /// What runs did.
    pub runs: Vec<RunPoint>,
    /// The predicted onset of the all-miss branch.
    pub onset_n: Option<f64>,
    /// The cell's all-miss session rate, sessions/s.
    pub lambda_ref_per_s: Option<f64>,
    /// Largest population that was seen before the prediction was frozen.
    pub seen_up_to_n: Option<f64>,
    /// Populations measured after the prediction was frozen.
    pub blind_n: Vec<u32>,
}

/// What runs did at one population.
#[derive(Debug, Clone, PartialEq)]
pub struct RunPoint {
    /// The population.
    pub n: u32,
    /// Which runs they are, and what made them.
    pub origin: Origin,
    /// Completed sessions per second.
    pub sessions_per_s: Option<f64>,
    /// Turns per second over the mean number of turns.
    pub turns_based_per_s: Option<f64>,
}

const FLUID: Stroke = Stroke::new(BLUE, MAIN_PT, SOLID);
const H1: Stroke = Stroke::new(BLUE, MAIN_PT, DASHED);
const ONSET: Stroke = Stroke::new(INK, 0.7, DOTTED);
const REFERENCE: Stroke = Stroke::new(GREY, 0.7, DASH_DOT);
const HEIGHT_PT: f64 = 95.0;

/// Draws one panel per cell.
pub fn predicted_curves(input: &PredictedCurves) -> Figure {
    let count = input.cells.len();
    let panels = input.cells.iter().enumerate().map(|(i, cell)| panel(i, cell, count));
    let page = Page {
        width_pt: if count > 1 { PAGE_WIDTH_PT } else { COLUMN_WIDTH_PT },
        title: input.title.clone(),
        description: "Completed sessions per second over the closed population of each cell, \
                      predicted and of runs, with the predicted onset and the all-miss rate."
            .to_owned(),
        legend: legend(&input.cells),
        rows: vec![Row { height_pt: HEIGHT_PT, panels: panels.collect() }],
        note: Label::plain(&input.note),
        missing: missing(&input.cells),
    };
    page.figure(COLUMNS, data(&input.cells))
}

fn panel(index: usize, cell: &PredictedCell, count: usize) -> Panel {
    let y = Axis::linear("*μ*(*n*) (sessions/s)").starting(0.0);
    let y = if index == 0 { y } else { Axis { label: Label::default(), ..y } };
    let runs = cell.runs.iter().map(|p| f64::from(p.n));
    let lines = cell.fluid.iter().chain(&cell.h1).map(|p| p.0);
    let mut panel = Panel::new(population_axis(runs.chain(lines)), y);
    panel.title = lettered(index, count, &cell.title);
    if let Some(seen) = cell.seen_up_to_n {
        panel.add(Mark::span((1.0, seen), WINDOW_SHADE, ""));
    }
    if let Some(rate) = cell.lambda_ref_per_s {
        panel.add(Mark::level(rate, REFERENCE, ""));
    }
    if let Some(onset) = cell.onset_n {
        panel.add(Mark::moment(onset, ONSET, "*n*_{b}"));
    }
    panel.add(Mark::curve(cell.fluid.iter().copied(), FLUID));
    panel.add(Mark::curve(cell.h1.iter().copied(), H1));
    let point = |of: fn(&RunPoint) -> Option<f64>| {
        cell.runs.iter().filter_map(move |p| of(p).map(|rate| (f64::from(p.n), rate)))
    };
    panel.add(Mark::points(point(|p| p.turns_based_per_s), Marker::Ring, INK));
    panel.add(Mark::points(point(|p| p.sessions_per_s), Marker::Dot, INK));
    let blind = point(|p| p.sessions_per_s);
    let blind = blind.filter(|(n, _)| cell.blind_n.iter().any(|b| f64::from(*b) == *n));
    panel.add(Mark::points(blind, Marker::Halo, VERMILLION));
    panel
}

fn legend(cells: &[PredictedCell]) -> Vec<Entry> {
    let any = |has: fn(&PredictedCell) -> bool| cells.iter().any(has);
    let by = |of: fn(&RunPoint) -> Option<f64>| {
        cells.iter().flat_map(|c| &c.runs).any(|p| of(p).is_some())
    };
    let made = Origin::of(cells.iter().flat_map(|c| &c.runs).map(|p| &p.origin)).source_words();
    let entries = [
        (any(|c| !c.fluid.is_empty()), Entry::line(FLUID, "predicted, fluid")),
        (any(|c| !c.h1.is_empty()), Entry::line(H1, "predicted, H1")),
        (by(|p| p.sessions_per_s), Entry::marker(Marker::Dot, INK, format!("{made}, sessions"))),
        (by(|p| p.turns_based_per_s), Entry::marker(Marker::Ring, INK, format!("{made}, turns"))),
        (any(|c| c.onset_n.is_some()), Entry::line(ONSET, "predicted onset *n*_{b}")),
        (any(|c| c.lambda_ref_per_s.is_some()), Entry::line(REFERENCE, "the cell's *λ*_{ref}")),
        (any(|c| c.seen_up_to_n.is_some()), Entry::shade(WINDOW_SHADE, "seen before the freeze")),
        (any(|c| !c.blind_n.is_empty()), Entry::marker(Marker::Halo, VERMILLION, "blind in time")),
    ];
    entries.into_iter().filter(|(shown, _)| *shown).map(|(_, entry)| entry).collect()
}

fn missing(cells: &[PredictedCell]) -> Vec<String> {
    let of_cell = |cell: &PredictedCell| {
        let lacking = [
            (cell.fluid.is_empty(), "fluid prediction"),
            (cell.h1.is_empty(), "H1 prediction"),
            (cell.runs.is_empty(), "runs"),
            (cell.onset_n.is_none(), "onset"),
        ];
        let lacking = lacking.into_iter().filter(|(is, _)| *is);
        lacking.map(|(_, what)| format!("{what} of {}", cell.title)).collect::<Vec<_>>()
    };
    cells.iter().flat_map(of_cell).collect()
}

/// A point in its panel and series.
struct Plotted {
    cell: String,
    series: &'static str,
    n: f64,
    mu_per_s: Option<f64>,
}

const COLUMNS: &[Col<Plotted>] = &[
    Heading("cell", "", "The cell").new(|of| Cell::text(&of.cell)),
    Heading("series", "", "A prediction, or runs").new(|of| Cell::text(of.series)),
    Heading("n", "", "Sessions of the closed population").number(4, |of| of.n),
    Heading("mu [sessions/s]", "sessions/s", "Its completions").optional(6, |of| of.mu_per_s),
];

fn data(cells: &[PredictedCell]) -> Vec<(Origin, Plotted)> {
    let mut data = Vec::new();
    for cell in cells {
        let title = Label::parse(&cell.title).text();
        let mut push = |from: &Origin, series, n, mu_per_s| {
            data.push((from.clone(), Plotted { cell: title.clone(), series, n, mu_per_s }));
        };
        let model = Origin::model();
        cell.fluid.iter().for_each(|(n, rate)| push(&model, "predicted_fluid", *n, Some(*rate)));
        cell.h1.iter().for_each(|(n, rate)| push(&model, "predicted_h1", *n, Some(*rate)));
        for point in &cell.runs {
            push(&point.origin, "runs_sessions", f64::from(point.n), point.sessions_per_s);
            push(&point.origin, "runs_turns", f64::from(point.n), point.turns_based_per_s);
        }
    }
    data
}
