//! The PDF file: one page of the drawing's size, fonts embedded, text selectable.

use krilla::Document;
use krilla::geom::Size;
use krilla::metadata::Metadata;
use krilla::page::PageSettings;
use krilla_svg::{SurfaceExt, SvgSettings};
use resvg::usvg;

use crate::figure::FigureError;
use crate::figure::drawing::Drawing;

/// The drawing as a PDF document.
pub fn write(drawing: &Drawing, tree: &usvg::Tree) -> Result<Vec<u8>, FigureError> {
    let failed = |reason: &str| FigureError::output("PDF", reason);
    let (width, height) = (drawing.width_pt as f32, drawing.height_pt as f32);
    let size = Size::from_wh(width, height).ok_or_else(|| failed("the page has no size"))?;
    let settings = PageSettings::from_wh(width, height);
    let settings = settings.ok_or_else(|| failed("the page has no size"))?;
    let mut document = Document::new();
    let metadata = Metadata::new()
        .title(drawing.title.clone())
        .description(drawing.description.clone())
        .language("en".to_owned());
    document.set_metadata(metadata);
    let mut page = document.start_page_with(settings);
    let mut surface = page.surface();
    surface
        .draw_svg(tree, size, SvgSettings { embed_text: true, ..SvgSettings::default() })
        .ok_or_else(|| failed("the drawing cannot be placed on the page"))?;
    surface.finish();
    page.finish();
    document.finish().map_err(|error| failed(&format!("{error:?}")))
}
