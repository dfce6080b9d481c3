//! A drawing as SVG, through our own drawing backend of plotters.
//!
//! Plotters knows whole pixels only, so a unit is a tenth of a pt (1/720 in), finer than any
//! printer. The backend writes what plotters' own leaves out: dashes, and text in the carried
//! font with true indices, either as text or as the outlines that it is handed.

use std::fmt::{self, Write};

use plotters::coord::Shift;
use plotters::element::{Circle, Drawable, PointCollection, Polygon, Text as TextElement};
use plotters::prelude::{
    Color, DrawingArea, DrawingAreaErrorKind, FontDesc, FontFamily, FontStyle, FontTransform,
    IntoDrawingArea, RGBAColor, RGBColor, ShapeStyle, TextStyle,
};
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind,
};

use super::FigureError;
use super::drawing::{Drawing, Item, Point, Text};
use super::font::{self, Face};
use super::style::{self, Colour, Dash, SOLID, Stroke};

/// Drawing units per pt.
pub const UNITS_PER_PT: f64 = 10.0;

/// How the letters of a drawing are written.
#[derive(Debug, Clone, Copy)]
pub enum Lettering<'a> {
    /// As text that names the carried font.
    Text,
    /// As these outlines, one for each run of letters in the order of the drawing.
    Outlines(&'a [String]),
    /// As text for a web page, in colours that the page may set.
    OnPage,
}

/// The drawing as an SVG document whose text names the carried font, a unit a pixel.
pub(crate) fn svg_source(drawing: &Drawing) -> Result<String, FigureError> {
    let (width, height) = size(drawing);
    let head = format!("width=\"{width}\" height=\"{height}\"");
    document(drawing, &head, "", Lettering::Text)
}

/// The drawing as an SVG document with these attributes in its root and this before its shapes.
pub fn document(
    drawing: &Drawing,
    head: &str,
    preface: &str,
    lettering: Lettering<'_>,
) -> Result<String, FigureError> {
    let (width, height) = size(drawing);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" {head} viewBox=\"0 0 {width} {height}\" \
         stroke-linejoin=\"round\">\n{preface}",
    );
    let backend = Svg { svg: &mut svg, size: size(drawing), dash: SOLID, lettering, runs: 0 };
    let area = backend.into_drawing_area();
    let shapes = drawing.items.iter().filter(|item| !matches!(item, Item::Text(_)));
    shapes
        .map(|item| draw(&area, item))
        .chain(drawing.texts().map(|text| draw_text(&area, text)))
        .chain(std::iter::once_with(|| area.present()))
        .collect::<Drawn>()
        .map_err(FigureError::canvas)?;
    drop(area);
    Ok(svg)
}

fn size(drawing: &Drawing) -> (u32, u32) {
    (units(drawing.width_pt).unsigned_abs(), units(drawing.height_pt).unsigned_abs())
}

/// A character's escape in XML text.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

type Area<'a> = DrawingArea<Svg<'a>, Shift>;
type Drawn = Result<(), DrawingAreaErrorKind<FigureError>>;

fn draw(area: &Area<'_>, item: &Item) -> Drawn {
    match item {
        Item::Line { points, stroke } => {
            area.draw(&DashedLine { path: path_of(points), stroke: *stroke })
        }
        Item::Area { corners, fill } => {
            area.draw(&Polygon::new(path_of(corners), colour(*fill).filled()))
        }
        Item::Disc { centre, radius, fill } => {
            area.draw(&Circle::new(pixel(centre), units(*radius), colour(*fill).filled()))
        }
        Item::Text(text) => draw_text(area, text),
    }
}

/// One element per run of letters, placed by our own measure.
fn draw_text(area: &Area<'_>, text: &Text) -> Drawn {
    let ink = colour(text.colour);
    let runs = text.label.runs(text.size_pt);
    runs.iter().filter(|run| !run.text.trim().is_empty()).try_for_each(|run| {
        let (dx, dy) = if text.upwards { (run.dy_pt, -run.dx_pt) } else { (run.dx_pt, run.dy_pt) };
        let place = (units(text.start.x + dx), units(text.start.y + dy));
        let slant = match run.face {
            Face::Regular => FontStyle::Normal,
            Face::Italic => FontStyle::Italic,
        };
        let size = f64::from(units(run.size_pt));
        let font = FontDesc::new(FontFamily::Name(font::FAMILY), size, slant);
        let font = if text.upwards { font.transform(FontTransform::Rotate270) } else { font };
        let style = TextStyle::from(font).color(&ink);
        area.draw(&TextElement::new(run.text.as_str(), place, style))
    })
}

/// A line with its dash, an element that only our backend can draw.
struct DashedLine {
    path: Vec<BackendCoord>,
    stroke: Stroke,
}

impl<'a> PointCollection<'a, BackendCoord> for &'a DashedLine {
    type Point = &'a BackendCoord;
    type IntoIter = &'a [BackendCoord];

    fn point_iter(self) -> Self::IntoIter {
        &self.path
    }
}

impl Drawable<Svg<'_>> for DashedLine {
    fn draw<I: Iterator<Item = BackendCoord>>(
        &self,
        path: I,
        backend: &mut Svg<'_>,
        _: (u32, u32),
    ) -> Written {
        let stroke_width = units(self.stroke.width_pt).unsigned_abs().max(1);
        let color = colour(self.stroke.colour);
        let style = ShapeStyle { color, filled: false, stroke_width };
        backend.dash = self.stroke.dash;
        let written = backend.draw_path(path, &style);
        backend.dash = SOLID;
        written
    }
}

fn colour(colour: Colour) -> RGBAColor {
    let (r, g, b) = colour.rgb;
    RGBColor(r, g, b).mix(colour.opacity)
}

/// Whole-pixel points, without repeats.
fn path_of(points: &[Point]) -> Vec<BackendCoord> {
    let mut path: Vec<_> = points.iter().map(pixel).collect();
    path.dedup();
    path
}

fn pixel(point: &Point) -> BackendCoord {
    (units(point.x), units(point.y))
}

fn units(pt: f64) -> i32 {
    (pt * UNITS_PER_PT).round() as i32
}

/// The backend: each call writes one element.
struct Svg<'a> {
    svg: &'a mut String,
    size: (u32, u32),
    dash: Dash,
    lettering: Lettering<'a>,
    /// How many runs of letters were written.
    runs: usize,
}

type Written = Result<(), DrawingErrorKind<FigureError>>;

impl Svg<'_> {
    fn write(&mut self, element: fmt::Arguments<'_>) -> Written {
        let written = self.svg.write_fmt(element);
        written.map_err(|e| DrawingErrorKind::DrawingError(FigureError::canvas(e)))
    }

    fn inked(&self, what: &str, colour: BackendColor) -> String {
        let opacity = match colour.alpha < 1.0 {
            true => format!(" {what}-opacity=\"{}\"", colour.alpha),
            false => String::new(),
        };
        let ink = match self.lettering {
            Lettering::OnPage => style::variable(colour.rgb),
            _ => style::hex(colour.rgb),
        };
        format!("{what}=\"{ink}\"{opacity}")
    }

    /// How a shape is inked: its inside, or its line with the dash of the moment.
    fn ink(&self, style: &impl BackendStyle, fill: bool) -> String {
        let what = if fill { "fill" } else { "stroke" };
        let ink = self.inked(what, style.color());
        if fill {
            return ink;
        }
        let dash: Vec<_> = self.dash.iter().map(|pt| units(*pt).to_string()).collect();
        let dash = match dash.is_empty() {
            true => String::new(),
            false => format!(" stroke-dasharray=\"{}\"", dash.join(" ")),
        };
        format!("fill=\"none\" {ink} stroke-width=\"{}\"{dash}", style.stroke_width())
    }
}

fn listed(path: impl IntoIterator<Item = BackendCoord>) -> String {
    let points: Vec<_> = path.into_iter().map(|(x, y)| format!("{x},{y}")).collect();
    points.join(" ")
}

impl DrawingBackend for Svg<'_> {
    type ErrorType = FigureError;

    fn get_size(&self) -> (u32, u32) {
        self.size
    }

    fn ensure_prepared(&mut self) -> Written {
        Ok(())
    }

    fn present(&mut self) -> Written {
        self.write(format_args!("</svg>\n"))
    }

    fn draw_pixel(&mut self, at: BackendCoord, colour: BackendColor) -> Written {
        self.draw_rect(at, (at.0 + 1, at.1 + 1), &colour, true)
    }

    fn draw_line<S: BackendStyle>(
        &mut self,
        from: BackendCoord,
        to: BackendCoord,
        style: &S,
    ) -> Written {
        self.draw_path([from, to], style)
    }

    fn draw_rect<S: BackendStyle>(
        &mut self,
        (left, top): BackendCoord,
        (right, bottom): BackendCoord,
        style: &S,
        fill: bool,
    ) -> Written {
        let (width, height) = (right - left, bottom - top);
        let ink = self.ink(style, fill);
        self.write(format_args!(
            "<rect x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{height}\" {ink}/>\n"
        ))
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> Written {
        let ink = self.ink(style, false);
        self.write(format_args!("<polyline {ink} points=\"{}\"/>\n", listed(path)))
    }

    fn draw_circle<S: BackendStyle>(
        &mut self,
        (x, y): BackendCoord,
        radius: u32,
        style: &S,
        fill: bool,
    ) -> Written {
        let ink = self.ink(style, fill);
        self.write(format_args!("<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\" {ink}/>\n"))
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        corners: I,
        style: &S,
    ) -> Written {
        let ink = self.ink(style, true);
        self.write(format_args!("<polygon {ink} points=\"{}\"/>\n", listed(corners)))
    }

    /// The quarter turn is a matrix of whole numbers.
    fn draw_text<T: BackendTextStyle>(
        &mut self,
        text: &str,
        style: &T,
        (x, y): BackendCoord,
    ) -> Written {
        let ink = self.inked("fill", style.color());
        let run = self.runs;
        self.runs += 1;
        if let Lettering::Outlines(outlines) = self.lettering {
            let outline = outlines.get(run).ok_or_else(|| {
                DrawingErrorKind::DrawingError(FigureError::canvas("letters without an outline"))
            })?;
            return self.write(format_args!("<path {ink} d=\"{outline}\"/>\n"));
        }
        let place = match style.transform() {
            FontTransform::Rotate270 => format!("transform=\"matrix(0 -1 1 0 {x} {y})\""),
            _ => format!("x=\"{x}\" y=\"{y}\""),
        };
        let slant = match style.style() {
            FontStyle::Italic => " font-style=\"italic\"",
            _ => "",
        };
        let family = style.family();
        let family = match self.lettering {
            // A browser takes no name with a number in it unless it is quoted.
            Lettering::OnPage => format!("'{}', sans-serif", family.as_str()),
            _ => family.as_str().to_owned(),
        };
        self.write(format_args!(
            "<text {place} xml:space=\"preserve\" font-family=\"{family}\" font-size=\"{}\"{slant} \
             {ink}>{}</text>\n",
            style.size(),
            escaped(text),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::drawing::Anchor;
    use crate::figure::label::Label;
    use crate::figure::style::{DASHED, INK};

    fn page() -> Drawing {
        let mut drawing = Drawing::new(20.0, "t", "d");
        drawing.height_pt = 10.0;
        drawing
    }

    #[test]
    fn a_dashed_line_says_its_dash_in_tenths_of_a_pt_and_a_solid_one_has_none() {
        let mut drawing = page();
        for (y, dash) in [(1.0, SOLID), (2.0, DASHED), (3.0, DASHED), (4.0, SOLID)] {
            drawing.segment((0.0, y), (20.0, y), Stroke::new(INK, 0.5, dash));
        }
        let svg = svg_source(&drawing).unwrap();
        let dashed: Vec<_> = svg.lines().map(|l| l.contains("dasharray=\"36 18\"")).collect();
        assert_eq!(dashed, [false, false, true, true, false, false]);
        assert!(svg.contains("points=\"0,20 200,20\""), "{svg}");
        assert_eq!(svg.matches("stroke-width=\"5\"").count(), 4);
    }

    #[test]
    fn text_that_looks_like_markup_is_escaped() {
        let mut drawing = page();
        drawing.text(&Label::plain("a<b & \"c\""), (1.0, 8.0), Anchor::Start, (7.0, INK));
        assert!(svg_source(&drawing).unwrap().contains(">a&lt;b &amp; &quot;c&quot;</text>"));
    }

    #[test]
    fn on_a_page_the_font_is_named_as_browsers_take_it_and_colours_are_the_pages() {
        let mut drawing = page();
        drawing.text(&Label::plain("a"), (1.0, 8.0), Anchor::Start, (7.0, INK));
        let svg = document(&drawing, "", "", Lettering::OnPage).unwrap();
        assert!(svg.contains("font-family=\"'Source Sans 3', sans-serif\""), "{svg}");
        assert!(svg.contains("fill=\"var(--figure-ink, #1a1a1a)\">a</text>"), "{svg}");
    }

    #[test]
    fn outlines_stand_for_the_letters_and_none_may_lack() {
        let mut drawing = page();
        drawing.text(&Label::parse("*λ*_{ref}"), (1.0, 8.0), Anchor::Start, (7.0, INK));
        let of = |outlines: &[String]| document(&drawing, "", "", Lettering::Outlines(outlines));
        let outlines = ["M 0 0 Z".to_owned(), "M 1 1 Z".to_owned()];
        let svg = of(&outlines).unwrap();
        assert!(svg.contains("d=\"M 1 1 Z\"") && !svg.contains("<text"), "{svg}");
        assert!(of(&outlines[..1]).is_err());
    }
}
