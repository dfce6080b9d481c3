//! Round numbers for axes: where ticks stand and what they say.
//!
//! Powers of ten are read from their decimal notation, so that a tick at 0.3 is the number
//! nearest to 0.3 on every machine.

use super::label::Label;
use super::style::SMALL_PT;

/// Whether tick labels lie along the axis or stand beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Across {
    /// A horizontal axis: labels follow each other along it.
    Along,
    /// A vertical axis: labels are stacked.
    Stacked,
}

/// A tick: labelled, or a minor one whose label is empty.
#[derive(Debug, Clone, PartialEq)]
pub struct Tick {
    /// Where it stands.
    pub value: f64,
    /// What it says.
    pub label: Label,
}

impl Tick {
    fn minor(value: f64) -> Self {
        Self { value, label: Label::default() }
    }
}

/// Labelled ticks at exactly these values.
pub fn at(values: impl Iterator<Item = f64>) -> Vec<Tick> {
    let label = |v: f64| Label::plain(&v.to_string().replace('-', "−"));
    values.map(|value| Tick { value, label: label(value) }).collect()
}

/// Labelled ticks of a linear axis of this length (pt), as dense as their labels allow.
pub fn linear(lo: f64, hi: f64, length_pt: f64, across: Across) -> Vec<Tick> {
    let wanted = match across {
        Across::Along => length_pt / 34.0,
        Across::Stacked => length_pt / 14.5,
    };
    let mut step = Step::of_at_least((hi - lo) / wanted.max(1.0));
    loop {
        let ticks = step.ticks_within(lo, hi);
        let room = length_pt * step.value() / (hi - lo);
        if ticks.len() < 3 || ticks.iter().all(|t| needed_pt(&t.label, across) <= room) {
            return ticks;
        }
        step = step.next();
    }
}

/// Ticks of a logarithmic axis: decades labelled, their multiples minor; within a decade or two
/// the multiples 1, 2 and 5 are labelled, and within less than half a decade every round number.
pub fn log(lo: f64, hi: f64, length_pt: f64, across: Across) -> Vec<Tick> {
    let decades = libm::log10(hi / lo);
    if decades < 0.5 {
        return linear(lo, hi, 0.5 * length_pt, across);
    }
    let (first, last) = (exponent(lo) - 1, exponent(hi) + 1);
    let within = |v: &f64| (lo * (1.0 - 1e-12)..=hi * (1.0 + 1e-12)).contains(v);
    let plain = first >= -4 && last <= 6;
    let label = |digit: i32, k: i32| match (plain, digit) {
        (true, _) => Label::plain(&scaled(digit, k).to_string()),
        (false, 1) => Label::parse(&format!("10^{{{k}}}").replace('-', "−")),
        (false, _) => Label::parse(&format!("{digit}·10^{{{k}}}").replace('-', "−")),
    };
    let every = decades_per_label(decades, length_pt, across);
    let labelled: &[i32] = if decades < 1.6 { &[1, 2, 5] } else { &[1] };
    let all = (first..=last).flat_map(|k| (1..10).map(move |digit| (digit, k)));
    all.map(|(digit, k)| {
        let says = labelled.contains(&digit) && k.rem_euclid(every) == 0;
        let value = scaled(digit, k);
        if says { Tick { value, label: label(digit, k) } } else { Tick::minor(value) }
    })
    .filter(|t| within(&t.value))
    .collect()
}

/// A range that starts and ends at round numbers around these values.
pub(crate) fn round_range(lo: f64, hi: f64) -> (f64, f64) {
    let (lo, hi) = if lo < hi { (lo, hi) } else { widened(lo) };
    let step = Step::of_at_least((hi - lo) / 5.0);
    (step.times((lo / step.value()).floor()), step.times((hi / step.value()).ceil()))
}

/// A range that starts and ends at 1, 2 or 5 times a power of ten around these positive values,
/// with a little room so that no value lies on an end.
pub(crate) fn round_log_range(lo: f64, hi: f64) -> (f64, f64) {
    let (lo, hi) = (lo / 1.04, hi * 1.04);
    let steps = |k: i32| [1, 2, 5].map(|digit| scaled(digit, k));
    let near = |v: f64| (exponent(v) - 1..=exponent(v) + 1).flat_map(steps);
    let below = near(lo).filter(|s| *s <= lo).fold(f64::MIN_POSITIVE, f64::max);
    let above = near(hi).filter(|s| *s >= hi).fold(f64::MAX, f64::min);
    (below, above)
}

fn widened(value: f64) -> (f64, f64) {
    let half = if value == 0.0 { 0.5 } else { 0.1 * value.abs() };
    (value - half, value + half)
}

/// How much of the axis a label needs, with a gap to the next.
fn needed_pt(label: &Label, across: Across) -> f64 {
    match across {
        Across::Along => label.width_pt(SMALL_PT) + 6.0,
        Across::Stacked => 1.4 * SMALL_PT,
    }
}

fn decades_per_label(decades: f64, length_pt: f64, across: Across) -> i32 {
    let needed = if across == Across::Along { 26.0 } else { 12.0 };
    ((needed * decades / length_pt).ceil() as i32).max(1)
}

/// A distance between ticks: 1, 2, 2.5 or 5 times a power of ten.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Step {
    /// Tenths of the power of ten.
    tenths: i32,
    exponent: i32,
}

impl Step {
    const TENTHS: [i32; 4] = [10, 20, 25, 50];

    fn of_at_least(least: f64) -> Self {
        let least = if least.is_finite() && least > 0.0 { least } else { 1.0 };
        let mut step = Step { tenths: 10, exponent: exponent(least) - 1 };
        while step.value() < least * (1.0 - 1e-12) {
            step = step.next();
        }
        step
    }

    fn next(self) -> Self {
        match Self::TENTHS.iter().find(|t| **t > self.tenths) {
            Some(&tenths) => Self { tenths, ..self },
            None => Self { tenths: 10, exponent: self.exponent + 1 },
        }
    }

    fn value(self) -> f64 {
        scaled(self.tenths, self.exponent - 1)
    }

    fn times(self, count: f64) -> f64 {
        let (whole, power) = (count * f64::from(self.tenths), self.exponent - 1);
        if power < 0 { whole / ten_to(-power) } else { whole * ten_to(power) }
    }

    fn decimals(self) -> usize {
        let last = if self.tenths % 10 == 0 { self.exponent } else { self.exponent - 1 };
        (-last).max(0).unsigned_abs() as usize
    }

    fn ticks_within(self, lo: f64, hi: f64) -> Vec<Tick> {
        let slack = 1e-9 * (hi - lo) / self.value();
        let first = (lo / self.value() - slack).ceil() as i64;
        let last = (hi / self.value() + slack).floor() as i64;
        let tick = |count: i64| {
            let value = self.times(count as f64);
            let digits = format!("{:.*}", self.decimals(), value.abs());
            let sign = if value < 0.0 { "−" } else { "" };
            Tick { value, label: Label::plain(&format!("{sign}{digits}")) }
        };
        (first..=last).map(tick).collect()
    }
}

/// The exponent of the power of ten at or below a positive value.
fn exponent(value: f64) -> i32 {
    libm::floor(libm::log10(value)) as i32
}

fn scaled(digits: i32, exponent: i32) -> f64 {
    format!("{digits}e{exponent}").parse().unwrap_or(f64::NAN)
}

fn ten_to(exponent: i32) -> f64 {
    scaled(1, exponent)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(ticks: &[Tick]) -> Vec<String> {
        ticks.iter().filter(|t| !t.label.is_empty()).map(|t| t.label.text()).collect()
    }

    #[test]
    fn a_fraction_is_ticked_in_quarters_and_a_run_in_thousands() {
        let fraction = linear(0.0, 1.0, 70.0, Across::Stacked);
        assert_eq!(labels(&fraction), ["0.00", "0.25", "0.50", "0.75", "1.00"]);
        let run = linear(0.0, 8700.0, 180.0, Across::Along);
        assert_eq!(labels(&run), ["0", "2000", "4000", "6000", "8000"]);
    }

    #[test]
    fn decades_are_labelled_and_their_multiples_are_minor() {
        let ticks = log(1.0, 1000.0, 80.0, Across::Stacked);
        assert_eq!(labels(&ticks), ["1", "10", "100", "1000"]);
        assert_eq!(ticks.len(), 28);
    }

    #[test]
    fn within_one_decade_more_than_one_tick_is_labelled() {
        assert_eq!(labels(&log(20.0, 90.0, 80.0, Across::Stacked)), ["20", "50"]);
        assert!(labels(&log(40.0, 60.0, 80.0, Across::Stacked)).len() > 1);
    }

    #[test]
    fn ranges_are_round_and_hold_their_values() {
        assert_eq!(round_range(0.3, 4.2), (0.0, 5.0));
        assert_eq!(round_log_range(3.0, 450.0), (2.0, 500.0));
        assert_eq!(round_log_range(5.0, 5.0), (2.0, 10.0));
        assert_eq!(round_log_range(1.0, 100.0), (0.5, 200.0));
    }

    #[test]
    fn negative_numbers_have_a_minus_sign_not_a_hyphen() {
        assert_eq!(labels(&linear(-1.0, 0.0, 80.0, Across::Along))[0], "−1.0");
    }

    #[test]
    fn far_powers_are_written_as_powers_and_only_as_many_as_there_is_room_for() {
        let ticks = log(1.0, 1e9, 60.0, Across::Stacked);
        let second = ticks.iter().filter(|t| !t.label.is_empty()).nth(1).unwrap();
        assert_eq!(second.label, Label::parse("10^{2}"));
        assert_eq!(labels(&ticks).len(), 5);
    }
}
