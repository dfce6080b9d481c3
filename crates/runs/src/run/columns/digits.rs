//! Digits out of the text that they stand in, sixteen at once: most fields of a table are
//! short numbers, and there are millions.

use std::ops::Range;

/// At most this many digits are whole numbers that a float holds exactly.
const EXACT_DIGITS: usize = 15;

/// Bytes that are looked at together.
const WINDOW: usize = 16;

/// As many digits 0.
const ZEROS: u128 = u128::from_le_bytes([b'0'; WINDOW]);

/// A whole number of digits alone, as most counts are; `None` of all else.
#[inline]
pub fn whole(text: &[u8], at: Range<usize>) -> Option<u64> {
    (1..=EXACT_DIGITS).contains(&at.len()).then_some(())?;
    sixteen(window(text, at))
}

/// Digits with a point among them, as most numbers are; `None` of all else. The quotient of two
/// whole numbers that a float holds exactly is the float nearest to it.
#[inline]
pub fn decimal(text: &[u8], at: Range<usize>) -> Option<f64> {
    const POWERS: [f64; EXACT_DIGITS + 1] =
        [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];
    // At least one digit, in "5." and ".5" as in "0.5": as other readers have it.
    (2..=EXACT_DIGITS).contains(&at.len()).then_some(())?;
    let bytes = window(text, at);
    let Some(point) = first_point(bytes) else {
        return sixteen(bytes).map(|digits| digits as f64);
    };
    // What lies before the point moves into its place.
    let before = bytes & ((1 << (8 * point)) - 1);
    let after = bytes >> (8 * point) >> 8 << 8 << (8 * point);
    let digits = sixteen(after | before << 8 | u128::from(b'0'))?;
    Some(digits as f64 / POWERS[WINDOW - 1 - point])
}

/// A field of 1 to 15 bytes behind digits 0, its first byte lowest.
#[inline]
fn window(text: &[u8], at: Range<usize>) -> u128 {
    let length = at.len();
    let bytes = match text[..at.end].last_chunk::<WINDOW>() {
        Some(before_end) => u128::from_le_bytes(*before_end),
        None => {
            let mut bytes = [0; WINDOW];
            bytes[WINDOW - length..].copy_from_slice(&text[at]);
            u128::from_le_bytes(bytes)
        }
    };
    let others = 8 * (WINDOW - length);
    bytes >> others << others | ZEROS >> (8 * length)
}

/// The place of the first point, if there is one.
#[inline]
fn first_point(bytes: u128) -> Option<usize> {
    const EACH: u128 = u128::from_le_bytes([1; WINDOW]);
    let not_points = bytes ^ (EACH * b'.' as u128);
    // The lowest bit that is left is that of the lowest byte that is 0.
    let points = not_points.wrapping_sub(EACH) & !not_points & (EACH << 7);
    (points != 0).then(|| points.trailing_zeros() as usize / 8)
}

/// The number that sixteen digits are; `None` if another byte is among them.
#[inline]
fn sixteen(bytes: u128) -> Option<u64> {
    Some(100_000_000 * eight(bytes as u64)? + eight((bytes >> 64) as u64)?)
}

#[inline]
fn eight(bytes: u64) -> Option<u64> {
    const EACH: u64 = u64::from_le_bytes([1; 8]);
    const HIGH: u64 = EACH * 0xf0;
    const DIGITS: u64 = EACH * b'0' as u64;
    // A digit has the upper half of 0, and so has what is six more than it.
    let is_digits = (bytes & HIGH) == DIGITS && (bytes.wrapping_add(EACH * 6) & HIGH) == DIGITS;
    // Two neighbours at a time: pairs of digits, then fours, then all eight.
    let ones = bytes.wrapping_sub(DIGITS);
    let pairs = (10 * ones).wrapping_add(ones >> 8) & 0x00ff_00ff_00ff_00ff;
    let fours = (100 * pairs).wrapping_add(pairs >> 16) & 0x0000_ffff_0000_ffff;
    is_digits.then(|| (10_000 * fours).wrapping_add(fours >> 32) & 0xffff_ffff)
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
        for length in 1..=EXACT_DIGITS {
            for _ in 0..200 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let digits = format!("{:020}", state >> 1);
                let digits = &digits[20 - length..];
                fields.push(digits.to_owned());
                let point = (state % length as u64) as usize;
                fields.push(format!("{}.{}", &digits[..point], &digits[point + 1..]));
            }
        }
        for field in &fields {
            for (text, at) in places(field) {
                let found = whole(text.as_bytes(), at.clone());
                assert_eq!(found, field.parse::<u64>().ok(), "{field} in {text}");
                let expected = field.parse::<f64>().ok().filter(|_| field.len() > 1);
                assert_eq!(decimal(text.as_bytes(), at), expected, "{field} in {text}");
            }
        }
    }

    #[test]
    fn what_is_no_plain_number_is_none() {
        for field in ["", ".", "..", "1..2", "1.2.", "./", "1./2", "-1.5", "+2", "1e5", "1,5", "a"]
        {
            for (text, at) in places(field) {
                assert_eq!(decimal(text.as_bytes(), at.clone()), None, "{field} in {text}");
                assert_eq!(whole(text.as_bytes(), at), None, "{field} in {text}");
            }
        }
        // Every other byte, in each place among digits.
        for byte in (0..=255).filter(|byte: &u8| !byte.is_ascii_digit() && *byte != b'.') {
            for place in 0..9 {
                let mut text = *b"1234567,123.56789";
                text[8 + place] = byte;
                assert_eq!(decimal(&text, 8..17), None, "{byte} at {place}");
                text[11] = b'4';
                text[8 + place] = byte;
                assert_eq!(whole(&text, 8..17), None, "{byte} at {place}");
            }
        }
        assert_eq!(whole(b"1234567890123456", 0..16), None);
        assert_eq!(decimal(b"12345678901234.6", 0..16), None);
    }
}
