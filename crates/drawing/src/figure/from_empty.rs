//! Stability of runs that start from an empty engine (paper Fig. 6).
//!
//! One panel per cell: the share of stable runs over the arrival rate, read below in sessions per
//! second and above in multiples of the cell's all-miss rate. Where the edge lies is left to the
//! rule.

use super::axis::Axis;
use super::label::Label;
use super::legend::Entry;
use super::mark::{Mark, Marker};
use super::page::{Page, Row};
use super::panel::{Panel, TopAxis};
use super::style::{COLUMN_WIDTH_PT, ENGINE, LEVEL, SIMULATOR, SIMULATOR_TOO, Stroke};
use super::timeline::lettered;
use super::{Figure, Origin};
use crate::table::{Cell, Col, Heading};

/// What the figure shows: one panel per cell, one below the other.
#[derive(Debug, Clone, PartialEq)]
pub struct FromEmpty {
    /// What the figure is called.
    pub title: String,
    /// The cells, from the top.
    pub cells: Vec<FromEmptyCell>,
    /// How many runs there are, as plain text; may be empty.
    pub note: String,
}

/// One cell.
#[derive(Debug, Clone, PartialEq)]
pub struct FromEmptyCell {
    /// The cell, in the markup of [`Label::parse`].
    pub title: String,
    /// The measured all-miss session rate, sessions/s.
    pub lambda_ref_per_s: f64,
    /// The model's all-miss session rate, sessions/s.
    pub lambda_miss_per_s: Option<f64>,
    /// The engine's runs, a point each.
    pub engine: Vec<StablePoint>,
    /// The simulator's curves; the first is the primary one.
    pub simulators: Vec<StableCurve>,
}

/// The share of stable runs of a simulator.
#[derive(Debug, Clone, PartialEq)]
pub struct StableCurve {
    /// What it is called in the legend, in the markup of [`Label::parse`].
    pub label: String,
    /// A point per arrival rate.
    pub points: Vec<StablePoint>,
}

/// How many of the runs at one arrival rate were stable.
#[derive(Debug, Clone, PartialEq)]
pub struct StablePoint {
    /// The arrival rate, sessions/s.
    pub rate_per_s: f64,
    /// The share of stable runs, 0 or 1 for a single one.
    pub share: f64,
    /// Which runs they are, and what made them.
    pub origin: Origin,
}

impl StablePoint {
    fn place(&self) -> (f64, f64) {
        (self.rate_per_s, self.share)
    }
}

const HEIGHT_PT: f64 = 50.0;

/// Draws one panel per cell.
pub fn from_empty(input: &FromEmpty) -> Figure {
    let count = input.cells.len();
    let row = |(i, cell)| Row { height_pt: HEIGHT_PT, panels: vec![panel(i, cell, count)] };
    let lacking = input.cells.iter().filter(|cell| cell.engine.is_empty());
    let page = Page {
        width_pt: COLUMN_WIDTH_PT,
        title: input.title.clone(),
        description: "Share of stable runs from an empty engine over the arrival rate, engine and \
                      simulator, one panel per cell."
            .to_owned(),
        legend: legend(&input.cells),
        rows: input.cells.iter().enumerate().map(row).collect(),
        note: Label::plain(&input.note),
        missing: lacking.map(|cell| format!("engine runs of {}", cell.title)).collect(),
    };
    page.figure(COLUMNS, data(&input.cells))
}

fn look(index: usize) -> Stroke {
    if index == 0 { SIMULATOR } else { SIMULATOR_TOO }
}

fn panel(index: usize, cell: &FromEmptyCell, count: usize) -> Panel {
    let last = index + 1 == count;
    let x = Axis::linear(if last { "arrival rate *λ* (sessions/s)" } else { "" });
    let points = cell.engine.iter().chain(cell.simulators.iter().flat_map(|s| &s.points));
    let rates = points.map(|point| point.rate_per_s);
    let rates = rates.chain(cell.lambda_miss_per_s).filter(|rate| rate.is_finite());
    let (low, high) = rates.fold((f64::MAX, f64::MIN), |(lo, hi), r| (lo.min(r), hi.max(r)));
    let room = 0.04 * (high - low);
    let x = if low < high { x.over(low - room, high + room) } else { x };
    let mut panel = Panel::new(x, Axis::fraction("stable share"));
    panel.title = lettered(index, count, &cell.title);
    let label = Label::parse("multiple of *λ*_{ref}");
    panel.top = Some(TopAxis {
        label: if index == 0 { label } else { Label::default() },
        unit: cell.lambda_ref_per_s,
    });
    if let Some(rate) = cell.lambda_miss_per_s {
        panel.add(Mark::moment(rate, LEVEL, ""));
    }
    for (i, simulator) in cell.simulators.iter().enumerate().rev() {
        let points = || simulator.points.iter().map(StablePoint::place);
        panel.add(Mark::curve(points(), look(i)));
        panel.add(Mark::points(points(), Marker::Ring, look(i).colour));
    }
    let engine = cell.engine.iter().map(StablePoint::place);
    panel.add(Mark::points(engine, Marker::Disc, ENGINE.colour));
    panel
}

fn legend(cells: &[FromEmptyCell]) -> Vec<Entry> {
    let mut entries = Vec::new();
    if cells.iter().any(|cell| !cell.engine.is_empty()) {
        entries.push(Entry::marker(Marker::Disc, ENGINE.colour, "engine run"));
    }
    for cell in cells {
        for (i, simulator) in cell.simulators.iter().enumerate() {
            let entry = Entry::marked_line(look(i), Marker::Ring, simulator.label.as_str());
            if !entries.contains(&entry) {
                entries.push(entry);
            }
        }
    }
    if cells.iter().any(|cell| cell.lambda_miss_per_s.is_some()) {
        entries.push(Entry::line(LEVEL, "*λ*_{miss}"));
    }
    entries
}

/// A point in its panel and series.
struct Plotted {
    cell: String,
    series: String,
    rate_per_s: f64,
    lambda_ref_per_s: f64,
    share: f64,
}

const COLUMNS: &[Col<Plotted>] = &[
    Heading("cell", "", "The cell").new(|of| Cell::text(&of.cell)),
    Heading("series", "", "An engine's runs, or a simulator's").new(|of| Cell::text(&of.series)),
    Heading("rate [sessions/s]", "sessions/s", "Arrival rate").number(6, |of| of.rate_per_s),
    Heading("rate_over_lambda_ref", "", "The rate over lambda_ref")
        .number(4, |of| of.rate_per_s / of.lambda_ref_per_s),
    Heading("stable_share", "", "Share of the runs that are stable").number(4, |of| of.share),
];

fn data(cells: &[FromEmptyCell]) -> Vec<(Origin, Plotted)> {
    let mut data = Vec::new();
    for cell in cells {
        let title = Label::parse(&cell.title).text();
        let mut push = |series: &str, point: &StablePoint| {
            let plotted = Plotted {
                cell: title.clone(),
                series: Label::parse(series).text(),
                rate_per_s: point.rate_per_s,
                lambda_ref_per_s: cell.lambda_ref_per_s,
                share: point.share,
            };
            data.push((point.origin.clone(), plotted));
        };
        cell.engine.iter().for_each(|point| push("engine run", point));
        for simulator in &cell.simulators {
            simulator.points.iter().for_each(|point| push(&simulator.label, point));
        }
    }
    data
}
