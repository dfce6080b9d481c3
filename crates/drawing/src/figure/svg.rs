//! The SVG file: the drawing with its text as outlines, sized in inches, with title and
//! description.

use std::fmt::Write;

use usvg::tiny_skia_path::{PathSegment, Point};
use usvg::{Group, Node};

use super::canvas::{self, Lettering, escaped};
use super::drawing::Drawing;
use super::{FigureError, font};

/// The parsed tree of a drawing, from which every format comes.
///
/// # Errors
/// The shapes could not be drawn.
pub fn tree(drawing: &Drawing) -> Result<usvg::Tree, FigureError> {
    let options = usvg::Options {
        fontdb: font::database(),
        font_family: font::FAMILY.to_owned(),
        ..usvg::Options::default()
    };
    let source = canvas::svg_source(drawing)?;
    usvg::Tree::from_str(&source, &options).map_err(FigureError::canvas)
}

/// The drawing as an SVG document; the letters' outlines are those of the tree.
///
/// # Errors
/// The shapes could not be drawn.
pub fn write(drawing: &Drawing, tree: &usvg::Tree) -> Result<String, FigureError> {
    let inches = |pt: f64| format!("{:.4}in", pt / 72.0);
    let head = format!(
        "role=\"img\" width=\"{}\" height=\"{}\"",
        inches(drawing.width_pt),
        inches(drawing.height_pt),
    );
    let mut outlines = Vec::new();
    add_outlines(tree.root(), &mut outlines);
    canvas::document(drawing, &head, &preface(drawing), Lettering::Outlines(&outlines))
}

/// The drawing for a web page that inlines it: letters as text in [`font::FAMILY`], which the
/// page has to bring along, and colours as variables that it may set (docs/page.md). Without a
/// size of its own it is as wide as its place.
///
/// # Errors
/// The shapes could not be drawn.
pub fn for_page(drawing: &Drawing) -> Result<String, FigureError> {
    let preface = preface(drawing);
    canvas::document(drawing, "role=\"img\"", &preface, Lettering::OnPage)
}

/// Title and description, for readers who cannot see it.
fn preface(drawing: &Drawing) -> String {
    format!(
        "<title>{}</title>\n<desc>{}</desc>\n",
        escaped(&drawing.title),
        escaped(&drawing.description),
    )
}

/// The outlines of every text in a group, one each, in their order.
fn add_outlines(group: &Group, outlines: &mut Vec<String>) {
    for node in group.children() {
        match node {
            Node::Group(inner) => add_outlines(inner, outlines),
            Node::Text(text) => {
                let mut outline = String::new();
                add_paths(text.flattened(), &mut outline);
                outlines.push(outline);
            }
            Node::Path(_) | Node::Image(_) => {}
        }
    }
}

fn add_paths(group: &Group, outline: &mut String) {
    for node in group.children() {
        match node {
            Node::Group(inner) => add_paths(inner, outline),
            Node::Path(path) => {
                if let Some(path) = path.data().clone().transform(path.abs_transform()) {
                    path.segments().for_each(|segment| add_segment(segment, outline));
                }
            }
            Node::Image(_) | Node::Text(_) => {}
        }
    }
}

/// A segment, to a tenth of a unit (1/7200 in).
fn add_segment(segment: PathSegment, outline: &mut String) {
    let (command, points): (char, &[Point]) = match &segment {
        PathSegment::MoveTo(to) => ('M', &[*to]),
        PathSegment::LineTo(to) => ('L', &[*to]),
        PathSegment::QuadTo(by, to) => ('Q', &[*by, *to]),
        PathSegment::CubicTo(first, second, to) => ('C', &[*first, *second, *to]),
        PathSegment::Close => ('Z', &[]),
    };
    outline.push(command);
    let numbers = points.iter().flat_map(|point| [point.x, point.y]);
    for (i, number) in numbers.enumerate() {
        let between = if i > 0 { " " } else { "" };
        // Writing to a String cannot fail.
        let _ = write!(outline, "{between}{}", (number * 10.0).round() / 10.0 + 0.0);
    }
}
