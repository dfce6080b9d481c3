//! Dates and times of day as logs write them, in seconds. No zone is assumed: they are read as
//! if they were UTC, and printed the same way.

use crate::date::days;
use crate::form::Clock;

/// The leap year that dates without a year are put in.
const ASSUMED_YEAR: i64 = 2000;

/// A date and time of day: where it begins and ends in the text, s, and what it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Stamp {
    /// Its place in the text.
    pub start: usize,
    /// Seconds.
    pub t_s: f64,
    /// With a year or without.
    pub clock: Clock,
}

fn digits(text: &[u8], at: usize, n: usize) -> Option<i64> {
    let part = text.get(at..at + n)?;
    part.iter()
        .all(u8::is_ascii_digit)
        .then(|| part.iter().fold(0, |x, d| 10 * x + i64::from(d - b'0')))
}

/// The first `[YYYY-]MM-DD HH:MM:SS[.mmm]` of a text, `T` allowed for the blank.
pub fn stamp(text: &[u8]) -> Option<Stamp> {
    let mut from = 0;
    while let Some(found) = memchr::memchr(b':', &text[from..]) {
        let colon = from + found;
        from = colon + 1;
        if let Some(stamp) = around(text, colon) {
            return Some(stamp);
        }
    }
    None
}

/// The stamp whose first colon this is.
fn around(text: &[u8], colon: usize) -> Option<Stamp> {
    let start = colon.checked_sub(8)?;
    if !matches!(text[start + 5], b' ' | b'T') || text.get(colon + 3) != Some(&b':') {
        return None;
    }
    let (hour, minute, second) =
        (digits(text, colon - 2, 2)?, digits(text, colon + 1, 2)?, digits(text, colon + 4, 2)?);
    let (month, day) = (digits(text, start, 2)?, digits(text, start + 3, 2)?);
    if text[start + 2] != b'-' || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    if hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let year =
        start.checked_sub(5).filter(|y| text[y + 4] == b'-').and_then(|y| digits(text, y, 4));
    let mut t_s = (days(year.unwrap_or(ASSUMED_YEAR), month, day) * 86_400
        + hour * 3600
        + minute * 60
        + second) as f64;
    let fraction = text.get(colon + 6..).unwrap_or_default();
    if matches!(fraction.first(), Some(b'.' | b',')) {
        let mut unit = 0.1;
        for digit in fraction[1..].iter().take_while(|d| d.is_ascii_digit()).take(6) {
            t_s += unit * f64::from(digit - b'0');
            unit /= 10.0;
        }
    }
    let clock = if year.is_some() { Clock::Wall } else { Clock::WithoutYear };
    let start = if year.is_some() { start - 5 } else { start };
    Some(Stamp { start, t_s, clock })
}

/// A time in a table or a comment: a stamp, or Unix time in s, ms, us or ns.
pub fn moment(text: &str) -> Option<f64> {
    if let Ok(x) = fast_float2::parse::<f64, _>(text.trim()) {
        return x.is_finite().then(|| unix(x));
    }
    stamp(text.as_bytes()).map(|stamp| stamp.t_s)
}

/// Unix time in seconds, from whichever unit fits the present century.
fn unix(x: f64) -> f64 {
    match x {
        x if x > 1e17 => x / 1e9,
        x if x > 1e14 => x / 1e6,
        x if x > 1e11 => x / 1e3,
        x => x,
    }
}

/// The time that a file's name tells: `YYYYMMDD-HHMMSS` or Unix seconds.
pub fn stamp_of_name(name: &str) -> Option<f64> {
    let bytes = name.as_bytes();
    for at in 0..bytes.len() {
        let run = bytes[at..].iter().take_while(|b| b.is_ascii_digit()).count();
        if at > 0 && bytes[at - 1].is_ascii_digit() {
            continue;
        }
        if run == 8 && matches!(bytes.get(at + 8), Some(b'-' | b'_' | b'T')) {
            let (date, time) = (digits(bytes, at, 8)?, digits(bytes, at + 9, 6));
            if let Some(time) = time {
                let day = days(date / 10_000, date / 100 % 100, date % 100);
                return Some(
                    (day * 86_400 + time / 10_000 * 3600 + time / 100 % 100 * 60 + time % 100)
                        as f64,
                );
            }
        }
        if (10..=13).contains(&run) && bytes[at] == b'1' {
            return digits(bytes, at, run).map(|x| unix(x as f64));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_with_and_without_a_year_are_found_where_they_are() {
        let of = |text: &str| stamp(text.as_bytes()).map(|s| (s.t_s, s.clock));
        assert_eq!(of("[2026-09-02 10:00:05 TP0] x"), Some((1_788_343_205.0, Clock::Wall)));
        assert_eq!(of("2026-09-02T10:00:05.250Z"), Some((1_788_343_205.25, Clock::Wall)));
        assert_eq!(
            of("(a pid=4:2) INFO 01-01 00:00:10 [l.py:1]"),
            Some((946_684_810.0, Clock::WithoutYear))
        );
        assert_eq!(of("13-01 00:00:00 and 01-01 24:00:00 :::"), None);
        assert_eq!(of(":"), None);
    }

    #[test]
    fn a_name_tells_when_a_scrape_was_made() {
        assert_eq!(stamp_of_name("metrics-1788343205.txt"), Some(1_788_343_205.0));
        assert_eq!(stamp_of_name("m_20260902-100005.prom"), Some(1_788_343_205.0));
        assert_eq!(stamp_of_name("metrics_12.txt"), None);
    }
}
