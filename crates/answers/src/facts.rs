//! Answers as tables: facts, each with its unit, and rows told apart by their first column.

use crate::table::{Cell, Col, Heading, Table};

/// A fact: what, how much, in which unit.
pub(crate) type Fact = (&'static str, Cell, &'static str);

/// A table of facts.
pub fn facts(name: &str, title: String, facts: Vec<Fact>) -> Table {
    let columns: &[Col<Fact>] = &[
        Heading("quantity", "", "What the value is of").new(|fact| Cell::text(fact.0)),
        Heading("value", "", "How much, in the unit beside it").new(|fact| fact.1.clone()),
        Heading("unit", "", "Unit of the value in the same row").new(|fact| Cell::text(fact.2)),
    ];
    Table::of(name, title, columns, facts, |fact| (fact.0.into(), Vec::new()))
}

/// A table of answers, told apart by what stands in their first column.
pub fn answers<T>(
    name: &str,
    title: impl Into<String>,
    columns: &[Col<T>],
    rows: impl IntoIterator<Item = T>,
) -> Table {
    let first = |of: &T| columns.first().map_or(String::new(), |column| column.cell(of).print());
    Table::of(name, title, columns, rows, |of| (first(of), Vec::new()))
}

/// Significant figures that a small quantity keeps.
const FIGURES: i32 = 3;
/// Digits after the point that are ever printed: beyond them a double holds none.
const MOST_DIGITS: i32 = 17;

/// A number with `digits` after the point, or as many as it takes to show three of its
/// figures: growth just above capacity is small, not 0.
pub fn significant(x: f64, digits: usize) -> Cell {
    Cell::Number(x, digits_for(x, digits))
}

/// A ratio near 1, with as many digits as its distance from 1 takes.
pub(crate) fn near_one(x: f64, digits: usize) -> Cell {
    Cell::Number(x, digits_for(x - 1.0, digits))
}

fn digits_for(x: f64, digits: usize) -> usize {
    if x == 0.0 || !x.is_finite() {
        return digits;
    }
    let needed = FIGURES - 1 - libm::floor(libm::log10(x.abs())) as i32;
    digits.max(needed.clamp(0, MOST_DIGITS) as usize)
}

/// A time span in words: seconds, minutes or hours, whichever reads best.
pub fn about(seconds: f64) -> String {
    match seconds {
        s if s < 120.0 => format!("{s:.0} s"),
        s if s < 7200.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_number_keeps_three_figures_and_a_large_one_its_digits() {
        assert_eq!(significant(0.030_16, 5).print(), "0.03016");
        assert_eq!(significant(1.234_567e-8, 5).print(), "0.0000000123");
        assert_eq!(significant(-1.234_567e-8, 5).print(), "-0.0000000123");
        assert_eq!(significant(109.2, 0).print(), "109");
        assert_eq!(significant(0.0, 2).print(), "0.00");
        assert_eq!(near_one(1.643, 4).print(), "1.6430");
        assert_eq!(near_one(1.0 + 1e-7, 4).print(), "1.000000100");
    }

    #[test]
    fn a_time_span_is_told_in_the_unit_that_reads_best() {
        assert_eq!([about(90.0), about(2400.0), about(9000.0)], ["90 s", "40 min", "2.5 h"]);
    }
}
