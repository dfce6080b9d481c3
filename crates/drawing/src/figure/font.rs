//! The one font of every figure, carried in the binary: Source Sans 3, regular and italic.
//!
//! Widths are sums of advances without kerning, at most a percent wider than what is drawn.
//! No font of the system is ever read, so a figure looks the same on every machine.

use std::sync::{Arc, LazyLock};

use ab_glyph::{Font, FontRef};
use usvg::fontdb::Database;

/// The family's name, as the drawing names it.
pub const FAMILY: &str = "Source Sans 3";

static REGULAR: &[u8] = include_bytes!("../../../../assets/fonts/SourceSans3-Regular.otf");
static ITALIC: &[u8] = include_bytes!("../../../../assets/fonts/SourceSans3-It.otf");

/// Upright or italic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Face {
    /// Upright.
    Regular,
    /// Italic, for the symbols of quantities.
    Italic,
}

/// Height of a capital over the font size.
pub(crate) const CAP_HEIGHT: f64 = 0.66;
/// Depth of a descender over the font size.
pub(crate) const DESCENT: f64 = 0.22;

/// Width of a text in one face at this size, in pt.
pub fn width_pt(face: Face, text: &str, size_pt: f64) -> f64 {
    let font = font(face);
    let per_em = f64::from(font.units_per_em().unwrap_or(1000.0));
    let advance = |c| f64::from(font.h_advance_unscaled(font.glyph_id(c)));
    text.chars().map(advance).sum::<f64>() / per_em * size_pt
}

/// Whether the face can draw this character.
pub(crate) fn has_glyph(face: Face, character: char) -> bool {
    font(face).glyph_id(character).0 != 0
}

/// The two faces, for what sets or embeds text.
pub fn database() -> Arc<Database> {
    static DATABASE: LazyLock<Arc<Database>> = LazyLock::new(|| {
        let mut database = Database::new();
        database.load_font_data(REGULAR.to_vec());
        database.load_font_data(ITALIC.to_vec());
        Arc::new(database)
    });
    DATABASE.clone()
}

fn font(face: Face) -> &'static FontRef<'static> {
    static FONTS: LazyLock<[FontRef<'static>; 2]> = LazyLock::new(|| {
        [REGULAR, ITALIC].map(|bytes| FontRef::try_from_slice(bytes).expect("a carried font"))
    });
    match face {
        Face::Regular => &FONTS[0],
        Face::Italic => &FONTS[1],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_faces_have_the_symbols_of_the_field() {
        for face in [Face::Regular, Face::Italic] {
            for c in "λρμγαΓδ−×±·–≥≤∞→≈ abcXYZ0123456789()[]{}%/".chars() {
                assert!(has_glyph(face, c), "{face:?} lacks {c}");
            }
        }
    }

    #[test]
    fn the_database_holds_exactly_the_two_carried_faces() {
        let names: Vec<_> = database().faces().map(|f| f.families[0].0.clone()).collect();
        assert_eq!(names, [FAMILY, FAMILY]);
    }

    #[test]
    fn width_grows_with_the_size_and_adds_over_characters() {
        let (a, b, ab) = (
            width_pt(Face::Regular, "a", 7.0),
            width_pt(Face::Regular, "b", 7.0),
            width_pt(Face::Regular, "ab", 14.0),
        );
        assert!(a > 2.0 && a < 7.0);
        assert!((2.0 * (a + b) - ab).abs() < 1e-9);
    }
}
