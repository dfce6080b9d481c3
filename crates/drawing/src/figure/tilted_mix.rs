//! The tilted turn mix and the premium against the load (page Figs. 4 and 5).
//!
//! Left, the share of each turn number among the turns that a trapped server serves, beside the
//! stationary mix; right, model F's ratios over the load. The model is computed elsewhere.

use super::axis::Axis;
use super::label::Label;
use super::legend::Entry;
use super::mark::{Bars, Mark};
use super::page::{Page, Row};
use super::panel::Panel;
use super::style::{
    BLUE, DASH_DOT, DASHED, DOTTED, GREEN, INK, LEVEL, MAIN_PT, PAGE_WIDTH_PT, PURPLE, SOLID,
    Stroke, VERMILLION,
};
use super::timeline::lettered;
use super::{Figure, Origin};
use crate::table::{Cell, Col, Heading};

/// What the figure shows.
#[derive(Debug, Clone, PartialEq)]
pub struct TiltedMix {
    /// What the figure is called.
    pub title: String,
    /// The workload, cell and load of the left panel, in the markup of [`Label::parse`].
    pub mix_title: String,
    /// Share of each turn number, from turn 1, in the stationary mix.
    pub stationary: Vec<f64>,
    /// Share of each turn number, from turn 1, among the turns served when trapped.
    pub trapped: Vec<f64>,
    /// Quantities over the load: up to four curves.
    pub curves: Vec<LoadCurve>,
    /// The load of the left panel.
    pub rho: Option<f64>,
    /// What was computed, as plain text.
    pub note: String,
}

/// A ratio of model F over the load.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadCurve {
    /// What it is, in the markup of [`Label::parse`].
    pub label: String,
    /// Load and value.
    pub points: Vec<(f64, f64)>,
}

const STATIONARY: Stroke = Stroke::new(INK, MAIN_PT, SOLID);
const LOOKS: [Stroke; 4] = [
    Stroke::new(BLUE, MAIN_PT, SOLID),
    Stroke::new(VERMILLION, MAIN_PT, DASHED),
    Stroke::new(GREEN, MAIN_PT, DASH_DOT),
    Stroke::new(PURPLE, MAIN_PT, DOTTED),
];
const HEIGHT_PT: f64 = 100.0;

/// Draws the mix and the curves.
pub fn tilted_mix(input: &TiltedMix) -> Figure {
    let lacking = [
        (input.trapped.is_empty(), "trapped mix".to_owned()),
        (input.stationary.is_empty(), "stationary mix".to_owned()),
        (input.curves.is_empty(), "curves over the load".to_owned()),
    ];
    let beyond = input.curves.iter().skip(LOOKS.len()).map(|curve| curve.label.clone());
    let missing = lacking.into_iter().filter(|(is, _)| *is).map(|(_, what)| what);
    let page = Page {
        width_pt: PAGE_WIDTH_PT,
        title: input.title.clone(),
        description: "Share of each turn number among the turns served by a trapped server and in \
                      the stationary mix; ratios of model F over the load."
            .to_owned(),
        legend: Vec::new(),
        rows: vec![Row { height_pt: HEIGHT_PT, panels: vec![mix_panel(input), load_panel(input)] }],
        note: Label::plain(&input.note),
        missing: missing.chain(beyond).collect(),
    };
    page.figure(COLUMNS, data(input))
}

fn by_turn(shares: &[f64]) -> impl Iterator<Item = (f64, f64)> {
    shares.iter().enumerate().map(|(i, share)| (i as f64 + 1.0, *share))
}

fn mix_panel(input: &TiltedMix) -> Panel {
    let turns = input.trapped.len().max(input.stationary.len()).max(1) as f64;
    let x = Axis::linear("turn *k*").over(0.0, turns + 1.0);
    let mut panel = Panel::new(x, Axis::linear("share of turns").starting(0.0));
    panel.title = lettered(0, 2, &input.mix_title);
    let fill = BLUE.tint(0.45);
    panel.add(Mark::Bars(Bars { bars: by_turn(&input.trapped).collect(), width: 0.8, fill }));
    panel.add(Mark::curve(by_turn(&input.stationary), STATIONARY));
    panel.beside =
        vec![Entry::shade(fill, "trapped (model F)"), Entry::line(STATIONARY, "stationary")];
    panel
}

fn load_panel(input: &TiltedMix) -> Panel {
    let x = Axis::linear("load *ρ* = *λ* / *λ*_{miss}").starting(1.0);
    let mut panel = Panel::new(x, Axis::linear("ratio"));
    panel.title = lettered(1, 2, "premium against load");
    panel.add(Mark::level(1.0, LEVEL, ""));
    if let Some(rho) = input.rho {
        panel.add(Mark::moment(rho, LEVEL, ""));
    }
    for (curve, look) in input.curves.iter().zip(LOOKS) {
        panel.add(Mark::curve(curve.points.iter().copied(), look));
        panel.beside.push(Entry::line(look, curve.label.as_str()));
    }
    panel
}

/// A share of turns, or a quantity over the load.
struct Plotted {
    series: String,
    turn: Option<f64>,
    rho: Option<f64>,
    value: f64,
}

const COLUMNS: &[Col<Plotted>] = &[
    Heading("series", "", "A mix of turns, or a quantity").new(|of| Cell::text(&of.series)),
    Heading("turn", "", "Turn of its session").optional(0, |of| of.turn),
    Heading("rho", "", "Arrivals over lambda_miss").optional(6, |of| of.rho),
    Heading("value", "", "Share of turns, or the quantity").number(8, |of| of.value),
];

fn data(input: &TiltedMix) -> Vec<(Origin, Plotted)> {
    let mut data = Vec::new();
    let mut push = |series: &str, turn, rho, value| {
        let series = series.to_owned();
        data.push((Origin::model(), Plotted { series, turn, rho, value }));
    };
    for (name, shares) in [("trapped", &input.trapped), ("stationary", &input.stationary)] {
        by_turn(shares).for_each(|(turn, share)| push(name, Some(turn), input.rho, share));
    }
    for curve in &input.curves {
        let name = Label::parse(&curve.label).text();
        curve.points.iter().for_each(|(rho, value)| push(&name, None, Some(*rho), *value));
    }
    data
}
