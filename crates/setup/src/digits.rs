//! Numbers with a stated number of digits, the one way they are printed.

/// A number with stated digits; never a negative zero.
pub fn fixed(x: f64, digits: usize) -> String {
    let text = format!("{x:.digits$}");
    match text.strip_prefix('-') {
        Some(rest) if rest.bytes().all(|b| b == b'0' || b == b'.') => rest.to_owned(),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::fixed;

    #[test]
    fn a_rounded_zero_has_no_sign() {
        assert_eq!(fixed(-0.00001, 4), "0.0000");
        assert_eq!(fixed(-0.00006, 4), "-0.0001");
        assert_eq!(fixed(-0.0, 0), "0");
    }
}
