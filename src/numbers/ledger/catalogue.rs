//! Everything that quantities can be computed from: derived tables, model values, settings,
//! and what runs are called.

use std::collections::BTreeMap;

use serde_yaml::Value as Yaml;

use crate::table::{Cell, Table};

use super::evaluate::{self, Found, Lack};
use super::pattern::{Pattern, exact};
use super::quantity::Quantity;

/// Everything that quantities can be computed from.
#[derive(Debug, Default)]
pub struct Catalogue {
    pub(super) tables: BTreeMap<String, Table>,
    pub(super) models: BTreeMap<String, (Option<f64>, String)>,
    pub(super) settings: BTreeMap<String, Yaml>,
    pub(super) numbers: BTreeMap<String, Quantity>,
    names: BTreeMap<String, String>,
}

impl Catalogue {
    /// With derived tables; the table of model values among them answers `model`.
    pub fn new(tables: impl IntoIterator<Item = Table>) -> Self {
        let tables: BTreeMap<String, Table> =
            tables.into_iter().map(|table| (table.name.clone(), table)).collect();
        let models = tables.get("model_values").map_or_else(BTreeMap::new, model_values);
        Self { tables, models, ..Self::default() }
    }

    /// With the file of settings that `path` names.
    pub fn add_settings(&mut self, path: &str, content: Yaml) {
        self.settings.insert(path.into(), content);
    }

    /// With the bindings of all numbers, which may refer to each other.
    pub fn add_numbers(&mut self, numbers: BTreeMap<String, Quantity>) {
        self.numbers = numbers;
    }

    /// With what runs are called in the campaign, by their folder: a pattern on `run` is
    /// held against both.
    pub fn add_names(&mut self, names: BTreeMap<String, String>) {
        self.names = names;
    }

    /// Whether a cell of a column matches one of the patterns. A negated pattern on a run
    /// must hold for its folder and for its name in the campaign.
    pub(super) fn matches(&self, column: &str, cell: &Cell, any: &[Pattern]) -> bool {
        let alias = if column == "run" { self.names.get(&cell.print()) } else { None };
        let alias = alias.map(Cell::text);
        any.iter().any(|pattern| match (&alias, pattern) {
            (None, _) => pattern.matches(cell),
            (Some(name), Pattern::NotGlob(_)) => pattern.matches(cell) && pattern.matches(name),
            (Some(name), _) => pattern.matches(cell) || pattern.matches(name),
        })
    }

    /// A derived table.
    pub fn table(&self, name: &str) -> Option<&Table> {
        self.tables.get(name)
    }

    /// The values of a quantity.
    ///
    /// # Errors
    /// [`Lack`].
    pub fn evaluate(&self, quantity: &Quantity) -> Result<Found, Lack> {
        evaluate::of(self, quantity)
    }
}

/// Our value per id, or why there is none.
fn model_values(table: &Table) -> BTreeMap<String, (Option<f64>, String)> {
    let place = |name: &str| table.columns.iter().position(|c| c.name == name);
    let (Some(id), Some(ours)) = (place("id"), place("ours")) else { return BTreeMap::new() };
    let why = place("why_not");
    table
        .rows
        .iter()
        .map(|row| {
            let reason = why.map_or(String::new(), |i| row.cells[i].print());
            (row.cells[id].print(), (exact(&row.cells[ours]), reason))
        })
        .collect()
}
