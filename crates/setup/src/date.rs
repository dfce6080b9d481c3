//! Dates and times of day as files write them (ISO 8601), on the line of Unix seconds.

use crate::decimal::Decimal;

const DAY_S: i64 = 86_400;

/// Days from 1970-01-01 to a date of the Gregorian calendar.
pub const fn days(year: i64, month: i64, day: i64) -> i64 {
    // Years are counted from March, so that the leap day is a year's last.
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// Year, month and day of a day since 1970-01-01.
pub const fn date(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * of_year + 2) / 153;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + if month <= 2 { 1 } else { 0 };
    (year, month, of_year - (153 * shifted + 2) / 5 + 1)
}

/// Unix seconds of `2026-09-02T10:00:05.25+02:00`, exactly: a blank may stand for the `T`, a
/// comma for the point, and seconds, fraction and zone may lack. A date without a zone is read
/// `zone_s` ahead of UTC. `None` for anything else, and for days and times that are none.
pub fn unix_s(text: &str, zone_s: i64) -> Option<Decimal> {
    let (date, time) = text.trim().split_at_checked(10)?;
    let time = time.strip_prefix(['T', 't', ' '])?;
    let [year, month, day] = numbers(date, '-', [4, 2, 2])?;
    let next = if month == 12 { days(year + 1, 1, 1) } else { days(year, month + 1, 1) };
    let first = days(year, month.clamp(1, 12), 1);
    if !(1..=12).contains(&month) || !(1..=next - first).contains(&day) {
        return None;
    }
    let in_clock = |c: char| c.is_ascii_digit() || matches!(c, ':' | '.' | ',');
    let (clock, zone) = time.split_at(time.find(|c| !in_clock(c)).unwrap_or(time.len()));
    let (clock, fraction) = clock.split_once(['.', ',']).unwrap_or((clock, ""));
    let whole = if clock.len() == 5 { format!("{clock}:00") } else { clock.to_owned() };
    let [hour, minute, second] = numbers(&whole, ':', [2, 2, 2])?;
    // A leap second is the next minute's first.
    if hour > 23 || minute > 59 || second > 60 || clock.len() == 5 && !fraction.is_empty() {
        return None;
    }
    let ahead_s = if zone.is_empty() { zone_s } else { offset_s(zone)? };
    let seconds = (first + day - 1) * DAY_S + hour * 3600 + minute * 60 + second - ahead_s;
    let fraction = if fraction.is_empty() { "0" } else { fraction };
    Decimal::parse(&seconds.to_string())?.plus(Decimal::parse(&format!("0.{fraction}"))?)
}

/// How far a zone is ahead of UTC, s: `Z`, `UTC`, `+02:00`, `-0530`, `+02`.
pub fn offset_s(zone: &str) -> Option<i64> {
    let zone = zone.trim();
    if ["Z", "UTC", "GMT"].iter().any(|utc| zone.eq_ignore_ascii_case(utc)) {
        return Some(0);
    }
    let (sign, digits) = match zone.split_at_checked(1)? {
        ("+", digits) => (1, digits),
        ("-", digits) => (-1, digits),
        _ => return None,
    };
    let [hours, minutes] = match digits.len() {
        2 => numbers(&format!("{digits}:00"), ':', [2, 2])?,
        4 => {
            let (hours, minutes) = digits.split_at_checked(2)?;
            numbers(&format!("{hours}:{minutes}"), ':', [2, 2])?
        }
        _ => numbers(digits, ':', [2, 2])?,
    };
    (hours < 24 && minutes < 60).then_some(sign * (hours * 3600 + minutes * 60))
}

/// A count of ticks since 1970, of which 10^`places` are a second, as a date and time of day;
/// with a `Z` where it is known to be UTC.
pub fn text(ticks: i64, places: u32, utc: bool) -> String {
    let per_s = 10_i64.pow(places);
    let (seconds, part) = (ticks.div_euclid(per_s), ticks.rem_euclid(per_s));
    let (year, month, day) = date(seconds.div_euclid(DAY_S));
    let of_day = seconds.rem_euclid(DAY_S);
    let (h, m, s) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    let fraction = match part {
        0 => String::new(),
        part => format!(".{part:0>width$}", width = places as usize),
    };
    let zone = if utc { "Z" } else { "" };
    format!("{year:04}-{month:02}-{day:02}T{h:02}:{m:02}:{s:02}{fraction}{zone}")
}

/// Numbers of so many digits each, between separators.
fn numbers<const N: usize>(text: &str, separator: char, widths: [usize; N]) -> Option<[i64; N]> {
    let mut parts = text.split(separator);
    let mut numbers = [0; N];
    for (number, width) in numbers.iter_mut().zip(widths) {
        let part = parts.next()?;
        let digits = part.len() == width && part.bytes().all(|b| b.is_ascii_digit());
        *number = part.parse().ok().filter(|_| digits)?;
    }
    parts.next().is_none().then_some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Option<String> {
        unix_s(text, 0).map(|seconds| seconds.to_string())
    }

    #[test]
    fn one_moment_is_read_in_every_way_it_is_written() {
        // date -u -d 2026-09-02T10:00:05Z +%s
        for text in [
            "2026-09-02T10:00:05Z",
            "2026-09-02t10:00:05z",
            "2026-09-02 10:00:05",
            "2026-09-02 10:00:05 UTC",
            "2026-09-02 10:00:05+00:00",
            "2026-09-02T12:00:05.000+02:00",
            "2026-09-02T12:00:05,0 +0200",
            "2026-09-02T04:30:05-0530",
            "2026-09-02T12:00:05+02",
        ] {
            assert_eq!(read(text).as_deref(), Some("1788343205"), "{text}");
        }
        assert_eq!(read("2026-09-02T10:00").as_deref(), Some("1788343200"));
        assert_eq!(
            unix_s("2026-09-02 12:00:05", 7200).map(|t| t.to_string()),
            read("2026-09-02 10:00:05")
        );
        assert_eq!(
            unix_s("2026-09-02 10:00:05Z", 7200).map(|t| t.to_string()),
            read("2026-09-02 10:00:05")
        );
    }

    #[test]
    fn every_digit_of_a_fraction_is_kept() {
        let of = |text: &str| read(text).unwrap();
        assert_eq!(of("2026-09-02T10:00:05.123456789Z"), "1788343205.123456789");
        assert_eq!(of("2023-11-16 18:17:03.9799600"), "1700158623.97996");
        assert_eq!(of("1969-12-31T23:59:59.5Z"), "-0.5");
    }

    #[test]
    fn what_is_no_date_or_time_of_day_is_refused() {
        for text in [
            "",
            "1788343205",
            "2026-09-02",
            "2026-13-02T10:00:05",
            "2026-02-29T10:00:05",
            "2026-09-31T10:00:05",
            "2026-09-00T10:00:05",
            "2026-09-02T24:00:05",
            "2026-09-02T10:60:05",
            "2026-09-02T10:00:61",
            "2026-09-02T10:00:05 CEST",
            "2026-09-02T10:00:05+2",
            "2026-09-02T10:00:05+99:00",
            "2026-09-02T10:00.5",
            "2026-9-2T10:00:05",
            "noon of the 2nd, say",
            "2026-09-0\u{e9}T10:00:05",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
        assert!(read("2024-02-29T00:00:00").is_some());
    }

    #[test]
    fn ticks_are_written_as_the_date_they_are() {
        assert_eq!(text(1_788_343_205, 0, true), "2026-09-02T10:00:05Z");
        assert_eq!(text(1_788_343_205_250, 3, false), "2026-09-02T10:00:05.250");
        assert_eq!(text(-500, 3, true), "1969-12-31T23:59:59.500Z");
    }

    proptest! {
        #[test]
        fn a_day_and_its_date_are_one(day in -800_000..800_000_i64) {
            let (year, month, of_month) = date(day);
            prop_assert_eq!(days(year, month, of_month), day);
        }

        #[test]
        fn ticks_come_back_from_their_text(ticks in 0..4_000_000_000_000_000_000_i64) {
            let read = unix_s(&text(ticks, 9, true), 0).unwrap();
            let expected = Decimal::parse(&ticks.to_string()).unwrap().times(Decimal::power_of_ten(-9));
            prop_assert_eq!(Some(read), expected);
        }
    }
}
