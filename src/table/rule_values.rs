//! Every value of every registration as it is read, defaults included, so that a printed
//! threshold can be held against the one that decides.

use std::path::Path;

use serde::Serialize;
use serde_yaml::Value;

use crate::configs::hashed;
use crate::configs::yaml_files;
use crate::law::fill::{FillAs, fill};
use crate::model::window::FillThresholds;
use crate::run::SourceFile;
use crate::setup::Configs;
use crate::setup::registration::inputs::FillInputs;
use crate::setup::yaml::ConfigError;

use super::{Cell, Col, Heading, Table};

/// Where the inputs of fills lie.
pub(crate) const FILLS: &str = "configs/fill";

/// A value of a registration.
struct RuleValue {
    registration: String,
    /// Its dotted path.
    key: String,
    value: Cell,
    sources: Vec<SourceFile>,
}

const COLUMNS: &[Col<RuleValue>] = &[
    Heading("registration", "", "The registration's name").key(|of| Cell::text(&of.registration)),
    Heading("source", "", "settings: what is fixed, not run").key(|_| Cell::text("settings")),
    Heading("key", "", "Path of the value in the file").key(|of| Cell::text(&of.key)),
    Heading("value", "see key", "The value").new(|of| of.value.clone()),
];

/// The table: a row per value of each registration, then of the fill's own thresholds
/// (`fill-thresholds`), then of what each inputs file in `fills` about one of these cells is
/// filled to (`fill:NAME`).
///
/// # Errors
/// An inputs file that cannot be used.
pub fn table(configs: &Configs, fills: &Path) -> Result<Table, ConfigError> {
    let mut rows = Vec::new();
    for (name, file) in &configs.registrations {
        let source = SourceFile { path: file.path.clone(), sha256: file.sha256.clone() };
        add(&mut rows, name, &file.registration, &[source])?;
    }
    add(&mut rows, "fill-thresholds", &FillThresholds::default(), &[])?;
    for path in yaml_files(fills)? {
        let inputs = crate::configs::read(&path, FillInputs::parse)?;
        let wrong = |message: String| ConfigError::new(&path, message);
        // Of a cell that the analysis does not read: somebody's own.
        let Some((_, _, protocol)) = configs.of_cell(&inputs.cell) else { continue };
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let mark = FillAs { name: name.clone(), exploratory: None };
        let filled = fill(&inputs, protocol, &FillThresholds::default(), mark)
            .map_err(|e| wrong(e.to_string()))?;
        let source = hashed(&path)?;
        add(&mut rows, &format!("fill:{name}"), &filled, &[source])?;
    }
    let title = "Every value of every registration, defaults included";
    Ok(Table::of("rule_values", title, COLUMNS, rows, |of| {
        (format!("{}/{}", of.registration, of.key), of.sources.clone())
    }))
}

fn add(
    rows: &mut Vec<RuleValue>,
    name: &str,
    registered: &impl Serialize,
    sources: &[SourceFile],
) -> Result<(), ConfigError> {
    let mut leaves = Vec::new();
    let values = serde_yaml::to_value(registered);
    let values = values.map_err(|e| ConfigError::new(Path::new(name), e.to_string()))?;
    flatten("", &values, &mut leaves);
    rows.extend(leaves.into_iter().map(|(key, value)| RuleValue {
        registration: name.to_owned(),
        key,
        value,
        sources: sources.to_vec(),
    }));
    Ok(())
}

/// The leaves of a value by their dotted path, list items by index.
fn flatten(path: &str, value: &Value, leaves: &mut Vec<(String, Cell)>) {
    let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match value {
        Value::Mapping(map) => {
            for (key, value) in map {
                let key = match key {
                    Value::String(key) => below(key),
                    other => below(&leaf(other).print()),
                };
                flatten(&key, value, leaves);
            }
        }
        Value::Sequence(items) => {
            for (i, item) in items.iter().enumerate() {
                flatten(&below(&i.to_string()), item, leaves);
            }
        }
        Value::Tagged(tagged) => flatten(path, &tagged.value, leaves),
        value => leaves.push((path.to_owned(), leaf(value))),
    }
}

/// One value, a number with the digits it is written with.
fn leaf(value: &Value) -> Cell {
    match value {
        Value::Bool(yes) => Cell::text(if *yes { "yes" } else { "no" }),
        Value::Number(number) => Cell::text(number.to_string()),
        Value::String(text) => Cell::text(text),
        _ => Cell::Empty,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaves_are_named_by_their_path_and_list_items_by_index() {
        let text = "test: {lull_s: [6600.0, 8700.0], kind: mirror}\ncap: null\nrates: []\nn: 3";
        let mut leaves = Vec::new();
        flatten("", &serde_yaml::from_str(text).unwrap(), &mut leaves);
        let printed: Vec<String> =
            leaves.iter().map(|(key, cell)| format!("{key}={}", cell.print())).collect();
        assert_eq!(
            printed,
            ["test.lull_s.0=6600.0", "test.lull_s.1=8700.0", "test.kind=mirror", "cap=", "n=3"]
        );
    }

    #[test]
    fn a_default_is_a_row_as_much_as_a_value_of_the_file() {
        let mut rows = Vec::new();
        add(&mut rows, "fill-thresholds", &FillThresholds::default(), &[]).unwrap();
        let value = |key: &str| rows.iter().find(|r| r.key == key).map(|r| r.value.print());
        assert_eq!(value("cap_share").as_deref(), Some("0.95"));
        assert_eq!(value("fractions.1"), Some((2.0_f64 / 3.0).to_string()));
    }
}
