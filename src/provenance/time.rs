//! Times with their zones, as push logs and accounting records print them: UTC, an
//! offset, or the central zone of the United States with its letters.
//!
//! The letters are checked against the season: CDT in winter or CST in summer is a
//! wrong zone, and a guess would be an hour off.

use trapcheck_setup::date::{date, days};

use super::Malformed;

const DAY_S: i64 = 86_400;
const HOUR_S: i64 = 3_600;

/// Unix seconds of a time such as `2026-11-05 14:07:35 CST`, `2026-11-05T20:07:35Z`
/// or `2026-11-05 14:07:35 -06:00`.
///
/// # Errors
/// It is not such a time, names no zone, an unknown one, or one that was not kept then.
pub fn parse(text: &str) -> Result<i64, Malformed> {
    let error = |why: &str| Malformed(format!("time {text:?}: {why}"));
    let local = wall_clock(text)
        .ok_or_else(|| error("expected YYYY-MM-DD HH:MM:SS and a zone (UTC, CST, CDT, -06:00)"))?;
    // The date and the time are plain ASCII, or they would not have been read.
    let zone = text[19..].trim();
    let offset_s = match zone {
        "" => return Err(error("it names no zone: add UTC, CST, CDT or an offset")),
        "Z" | "UTC" | "GMT" => 0,
        "CDT" | "CST" => central(local, zone == "CDT").map_err(|why| error(&why))?,
        _ => offset(zone).ok_or_else(|| error("unknown zone: known are UTC, CST, CDT, -06:00"))?,
    };
    Ok(local - offset_s)
}

/// Unix seconds as `2026-11-05T20:07:35Z`.
pub fn utc(unix_s: i64) -> String {
    let (days, s) = (unix_s.div_euclid(DAY_S), unix_s.rem_euclid(DAY_S));
    let (year, month, day) = date(days);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", s / HOUR_S, s / 60 % 60, s % 60)
}

/// A span in words, its two largest units: `41 m 17 s`.
pub fn span(seconds: i64) -> String {
    let s = seconds.abs();
    match s {
        0..60 => format!("{s} s"),
        60..3_600 => format!("{} m {} s", s / 60, s % 60),
        3_600..86_400 => format!("{} h {} m", s / HOUR_S, s / 60 % 60),
        _ => format!("{} d {} h", s / DAY_S, s / HOUR_S % 24),
    }
}

/// Seconds from 1970-01-01 00:00 on a wall clock of no zone.
fn wall_clock(text: &str) -> Option<i64> {
    let bytes = text.as_bytes();
    let number = |from: usize, to: usize| -> Option<i64> {
        let digits = bytes.get(from..to)?;
        let all = digits.iter().all(u8::is_ascii_digit);
        std::str::from_utf8(digits).ok().filter(|_| all)?.parse().ok()
    };
    let marks = [(4, b"-"), (7, b"-"), (13, b":"), (16, b":")];
    let marked = marks.iter().all(|(at, mark)| bytes.get(*at) == Some(&mark[0]));
    if !marked || !matches!(bytes.get(10), Some(b' ' | b'T')) {
        return None;
    }
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    let days = days(year, month, day);
    let exists = date(days) == (year, month, day) && hour < 24 && minute < 60 && second < 60;
    let seconds = days * DAY_S + hour * HOUR_S + minute * 60 + second;
    // What follows is a zone, so the cut after the seconds falls between characters.
    (exists && text.is_char_boundary(19)).then_some(seconds)
}

/// `+HH:MM`, `-HH:MM`, `+HHMM`, `-HHMM` as seconds east of UTC.
fn offset(zone: &str) -> Option<i64> {
    let sign = match zone.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let digits: String = match zone.get(1..)? {
        d if d.len() == 5 && d.as_bytes()[2] == b':' => d.replacen(':', "", 1),
        d => d.to_owned(),
    };
    if digits.len() != 4 || !digits.bytes().all(|d| d.is_ascii_digit()) {
        return None;
    }
    let (hours, minutes): (i64, i64) = (digits[..2].parse().ok()?, digits[2..].parse().ok()?);
    (hours <= 14 && minutes < 60).then_some(sign * (hours * HOUR_S + minutes * 60))
}

/// Central time: daylight saving from the second Sunday of March to the first of
/// November, at 02:00 on the wall clock (since 2007).
fn central(local: i64, daylight: bool) -> Result<i64, String> {
    let (year, ..) = date(local.div_euclid(DAY_S));
    if year < 2007 {
        return Err("CST and CDT are known from 2007 on: write an offset".into());
    }
    let march = first_sunday(year, 3) + 7;
    let november = first_sunday(year, 11);
    let (begins, ends) = (march * DAY_S + 2 * HOUR_S, november * DAY_S + 2 * HOUR_S);
    // The clock jumps from 02:00 to 03:00 in March and falls from 02:00 to 01:00 in November.
    let kept = if daylight {
        (begins + HOUR_S..ends).contains(&local)
    } else {
        local < begins || local >= ends - HOUR_S
    };
    match (kept, daylight) {
        (true, true) => Ok(-5 * HOUR_S),
        (true, false) => Ok(-6 * HOUR_S),
        (false, true) => {
            Err("CDT was not kept then: CST was (or no clock showed this time)".into())
        }
        (false, false) => {
            Err("CST was not kept then: CDT was (or no clock showed this time)".into())
        }
    }
}

/// The day number of a month's first Sunday.
fn first_sunday(year: i64, month: i64) -> i64 {
    let first = days(year, month, 1);
    // 1970-01-01 was a Thursday: day 3 was a Sunday.
    first + (3 - first).rem_euclid(7)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_moment_in_every_zone() {
        // date -u -d "2026-11-05 20:07:35" +%s
        let texts = [
            "2026-11-05 20:07:35 UTC",
            "2026-11-05T20:07:35Z",
            "2026-11-05 14:07:35 CST",
            "2026-11-05T14:07:35-06:00",
            "2026-11-05 14:07:35 -0600",
            "2026-11-06 01:37:35 +05:30",
        ];
        assert!(texts.iter().all(|t| parse(t) == Ok(1_793_909_255)));
        assert_eq!(utc(1_793_909_255), "2026-11-05T20:07:35Z");
    }

    #[test]
    fn central_time_has_the_letters_of_its_season() {
        let sound = [
            ("2026-03-08 01:59:59 CST", "2026-03-08T07:59:59Z"),
            ("2026-03-08 03:00:00 CDT", "2026-03-08T08:00:00Z"),
            ("2026-11-01 01:59:59 CDT", "2026-11-01T06:59:59Z"),
            ("2026-11-01 01:00:00 CST", "2026-11-01T07:00:00Z"),
            ("2026-10-30 18:20:13 CDT", "2026-10-30T23:20:13Z"),
        ];
        for (text, expected) in sound {
            assert_eq!(parse(text).map(utc), Ok(expected.to_owned()), "{text}");
        }
        let wrong = [
            "2026-03-08 02:00:00 CST",
            "2026-03-08 02:59:59 CDT",
            "2026-11-01 02:00:00 CDT",
            "2026-11-01 00:59:59 CST",
            "2026-11-05 14:07:35 CDT",
            "2026-10-30 18:20:13 CST",
        ];
        assert!(wrong.iter().all(|t| parse(t).unwrap_err().0.contains("not kept then")));
    }

    #[test]
    fn a_time_without_zone_or_sense_is_an_error() {
        assert!(parse("2026-11-05 14:07:35").unwrap_err().0.contains("no zone"));
        assert!(parse("2026-11-05 14:07:35 PST").unwrap_err().0.contains("unknown zone"));
        let wrong = [
            "",
            "now",
            "2026-02-29 00:00:00 UTC",
            "2026-13-01 00:00:00 UTC",
            "2026-11-05 24:00:00 UTC",
            "2026-11-05 14:07 CST",
            "2026-11-05 14:07:35.5 UTC",
            "2026-11-05 14:07:3\u{e9} UTC",
            "2026-11-05 14:07:35 +15:00",
            "+026-11-05 14:07:35 UTC",
        ];
        wrong.iter().for_each(|t| assert!(parse(t).is_err(), "{t}"));
    }
}
