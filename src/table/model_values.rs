//! Every published model value beside ours: `paper/published/numbers.yaml`, answered.
//!
//! A row names its quantity, cells and loads in typed fields; the quantity is a function of
//! the [registry](self::quantities). No row is answered from its own published value. What
//! cannot be computed says why.

mod answer;
mod ask;
pub(super) mod curve;
pub(super) mod fluid;
pub(super) mod layers;
mod measured;
pub(super) mod onset;
mod printed;
mod question;
mod registry;
pub(super) mod sessions;
pub(super) mod trap;

use std::collections::BTreeMap;

use super::{Cell, Col, Heading, Table};
use crate::digits::decimals;
use crate::model::Theory;
use crate::model::curve::layers::h4::Rescue;
use crate::model::theory::RegisteredRescue;
use crate::published::ModelValue;
use crate::rule::rescue::RescueTest;
use crate::run::SourceFile;
use crate::setup::Configs;
pub use answer::{Answer, Unanswered};
pub use ask::{Ask, Asks, Point, Take, Undetermined};
pub use layers::{gap_over_turnover, token_ratio};
pub use printed::Printed;
pub use question::{At, Cut, Formula, Load, Settings};
pub use registry::{Quantity, quantities};

/// A published value, as the file states it.
pub(crate) type PublishedValue = ModelValue<Asks>;

/// A published value with ours.
#[derive(Debug, Clone)]
pub struct AnsweredValue {
    /// The published value.
    pub published: PublishedValue,
    /// Ours, or why there is none.
    pub ours: Result<f64, Unanswered>,
}

impl AnsweredValue {
    /// Whether ours rounds to the printed digits. `None` without a value of ours.
    pub fn matches(&self) -> Option<bool> {
        let ours = self.ours.as_ref().ok()?;
        let tolerance = self.published.tolerance?;
        // Half a unit is kept exactly by decimal arithmetic only; allow its rounding.
        Some((ours - self.published.published).abs() <= tolerance * (1.0 + 1e-6))
    }

    /// (ours - published) / |published|. `None` without a value of ours, or at 0.
    pub fn relative_gap(&self) -> Option<f64> {
        let ours = self.ours.as_ref().ok()?;
        let published = self.published.published;
        (published != 0.0).then(|| (ours - published) / published.abs())
    }

    /// Printed digits after the point.
    pub fn digits(&self) -> usize {
        let Some(tolerance) = self.published.tolerance else {
            return decimals(&self.published.published.to_string());
        };
        libm::ceil(-libm::log10(2.0 * tolerance) - 1e-9).max(0.0) as usize
    }
}

/// Answers every row, in order, from the cells that [`solve`] solved.
pub fn compare(
    published: &[PublishedValue],
    theories: &BTreeMap<String, Theory>,
    printed: &Printed,
) -> Vec<AnsweredValue> {
    let answered = |value: &PublishedValue| AnsweredValue {
        published: value.clone(),
        ours: value.asks.answer(theories, printed),
    };
    published.iter().map(answered).collect()
}

/// Every cell of a configuration, solved.
///
/// # Errors
/// A cell that cannot be solved.
pub fn solve(configs: &Configs) -> Result<BTreeMap<String, Theory>, Unanswered> {
    let mut theories = BTreeMap::new();
    for name in configs.cells.keys() {
        if let Some((cell, workload, protocol)) = configs.of_cell(name) {
            let mut theory = Theory::of(cell, workload)
                .map_err(|why| Unanswered::new(format!("cell {name}: {why}")))?;
            theory.rescue = rescue_in(name, configs);
            theories.insert(name.clone(), theory.under(protocol.paired, protocol.e0b.horizon_s));
        }
    }
    Ok(theories)
}

/// The rescue that is registered in a cell (R1, R4; sec 5).
fn rescue_in(cell: &str, configs: &Configs) -> Option<RegisteredRescue> {
    let mut registrations = configs.registrations.values().map(|file| &file.registration);
    registrations.find_map(|registration| {
        let test = RescueTest::of(&registration.test).filter(|_| registration.cell == cell)?;
        let cap = registration.cap? as f64;
        let rescue = Rescue { engage_s: test.engage_s, cap, hold_s: test.hold_s };
        Some(RegisteredRescue { rescue, released_by_s: test.released_by_s })
    })
}

/// What tells a value from others, and ours.
const VALUE: [Col<AnsweredValue>; 6] = [
    Heading("id", "", "Identifier of the published value").key(|of| Cell::text(&of.published.id)),
    Heading("place", "", "Where the paper states it").key(|of| Cell::text(&of.published.place)),
    Heading("quantity", "", "What it is").key(|of| Cell::text(&of.published.quantity)),
    Heading("cell", "", "Of which cell, at which rate").key(|of| Cell::text(&of.published.cell)),
    Heading("published", "", "The value as published")
        .key(|of| number(of.published.published, of.digits())),
    Heading("ours", "", "Our value, with one digit more")
        .new(|of| of.ours.as_ref().map_or(Cell::Unknown, |x| number(*x, of.digits() + 1))),
];
const GAP: Col<AnsweredValue> = Heading("gap_percent", "%", "Ours against published")
    .optional(3, |of| Some(100.0 * of.relative_gap()?));

/// The rows as a table. `ours` carries one digit more than the published value.
pub fn table(rows: &[AnsweredValue]) -> Table {
    let columns = [
        &VALUE[..],
        &[
            Heading("digits", "", "Digits after the point that are printed")
                .key(|of| Cell::Count(of.digits() as u64)),
            Heading("match", "", "Whether ours is the printed value")
                .new(|of| of.matches().map_or(Cell::Empty, |matches| Cell::yes_no(Some(matches)))),
            GAP,
            Heading("basis", "", "What it rests on: the text alone, a fit, printed values")
                .key(|of| Cell::text(&of.published.basis)),
            Heading("why_not", "", "Why there is no value").new(|of| {
                of.ours.as_ref().err().map_or(Cell::Empty, |why| Cell::text(why.to_string()))
            }),
        ],
    ]
    .concat();
    Table::of("model_values", "Published model values and ours", &columns, rows, identity)
}

fn identity(of: &AnsweredValue) -> (String, Vec<SourceFile>) {
    (of.published.id.clone(), Vec::new())
}

/// How many values match, by what they rest on.
pub fn summary(rows: &[AnsweredValue]) -> Table {
    let mut bases: BTreeMap<&str, Vec<Option<bool>>> = BTreeMap::new();
    for row in rows {
        let basis = if row.published.asks.computable() {
            row.published.basis.as_str()
        } else {
            "not computable from the text"
        };
        bases.entry(basis).or_default().push(row.matches());
    }
    type OfBasis<'a> = (&'a str, Vec<Option<bool>>);
    fn count((_, all): &OfBasis<'_>, matches: Option<bool>) -> Cell {
        Cell::Count(all.iter().filter(|found| **found == matches).count() as u64)
    }
    let columns: &[Col<OfBasis<'_>>] = &[
        Heading("rests_on", "", "What the values rest on").new(|(basis, _)| Cell::text(*basis)),
        Heading("match", "", "How many come out as printed").new(|of| count(of, Some(true))),
        Heading("miss", "", "How many do not").new(|of| count(of, Some(false))),
        Heading("no_value", "", "How many have no value").new(|of| count(of, None)),
    ];
    let title = format!("{} published model values", rows.len());
    Table::of("model_values_summary", title, columns, bases, |of| (of.0.into(), Vec::new()))
}

/// The values that do not come out to the printed digit, with what tells them apart.
pub fn misses(rows: &[AnsweredValue]) -> Table {
    let missed = rows.iter().filter(|row| row.matches() == Some(false));
    let title = "Values that do not come out to the printed digit";
    Table::of("model_values_misses", title, &[&VALUE[..], &[GAP]].concat(), missed, identity)
}

/// A number with stated digits, in scientific form where those would run out of sight.
fn number(x: f64, digits: usize) -> Cell {
    if digits > 8 { Cell::text(format!("{x:.2e}")) } else { Cell::Number(x, digits) }
}
