//! Times as the source's own clock shows them.

use crate::date::date;
use crate::digits::fixed;
use crate::form::Clock;

/// A time: `2026-09-02 10:00:05`, `09-02 10:00:05`, `125 s`, or `sample 3`.
pub fn shown(t_s: f64, clock: Clock) -> String {
    match clock {
        Clock::Order => format!("sample {}", fixed(t_s + 1.0, 0)),
        Clock::Monotonic => format!("{} s", fixed(t_s, 0)),
        Clock::Wall | Clock::WithoutYear => {
            let seconds = t_s.floor() as i64;
            let (year, month, day) = date(seconds.div_euclid(86_400));
            let of_day = seconds.rem_euclid(86_400);
            let (h, m, s) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
            let day = format!("{month:02}-{day:02} {h:02}:{m:02}:{s:02}");
            if clock == Clock::Wall { format!("{year:04}-{day}") } else { day }
        }
    }
}

/// A length of time for people: `45 s`, `12 min`, `1 h 04 min`.
pub fn length(seconds: f64) -> String {
    match seconds {
        s if s < 120.0 => format!("{} s", fixed(s, 0)),
        s if s < 7200.0 => format!("{} min", fixed(s / 60.0, 0)),
        s => {
            let minutes = (s / 60.0).round() as u64;
            format!("{} h {:02} min", minutes / 60, minutes % 60)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_shown_as_the_source_writes_them() {
        assert_eq!(shown(1_788_343_205.4, Clock::Wall), "2026-09-02 10:00:05");
        assert_eq!(shown(946_684_810.0, Clock::WithoutYear), "01-01 00:00:10");
        assert_eq!(shown(951_782_400.0, Clock::Wall), "2000-02-29 00:00:00");
        assert_eq!(shown(2.0, Clock::Order), "sample 3");
        assert_eq!((length(45.0), length(720.0)), ("45 s".into(), "12 min".into()));
        assert_eq!(length(3840.0 + 3600.0), "2 h 04 min");
    }
}
