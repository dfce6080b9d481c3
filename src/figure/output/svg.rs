//! The SVG file: the tree with its text as outlines, sized in inches, with title and description.

use resvg::usvg;

use crate::figure::FigureError;
use crate::figure::canvas::{UNITS_PER_PT, escaped};
use crate::figure::drawing::Drawing;

/// The drawing as an SVG document.
pub fn write(drawing: &Drawing, tree: &usvg::Tree) -> Result<String, FigureError> {
    let options = usvg::WriteOptions {
        preserve_text: false,
        coordinates_precision: 1,
        transforms_precision: 5,
        indent: usvg::Indent::None,
        attributes_indent: usvg::Indent::None,
        ..usvg::WriteOptions::default()
    };
    let written = tree.to_string(&options);
    let body = written.find('>').and_then(|end| written.get(end + 1..));
    let body = body.ok_or_else(|| FigureError::output("SVG", "no root element"))?;
    let inches = |pt: f64| format!("{:.4}in", pt / 72.0);
    let (width, height) = (tree.size().width(), tree.size().height());
    Ok(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" \
         viewBox=\"0 0 {width} {height}\" role=\"img\">\n<title>{}</title>\n<desc>{}</desc>\n{}\n",
        inches(f64::from(width) / UNITS_PER_PT),
        inches(f64::from(height) / UNITS_PER_PT),
        escaped(&drawing.title),
        escaped(&drawing.description),
        body.trim(),
    ))
}
