//! A drawing as SVG with text as text: plotters draws the shapes, at ten units to the pt.
//!
//! Plotters knows whole pixels only, so a unit is a tenth of a pt (1/720 in), finer than any
//! printer. Its own text is left out: labels are set in the carried font with true indices.

use std::fmt::Write;

use plotters::prelude::*;

use super::FigureError;
use super::drawing::{Drawing, Item, Point, Text};
use super::font::{self, Face};
use super::style::{Colour, Dash, SOLID, Stroke};

/// Drawing units per pt.
pub const UNITS_PER_PT: f64 = 10.0;

/// The drawing as an SVG document whose text names the carried font.
pub fn svg_source(drawing: &Drawing) -> Result<String, FigureError> {
    let size = (units(drawing.width_pt).unsigned_abs(), units(drawing.height_pt).unsigned_abs());
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" \
         viewBox=\"0 0 {w} {h}\">\n",
        w = size.0,
        h = size.1,
    );
    for items in drawing.items.chunk_by(|a, b| dash(a) == dash(b)) {
        svg.push_str(&group(items, size)?);
    }
    drawing.texts().for_each(|text| write_text(&mut svg, text));
    svg.push_str("</svg>\n");
    Ok(svg)
}

/// Neighbouring items of one dash; plotters knows no dashes, so they are set for the group.
fn group(items: &[Item], size: (u32, u32)) -> Result<String, FigureError> {
    let mut document = String::new();
    {
        let area = SVGBackend::with_string(&mut document, size).into_drawing_area();
        items.iter().try_for_each(|item| draw(&area, item)).map_err(FigureError::canvas)?;
        area.present().map_err(FigureError::canvas)?;
    }
    let shapes = inner(&document).ok_or_else(|| FigureError::canvas("no document"))?;
    let lengths: Vec<_> = items.first().map_or(SOLID, dash).iter().map(|pt| units(*pt)).collect();
    let lengths: Vec<_> = lengths.iter().map(i32::to_string).collect();
    let dashes = match lengths.is_empty() {
        true => String::new(),
        false => format!(" stroke-dasharray=\"{}\"", lengths.join(" ")),
    };
    Ok(format!("<g stroke-linejoin=\"round\"{dashes}>\n{shapes}</g>\n"))
}

fn dash(item: &Item) -> Dash {
    match item {
        Item::Line { stroke, .. } => stroke.dash,
        Item::Area { .. } | Item::Disc { .. } | Item::Text(_) => SOLID,
    }
}

/// A character's escape in XML text.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;
type Drawn<'a> = Result<(), DrawingAreaErrorKind<<SVGBackend<'a> as DrawingBackend>::ErrorType>>;

fn draw<'a>(area: &Area<'a>, item: &Item) -> Drawn<'a> {
    match item {
        Item::Line { points, stroke } => {
            area.draw(&PathElement::new(path_of(points), line_style(stroke)))
        }
        Item::Area { corners, fill } => {
            area.draw(&Polygon::new(path_of(corners), colour(*fill).filled()))
        }
        Item::Disc { centre, radius, fill } => {
            area.draw(&Circle::new(pixel(centre), units(*radius), colour(*fill).filled()))
        }
        Item::Text(_) => Ok(()),
    }
}

fn line_style(stroke: &Stroke) -> ShapeStyle {
    colour(stroke.colour).stroke_width(units(stroke.width_pt).unsigned_abs().max(1))
}

fn colour(colour: Colour) -> RGBAColor {
    let (r, g, b) = colour.rgb;
    RGBColor(r, g, b).mix(colour.opacity)
}

/// Whole-pixel points, without repeats.
fn path_of(points: &[Point]) -> Vec<(i32, i32)> {
    let mut path: Vec<_> = points.iter().map(pixel).collect();
    path.dedup();
    path
}

fn pixel(point: &Point) -> (i32, i32) {
    (units(point.x), units(point.y))
}

fn units(pt: f64) -> i32 {
    (pt * UNITS_PER_PT).round() as i32
}

/// One element per run, placed by our own measure; the quarter turn is a matrix of whole numbers.
fn write_text(svg: &mut String, text: &Text) {
    let (r, g, b) = text.colour.rgb;
    for run in text.label.runs(text.size_pt) {
        let slant = if run.face == Face::Italic { " font-style=\"italic\"" } else { "" };
        let (dx, dy) = if text.upwards { (run.dy_pt, -run.dx_pt) } else { (run.dx_pt, run.dy_pt) };
        let (x, y) = (units(text.start.x + dx), units(text.start.y + dy));
        let place = if text.upwards {
            format!("transform=\"matrix(0 -1 1 0 {x} {y})\"")
        } else {
            format!("x=\"{x}\" y=\"{y}\"")
        };
        // Writing to a String cannot fail.
        let _ = writeln!(
            svg,
            "<text {place} xml:space=\"preserve\" font-family=\"{}\" font-size=\"{}\"{slant} \
             fill=\"#{r:02x}{g:02x}{b:02x}\">{}</text>",
            font::FAMILY,
            units(run.size_pt),
            escaped(&run.text),
        );
    }
}

/// What lies between a document's root tags.
fn inner(document: &str) -> Option<&str> {
    let start = document.find('>')? + 1;
    let end = document.rfind("</svg>")?;
    document.get(start..end).map(str::trim_start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::drawing::Anchor;
    use crate::figure::label::Label;
    use crate::figure::style::{DASHED, INK};

    #[test]
    fn dashed_lines_are_grouped_and_solid_ones_have_no_dash() {
        let mut drawing = Drawing::new(20.0, "t", "d");
        drawing.height_pt = 10.0;
        for (y, dash) in [(1.0, SOLID), (2.0, DASHED), (3.0, DASHED)] {
            drawing.segment((0.0, y), (20.0, y), Stroke::new(INK, 0.5, dash));
        }
        let svg = svg_source(&drawing).unwrap();
        assert_eq!(svg.matches("<g ").count(), 2);
        assert_eq!(svg.matches("stroke-dasharray=\"36 18\"").count(), 1);
        assert_eq!(svg.matches("<polyline").count(), 3);
    }

    #[test]
    fn text_that_looks_like_markup_is_escaped() {
        let mut drawing = Drawing::new(20.0, "t", "d");
        drawing.height_pt = 10.0;
        drawing.text(&Label::plain("a<b & \"c\""), (1.0, 8.0), Anchor::Start, (7.0, INK));
        assert!(svg_source(&drawing).unwrap().contains(">a&lt;b &amp; &quot;c&quot;</text>"));
    }
}
