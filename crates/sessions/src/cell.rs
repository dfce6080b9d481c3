//! Numbers as texts of a table or a row hold them.

use crate::limits;

/// A whole number, at least 0; data frames with unknown values write it as 192.0.
pub(crate) fn count(text: &str) -> Result<u64, String> {
    let wrong = || format!("expected a whole number, 0 or more, found {}", shortened(text));
    let parsed = text.parse::<u64>().ok();
    let found = match parsed {
        Some(count) => count,
        None => whole(text.parse().map_err(|_| wrong())?).ok_or_else(wrong)?,
    };
    if found > limits::COUNT {
        return Err(format!("expected at most {}, found {found}", limits::COUNT));
    }
    Ok(found)
}

/// A float that is a whole number, at least 0, and small enough to be exact.
pub(crate) fn whole(x: f64) -> Option<u64> {
    (x >= 0.0 && x.fract() == 0.0 && x <= limits::COUNT as f64).then_some(x as u64)
}

/// A finite number.
pub(crate) fn number(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if x.is_finite() => Ok(x),
        _ => Err(format!("expected a finite number, found {}", shortened(text))),
    }
}

/// The first characters of a text that may be a whole damaged file.
pub(crate) fn shortened(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((cut, _)) => format!("{:?}…", &text[..cut]),
        None => format!("{text:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_is_whole_and_a_number_finite() {
        assert_eq!(count("192"), Ok(192));
        assert_eq!(count("192.0"), Ok(192));
        for wrong in ["-1", "1.5", "x", "", "NaN", "1e300"] {
            assert!(count(wrong).is_err(), "{wrong}");
        }
        assert!(count("4000000000001").is_err());
        assert_eq!(number("-2.5"), Ok(-2.5));
        assert!(number("inf").is_err() && number("nan").is_err() && number("").is_err());
    }
}
