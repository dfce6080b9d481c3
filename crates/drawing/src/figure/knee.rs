//! Where a closed population falls off: hits and turns over the population, from both starts.

use super::axis::Axis;
use super::label::Label;
use super::legend::Entry;
use super::mark::{Mark, Marker};
use super::page::{Page, Row};
use super::panel::Panel;
use super::population::{Estimate, estimates, population_axis};
use super::style::{
    BLUE, CAP_LEVEL, COLUMN_WIDTH_PT, Colour, DOTTED, INK, MAIN_PT, PURPLE, SOLID, Stroke,
    VERMILLION, WINDOW_SHADE,
};
use super::{Figure, Origin};
use crate::table::{Cell, Col, Heading};

/// What the figure shows.
#[derive(Debug, Clone, PartialEq)]
pub struct Knee {
    /// What the figure is called.
    pub title: String,
    /// Its curves.
    pub curves: Vec<KneeCurve>,
    /// From the last population that is good from empty to the first that is trapped.
    pub bracket: Option<(f64, f64)>,
    /// The predicted onset of the all-miss branch.
    pub onset_n: Option<f64>,
    /// The cap to set.
    pub cap: Option<u32>,
    /// How the runs were made, as plain text; may be empty.
    pub note: String,
}

/// The runs of one start.
#[derive(Debug, Clone, PartialEq)]
pub struct KneeCurve {
    /// Which runs they are.
    pub kind: KneeKind,
    /// Their points, at rising populations.
    pub points: Vec<KneePoint>,
}

/// How runs start, and on what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KneeKind {
    /// From empty.
    Empty,
    /// From a trap.
    Trap,
    /// From empty, with a host tier.
    EmptyWithHost,
    /// From a trap, with a host tier.
    TrapWithHost,
}

/// One population.
#[derive(Debug, Clone, PartialEq)]
pub struct KneePoint {
    /// The population.
    pub n: u32,
    /// Which runs they are, and what made them.
    pub origin: Origin,
    /// Cached tokens over those that could be reused.
    pub hit_share: Option<Estimate>,
    /// Turns answered per second.
    pub turns_per_s: Estimate,
}

const HEIGHT_PT: f64 = 84.0;
const ONSET: Stroke = Stroke::new(INK, 0.7, DOTTED);

impl KneeKind {
    /// Its word in the data.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::Trap => "trap",
            Self::EmptyWithHost => "empty, host tier",
            Self::TrapWithHost => "trap, host tier",
        }
    }

    const fn look(self) -> (Marker, Colour) {
        match self {
            Self::Empty => (Marker::Disc, BLUE),
            Self::Trap => (Marker::Ring, VERMILLION),
            Self::EmptyWithHost => (Marker::Triangle, PURPLE),
            Self::TrapWithHost => (Marker::Diamond, PURPLE),
        }
    }
}

/// Draws hits above and turns below.
pub fn knee(input: &Knee) -> Figure {
    let hits = |point: &KneePoint| point.hit_share;
    let turns = |point: &KneePoint| Some(point.turns_per_s);
    let page = Page {
        width_pt: COLUMN_WIDTH_PT,
        title: input.title.clone(),
        description:
            "Hits over what could be reused (above) and turns per second (below) over the \
                      closed population, from an empty engine and from a trap, with the bracket, \
                      the predicted onset and the cap."
                .to_owned(),
        legend: legend(input),
        rows: vec![
            Row {
                height_pt: HEIGHT_PT,
                panels: vec![panel(input, Axis::fraction("hits over ceiling"), true, hits)],
            },
            Row {
                height_pt: HEIGHT_PT,
                panels: vec![panel(input, Axis::linear("turns/s").starting(0.0), false, turns)],
            },
        ],
        note: Label::plain(&input.note),
        missing: input.curves.is_empty().then(|| "runs".to_owned()).into_iter().collect(),
    };
    page.figure(COLUMNS, data(input))
}

fn panel(input: &Knee, y: Axis, above: bool, of: fn(&KneePoint) -> Option<Estimate>) -> Panel {
    let runs = input.curves.iter().flat_map(|curve| &curve.points).map(|p| f64::from(p.n));
    let axis = population_axis(runs.chain(input.onset_n)).labelled(!above);
    let mut panel = Panel::new(axis, y);
    if let Some(bracket) = input.bracket {
        panel.add(Mark::span(bracket, WINDOW_SHADE, ""));
    }
    if let Some(onset) = input.onset_n {
        panel.add(Mark::moment(onset, ONSET, if above { "*n*_{b}" } else { "" }));
    }
    if let Some(cap) = input.cap {
        panel.add(Mark::moment(f64::from(cap), CAP_LEVEL, ""));
    }
    // From the back: runs from empty lie above the others.
    for curve in input.curves.iter().rev() {
        let (marker, colour) = curve.kind.look();
        let known = || curve.points.iter().filter_map(|p| Some((f64::from(p.n), of(p)?)));
        let line = known().map(|(n, estimate)| (n, estimate.value));
        panel.add(Mark::curve(line, Stroke::new(colour, 0.6 * MAIN_PT, SOLID)));
        panel.add(estimates(known(), marker, colour));
    }
    panel
}

fn legend(input: &Knee) -> Vec<Entry> {
    let mut entries: Vec<Entry> = input
        .curves
        .iter()
        .map(|curve| {
            let (marker, colour) = curve.kind.look();
            Entry::marker(marker, colour, format!("from {}", curve.kind.word()))
        })
        .collect();
    if input.bracket.is_some() {
        entries.push(Entry::shade(WINDOW_SHADE, "where it falls"));
    }
    if input.onset_n.is_some() {
        entries.push(Entry::line(ONSET, "predicted onset *n*_{b}"));
    }
    if let Some(cap) = input.cap {
        entries.push(Entry::line(CAP_LEVEL, format!("cap {cap}")));
    }
    entries
}

/// A point of a curve.
struct Plotted {
    start: &'static str,
    n: u32,
    hit_share: Option<Estimate>,
    turns_per_s: Estimate,
}

const COLUMNS: &[Col<Plotted>] = &[
    Heading("start", "", "How the runs start").new(|of| Cell::text(of.start)),
    Heading("n", "", "Sessions of the closed population").count(|of| u64::from(of.n)),
    Heading("hit_share", "", "Cached tokens over those that could be reused, mean over seeds")
        .known(6, |of| Some(of.hit_share?.value)),
    Heading("hit_share_se", "", "Its standard error over seeds")
        .optional(6, |of| of.hit_share?.standard_error),
    Heading("turns [turns/s]", "turns/s", "Turns answered, mean over seeds")
        .number(6, |of| of.turns_per_s.value),
];

fn data(input: &Knee) -> Vec<(Origin, Plotted)> {
    let of_curve = |curve: &KneeCurve| {
        let start = curve.kind.word();
        let plotted = move |p: &KneePoint| {
            let (n, hit_share, turns_per_s) = (p.n, p.hit_share, p.turns_per_s);
            (p.origin.clone(), Plotted { start, n, hit_share, turns_per_s })
        };
        curve.points.iter().map(plotted).collect::<Vec<_>>()
    };
    input.curves.iter().flat_map(of_curve).collect()
}
