//! One condition of a rule, with what was measured and how far it was from turning.

use trapcheck_setup::digits::fixed;

use crate::measure::{Range, Share};

/// Which side of the threshold a value has to be on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Comparison {
    /// Strictly above.
    Above(f64),
    /// Strictly below.
    Below(f64),
    /// At this or above.
    AtLeast(f64),
    /// At this or below.
    AtMost(f64),
    /// Between two values, both included.
    Within(f64, f64),
}

/// A condition and how it came out.
#[derive(Debug, Clone, PartialEq)]
pub struct Clause {
    /// What is compared, in the field's words.
    pub quantity: &'static str,
    /// Its unit, empty for a ratio.
    pub unit: &'static str,
    /// What was measured; `None` when the run cannot say.
    pub measured: Option<f64>,
    /// What the rule asks of it.
    pub needs: Comparison,
    /// Whether it holds; `None` when the run cannot say.
    pub holds: Option<bool>,
}

impl Clause {
    /// A clause on a value that is known or not.
    pub fn new(
        quantity: &'static str,
        unit: &'static str,
        measured: Option<f64>,
        needs: Comparison,
    ) -> Self {
        Self { quantity, unit, measured, needs, holds: measured.map(|x| needs.holds(x)) }
    }

    /// The same with a verdict of its own: where the measured value alone does not
    /// say whether it holds.
    pub fn decided(self, holds: Option<bool>) -> Self {
        Self { holds, ..self }
    }

    /// A clause on a share: it is open only where the unknown turns could turn it.
    pub(crate) fn of_share(quantity: &'static str, share: &Share, needs: Comparison) -> Self {
        let holds = match needs {
            Comparison::Above(x) => share.is_above(x),
            Comparison::AtMost(x) => share.is_above(x).map(|above| !above),
            Comparison::Below(x) => share.is_below(x),
            Comparison::AtLeast(x) => share.is_below(x).map(|below| !below),
            Comparison::Within(low, high) => {
                share.is_below(low).zip(share.is_above(high)).map(|(b, a)| !b && !a)
            }
        };
        Self::new(quantity, "", share.value(), needs).decided(holds)
    }

    /// A clause on what a value can still come to: it is open where that could turn it. Measured
    /// is then said to be the value in reach that is nearest to turning it.
    pub(crate) fn in_reach(
        quantity: &'static str,
        unit: &'static str,
        range: Option<Range>,
        needs: Comparison,
    ) -> Self {
        let holds = range.and_then(|range| needs.holds_of(range));
        let nearest = range.zip(holds).map(|(Range { least, most }, holds)| {
            let least_is_inner = needs.margin(least) > needs.margin(most);
            if least_is_inner == holds { most } else { least }
        });
        Self::new(quantity, unit, nearest, needs).decided(holds)
    }

    /// What was measured, what was needed of it and how far off it is, by a name of the quantity.
    pub fn in_words(&self, quantity: &str) -> String {
        let measured = self.measured.map_or("unknown".into(), |x| fixed(x, 4));
        let margin = self.margin().map_or(String::new(), |m| {
            let sign = if m < 0.0 { "" } else { "+" };
            format!(" ({sign}{})", fixed(m, 4))
        });
        format!("{quantity} {measured} {}{margin}", self.needs.words(self.holds == Some(false)))
    }

    /// The margin over the threshold's own size.
    pub(crate) fn relative_margin(&self) -> f64 {
        self.margin().map_or(f64::INFINITY, |m| m / self.needs.scale().max(f64::MIN_POSITIVE))
    }

    /// How far the measured value is inside the condition (negative: outside), in
    /// its own unit.
    pub fn margin(&self) -> Option<f64> {
        self.measured.map(|x| self.needs.margin(x))
    }
}

impl Comparison {
    /// Whether `x` satisfies it.
    pub fn holds(&self, x: f64) -> bool {
        match *self {
            Self::Above(threshold) => x > threshold,
            Self::Below(threshold) => x < threshold,
            Self::AtLeast(threshold) => x >= threshold,
            Self::AtMost(threshold) => x <= threshold,
            Self::Within(low, high) => low <= x && x <= high,
        }
    }

    /// Whether all of a range satisfies it, or none of it does; `None` where a part does.
    fn holds_of(&self, Range { least, most }: Range) -> Option<bool> {
        let apart = match *self {
            Self::Above(x) => most <= x,
            Self::AtLeast(x) => most < x,
            Self::Below(x) => least >= x,
            Self::AtMost(x) => least > x,
            Self::Within(low, high) => most < low || least > high,
        };
        // What satisfies a condition has no gap: with both ends all between them does.
        let whole = self.holds(least) && self.holds(most);
        (whole || apart).then_some(whole)
    }

    /// How far `x` is inside (negative: outside).
    pub fn margin(&self, x: f64) -> f64 {
        match *self {
            Self::Above(threshold) | Self::AtLeast(threshold) => x - threshold,
            Self::Below(threshold) | Self::AtMost(threshold) => threshold - x,
            Self::Within(low, high) => (x - low).min(high - x),
        }
    }

    /// Which side, in words, and the least and the greatest value that satisfy it.
    pub const fn sides(&self) -> (&'static str, Option<f64>, Option<f64>) {
        match *self {
            Self::Above(x) => ("above", Some(x), None),
            Self::AtLeast(x) => ("at least", Some(x), None),
            Self::Below(x) => ("below", None, Some(x)),
            Self::AtMost(x) => ("at most", None, Some(x)),
            Self::Within(low, high) => ("within", Some(low), Some(high)),
        }
    }

    /// The condition in words, or, for one that failed, what is true instead.
    pub fn words(&self, failed: bool) -> String {
        let number = |x: f64| {
            let text = format!("{x:.4}");
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        };
        match (*self, failed) {
            (Self::Above(x), false) | (Self::AtMost(x), true) => format!("> {}", number(x)),
            (Self::Below(x), false) | (Self::AtLeast(x), true) => format!("< {}", number(x)),
            (Self::AtLeast(x), false) | (Self::Below(x), true) => format!(">= {}", number(x)),
            (Self::AtMost(x), false) | (Self::Above(x), true) => format!("<= {}", number(x)),
            (Self::Within(low, high), _) => {
                let word = if failed { "outside" } else { "in" };
                format!("{word} [{}, {}]", number(low), number(high))
            }
        }
    }

    /// The size that a margin is measured against, so that clauses compare.
    pub fn scale(&self) -> f64 {
        match *self {
            Self::Above(x) | Self::Below(x) | Self::AtLeast(x) | Self::AtMost(x) => x.abs(),
            Self::Within(low, high) => 0.5 * (high - low),
        }
    }
}

/// Whether all clauses hold: `Some(false)` as soon as one does not, `None` when
/// one is open and none fails.
pub(crate) fn all_hold(clauses: &[Clause]) -> Option<bool> {
    if clauses.iter().any(|c| c.holds == Some(false)) {
        return Some(false);
    }
    clauses.iter().all(|c| c.holds == Some(true)).then_some(true)
}

/// The clause that decided: the most narrowly held of clauses that all hold, else
/// the one that failed by most; an open one where it alone keeps them open.
pub fn deciding(clauses: &[Clause]) -> Option<&Clause> {
    let by_margin = |a: &&Clause, b: &&Clause| a.relative_margin().total_cmp(&b.relative_margin());
    match all_hold(clauses) {
        Some(false) => clauses.iter().filter(|c| c.holds == Some(false)).min_by(by_margin),
        Some(true) => clauses.iter().min_by(by_margin),
        None => clauses.iter().find(|c| c.holds.is_none()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strict_and_inclusive_thresholds_differ_at_the_threshold_only() {
        let holds = |needs: Comparison| [0.4, 0.5, 0.6].map(|x| needs.holds(x));
        assert_eq!(holds(Comparison::Above(0.5)), [false, false, true]);
        assert_eq!(holds(Comparison::AtLeast(0.5)), [false, true, true]);
        assert_eq!(holds(Comparison::Below(0.5)), [true, false, false]);
        assert_eq!(holds(Comparison::AtMost(0.5)), [true, true, false]);
    }

    #[test]
    fn a_failed_condition_is_said_as_what_is_true_instead() {
        assert_eq!(Comparison::Above(0.8).words(false), "> 0.8");
        assert_eq!(Comparison::Above(0.8).words(true), "<= 0.8");
        assert_eq!(Comparison::AtMost(10.0).words(true), "> 10");
        assert_eq!(Comparison::Within(0.85, 1.15).words(true), "outside [0.85, 1.15]");
    }

    #[test]
    fn a_share_with_unknown_turns_decides_only_where_it_must() {
        let share = Share { hits: 5, misses: 4, unknown: 1 };
        let holds = |needs| Clause::of_share("hit", &share, needs).holds;
        assert_eq!(holds(Comparison::Above(0.4)), Some(true));
        assert_eq!(holds(Comparison::Above(0.5)), None);
        assert_eq!(holds(Comparison::AtMost(0.6)), Some(true));
        assert_eq!(holds(Comparison::AtLeast(0.5)), Some(true));
        assert_eq!(holds(Comparison::Below(0.6)), None);
        assert_eq!(holds(Comparison::Below(0.5)), Some(false));
    }

    #[test]
    fn the_deciding_clause_is_the_tightest_that_holds_or_the_worst_that_fails() {
        let clause = |name, x| Clause::new(name, "", x, Comparison::Above(1.0));
        let named = |clauses: &[Clause]| deciding(clauses).map(|c| c.quantity);
        assert_eq!(named(&[clause("far", Some(3.0)), clause("near", Some(1.1))]), Some("near"));
        let failed = [clause("held", Some(1.1)), clause("failed", Some(0.2)), clause("open", None)];
        assert_eq!(named(&failed), Some("failed"));
        assert_eq!(named(&[clause("held", Some(2.0)), clause("open", None)]), Some("open"));
    }
}
