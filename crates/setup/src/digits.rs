//! Numbers with a stated number of digits, the one way they are printed.

use std::fmt;
use std::str::FromStr;

/// A number with stated digits; never a negative zero.
pub fn fixed(x: f64, digits: usize) -> String {
    let text = format!("{x:.digits$}");
    match text.strip_prefix('-') {
        Some(rest) if rest.bytes().all(|b| b == b'0' || b == b'.') => rest.to_owned(),
        _ => text,
    }
}

/// How many digits stand after the point of a number's text.
pub fn decimals(text: &str) -> usize {
    text.split_once('.').map_or(0, |(_, decimals)| decimals.len())
}

/// The number that [`fixed`] prints.
pub fn rounded(x: f64, digits: usize) -> f64 {
    fixed(x, digits).parse().unwrap_or(x)
}

/// A number as it is printed, with no digit more: what is read back from its text is equal to
/// it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rounded {
    value: f64,
    digits: usize,
}

/// A text that no number is printed as.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected a number as it is printed, found {0:?}")]
pub struct NotPrinted(String);

impl Rounded {
    /// A number to these digits.
    pub fn new(x: f64, digits: usize) -> Self {
        Self { value: rounded(x, digits), digits }
    }

    /// The number that is printed.
    pub const fn value(self) -> f64 {
        self.value
    }
}

impl fmt::Display for Rounded {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(&fixed(self.value, self.digits))
    }
}

impl FromStr for Rounded {
    type Err = NotPrinted;

    fn from_str(text: &str) -> Result<Self, NotPrinted> {
        let value = text.parse().ok().filter(|value: &f64| value.is_finite());
        let read = value.map(|value| Self { value, digits: decimals(text) });
        read.filter(|read| read.to_string() == text).ok_or_else(|| NotPrinted(text.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::{Rounded, fixed, rounded};
    use proptest::prelude::*;

    #[test]
    fn a_rounded_zero_has_no_sign() {
        assert_eq!(fixed(-0.00001, 4), "0.0000");
        assert_eq!(fixed(-0.00006, 4), "-0.0001");
        assert_eq!(fixed(-0.0, 0), "0");
    }

    #[test]
    fn a_text_that_is_not_printed_so_is_no_rounded_number() {
        for text in ["", "any", "1e-4", "+1", "1.", ".5", "01", " 1", "-0.0", "NaN", "inf"] {
            assert!(text.parse::<Rounded>().is_err(), "{text}");
        }
        assert_eq!("0.0490".parse(), Ok(Rounded::new(0.049, 4)));
        assert_eq!(rounded(0.04878, 3), 0.049);
    }

    proptest! {
        #[test]
        fn what_is_printed_is_read_back_as_it_was(x in -1e18..1e18_f64, digits in 0..60_usize) {
            let number = Rounded::new(x, digits);
            prop_assert_eq!(number.to_string(), fixed(x, digits));
            prop_assert_eq!(number.to_string().parse(), Ok(number));
        }
    }
}
