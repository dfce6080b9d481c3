//! What each published number and each field of a published table is bound to.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_yaml::{Mapping, Value};

use crate::setup::ConfigError;
use crate::table::Cell;

use super::pattern::Pattern;
use super::published::{PublishedNumber, PublishedTable};
use super::quantity::Quantity;

/// The bindings of the numbers.
#[derive(Debug)]
pub struct NumberBindings {
    /// A quantity per id.
    pub quantities: BTreeMap<String, Quantity>,
}

impl NumberBindings {
    /// Reads them.
    ///
    /// # Errors
    /// As [`crate::configs::yaml`]; a quantity that makes no sense, a published number that is not
    /// bound, a binding of a number that is not published.
    pub fn load(path: &Path, numbers: &[PublishedNumber]) -> Result<Self, ConfigError> {
        let file: BTreeMap<String, Value> = crate::configs::yaml(path)?;
        let wrong = |message: String| ConfigError::new(path, message);
        let quantities = file
            .iter()
            .map(|(id, value)| {
                let quantity = Quantity::parse(value).map_err(|e| wrong(format!("{id}: {e}")))?;
                Ok((id.clone(), quantity))
            })
            .collect::<Result<BTreeMap<_, _>, ConfigError>>()?;
        let published: BTreeSet<&String> = numbers.iter().map(|n| &n.id).collect();
        if let Some(id) = published.iter().find(|id| !quantities.contains_key(**id)) {
            return Err(wrong(format!("{id} is published and not bound")));
        }
        if let Some(id) = quantities.keys().find(|id| !published.contains(id)) {
            return Err(wrong(format!("{id} is bound and not published")));
        }
        Ok(Self { quantities })
    }
}

/// The bindings of one published table.
#[derive(Debug, Default)]
pub struct TableBinding {
    /// Blocks of rows.
    pub blocks: Vec<Block>,
}

/// The bindings of all published tables.
#[derive(Debug)]
pub struct TableBindings {
    tables: BTreeMap<String, TableBinding>,
    /// Words of the paper and ours for the same.
    pub words: BTreeMap<String, String>,
    /// Units of fields, by the last step of their path.
    pub units: BTreeMap<String, String>,
}

/// Some rows of a table and what their fields are bound to.
#[derive(Debug)]
pub struct Block {
    /// Fields that say which row it is.
    pub keys: Vec<String>,
    /// Which rows; all, if there is no condition.
    pub rows: Vec<(String, Vec<Pattern>)>,
    /// A quantity per field, with places for the row's own fields.
    pub fields: BTreeMap<String, Value>,
    /// Fields that nothing answers, and why; `*` for every other.
    pub none: BTreeMap<String, Value>,
}

impl TableBindings {
    /// Reads them.
    ///
    /// # Errors
    /// As [`crate::configs::yaml`]; a block or a quantity that makes no sense, a table that is not
    /// published.
    pub fn load(path: &Path, tables: &[PublishedTable]) -> Result<Self, ConfigError> {
        let file: BTreeMap<String, Value> = crate::configs::yaml(path)?;
        let wrong = |id: &str, message: String| ConfigError::new(path, format!("{id}: {message}"));
        let mut found = BTreeMap::new();
        let (mut words, mut units) = (BTreeMap::new(), BTreeMap::new());
        for (id, content) in &file {
            if id == "words" || id == "units" {
                let map = word_map(content).map_err(|e| wrong(id, e))?;
                if id == "words" {
                    words = map
                } else {
                    units = map
                }
                continue;
            }
            let Some(table) = tables.iter().find(|table| table.id == *id) else {
                return Err(wrong(id, "no such published table".into()));
            };
            let blocks =
                content.as_sequence().ok_or_else(|| wrong(id, "expected blocks".into()))?;
            let blocks = blocks
                .iter()
                .map(|value| {
                    let block = Block::parse(value).map_err(|e| wrong(id, e))?;
                    block.check(table).map_err(|e| wrong(id, e))?;
                    Ok(block)
                })
                .collect::<Result<_, ConfigError>>()?;
            found.insert(id.clone(), TableBinding { blocks });
        }
        Ok(Self { tables: found, words, units })
    }

    /// The bindings of a table; `None` if it has none.
    pub fn of(&self, id: &str) -> BoundTable<'_> {
        BoundTable { binding: self.tables.get(id), all: self }
    }

    /// Every setting file that a field names.
    pub fn settings(&self) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        for block in self.tables.values().flat_map(|t| &t.blocks) {
            for value in block.fields.values() {
                settings_in(value, &mut found);
            }
        }
        found
    }
}

/// A table's bindings with the words and units of all.
#[derive(Debug, Clone, Copy)]
pub struct BoundTable<'a> {
    /// Its own; `None` if it has none.
    pub binding: Option<&'a TableBinding>,
    /// The file's.
    pub all: &'a TableBindings,
}

fn settings_in(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Mapping(map) => {
            if let Some(file) = map.get("config").and_then(Value::as_str) {
                found.insert(file.to_owned());
            }
            for (_, inner) in map {
                settings_in(inner, found);
            }
        }
        Value::Sequence(items) => items.iter().for_each(|item| settings_in(item, found)),
        _ => {}
    }
}

fn word_map(value: &Value) -> Result<BTreeMap<String, String>, String> {
    let map = value.as_mapping().ok_or("expected words")?;
    map.iter()
        .map(|(k, v)| Some((k.as_str()?.to_owned(), v.as_str()?.to_owned())))
        .collect::<Option<_>>()
        .ok_or_else(|| "expected words".into())
}

impl Block {
    /// Whether it names only what the published table has.
    fn check(&self, table: &PublishedTable) -> Result<(), String> {
        let has = |field: &String| table.rows.iter().flatten().any(|(name, _)| name == field);
        let named = self.keys.iter().chain(self.fields.keys()).chain(self.none.keys());
        let named = named.chain(self.rows.iter().map(|(field, _)| field));
        if let Some(field) = named.into_iter().find(|field| *field != "*" && !has(field)) {
            return Err(format!("{field}: no row of the table has this field"));
        }
        if !table.rows.iter().any(|row| self.holds(row)) {
            return Err(format!("rows: no row of the table fits the block of {:?}", self.keys));
        }
        Ok(())
    }

    /// Whether it is about a row.
    pub fn holds(&self, row: &[(String, Value)]) -> bool {
        self.rows.iter().all(|(field, any)| {
            let own = row.iter().find(|(name, _)| name == field).map(|(_, value)| value);
            let cell = own.map_or(Cell::Empty, |value| match value.as_f64() {
                Some(x) => Cell::Number(x, 6),
                None => Cell::text(super::published::shown(value)),
            });
            any.iter().any(|pattern| pattern.matches(&cell))
        })
    }

    fn parse(value: &Value) -> Result<Self, String> {
        let map = value.as_mapping().ok_or("expected a block")?;
        let known = ["keys", "rows", "fields", "none"];
        if let Some(key) = map.keys().filter_map(Value::as_str).find(|k| !known.contains(k)) {
            return Err(format!("{key}: not known in a block"));
        }
        let keys = map.get("keys").and_then(Value::as_sequence).ok_or("keys are missing")?;
        let rows = map.get("rows").map_or(Ok(Vec::new()), |rows| {
            let rows = rows.as_mapping().ok_or("rows: expected field: pattern")?;
            rows.iter()
                .map(|(field, pattern)| {
                    let field = field.as_str().ok_or("rows: expected field: pattern")?;
                    Ok((field.to_owned(), Pattern::parse_any(pattern)?))
                })
                .collect::<Result<Vec<_>, String>>()
        })?;
        let part = |name: &str| -> Result<BTreeMap<String, Value>, String> {
            let empty = Mapping::new();
            let part = map
                .get(name)
                .map_or(Ok(&empty), |v| v.as_mapping().ok_or(format!("{name}: expected fields")))?;
            Ok(part.iter().filter_map(|(k, v)| Some((k.as_str()?.to_owned(), v.clone()))).collect())
        };
        let block = Self {
            keys: keys.iter().filter_map(|k| k.as_str().map(str::to_owned)).collect(),
            rows,
            fields: part("fields")?,
            none: part("none")?,
        };
        for (field, value) in &block.fields {
            Quantity::parse(value).map_err(|e| format!("{field}: {e}"))?;
        }
        Ok(block)
    }
}

/// A quantity with the row's own fields put in their places, `{field}`.
pub fn filled(value: &Value, row: &[(String, Value)]) -> Value {
    match value {
        Value::String(text) => {
            let mut text = text.clone();
            for (field, own) in row {
                let place = format!("{{{field}}}");
                if text.contains(&place) {
                    text = text.replace(&place, &super::published::shown(own));
                }
            }
            Value::String(text)
        }
        Value::Sequence(items) => Value::Sequence(items.iter().map(|i| filled(i, row)).collect()),
        Value::Mapping(map) => {
            Value::Mapping(map.iter().map(|(k, v)| (k.clone(), filled(v, row))).collect())
        }
        other => other.clone(),
    }
}
