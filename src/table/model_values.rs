//! Every published model value beside ours: `paper/published/model_values.json`, answered.
//!
//! A row names its quantity, cells and loads in typed fields; the quantity is a function of
//! the [registry](self::quantities). No row is answered from its own published value. What
//! cannot be computed says why.

mod ask;
pub(super) mod curve;
pub(super) mod fluid;
pub(super) mod layers;
pub(super) mod onset;
mod printed;
mod registry;
pub(super) mod sessions;
pub(super) mod trap;

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{Cell, Column, Row, Table};
use crate::model::{ModelError, Theory};
use crate::setup::Configs;
use crate::setup::protocol::Paired;
pub use ask::{Ask, Asks, Point, Take, Undetermined};
pub use layers::{gap_over_turnover, token_ratio};
pub use printed::{Printed, PrintedError};
pub use registry::{Answer, At, Cut, Load, Quantity, Settings, Unanswered, Value, quantities};

/// A published value, as the file states it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedValue {
    /// Its identifier.
    pub id: String,
    /// Its place in the paper.
    #[serde(rename = "where")]
    pub place: String,
    /// What it is, in words.
    pub quantity: String,
    /// Of which cell, at which rate, in words.
    pub cell: String,
    /// The printed number.
    pub published: f64,
    /// Half a unit of its last printed digit; none where it cannot be computed.
    pub tolerance: Option<f64>,
    /// What it rests on: the text alone, an inferred definition, a fitted constant.
    pub basis: String,
    /// What computes it, or why nothing does.
    pub asks: Asks,
}

impl PublishedValue {
    /// Whether the text suffices to compute it.
    pub fn computable(&self) -> bool {
        matches!(self.asks, Asks::For(_))
    }
}

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
            let printed = self.published.published.to_string();
            return printed.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        };
        libm::ceil(-libm::log10(2.0 * tolerance) - 1e-9).max(0.0) as usize
    }
}

/// A cell of the configuration that cannot be solved.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("cell {cell}: {source}")]
pub struct Unsolved {
    /// Its name.
    pub cell: String,
    /// What is wrong.
    pub source: ModelError,
}

/// Reads the file of published values.
///
/// # Errors
/// Not JSON, a row with missing or unknown fields, or a quantity that is not in the registry.
pub fn parse(json: &str) -> Result<Vec<PublishedValue>, serde_json::Error> {
    serde_json::from_str(json)
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
pub fn solve(configs: &Configs) -> Result<BTreeMap<String, Theory>, Unsolved> {
    let mut theories = BTreeMap::new();
    for (name, cell) in &configs.cells {
        if let Some(workload) = configs.workloads.get(&cell.workload) {
            let theory = Theory::of(cell, workload)
                .map_err(|source| Unsolved { cell: name.clone(), source })?;
            let paired = configs.protocols.get(&cell.protocol).map_or(Paired::PAPER, |p| p.paired);
            theories.insert(name.clone(), theory.under(paired));
        }
    }
    Ok(theories)
}

const COLUMNS: &[Column] = &[
    Column::key("id", ""),
    Column::key("place", ""),
    Column::key("quantity", ""),
    Column::key("cell", ""),
    Column::key("published", ""),
    Column::new("ours", ""),
    Column::key("digits", ""),
    Column::new("match", ""),
    Column::new("gap_percent", "%"),
    Column::key("basis", ""),
    Column::new("why_not", ""),
];

/// The rows as a table. `ours` carries one digit more than the published value.
pub fn table(rows: &[AnsweredValue]) -> Table {
    let row = |compared: &AnsweredValue| {
        let value = &compared.published;
        let digits = compared.digits();
        let matches = match compared.matches() {
            Some(true) => Cell::text("yes"),
            Some(false) => Cell::text("no"),
            None => Cell::Empty,
        };
        Row {
            key: value.id.clone(),
            cells: vec![
                Cell::text(&value.id),
                Cell::text(&value.place),
                Cell::text(&value.quantity),
                Cell::text(&value.cell),
                number(value.published, digits),
                compared.ours.as_ref().map_or(Cell::Unknown, |x| number(*x, digits + 1)),
                Cell::Count(digits as u64),
                matches,
                Cell::optional(compared.relative_gap().map(|gap| 100.0 * gap), 3),
                Cell::text(&value.basis),
                compared.ours.as_ref().err().map_or(Cell::Empty, |why| Cell::text(why.to_string())),
            ],
            sources: Vec::new(),
        }
    };
    Table {
        name: "model_values".into(),
        title: "Published model values and ours".into(),
        columns: COLUMNS.to_vec(),
        rows: rows.iter().map(row).collect(),
    }
}

/// How many values match, by what they rest on.
pub fn summary(rows: &[AnsweredValue]) -> Table {
    let mut bases: BTreeMap<&str, [u64; 3]> = BTreeMap::new();
    for row in rows {
        let basis = if row.published.computable() {
            row.published.basis.as_str()
        } else {
            "not computable from the text"
        };
        let place = match row.matches() {
            Some(true) => 0,
            Some(false) => 1,
            None => 2,
        };
        bases.entry(basis).or_default()[place] += 1;
    }
    let names = [("rests_on", ""), ("match", ""), ("miss", ""), ("no_value", "")];
    let row = |(basis, counts): (&str, [u64; 3])| Row {
        key: basis.into(),
        cells: [Cell::text(basis)].into_iter().chain(counts.map(Cell::Count)).collect(),
        sources: Vec::new(),
    };
    Table {
        name: "model_values_summary".into(),
        title: format!("{} published model values", rows.len()),
        columns: names.map(|(name, unit)| Column::new(name, unit)).to_vec(),
        rows: bases.into_iter().map(row).collect(),
    }
}

/// The rows of [`table`] that do not match to the printed digit, with what tells them apart.
pub fn misses(full: &Table) -> Table {
    let shown = ["id", "place", "quantity", "cell", "published", "ours", "gap_percent"];
    let places: Vec<usize> =
        shown.iter().filter_map(|name| COLUMNS.iter().position(|c| c.name == *name)).collect();
    let missed = |row: &&Row| row.cells.contains(&Cell::text("no"));
    let row = |row: &Row| Row {
        key: row.key.clone(),
        cells: places.iter().map(|i| row.cells[*i].clone()).collect(),
        sources: Vec::new(),
    };
    Table {
        name: "model_values_misses".into(),
        title: "Values that do not come out to the printed digit".into(),
        columns: places.iter().map(|i| COLUMNS[*i].clone()).collect(),
        rows: full.rows.iter().filter(missed).map(row).collect(),
    }
}

/// A number with stated digits, in scientific form where those would run out of sight.
fn number(x: f64, digits: usize) -> Cell {
    if digits > 8 { Cell::text(format!("{x:.2e}")) } else { Cell::Number(x, digits) }
}
