//! The PNG file: white paper, 300 dots per inch, with the resolution written in the file.

use resvg::tiny_skia::{Color, Pixmap, Transform};
use resvg::usvg;

use crate::figure::FigureError;
use crate::figure::canvas::UNITS_PER_PT;

const DOTS_PER_INCH: f32 = 300.0;
/// 300 dots per inch, in the file's unit.
const DOTS_PER_METRE: u32 = 11_811;
/// Length of the signature and of the header chunk, which the resolution has to follow.
const HEADER_END: usize = 8 + 25;

/// The drawing as a PNG image.
pub fn write(tree: &usvg::Tree) -> Result<Vec<u8>, FigureError> {
    let failed = |reason: &str| FigureError::output("PNG", reason);
    let scale = DOTS_PER_INCH / (72.0 * UNITS_PER_PT as f32);
    let dots = |units: f32| (units * scale).round() as u32;
    let (width, height) = (dots(tree.size().width()), dots(tree.size().height()));
    let mut image = Pixmap::new(width, height).ok_or_else(|| failed("the image has no size"))?;
    image.fill(Color::WHITE);
    resvg::render(tree, Transform::from_scale(scale, scale), &mut image.as_mut());
    let bytes = image.encode_png().map_err(|error| failed(&error.to_string()))?;
    if bytes.len() < HEADER_END {
        return Err(failed("the image has no header"));
    }
    let (head, rest) = bytes.split_at(HEADER_END);
    Ok([head, &resolution_chunk(), rest].concat())
}

fn resolution_chunk() -> Vec<u8> {
    let dots = DOTS_PER_METRE.to_be_bytes();
    let named = [b"pHYs".as_slice(), &dots, &dots, &[1]].concat();
    let length = 9_u32.to_be_bytes();
    [length.as_slice(), &named, &checksum(&named).to_be_bytes()].concat()
}

/// The checksum of the PNG format (CRC-32 of ISO 3309), bit by bit since it covers 13 bytes only.
fn checksum(bytes: &[u8]) -> u32 {
    let step = |crc: u32| if crc & 1 == 1 { 0xEDB8_8320 ^ (crc >> 1) } else { crc >> 1 };
    let add = |crc: u32, byte: &u8| (0..8).fold(crc ^ u32::from(*byte), |c, _| step(c));
    !bytes.iter().fold(u32::MAX, add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_the_one_of_the_format() {
        // The check value of CRC-32/ISO-HDLC, and the checksum that ends every PNG file.
        assert_eq!(checksum(b"123456789"), 0xCBF4_3926);
        assert_eq!(checksum(b"IEND"), 0xAE42_6082);
    }

    #[test]
    fn the_resolution_is_300_dots_per_inch() {
        assert!((f64::from(DOTS_PER_METRE) * 0.0254 - 300.0).abs() < 0.01);
        assert_eq!(resolution_chunk().len(), 21);
    }
}
