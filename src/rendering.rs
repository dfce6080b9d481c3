//! One drawing as SVG, PDF and PNG, the same bytes on every machine and in every run.
//!
//! All three come from one parsed tree. The SVG has its text as outlines, so that no viewer needs
//! the font; the PDF embeds the font, so that its text can be selected and searched; the PNG has
//! 300 dots per inch and says so. No date, no random id, no path is written.

mod pdf;
mod png;

use crate::figure::{Drawing, FigureError, svg};

/// A figure's files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rendered {
    /// The SVG document.
    pub svg: String,
    /// The PDF document, one page of the drawing's size.
    pub pdf: Vec<u8>,
    /// The PNG image, 300 dpi.
    pub png: Vec<u8>,
}

/// Renders a drawing in all three formats.
///
/// # Errors
/// [`FigureError`], naming the format that failed.
pub fn render(drawing: &Drawing) -> Result<Rendered, FigureError> {
    let tree = svg::tree(drawing)?;
    Ok(Rendered {
        svg: svg::write(drawing, &tree)?,
        pdf: pdf::write(drawing, &tree)?,
        png: png::write(&tree)?,
    })
}
