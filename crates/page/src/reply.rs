//! An answer: the command's JSON, and beside it what a page shows.

use serde::Serialize;
use serde_json::{Map, Value};
use trapcheck_answers::print::object;
use trapcheck_tables::table::Table;

/// An answer while it is put together.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply(Map<String, Value>);

impl Reply {
    /// What a command prints: these parts.
    pub fn of<K: Into<String>>(command: &str, parts: impl IntoIterator<Item = (K, Value)>) -> Self {
        Self(object(command, parts))
    }

    /// What a command prints of tables.
    pub fn of_tables(command: &str, tables: &[Table]) -> Self {
        let parts = tables.iter().map(|table| (table.name.as_str(), table.to_json()));
        Self::of(command, parts).printed(tables)
    }

    /// Something that no command prints.
    pub fn empty() -> Self {
        Self(Map::new())
    }

    /// Also tables with their stated digits.
    #[must_use]
    pub fn printed(self, tables: &[Table]) -> Self {
        let printed = tables.iter().map(|table| (table.name.clone(), table.to_printed()));
        let printed: Map<String, Value> = printed.collect();
        self.with("printed", printed)
    }

    /// Also the command line.
    #[must_use]
    pub fn command(self, command: impl Into<String>) -> Self {
        self.with("command", command.into())
    }

    /// Also this.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Serialize) -> Self {
        // Of these values each is JSON; one that were not would be shown as unknown.
        self.0.insert(name.into(), serde_json::to_value(value).unwrap_or_default());
        self
    }

    /// All of it.
    pub(crate) fn into_json(self) -> Value {
        Value::Object(self.0)
    }
}
