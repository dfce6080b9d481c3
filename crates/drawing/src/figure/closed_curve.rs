//! Closed-population curves, engine against simulator (paper Fig. 5, page Fig. 6).
//!
//! Per cell the completed sessions per second above and the hit fraction below, over the
//! population. The peak and the cap are computed elsewhere.

use super::axis::Axis;
use super::label::Label;
use super::legend::Entry;
use super::mark::{Mark, Marker};
use super::page::{Page, Row};
use super::panel::Panel;
use super::population::{Estimate, estimates, population_axis};
use super::style::{
    CAP_LEVEL, COLUMN_WIDTH_PT, ENGINE, LEVEL, PAGE_WIDTH_PT, SIMULATOR, SIMULATOR_TOO, Stroke,
};
use super::timeline::lettered;
use super::{Figure, Origin};
use crate::table::{Cell, Col, Heading};

/// What the figure shows: one column per cell.
#[derive(Debug, Clone, PartialEq)]
pub struct ClosedCurves {
    /// What the figure is called.
    pub title: String,
    /// The cells, from the left.
    pub cells: Vec<ClosedCell>,
    /// How many runs stand behind a point, as plain text; may be empty.
    pub note: String,
}

/// One cell's curves.
#[derive(Debug, Clone, PartialEq)]
pub struct ClosedCell {
    /// The cell, in the markup of [`Label::parse`].
    pub title: String,
    /// Its curves.
    pub series: Vec<ClosedSeries>,
    /// Its all-miss session rate, sessions/s.
    pub lambda_ref_per_s: Option<f64>,
    /// Its registered session cap.
    pub cap: Option<u32>,
}

/// One curve.
#[derive(Debug, Clone, PartialEq)]
pub struct ClosedSeries {
    /// What it is.
    pub kind: CurveKind,
    /// What it is called in the legend, in the markup of [`Label::parse`].
    pub label: String,
    /// Its points, at rising populations.
    pub points: Vec<ClosedPoint>,
}

/// What a curve is, and so how it is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CurveKind {
    /// A real engine.
    Engine,
    /// The calibrated simulator.
    Simulator,
    /// Another setting of the simulator.
    OtherSimulator,
}

/// One population.
#[derive(Debug, Clone, PartialEq)]
pub struct ClosedPoint {
    /// The population.
    pub n: u32,
    /// Which runs they are, and what made them.
    pub origin: Origin,
    /// Completed sessions per second.
    pub sessions_per_s: Option<Estimate>,
    /// Turns per second over the mean number of turns.
    pub turns_based_per_s: Option<f64>,
    /// Hit fraction.
    pub hit_fraction: Option<Estimate>,
}

const HEIGHT_PT: f64 = 84.0;

/// Draws the curves of every cell.
pub fn closed_curves(input: &ClosedCurves) -> Figure {
    let count = input.cells.len();
    let cells = || input.cells.iter().enumerate();
    let page = Page {
        width_pt: if count > 1 { PAGE_WIDTH_PT } else { COLUMN_WIDTH_PT },
        title: input.title.clone(),
        description: "Completed sessions per second (above) and hit fraction (below) over the \
                      closed population, engine and simulator, with the all-miss rate and the cap."
            .to_owned(),
        legend: legend(&input.cells),
        rows: vec![
            Row {
                height_pt: HEIGHT_PT,
                panels: cells().map(|(i, cell)| rate_panel(i, cell, count)).collect(),
            },
            Row {
                height_pt: HEIGHT_PT,
                panels: cells().map(|(i, cell)| hit_panel(i, cell)).collect(),
            },
        ],
        note: note(input),
        missing: missing(&input.cells),
    };
    page.figure(&columns(), data(&input.cells))
}

impl CurveKind {
    fn look(self) -> (Stroke, Marker) {
        match self {
            CurveKind::Engine => (ENGINE, Marker::Disc),
            CurveKind::Simulator => (SIMULATOR, Marker::Ring),
            CurveKind::OtherSimulator => (SIMULATOR_TOO, Marker::Ring),
        }
    }
}

fn rate_panel(index: usize, cell: &ClosedCell, count: usize) -> Panel {
    let y = Axis::linear("completed sessions/s").starting(0.0);
    let y = if index == 0 { y } else { Axis { label: Label::default(), ..y } };
    let mut panel = Panel::new(axis(cell).labelled(false), y);
    panel.title = lettered(index, count, &cell.title);
    if let Some(rate) = cell.lambda_ref_per_s {
        panel.add(Mark::level(rate, LEVEL, ""));
    }
    let cap = cell.cap.map(|n| Mark::moment(f64::from(n), CAP_LEVEL, format!("cap {n}")));
    cap.into_iter().for_each(|mark| panel.add(mark));
    for series in from_the_back(cell) {
        add_curve(&mut panel, series, |point| point.sessions_per_s);
        if series.kind == CurveKind::Engine {
            let turns = series
                .points
                .iter()
                .filter_map(|p| p.turns_based_per_s.map(|rate| (f64::from(p.n), rate)));
            panel.add(Mark::points(turns, Marker::Plus, ENGINE.colour));
        }
    }
    panel
}

fn hit_panel(index: usize, cell: &ClosedCell) -> Panel {
    let mut panel = Panel::new(axis(cell), Axis::fraction("hit fraction").labelled(index == 0));
    let cap = cell.cap.map(|n| Mark::moment(f64::from(n), CAP_LEVEL, ""));
    cap.into_iter().for_each(|mark| panel.add(mark));
    for series in from_the_back(cell) {
        add_curve(&mut panel, series, |point| point.hit_fraction);
    }
    panel
}

fn add_curve(
    panel: &mut Panel,
    series: &ClosedSeries,
    of: impl Fn(&ClosedPoint) -> Option<Estimate>,
) {
    let (stroke, marker) = series.kind.look();
    let known = series.points.iter().filter_map(|p| of(p).map(|e| (f64::from(p.n), e)));
    let known: Vec<_> = known.collect();
    panel.add(Mark::curve(known.iter().map(|(n, e)| (*n, e.value)), stroke));
    panel.add(estimates(known.into_iter(), marker, stroke.colour));
}

fn axis(cell: &ClosedCell) -> Axis {
    let points = cell.series.iter().flat_map(|series| &series.points);
    population_axis(points.map(|p| f64::from(p.n)))
}

/// The engine in front of the simulators.
fn from_the_back(cell: &ClosedCell) -> impl Iterator<Item = &ClosedSeries> {
    let kinds = [CurveKind::OtherSimulator, CurveKind::Simulator, CurveKind::Engine];
    kinds.into_iter().flat_map(|kind| cell.series.iter().filter(move |s| s.kind == kind))
}

fn legend(cells: &[ClosedCell]) -> Vec<Entry> {
    let series = || cells.iter().flat_map(|cell| &cell.series);
    let mut entries: Vec<Entry> = Vec::new();
    for kind in [CurveKind::Engine, CurveKind::Simulator, CurveKind::OtherSimulator] {
        let (stroke, marker) = kind.look();
        for of_kind in series().filter(|s| s.kind == kind) {
            let entry = Entry::marked_line(stroke, marker, of_kind.label.as_str());
            if !entries.contains(&entry) {
                entries.push(entry);
            }
        }
    }
    let by_turns = series()
        .filter(|s| s.kind == CurveKind::Engine)
        .any(|s| s.points.iter().any(|p| p.turns_based_per_s.is_some()));
    let rest = [
        (by_turns, Entry::marker(Marker::Plus, ENGINE.colour, "engine, from turns")),
        (
            cells.iter().any(|c| c.lambda_ref_per_s.is_some()),
            Entry::line(LEVEL, "the cell's *λ*_{ref}"),
        ),
        (cells.iter().any(|c| c.cap.is_some()), Entry::line(CAP_LEVEL, "registered cap")),
    ];
    entries.extend(rest.into_iter().filter(|(shown, _)| *shown).map(|(_, entry)| entry));
    entries
}

fn note(input: &ClosedCurves) -> Label {
    let points = input.cells.iter().flat_map(|cell| &cell.series).flat_map(|s| &s.points);
    let mut estimates = points.flat_map(|p| [p.sessions_per_s, p.hit_fraction]).flatten();
    let has_errors = estimates.any(|estimate| estimate.standard_error.is_some());
    let errors = if has_errors { " Bars are one standard error." } else { "" };
    Label::plain(&format!("{}{errors}", input.note))
}

fn missing(cells: &[ClosedCell]) -> Vec<String> {
    let of_cell = |cell: &ClosedCell| {
        let engine = cell.series.iter().any(|s| s.kind == CurveKind::Engine);
        let lacking = [
            (!engine, "engine runs"),
            (cell.lambda_ref_per_s.is_none(), "*λ*_{ref}"),
            (cell.cap.is_none(), "cap"),
        ];
        let lacking = lacking.into_iter().filter(|(is, _)| *is);
        lacking.map(|(_, what)| format!("{what} of {}", cell.title)).collect::<Vec<_>>()
    };
    cells.iter().flat_map(of_cell).collect()
}

/// A point in its panel and series.
struct Plotted<'a> {
    cell: String,
    series: String,
    point: &'a ClosedPoint,
}

const fn columns<'a>() -> [Col<Plotted<'a>>; 8] {
    [
        Heading("cell", "", "The cell").new(|of| Cell::text(&of.cell)),
        Heading("series", "", "Whose runs").new(|of| Cell::text(&of.series)),
        Heading("n", "", "Sessions of the closed population").count(|of| u64::from(of.point.n)),
        Heading("completed [sessions/s]", "sessions/s", "Sessions completed")
            .optional(6, |of| Some(of.point.sessions_per_s?.value)),
        Heading("completed_standard_error [sessions/s]", "sessions/s", "Its standard error")
            .optional(6, |of| of.point.sessions_per_s?.standard_error),
        Heading("completed_from_turns [sessions/s]", "sessions/s", "The same by turns")
            .optional(6, |of| of.point.turns_based_per_s),
        Heading("hit_fraction", "", "Share of turns that hit")
            .optional(6, |of| Some(of.point.hit_fraction?.value)),
        Heading("hit_fraction_standard_error", "", "Its standard error")
            .optional(6, |of| of.point.hit_fraction?.standard_error),
    ]
}

fn data(cells: &[ClosedCell]) -> Vec<(Origin, Plotted<'_>)> {
    let mut data = Vec::new();
    for cell in cells {
        for series in from_the_back(cell) {
            data.extend(series.points.iter().map(|point| {
                let [cell, series] =
                    [&cell.title, &series.label].map(|label| Label::parse(label).text());
                (point.origin.clone(), Plotted { cell, series, point })
            }));
        }
    }
    data
}
