//! One condition of a rule, with what was measured and how far it was from turning.

use crate::digits::fixed;

/// Which side of the threshold a value has to be on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Comparison {
    /// Strictly above.
    Above(f64),
    /// Strictly below.
    Below(f64),
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

    /// What is asked, in words: `needs > 0.1164`.
    pub fn needs_words(&self) -> String {
        match self.needs {
            Comparison::Above(x) => format!("needs > {}", fixed(x, 4)),
            Comparison::Below(x) => format!("needs < {}", fixed(x, 4)),
            Comparison::Within(low, high) => {
                format!("needs {} to {}", fixed(low, 2), fixed(high, 2))
            }
        }
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
            Self::Within(low, high) => low <= x && x <= high,
        }
    }

    /// How far `x` is inside (negative: outside).
    pub fn margin(&self, x: f64) -> f64 {
        match *self {
            Self::Above(threshold) => x - threshold,
            Self::Below(threshold) => threshold - x,
            Self::Within(low, high) => (x - low).min(high - x),
        }
    }
}

/// Whether all clauses hold: `Some(false)` as soon as one does not, `None` when
/// one is open and none fails.
pub fn all_hold(clauses: &[Clause]) -> Option<bool> {
    if clauses.iter().any(|c| c.holds == Some(false)) {
        return Some(false);
    }
    clauses.iter().all(|c| c.holds == Some(true)).then_some(true)
}
