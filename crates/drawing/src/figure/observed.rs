//! What files of an engine say over time: hits with the levels they are judged by, requests in
//! the engine, and the usage of the pool. Nothing is judged here.

use super::axis::Axis;
use super::label::Label;
use super::legend::Entry;
use super::mark::Mark;
use super::page::{Page, Row};
use super::panel::Panel;
use super::style::{
    BLUE, DASHED, DOTTED, GREY, INK, MAIN_PT, PAGE_WIDTH_PT, SEED_PT, SOLID, Stroke, VERMILLION,
    WINDOW_SHADE,
};
use super::{Figure, Origin};
use crate::table::{Cell, Col, Heading};

/// One engine over time.
#[derive(Debug, Clone, PartialEq)]
pub struct ObservedPicture {
    /// The answer's first line.
    pub headline: String,
    /// What one unit of the axis is: `min` or, where the source has no times, `sample`.
    pub time_unit: &'static str,
    /// Middle of each bin and the share of the tokens looked up that was found.
    pub hits: Vec<(f64, Option<f64>)>,
    /// Middle of each bin and the requests in the engine.
    pub outstanding: Vec<(f64, Option<f64>)>,
    /// Of these, waiting.
    pub waiting: Vec<(f64, Option<f64>)>,
    /// Middle of each bin and the usage of the pool by running requests.
    pub usage: Vec<(f64, Option<f64>)>,
    /// Below the first almost all is missed, above the second all is found.
    pub levels: Option<(f64, f64)>,
    /// What the answer is about.
    pub stretch: Option<(f64, f64)>,
    /// Where it is from.
    pub origin: Origin,
}

const HEIGHT_PT: f64 = 78.0;
const MAIN: Stroke = Stroke::new(INK, MAIN_PT, SOLID);
const WAITING: Stroke = Stroke::new(VERMILLION, MAIN_PT, DASHED);
const USAGE: Stroke = Stroke::new(BLUE, MAIN_PT, SOLID);
const LEVEL: Stroke = Stroke::new(GREY, SEED_PT, DOTTED);

/// Draws it.
pub fn observed_picture(input: &ObservedPicture) -> Figure {
    let any = |points: &[(f64, Option<f64>)]| points.iter().any(|p| p.1.is_some());
    let shown = [
        (any(&input.hits), "hit fraction"),
        (any(&input.outstanding), "requests in the engine"),
        (any(&input.usage), "KV usage"),
    ];
    let last = shown.iter().rposition(|(has, _)| *has);
    let panels = shown.iter().enumerate().filter(|(_, (has, _))| *has);
    let rows = panels
        .map(|(i, (_, name))| Row {
            height_pt: HEIGHT_PT,
            panels: vec![panel(input, name, Some(i) == last)],
        })
        .collect();
    let absent = shown.iter().filter(|(has, _)| !has);
    let page = Page {
        width_pt: PAGE_WIDTH_PT,
        title: "An engine over time".into(),
        description: format!("Hits, requests and KV usage over time. {}", input.headline),
        legend: Vec::new(),
        rows,
        note: Label::plain(&input.headline),
        missing: absent.map(|(_, name)| (*name).to_owned()).collect(),
    };
    page.figure(COLUMNS, data(input))
}

fn panel(input: &ObservedPicture, name: &str, labelled: bool) -> Panel {
    let times = [&input.hits, &input.outstanding, &input.usage];
    let end = times.iter().flat_map(|points| points.iter().map(|p| p.0)).fold(1e-9, f64::max);
    let label = match input.time_unit {
        "sample" => "sample".to_owned(),
        unit => format!("time since the load began ({unit})"),
    };
    let x = Axis::linear(Label::plain(&label)).over(0.0, end).labelled(labelled);
    let most =
        |points: &[(f64, Option<f64>)]| points.iter().filter_map(|p| p.1).fold(1.0, f64::max);
    let y = match name {
        "requests in the engine" => {
            Axis::linear("requests").over(0.0, 1.08 * most(&input.outstanding))
        }
        name => Axis::fraction(name),
    };
    let mut panel = Panel::new(x, y);
    if let Some((from, to)) = input.stretch {
        panel.add(Mark::span((from, to), WINDOW_SHADE, Label::default()));
    }
    match name {
        "hit fraction" => {
            if let Some((missed, found)) = input.levels {
                panel.add(Mark::level(missed, LEVEL, "missed"));
                panel.add(Mark::level(found, LEVEL, "found"));
            }
            panel.add(Mark::line(input.hits.clone(), MAIN));
        }
        "requests in the engine" => {
            panel.add(Mark::line(input.waiting.clone(), WAITING));
            panel.add(Mark::line(input.outstanding.clone(), MAIN));
            panel.beside = vec![Entry::line(MAIN, "all"), Entry::line(WAITING, "waiting")];
        }
        _ => panel.add(Mark::line(input.usage.clone(), USAGE)),
    }
    panel
}

/// A quantity at a time, with the unit of the time.
type Plotted = (&'static str, f64, &'static str, Option<f64>);

const COLUMNS: &[Col<Plotted>] = &[
    Heading("quantity", "", "What the value is of").new(|of| Cell::text(of.0)),
    Heading("time", "", "Time since the load began, in its unit").number(4, |of| of.1),
    Heading("time unit", "", "Minutes, or samples where the source has no times")
        .new(|of| Cell::text(of.2)),
    Heading("value", "", "The value in the bin around that time").optional(6, |of| of.3),
];

fn data(input: &ObservedPicture) -> Vec<(Origin, Plotted)> {
    let series = [
        ("hit_fraction", &input.hits),
        ("outstanding_requests", &input.outstanding),
        ("waiting_requests", &input.waiting),
        ("kv_usage", &input.usage),
    ];
    let rows = series.into_iter().flat_map(|(quantity, points)| {
        let unit = input.time_unit;
        points.iter().map(move |(t, value)| (input.origin.clone(), (quantity, *t, unit, *value)))
    });
    rows.collect()
}
