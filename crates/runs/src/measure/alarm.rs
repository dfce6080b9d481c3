//! An online detector's first alarm after the burst, and how long it lasted (App. E.5).

use serde::{Deserialize, Serialize};

use super::rolling::Rolled;
use super::share::Share;

/// The alarm is over, and hits are back, above this follow-up hit fraction (App. E.5:
/// "above 0.8 again").
const BACK_ABOVE: f64 = 0.8;

/// The first alarm: times are ends of windows, s.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Alarm {
    /// When it came.
    pub at_s: f64,
    /// When the fraction was first not too low any more, at the looks the detector takes;
    /// `None` if it was to the end.
    pub ends_s: Option<f64>,
    /// When it was first above 0.8 again; `None` if it never was.
    pub back_s: Option<f64>,
    /// The lowest fraction from the alarm until it was back, or to the end.
    pub lowest: Option<f64>,
    /// Sessions held at the gate when it came; `None` without a gate.
    pub held_at_gate: Option<f64>,
}

/// The first alarm of a detector that looks at `windows`, at or after `from_s`: a window
/// whose follow-up hit fraction is below `low`. One that cannot be told is none.
pub fn first_alarm(
    windows: &[Rolled<Share>],
    low: f64,
    from_s: f64,
    held: impl Fn(f64) -> Option<f64>,
) -> Option<Alarm> {
    let alarms = |w: &Rolled<Share>| w.value.is_below(low) == Some(true);
    let first = windows.iter().position(|w| w.end_s >= from_s && alarms(w))?;
    let from = &windows[first..];
    let back = from.iter().position(|w| w.value.is_above(BACK_ABOVE) == Some(true));
    let until_back = &from[..back.unwrap_or(from.len())];
    Some(Alarm {
        at_s: from[0].end_s,
        ends_s: from.iter().find(|w| !alarms(w)).map(|w| w.end_s),
        back_s: back.map(|i| from[i].end_s),
        lowest: until_back.iter().filter_map(|w| w.value.value()).min_by(f64::total_cmp),
        held_at_gate: held(from[0].end_s),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alarm(tenths: &[u64]) -> Option<Alarm> {
        let share = |hits: u64| Share { hits, misses: 10 - hits, unknown: 0 };
        let windows: Vec<Rolled<Share>> = (0..)
            .zip(tenths)
            .map(|(i, h)| Rolled { end_s: 60.0 + 10.0 * f64::from(i), value: share(*h) })
            .collect();
        first_alarm(&windows, 0.2, 80.0, |_| Some(130.0))
    }

    #[test]
    fn an_alarm_lasts_until_the_fraction_is_not_too_low_any_more() {
        let found = alarm(&[0, 0, 9, 1, 0, 3, 1, 9]).unwrap();
        assert_eq!((found.at_s, found.ends_s, found.back_s), (90.0, Some(110.0), Some(130.0)));
        assert_eq!((found.lowest, found.held_at_gate), (Some(0.0), Some(130.0)));
    }

    #[test]
    fn alarms_before_the_burst_are_not_it_and_one_may_last_to_the_end() {
        assert_eq!(alarm(&[0, 0, 9, 9]), None);
        let found = alarm(&[9, 9, 9, 1, 1]).unwrap();
        assert_eq!((found.ends_s, found.back_s), (None, None));
    }
}
