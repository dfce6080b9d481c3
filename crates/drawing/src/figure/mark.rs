//! What can be drawn in a panel: lines, steps, points, bars, spans, rules and notes.
//!
//! Marks hold data in the units of the axes. An unknown value is a gap, never a zero.

use super::drawing::{Drawing, Point};
use super::label::Label;
use super::style::{Colour, MARKER_PT, SOLID, Stroke, WHITE};

/// Something drawn in a panel; later marks lie above earlier ones.
#[derive(Debug, Clone, PartialEq)]
pub enum Mark {
    /// Straight lines between neighbouring known points.
    Line(Series),
    /// A level that holds from each point to the next.
    Steps(Series),
    /// A marker at each point.
    Points(Points),
    /// A rectangle from the base of the y axis to each value.
    Bars(Bars),
    /// The area between two lines.
    Band(Band),
    /// A shaded stretch of the x axis.
    Span(Span),
    /// A vertical line.
    Moment(Rule),
    /// A horizontal line.
    Level(Rule),
    /// A text inside the panel.
    Note(Note),
}

/// Points in rising x, with how their line is drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// x and y; an unknown y breaks the line.
    pub points: Vec<(f64, Option<f64>)>,
    /// How it is drawn.
    pub stroke: Stroke,
}

/// Markers, each with the half-length of its error bar if it has one.
#[derive(Debug, Clone, PartialEq)]
pub struct Points {
    /// x, y, and the error bar's half-length.
    pub points: Vec<(f64, f64, Option<f64>)>,
    /// Which marker.
    pub marker: Marker,
    /// Its colour.
    pub colour: Colour,
}

/// The shape of a marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Marker {
    /// A filled disc.
    Disc,
    /// A smaller filled disc with a white rim, for many points close together.
    Dot,
    /// An open disc.
    Ring,
    /// A larger open disc, around another marker.
    Halo,
    /// A filled square.
    Square,
    /// An open diamond.
    Diamond,
    /// A filled triangle.
    Triangle,
    /// An upright cross.
    Plus,
    /// A diagonal cross.
    Cross,
}

impl Marker {
    /// Draws one marker, in a panel or in a legend.
    pub(super) fn draw(self, on: &mut Drawing, at: Point, colour: Colour) {
        let r = MARKER_PT;
        let around = |shape: &[(f64, f64)]| -> Vec<Point> {
            shape.iter().map(|(dx, dy)| Point { x: at.x + r * dx, y: at.y + r * dy }).collect()
        };
        let outline = Stroke::new(colour, 0.7, SOLID);
        match self {
            Marker::Disc => on.disc(at, r, colour),
            Marker::Dot => {
                on.disc(at, 0.95 * r, WHITE);
                on.disc(at, 0.75 * r, colour);
            }
            Marker::Ring => {
                on.disc(at, r + 0.1, colour);
                on.disc(at, r - 0.6, WHITE);
            }
            Marker::Halo => {
                let circle: Vec<_> = (0..=32).map(|i| circle_point(i, 32)).collect();
                let circle: Vec<_> = circle.iter().map(|(x, y)| (1.9 * x, 1.9 * y)).collect();
                on.line(around(&circle), outline);
            }
            Marker::Square => {
                on.area(around(&[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)]), colour);
            }
            Marker::Diamond => {
                let shape = [(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0), (0.0, -1.3)];
                on.area(around(&shape), WHITE);
                on.line(around(&shape), outline);
            }
            Marker::Triangle => on.area(around(&[(0.0, -1.2), (1.1, 0.8), (-1.1, 0.8)]), colour),
            Marker::Plus => {
                on.line(around(&[(-1.2, 0.0), (1.2, 0.0)]), outline);
                on.line(around(&[(0.0, -1.2), (0.0, 1.2)]), outline);
            }
            Marker::Cross => {
                on.line(around(&[(-0.9, -0.9), (0.9, 0.9)]), outline);
                on.line(around(&[(-0.9, 0.9), (0.9, -0.9)]), outline);
            }
        }
    }
}

fn circle_point(part: i32, parts: i32) -> (f64, f64) {
    let angle = std::f64::consts::TAU * f64::from(part) / f64::from(parts);
    (libm::cos(angle), libm::sin(angle))
}

/// Bars of one width.
#[derive(Debug, Clone, PartialEq)]
pub struct Bars {
    /// x of each bar's middle, and its height.
    pub bars: Vec<(f64, f64)>,
    /// Width in units of x.
    pub width: f64,
    /// Colour of the bars.
    pub fill: Colour,
}

/// An area between a lower and an upper line.
#[derive(Debug, Clone, PartialEq)]
pub struct Band {
    /// x, lower y, upper y.
    pub points: Vec<(f64, f64, f64)>,
    /// Its colour.
    pub fill: Colour,
}

/// A named stretch of the x axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Span {
    /// Where it starts.
    pub from: f64,
    /// Where it ends.
    pub to: f64,
    /// Its shade.
    pub fill: Colour,
    /// Its name, printed above the panel; empty when another panel names it.
    pub name: Label,
}

/// A straight line across the panel.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    /// Where it stands.
    pub at: f64,
    /// How it is drawn.
    pub stroke: Stroke,
    /// Its name; empty when another panel or the legend names it.
    pub name: Label,
}

/// A text inside the panel, at a place in the units of the axes.
#[derive(Debug, Clone, PartialEq)]
pub struct Note {
    /// x and y of its start.
    pub at: (f64, f64),
    /// What it says.
    pub text: Label,
    /// Its colour.
    pub colour: Colour,
}

impl Mark {
    /// A line through these points.
    pub fn line(points: Vec<(f64, Option<f64>)>, stroke: Stroke) -> Self {
        Mark::Line(Series { points, stroke })
    }

    /// A line through points that are all known.
    pub fn curve(points: impl IntoIterator<Item = (f64, f64)>, stroke: Stroke) -> Self {
        Self::line(points.into_iter().map(|(x, y)| (x, Some(y))).collect(), stroke)
    }

    /// A level that holds from each of these points to the next.
    pub fn steps(points: impl IntoIterator<Item = (f64, f64)>, stroke: Stroke) -> Self {
        let points = points.into_iter().map(|(x, y)| (x, Some(y))).collect();
        Mark::Steps(Series { points, stroke })
    }

    /// Markers without error bars.
    pub fn points(
        points: impl IntoIterator<Item = (f64, f64)>,
        marker: Marker,
        colour: Colour,
    ) -> Self {
        let points = points.into_iter().map(|(x, y)| (x, y, None)).collect();
        Mark::Points(Points { points, marker, colour })
    }

    /// A shaded and named stretch of the x axis.
    pub fn span((from, to): (f64, f64), fill: Colour, name: impl Into<Label>) -> Self {
        Mark::Span(Span { from, to, fill, name: name.into() })
    }

    /// A named vertical line.
    pub fn moment(at: f64, stroke: Stroke, name: impl Into<Label>) -> Self {
        Mark::Moment(Rule { at, stroke, name: name.into() })
    }

    /// A named horizontal line.
    pub fn level(at: f64, stroke: Stroke, name: impl Into<Label>) -> Self {
        Mark::Level(Rule { at, stroke, name: name.into() })
    }

    /// A text inside the panel.
    pub fn note(at: (f64, f64), text: impl Into<Label>, colour: Colour) -> Self {
        Mark::Note(Note { at, text: text.into(), colour })
    }

    /// The points that the axes have to hold, unknown values left out.
    pub(crate) fn extent(&self) -> Vec<(f64, f64)> {
        match self {
            Mark::Line(s) | Mark::Steps(s) => {
                s.points.iter().filter_map(|(x, y)| y.map(|y| (*x, y))).collect()
            }
            Mark::Points(p) => p
                .points
                .iter()
                .flat_map(|(x, y, bar)| [-1.0, 1.0].map(|s| (*x, y + s * bar.unwrap_or(0.0))))
                .collect(),
            Mark::Bars(b) => b
                .bars
                .iter()
                .flat_map(|(x, y)| [(x - 0.5 * b.width, 0.0), (x + 0.5 * b.width, *y)])
                .collect(),
            Mark::Band(b) => {
                b.points.iter().flat_map(|(x, lo, hi)| [(*x, *lo), (*x, *hi)]).collect()
            }
            Mark::Span(_) | Mark::Moment(_) | Mark::Level(_) | Mark::Note(_) => Vec::new(),
        }
    }
}
