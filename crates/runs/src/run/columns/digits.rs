//! Digits out of the text that they stand in, eight at once: most fields of a table are short
//! numbers, and there are millions.

use std::ops::Range;

/// Bytes that are looked at together.
const WORD: usize = 8;

/// A word of so many times the same byte.
const EACH: u64 = u64::from_le_bytes([1; WORD]);

/// As many digits 0.
const ZEROS: u64 = EACH * b'0' as u64;

/// A whole number of at most eight digits, as most counts are; `None` of all else.
#[inline]
pub fn whole(text: &[u8], at: Range<usize>) -> Option<u64> {
    (1..=WORD).contains(&at.len()).then(|| eight(word(text, at)))?
}

/// At most eight digits with a point among them, as most numbers are; `None` of all else. The
/// quotient of two whole numbers that a float holds exactly is the float nearest to it.
#[inline]
pub fn decimal(text: &[u8], at: Range<usize>) -> Option<f64> {
    const POWERS: [f64; WORD] = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7];
    // At least one digit, in "5." and ".5" as in "0.5": as other readers have it.
    (2..=WORD + 1).contains(&at.len()).then_some(())?;
    // The first of nine, or a 0 before fewer.
    let first = if at.len() > WORD { text[at.start] } else { b'0' };
    let bytes = word(text, at.start.max(at.end.saturating_sub(WORD))..at.end);
    // The lowest bit that is left is that of the lowest byte that is 0: the first point.
    let not_points = bytes ^ (EACH * b'.' as u64);
    let points = not_points.wrapping_sub(EACH) & !not_points & (EACH << 7);
    if points == 0 {
        return None;
    }
    let point = points.trailing_zeros() & !7;
    // What lies before the point moves into its place.
    let before = bytes & ((1 << point) - 1);
    let after = bytes >> point >> 8 << 8 << point;
    let digits = eight(after | before << 8 | u64::from(first))?;
    Some(digits as f64 / POWERS[WORD - 1 - point as usize / 8])
}

/// A field of 1 to 8 bytes behind digits 0, its first byte lowest.
#[inline]
fn word(text: &[u8], at: Range<usize>) -> u64 {
    let others = 8 * (WORD - at.len()) as u32;
    let bytes = match text[..at.end].last_chunk() {
        Some(before_end) => u64::from_le_bytes(*before_end) >> others << others,
        None => {
            text[at].iter().rev().fold(0, |bytes, byte| bytes << 8 | u64::from(*byte)) << others
        }
    };
    bytes | ZEROS.checked_shr(64 - others).unwrap_or(0)
}

/// The number that eight digits are; `None` if another byte is among them.
#[inline]
fn eight(bytes: u64) -> Option<u64> {
    const HIGH: u64 = EACH * 0xf0;
    // A digit has the upper half of 0, and so has what is six more than it.
    let is_digits = (bytes & HIGH) == ZEROS && (bytes.wrapping_add(EACH * 6) & HIGH) == ZEROS;
    // Two neighbours at a time: pairs of digits, then fours, then all eight.
    let ones = bytes.wrapping_sub(ZEROS);
    let pairs = ones.wrapping_mul(10).wrapping_add(ones >> 8) & 0x00ff_00ff_00ff_00ff;
    let fours = pairs.wrapping_mul(100).wrapping_add(pairs >> 16) & 0x0000_ffff_0000_ffff;
    is_digits.then_some(fours.wrapping_mul(10_000).wrapping_add(fours >> 32) & 0xffff_ffff)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A field at the start of a text, and with others around it.
    fn places(field: &str) -> Vec<(String, Range<usize>)> {
        let alone = (field.to_owned(), 0..field.len());
        let within = ["1,", "98.76,", "12345678.901234567,", "........................,"]
            .map(|before| (format!("{before}{field},9"), before.len()..before.len() + field.len()));
        [vec![alone], within.to_vec()].concat()
    }

    #[test]
    fn each_short_number_is_what_it_is_wherever_it_stands() {
        let mut fields = vec!["0".to_owned(), "00".into(), "5.".into(), ".5".into(), "0.0".into()];
        let mut state = 1_u64;
        for length in 1..=WORD {
            for _ in 0..200 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let digits = format!("{:020}", state >> 1);
                let digits = &digits[20 - length..];
                fields.push(digits.to_owned());
                let (before, after) = digits.split_at(1 + (state % length as u64) as usize);
                fields.push(format!("{before}.{after}"));
            }
        }
        for field in &fields {
            for (text, at) in places(field) {
                let found = whole(text.as_bytes(), at.clone());
                assert_eq!(found, field.parse::<u64>().ok(), "{field} in {text}");
                let expected = field.parse::<f64>().ok().filter(|_| field.contains('.'));
                assert_eq!(decimal(text.as_bytes(), at), expected, "{field} in {text}");
            }
        }
    }

    #[test]
    fn what_is_no_plain_number_is_none() {
        for field in ["", "..", "1..2", "1.2.", "./", "1./2", "-1.5", "+2", "1e5", "1,5", "a"] {
            for (text, at) in places(field) {
                assert_eq!(decimal(text.as_bytes(), at.clone()), None, "{field} in {text}");
                assert_eq!(whole(text.as_bytes(), at), None, "{field} in {text}");
            }
        }
        // Every other byte, in each place among digits.
        for byte in (0..=255).filter(|byte: &u8| !byte.is_ascii_digit()) {
            for place in 0..9 {
                let mut text = *b"1234567,123.56789";
                text[8 + place] = byte;
                let is_point = byte == b'.' && place == 3;
                assert_eq!(decimal(&text, 8..17).is_some(), is_point, "{byte} at {place}");
                if place > 0 {
                    text[11] = b'4';
                    text[8 + place] = byte;
                    assert_eq!(whole(&text, 9..17), None, "{byte} at {place}");
                }
            }
        }
        // Longer ones are for a library to read.
        assert_eq!((whole(b"123456789", 0..9), decimal(b"12345678.9", 0..10)), (None, None));
    }
}
