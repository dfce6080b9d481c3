//! Stability of runs that start from an empty engine (paper Fig. 6).
//!
//! One panel per cell: the share of stable runs over the arrival rate, read below in sessions per
//! second and above in multiples of the cell's all-miss rate. Where the edge lies is left to the
//! rule.

use super::Figure;
use super::axis::Axis;
use super::data::{FigureData, Value};
use super::label::Label;
use super::legend::Entry;
use super::mark::{Mark, Marker};
use super::page::{Page, Row};
use super::panel::{Panel, TopAxis};
use super::style::{COLUMN_WIDTH_PT, ENGINE, LEVEL, SIMULATOR, SIMULATOR_TOO, Stroke};
use super::timeline::lettered;

/// What the figure shows: one panel per cell, one below the other.
#[derive(Debug, Clone, PartialEq)]
pub struct FromEmpty {
    /// What the figure is called.
    pub title: String,
    /// The cells, from the top.
    pub cells: Vec<FromEmptyCell>,
    /// Where the runs come from.
    pub source: String,
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
    /// Arrival rate (sessions/s) of each engine run, and whether it was stable.
    pub engine: Vec<(f64, bool)>,
    /// The simulator's curves; the first is the primary one.
    pub simulators: Vec<StableCurve>,
}

/// The share of stable runs of a simulator.
#[derive(Debug, Clone, PartialEq)]
pub struct StableCurve {
    /// What it is called in the legend, in the markup of [`Label::parse`].
    pub label: String,
    /// Arrival rate (sessions/s) and share of stable runs.
    pub points: Vec<(f64, f64)>,
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
        source: Label::plain(&format!("{}.", input.source.trim_end_matches('.'))),
        missing: lacking.map(|cell| format!("engine runs of {}", cell.title)).collect(),
    };
    Figure { drawing: page.draw(), data: data(&input.cells) }
}

fn look(index: usize) -> Stroke {
    if index == 0 { SIMULATOR } else { SIMULATOR_TOO }
}

fn panel(index: usize, cell: &FromEmptyCell, count: usize) -> Panel {
    let last = index + 1 == count;
    let x = Axis::linear(if last { "arrival rate *λ* (sessions/s)" } else { "" });
    let rates = cell.engine.iter().map(|run| run.0);
    let rates = rates.chain(cell.simulators.iter().flat_map(|s| &s.points).map(|p| p.0));
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
        panel.add(Mark::curve(simulator.points.iter().copied(), look(i)));
        let points = simulator.points.iter().copied();
        panel.add(Mark::points(points, Marker::Ring, look(i).colour));
    }
    let share = |stable: bool| if stable { 1.0 } else { 0.0 };
    let engine = cell.engine.iter().map(|(rate, stable)| (*rate, share(*stable)));
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

fn data(cells: &[FromEmptyCell]) -> FigureData {
    let mut data = FigureData::new(&[
        ("cell", "", 0),
        ("series", "", 0),
        ("rate", "sessions/s", 6),
        ("rate_over_lambda_ref", "", 4),
        ("stable_share", "", 4),
    ]);
    for cell in cells {
        let title = Label::parse(&cell.title).text();
        let mut push = |series: &str, rate: f64, share: f64| {
            data.push([
                title.as_str().into(),
                Value::Text(Label::parse(series).text()),
                rate.into(),
                (rate / cell.lambda_ref_per_s).into(),
                share.into(),
            ]);
        };
        cell.engine
            .iter()
            .for_each(|(rate, ok)| push("engine run", *rate, f64::from(u8::from(*ok))));
        for simulator in &cell.simulators {
            simulator.points.iter().for_each(|(rate, s)| push(&simulator.label, *rate, *s));
        }
    }
    data
}
