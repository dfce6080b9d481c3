//! Theorem 1 against every stuck run (paper Fig. 2, page Fig. 8): four panels over the load.
//!
//! Points are runs, lines are model F of each cell; nothing is fitted here. The quasi-static
//! reading needs no input: the stationary mix, completions at the all-miss rate, growth at
//! rho - 1. It says nothing of the gap's slope, so the fourth panel has no such line.

use super::axis::Axis;
use super::label::Label;
use super::legend::Entry;
use super::mark::{Mark, Marker};
use super::page::{Page, Row};
use super::panel::Panel;
use super::style::{GREEN, MODEL_CELLS, ORANGE, PAGE_WIDTH_PT, QUASI_STATIC};
use super::timeline::lettered;
use super::{Figure, Origin};
use crate::table::{Cell, Col, Heading};

/// What the figure shows.
#[derive(Debug, Clone, PartialEq)]
pub struct TheoremCheck {
    /// What the figure is called.
    pub title: String,
    /// Model F, one curve per cell.
    pub cells: Vec<ModelCurve>,
    /// The stuck runs.
    pub runs: Vec<StuckRun>,
    /// Runs that were expected and could not be measured, with the reason.
    pub missing: Vec<String>,
    /// How a run's load is computed, as plain text; may be empty.
    pub note: String,
}

/// Model F of one cell, at rising loads.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelCurve {
    /// The cell's name.
    pub cell: String,
    /// Load and the four quantities at it.
    pub points: Vec<Reading>,
}

/// One stuck run.
#[derive(Debug, Clone, PartialEq)]
pub struct StuckRun {
    /// The cell's name.
    pub cell: String,
    /// Which run it is, and what made it.
    pub origin: Origin,
    /// How it was made to start.
    pub protocol: Protocol,
    /// What was measured on it.
    pub reading: Reading,
}

/// How a stuck run began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// A trigger on a running engine (E2): a burst, or slower tool calls.
    Triggered,
    /// An empty engine (E0b).
    FromEmpty,
}

impl Protocol {
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Triggered => "stuck_after_a_trigger",
            Self::FromEmpty => "stuck_from_empty",
        }
    }
}

/// The load and the four quantities; unknown ones are not drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reading {
    /// Arrival rate over the all-miss session rate.
    pub rho: f64,
    /// Mean prompt of the turns served over the stationary mean.
    pub prompt_ratio: Option<f64>,
    /// Session completions over the all-miss session rate.
    pub completions_ratio: Option<f64>,
    /// Growth of the backlog over the all-miss session rate.
    pub growth_ratio: Option<f64>,
    /// Growth of the gap against completion time, s per s.
    pub gap_slope: Option<f64>,
}

/// What a panel shows.
#[derive(Debug, Clone, Copy)]
pub struct Quantity {
    /// The panel's title, for [`Label::parse`].
    pub title: &'static str,
    /// Its name in the data.
    pub name: &'static str,
    /// Its value.
    pub of: fn(&Reading) -> Option<f64>,
    /// The quasi-static reading of it at a load; none where that says nothing of it.
    pub quasi_static: Option<fn(f64) -> f64>,
}

/// The four panels.
pub const QUANTITIES: [Quantity; 4] = [
    Quantity {
        title: "served prompt / stationary",
        name: "prompt_over_stationary",
        of: |r| r.prompt_ratio,
        quasi_static: Some(|_| 1.0),
    },
    Quantity {
        title: "completions / *λ*_{miss}",
        name: "completions_over_lambda_miss",
        of: |r| r.completions_ratio,
        quasi_static: Some(|_| 1.0),
    },
    Quantity {
        title: "backlog slope / *λ*_{miss}",
        name: "backlog_slope_over_lambda_miss",
        of: |r| r.growth_ratio,
        quasi_static: Some(|rho| rho - 1.0),
    },
    Quantity { title: "gap slope", name: "gap_slope", of: |r| r.gap_slope, quasi_static: None },
];
const HEIGHT_PT: f64 = 88.0;

/// Draws the four panels.
pub fn theorem(input: &TheoremCheck) -> Figure {
    let page = Page {
        width_pt: PAGE_WIDTH_PT,
        title: input.title.clone(),
        description: "Served prompt, completions, backlog growth and gap growth of stuck runs \
                      against the load, with model F of each cell and the quasi-static reading."
            .to_owned(),
        legend: legend(input),
        rows: vec![Row { height_pt: HEIGHT_PT, panels: panels(input, QUANTITIES.len()) }],
        note: Label::plain(&input.note),
        missing: missing(input),
    };
    page.figure(COLUMNS, data(input))
}

impl TheoremCheck {
    /// The least and the greatest load of its lines and runs; 1 to 2 is always among them.
    pub fn loads(&self) -> (f64, f64) {
        let rhos = self.cells.iter().flat_map(|c| &c.points).map(|p| p.rho);
        let rhos = rhos.chain(self.runs.iter().map(|run| run.reading.rho));
        rhos.filter(|r| r.is_finite())
            .fold((1.0_f64, 2.0_f64), |(lo, hi), rho| (lo.min(rho), hi.max(rho)))
    }
}

/// A panel per quantity, the first of a figure of so many.
pub(super) fn panels(input: &TheoremCheck, of: usize) -> Vec<Panel> {
    let quantities = QUANTITIES.iter().enumerate();
    let panel = |(i, quantity): (usize, &Quantity)| {
        let mut panel = panel(quantity, input);
        panel.title = lettered(i, of, quantity.title);
        panel
    };
    quantities.map(panel).collect()
}

fn panel(quantity: &Quantity, input: &TheoremCheck) -> Panel {
    let (low, high) = input.loads();
    let x = Axis::linear("load *ρ* = *λ* / *λ*_{miss}").over(low, high + 0.02 * (high - low));
    let mut panel = Panel::new(x, Axis::linear(""));
    if let Some(reading) = quantity.quasi_static {
        let line = [low, high].map(|rho| (rho, reading(rho)));
        panel.add(Mark::curve(line, QUASI_STATIC));
    }
    let lines = input.cells.iter().map(|cell| {
        let points = cell.points.iter().map(|p| (p.rho, (quantity.of)(p))).collect();
        Mark::line(points, MODEL_CELLS)
    });
    // The lines lie above the many runs after a trigger and below the few from empty.
    let mut lines = Some(lines);
    for (protocol, marker, colour) in
        [(Protocol::Triggered, Marker::Dot, ORANGE), (Protocol::FromEmpty, Marker::Diamond, GREEN)]
    {
        let runs = input.runs.iter().filter(|run| run.protocol == protocol).map(|r| &r.reading);
        let points = runs.filter_map(|r| (quantity.of)(r).map(|value| (r.rho, value)));
        panel.add(Mark::points(points, marker, colour));
        lines.take().into_iter().flatten().for_each(|line| panel.add(line));
    }
    panel
}

pub(super) fn legend(input: &TheoremCheck) -> Vec<Entry> {
    let runs = |p: Protocol| input.runs.iter().filter(move |run| run.protocol == p);
    let label = |p: Protocol, what: &str| {
        let made = Origin::of(runs(p).map(|run| &run.origin)).source_words();
        format!("{what}, {made} ({})", runs(p).count())
    };
    let has = |p: Protocol| runs(p).next().is_some();
    let cells = input.cells.len();
    let plural = if cells == 1 { "" } else { "s" };
    let entries = [
        (
            has(Protocol::Triggered),
            Entry::marker(Marker::Dot, ORANGE, label(Protocol::Triggered, "stuck after a trigger")),
        ),
        (
            has(Protocol::FromEmpty),
            Entry::marker(Marker::Diamond, GREEN, label(Protocol::FromEmpty, "stuck from empty")),
        ),
        (cells > 0, Entry::line(MODEL_CELLS, format!("model F, {cells} cell{plural}"))),
        (true, Entry::line(QUASI_STATIC, "quasi-static")),
    ];
    entries.into_iter().filter(|(shown, _)| *shown).map(|(_, entry)| entry).collect()
}

pub(super) fn missing(input: &TheoremCheck) -> Vec<String> {
    let mut missing = input.missing.clone();
    if input.cells.is_empty() {
        missing.push("model F".to_owned());
    }
    for quantity in &QUANTITIES {
        let unknown = input.runs.iter().filter(|run| (quantity.of)(&run.reading).is_none()).count();
        if unknown > 0 {
            let runs = if unknown == 1 { "run" } else { "runs" };
            missing.push(format!("{} of {unknown} {runs}", quantity.title));
        }
    }
    missing
}

/// A value in its panel and series.
struct Plotted {
    quantity: &'static str,
    series: &'static str,
    cell: String,
    rho: f64,
    value: Option<f64>,
}

const COLUMNS: &[Col<Plotted>] = &[
    Heading("quantity", "", "What the value is of").new(|of| Cell::text(of.quantity)),
    Heading("series", "", "Model F, or how the runs began").new(|of| Cell::text(of.series)),
    Heading("cell", "", "The cell").new(|of| Cell::text(&of.cell)),
    Heading("rho", "", "Arrivals over the all-miss session rate").number(6, |of| of.rho),
    Heading("value", "", "The value at that load").optional(6, |of| of.value),
];

fn data(input: &TheoremCheck) -> Vec<(Origin, Plotted)> {
    let mut data = Vec::new();
    for quantity in &QUANTITIES {
        let mut push = |from: &Origin, series, cell: &str, reading: &Reading| {
            let plotted = Plotted {
                quantity: quantity.name,
                series,
                cell: cell.to_owned(),
                rho: reading.rho,
                value: (quantity.of)(reading),
            };
            data.push((from.clone(), plotted));
        };
        let model = Origin::model();
        for cell in &input.cells {
            cell.points.iter().for_each(|point| push(&model, "model_f", &cell.cell, point));
        }
        for run in &input.runs {
            push(&run.origin, run.protocol.word(), &run.cell, &run.reading);
        }
    }
    data
}
