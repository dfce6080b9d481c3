//! Numbers as most files write them, digits with or without a point among them: eight digits
//! are read at a time.

/// At most this many digits are whole numbers that a float holds exactly.
const EXACT_DIGITS: usize = 15;

/// One in each byte.
const EACH: u128 = u128::from_le_bytes([1; 16]);

/// Digits alone, which most counts are.
#[inline]
pub fn plain_count(text: &[u8]) -> Option<u64> {
    match text {
        [digit] => digit.is_ascii_digit().then(|| u64::from(digit - b'0')),
        _ => digits(at_the_end(text)?),
    }
}

/// Digits with a point among them, which most numbers are: the quotient of two whole numbers
/// that a float holds exactly is the float nearest to it.
#[inline]
pub fn plain_number(text: &[u8]) -> Option<f64> {
    const POWERS: [f64; EXACT_DIGITS + 1] =
        [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];
    let bytes = at_the_end(text)?;
    // The lowest byte that is zero here, if one is, is the first point.
    let others = bytes ^ (EACH * b'.' as u128);
    let points = others.wrapping_sub(EACH) & !others & (EACH << 7);
    if points == 0 {
        return Some(digits(bytes)? as f64);
    }
    let point = points.trailing_zeros() / 8;
    let before = bytes & !(u128::MAX << (8 * point));
    let behind = bytes & (u128::MAX << (8 * point) << 8);
    // What is before the point moves up to what is behind it. There is at least one digit, in
    // "5." and ".5" as in "0.5": as other readers have it.
    let digits = digits(behind | (before << 8) | u128::from(b'0'))?;
    Some(digits as f64 / POWERS[15 - point as usize])
}

/// A text of two bytes or more as the last of sixteen digits, its first byte the lowest.
#[inline]
fn at_the_end(text: &[u8]) -> Option<u128> {
    let length = (2..=EXACT_DIGITS).contains(&text.len()).then_some(text.len())?;
    let up = 8 * (16 - length as u32);
    // Both ends, which overlap: no loop, and no call to copy a few bytes.
    let (first, last): (u128, u128) =
        if let (Some(first), Some(last)) = (text.first_chunk(), text.last_chunk()) {
            (u64::from_le_bytes(*first).into(), u64::from_le_bytes(*last).into())
        } else if let (Some(first), Some(last)) = (text.first_chunk(), text.last_chunk()) {
            (u32::from_le_bytes(*first).into(), u128::from(u32::from_le_bytes(*last)) << 32)
        } else {
            (u16::from_le_bytes(*text.first_chunk()?).into(), u128::from(*text.last()?) << 56)
        };
    let zeros = (EACH * b'0' as u128) & !(u128::MAX << up);
    Some(zeros | (first << up) | (last << 64))
}

/// The number that sixteen digits are; `None` if one of them is none.
#[inline]
fn digits(bytes: u128) -> Option<u64> {
    let values = bytes ^ (EACH * b'0' as u128);
    let above_nine = values.wrapping_add(EACH * (0x7f - 9)) | values;
    let all = above_nine & (EACH << 7) == 0;
    all.then(|| eight_digits(values as u64) * 100_000_000 + eight_digits((values >> 64) as u64))
}

/// The number of eight digits, the first in the lowest byte: made of twos, then of fours.
#[inline]
fn eight_digits(ones: u64) -> u64 {
    let twos = (ones * 10 + (ones >> 8)) & 0x00ff_00ff_00ff_00ff;
    let fours = (twos * 100 + (twos >> 16)) & 0x0000_ffff_0000_ffff;
    (fours * 10_000 + (fours >> 32)) & 0xffff_ffff
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn whatever_is_read_is_what_the_standard_library_reads(text in "[0-9.]{0,17}") {
            let bytes = text.as_bytes();
            if let Some(number) = plain_number(bytes) {
                prop_assert_eq!(number.to_bits(), text.parse::<f64>().unwrap().to_bits());
            } else {
                prop_assert!(!(2..=15).contains(&text.len()) || text.parse::<f64>().is_err());
            }
            prop_assert_eq!(plain_count(bytes), text.parse().ok().filter(|_| text.len() <= 15));
        }

        #[test]
        fn one_byte_that_is_no_digit_is_seen_wherever_it_stands(
            text in "[0-9]{1,15}",
            at in 0_usize..15,
            byte in any::<u8>(),
        ) {
            let mut bytes = text.into_bytes();
            let at = at % bytes.len();
            bytes[at] = byte;
            let is_count = byte.is_ascii_digit();
            prop_assert_eq!(plain_count(&bytes).is_some(), is_count);
            let is_number = bytes.len() > 1 && (is_count || byte == b'.');
            prop_assert_eq!(plain_number(&bytes).is_some(), is_number);
        }
    }
}
