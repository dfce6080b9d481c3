//! Patterns that pick rows of a table: a glob on the printed text, a number, or a
//! comparison.

use globset::{GlobBuilder, GlobMatcher};
use serde_yaml::Value;

use crate::table::Cell;

/// One pattern.
#[derive(Debug, Clone)]
pub enum Pattern {
    /// The printed text matches a glob; `*` goes through `/`, case does not count.
    Glob(GlobMatcher),
    /// It does not.
    NotGlob(GlobMatcher),
    /// The number is this one.
    Equals(f64),
    /// The number is above, at least, below or at most this.
    Compares(Order, f64),
    /// The cell is empty.
    Empty,
}

/// How a number is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// `>`
    Above,
    /// `>=`
    AtLeast,
    /// `<`
    Below,
    /// `<=`
    AtMost,
}

impl Pattern {
    /// Reads one from YAML.
    ///
    /// # Errors
    /// It is neither text nor a number, or no glob.
    pub fn parse(value: &Value) -> Result<Self, String> {
        match value {
            Value::Number(n) => Ok(Self::Equals(n.as_f64().unwrap_or(f64::NAN))),
            Value::String(text) => Self::parse_text(text),
            Value::Bool(yes) => Self::parse_text(if *yes { "yes" } else { "no" }),
            _ => Err("a pattern is text or a number".into()),
        }
    }

    /// One or a list of them: any of them has to match.
    ///
    /// # Errors
    /// As [`Self::parse`].
    pub fn parse_any(value: &Value) -> Result<Vec<Self>, String> {
        match value {
            Value::Sequence(items) => items.iter().map(Self::parse).collect(),
            one => Ok(vec![Self::parse(one)?]),
        }
    }

    fn parse_text(text: &str) -> Result<Self, String> {
        let orders = [
            (">=", Order::AtLeast),
            ("<=", Order::AtMost),
            (">", Order::Above),
            ("<", Order::Below),
        ];
        for (sign, order) in orders {
            if let Some(number) = text.strip_prefix(sign).and_then(|t| t.trim().parse().ok()) {
                return Ok(Self::Compares(order, number));
            }
        }
        if text.is_empty() {
            return Ok(Self::Empty);
        }
        if let Some(rest) = text.strip_prefix('!') {
            return glob(rest).map(Self::NotGlob);
        }
        match text.parse::<f64>() {
            Ok(number) => Ok(Self::Equals(number)),
            Err(_) => glob(text).map(Self::Glob),
        }
    }

    /// Whether a cell matches. An unknown or empty cell is no number.
    pub fn matches(&self, cell: &Cell) -> bool {
        match self {
            Self::Empty => *cell == Cell::Empty || cell.print().is_empty(),
            Self::Glob(glob) => glob.is_match(cell.print()),
            Self::NotGlob(glob) => !glob.is_match(cell.print()),
            // As it is printed, so that 1.35 finds what a reader sees as 1.35.
            Self::Equals(number) => printed(cell).is_some_and(|x| (x - number).abs() < 1e-9),
            Self::Compares(order, number) => exact(cell).is_some_and(|x| order.holds(x, *number)),
        }
    }

    /// Whether a number matches.
    pub fn matches_number(&self, number: f64) -> bool {
        self.matches(&Cell::Number(number, 9))
    }
}

impl Order {
    fn holds(self, x: f64, limit: f64) -> bool {
        match self {
            Self::Above => x > limit,
            Self::AtLeast => x >= limit,
            Self::Below => x < limit,
            Self::AtMost => x <= limit,
        }
    }
}

fn glob(text: &str) -> Result<GlobMatcher, String> {
    let glob = GlobBuilder::new(text).literal_separator(false).case_insensitive(true).build();
    glob.map(|g| g.compile_matcher()).map_err(|e| e.to_string())
}

fn printed(cell: &Cell) -> Option<f64> {
    match cell {
        Cell::Number(..) | Cell::Count(_) | Cell::Text(_) => cell.print().parse().ok(),
        Cell::Range(_) | Cell::Unknown | Cell::Empty => None,
    }
}

/// The number in a cell, with all its digits.
pub fn exact(cell: &Cell) -> Option<f64> {
    match cell {
        Cell::Number(x, _) => Some(*x),
        Cell::Count(n) => Some(*n as f64),
        Cell::Text(text) => text.parse().ok(),
        Cell::Range(_) | Cell::Unknown | Cell::Empty => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, cell: &Cell) -> bool {
        Pattern::parse(&Value::String(pattern.into())).unwrap().matches(cell)
    }

    #[test]
    fn globs_go_through_folders_and_ignore_case() {
        let run = Cell::text("results/sim/paired/agentload_burst/paired_x");
        assert!(matches("*/paired/*", &run) && matches("RESULTS/*", &run));
        assert!(!matches("*/basin-2/*", &run) && matches("!*/basin-2/*", &run));
    }

    #[test]
    fn numbers_compare_as_printed_or_with_all_their_digits() {
        assert!(matches("1.35", &Cell::Number(1.350000001, 2)));
        assert!(
            matches(">0.5", &Cell::Number(0.5001, 2)) && !matches(">0.5", &Cell::Number(0.5, 2))
        );
        assert!(matches("<=2", &Cell::Count(2)) && !matches("<2", &Cell::Count(2)));
    }

    #[test]
    fn unknown_and_empty_are_no_numbers() {
        assert!(matches("", &Cell::Empty) && !matches("", &Cell::Count(0)));
        assert!(!matches("0", &Cell::Unknown) && !matches("<1", &Cell::Empty));
    }
}
