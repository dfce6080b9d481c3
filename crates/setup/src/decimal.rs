//! Decimal numbers that are converted without rounding.
//!
//! A time in nanoseconds since 1970 has more digits than a float holds, and so has a time
//! in seconds minus the start of its run. Here units change by moving the decimal point,
//! so that the float at the end is the one nearest to what the file says.

/// `digits` x 10^`exponent`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decimal {
    digits: i128,
    exponent: i32,
}

/// The exponents that are taken: far wider than any quantity here.
const EXPONENTS: std::ops::RangeInclusive<i32> = -40..=40;

impl Decimal {
    /// 0.
    pub const ZERO: Self = Self { digits: 0, exponent: 0 };
    /// 1.
    pub const ONE: Self = Self { digits: 1, exponent: 0 };

    /// Ten to a power.
    pub const fn power_of_ten(exponent: i32) -> Self {
        Self { digits: 1, exponent }
    }

    /// Reads `12`, `-0.5`, `1.5e3`; `None` for anything else, NaN and infinity among it,
    /// and for numbers too large, too small or too long to be kept exactly.
    pub fn parse(text: &str) -> Option<Self> {
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
            None => (text, 0),
        };
        let (negative, mantissa) = match mantissa.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, mantissa.strip_prefix('+').unwrap_or(mantissa)),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let written = || whole.bytes().chain(fraction.bytes());
        if written().next().is_none() || !written().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let fraction = fraction.trim_end_matches('0');
        let digits = whole.bytes().chain(fraction.bytes()).try_fold(0_i128, |digits, b| {
            digits.checked_mul(10)?.checked_add(i128::from(b - b'0'))
        })?;
        let exponent = exponent.checked_sub(i32::try_from(fraction.len()).ok()?)?;
        let digits = if negative { -digits } else { digits };
        (digits == 0 || EXPONENTS.contains(&exponent)).then(|| Self { digits, exponent }.short())
    }

    /// The decimal that a float is written as.
    pub fn from_f64(x: f64) -> Option<Self> {
        Self::parse(&x.to_string())
    }

    /// The sum; `None` if it has too many digits.
    pub fn plus(self, other: Self) -> Option<Self> {
        let exponent = self.exponent.min(other.exponent);
        let digits = self.digits_at(exponent)?.checked_add(other.digits_at(exponent)?)?;
        Some(Self { digits, exponent }.short())
    }

    /// The product; `None` if it has too many digits.
    pub fn times(self, other: Self) -> Option<Self> {
        let digits = self.digits.checked_mul(other.digits)?;
        let exponent = self.exponent + other.exponent;
        (digits == 0 || EXPONENTS.contains(&exponent)).then(|| Self { digits, exponent }.short())
    }

    /// The same with the other sign.
    pub const fn negative(self) -> Self {
        Self { digits: -self.digits, exponent: self.exponent }
    }

    fn digits_at(self, exponent: i32) -> Option<i128> {
        let zeros = u32::try_from(self.exponent - exponent).ok()?;
        self.digits.checked_mul(10_i128.checked_pow(zeros)?)
    }

    /// Without trailing zeros, which would use up the digits there are.
    fn short(mut self) -> Self {
        if self.digits == 0 {
            return Self::ZERO;
        }
        while self.digits % 10 == 0 {
            self.digits /= 10;
            self.exponent += 1;
        }
        self
    }
}

impl std::fmt::Display for Decimal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let sign = if self.digits < 0 { "-" } else { "" };
        let digits = self.digits.unsigned_abs().to_string();
        let Ok(places) = usize::try_from(-self.exponent) else {
            let zeros = usize::try_from(self.exponent).unwrap_or_default();
            return write!(f, "{sign}{digits}{}", "0".repeat(zeros));
        };
        let digits = format!("{digits:0>width$}", width = places + 1);
        let (whole, fraction) = digits.split_at(digits.len() - places);
        let point = if places > 0 { "." } else { "" };
        write!(f, "{sign}{whole}{point}{fraction}")
    }
}

#[cfg(test)]
mod tests {
    use super::Decimal;
    use proptest::prelude::*;

    fn of(text: &str) -> Decimal {
        Decimal::parse(text).unwrap_or_else(|| panic!("{text} is a number"))
    }

    #[test]
    fn a_number_is_written_as_it_was_read() {
        for (text, written) in [
            ("0", "0"),
            ("-0.0", "0"),
            ("12.3400", "12.34"),
            ("+7", "7"),
            (".5", "0.5"),
            ("5.", "5"),
            ("-0.05", "-0.05"),
            ("1.5e3", "1500"),
            ("25E-4", "0.0025"),
            ("1788300003900100000", "1788300003900100000"),
        ] {
            assert_eq!(of(text).to_string(), written);
        }
    }

    #[test]
    fn what_is_no_number_or_cannot_be_kept_is_refused() {
        let long = "9".repeat(60);
        for text in ["", ".", "-", "e3", "1,5", "0x10", " 1", "NaN", "inf", "1e400", &long] {
            assert_eq!(Decimal::parse(text), None, "{text}");
        }
        let huge = of(&"9".repeat(38));
        assert_eq!((huge.plus(huge), huge.times(huge)), (None, None));
    }

    #[test]
    fn nanoseconds_since_1970_minus_a_start_keep_every_digit() {
        let seconds = of("1788300003900123456").times(Decimal::power_of_ten(-9)).unwrap();
        let on_the_run = seconds.plus(of("1788300000").negative()).unwrap();
        assert_eq!(on_the_run.to_string(), "3.900123456");
    }

    proptest! {
        #[test]
        fn moving_the_point_there_and_back_changes_nothing(digits in any::<i64>(), unit in 0..10_i32) {
            let x = of(&digits.to_string());
            let there = x.times(Decimal::power_of_ten(-unit)).unwrap();
            prop_assert_eq!(there.times(Decimal::power_of_ten(unit)), Some(x));
            prop_assert_eq!(of(&there.to_string()), there);
        }

        #[test]
        fn a_float_and_its_decimal_are_one_number(x in -1e12..1e12_f64) {
            prop_assert_eq!(Decimal::from_f64(x).unwrap().to_string().parse::<f64>().unwrap(), x);
        }

        #[test]
        fn what_is_added_can_be_taken_away(a in any::<i64>(), b in any::<i64>(), places in 0..9) {
            let (a, b) = (of(&format!("{a}e-{places}")), of(&b.to_string()));
            prop_assert_eq!(a.plus(b).unwrap().plus(b.negative()), Some(a));
        }
    }
}
