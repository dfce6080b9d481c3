//! The published numbers and tables, as data to be compared with.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_yaml::{Mapping, Value};

use crate::digits::decimals;
use crate::nearest;
use crate::setup::ConfigError;

/// A number of the paper's text.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedNumber {
    /// Its name.
    pub id: String,
    /// Every place where it stands.
    #[serde(rename = "where")]
    pub places: Vec<String>,
    /// What it says.
    pub statement: String,
    /// Its value, or values.
    pub value: Value,
    /// How the values belong together.
    pub form: Form,
    /// Its unit.
    pub unit: String,
    /// Where it came from.
    pub kind: NumberKind,
    /// Digits after the point, as printed.
    pub decimals: Decimals,
    /// The cell it is about.
    #[serde(default)]
    pub cell: Option<String>,
    /// Printed with "about".
    #[serde(default)]
    pub approx: bool,
    /// What else is to be known.
    #[serde(default)]
    pub note: Option<String>,
}

/// Digits after the point that a number's values are printed with.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Decimals {
    /// All of them with as many.
    Alike(usize),
    /// One after another.
    Each(Vec<usize>),
}

/// How a number's values belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// One value.
    Scalar,
    /// From the first to the second.
    Range,
    /// Each for itself, in order.
    List,
    /// The first of the second.
    Of,
}

/// Where a published number came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NumberKind {
    /// A model.
    Model,
    /// An engine.
    Measured,
    /// The paper's simulator.
    Simulated,
    /// A setting fixed beforehand.
    Registered,
    /// A count of runs, cells or things.
    Count,
    /// An engine, analysed after the outcome.
    Posthoc,
}

impl Form {
    /// What stands between the values.
    pub(crate) const fn joint(self) -> &'static str {
        match self {
            Self::Of => " of ",
            Self::Range => " to ",
            Self::Scalar | Self::List => ", ",
        }
    }
}

impl NumberKind {
    /// The word of the file.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Measured => "measured",
            Self::Simulated => "simulated",
            Self::Registered => "registered",
            Self::Count => "count",
            Self::Posthoc => "posthoc",
        }
    }
}

impl PublishedNumber {
    /// Its values.
    pub fn values(&self) -> Vec<f64> {
        match &self.value {
            Value::Sequence(items) => items.iter().filter_map(Value::as_f64).collect(),
            one => one.as_f64().into_iter().collect(),
        }
    }

    /// Whether its values fit its form.
    fn check(&self) -> Result<(), String> {
        let stated = match &self.value {
            Value::Sequence(items) => items.len(),
            _ => 1,
        };
        let values = self.values();
        if values.len() != stated || values.is_empty() {
            return Err("value: expected numbers".into());
        }
        let digits = match &self.decimals {
            Decimals::Alike(digits) => std::slice::from_ref(digits),
            Decimals::Each(digits) => digits.as_slice(),
        };
        if digits.iter().any(|digits| *digits > MOST_DECIMALS) {
            return Err(format!("decimals: expected at most {MOST_DECIMALS}"));
        }
        if digits.len() != 1 && digits.len() != values.len() {
            return Err("decimals: expected one for all values, or one for each".into());
        }
        match (self.form, values.as_slice()) {
            (Form::Scalar, [_]) | (Form::List, _) => Ok(()),
            (Form::Range, [low, high]) if low <= high => Ok(()),
            (Form::Of, [k, n]) if 0.0 <= *k && k <= n && *n > 0.0 => Ok(()),
            (Form::Scalar, _) => Err("a scalar is one number".into()),
            (Form::Range, _) => Err("a range is two numbers, the smaller first".into()),
            (Form::Of, _) => Err("k of n is two numbers, k at most n, n above 0".into()),
        }
    }

    /// Digits after the point that its i-th value is printed with.
    pub fn digits(&self, i: usize) -> usize {
        match &self.decimals {
            Decimals::Alike(digits) => *digits,
            Decimals::Each(digits) => digits.get(i).or(digits.last()).copied().unwrap_or(0),
        }
    }
}

/// A probability of the paper has 54.
const MOST_DECIMALS: usize = 60;

/// What the paper says of its models, one value. `A` says how it is computed.
#[derive(Debug, Clone)]
pub struct ModelValue<A> {
    /// Its identifier.
    pub id: String,
    /// Its place in the paper.
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
    pub asks: A,
}

/// A value of the models as the file has it: of its own, or that of a number.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, bound = "A: Deserialize<'de>")]
struct ModelRow<A> {
    id: String,
    #[serde(default)]
    number: Option<String>,
    #[serde(default)]
    nth: usize,
    #[serde(default)]
    value: Option<f64>,
    #[serde(default)]
    decimals: Option<i32>,
    #[serde(default)]
    tolerance: Option<f64>,
    #[serde(rename = "where")]
    place: String,
    quantity: String,
    cell: String,
    #[serde(default)]
    basis: String,
    #[serde(deserialize_with = "serde_yaml::with::singleton_map_recursive::deserialize")]
    asks: A,
}

impl<A> ModelRow<A> {
    /// With the value and the digits of the number that it is.
    fn stated(self, numbers: &[PublishedNumber]) -> Result<ModelValue<A>, String> {
        let (value, decimals) = match (&self.number, self.value) {
            (Some(id), None) => {
                let number = numbers.iter().find(|number| number.id == *id).ok_or_else(|| {
                    nearest::unknown("number", id, "", numbers.iter().map(|n| n.id.as_str()))
                })?;
                let value = number.values().get(self.nth).copied();
                let value = value.ok_or_else(|| format!("{id} has no value {}", self.nth))?;
                (value, i32::try_from(number.digits(self.nth)).ok())
            }
            (None, Some(value)) => (value, None),
            _ => return Err("expected either a number's id or a value".into()),
        };
        let half_a_unit = |digits: i32| 0.5 * libm::pow(10.0, f64::from(-digits));
        let tolerance = self.tolerance.or(self.decimals.or(decimals).map(half_a_unit));
        let Self { id, place, quantity, cell, basis, asks, .. } = self;
        Ok(ModelValue { id, place, quantity, cell, published: value, tolerance, basis, asks })
    }
}

#[derive(Deserialize)]
#[serde(bound = "A: Deserialize<'de>")]
struct NumbersFile<A> {
    #[allow(dead_code)] // the file's own account of itself
    meta: Value,
    entries: Vec<PublishedNumber>,
    #[serde(default = "Vec::new")]
    model_values: Vec<ModelRow<A>>,
}

/// Reads the file of the published numbers, and checks them.
fn file<A: DeserializeOwned>(path: &Path) -> Result<NumbersFile<A>, ConfigError> {
    let file: NumbersFile<A> = crate::configs::yaml(path)?;
    let mut seen = BTreeSet::new();
    let values = file.model_values.iter().map(|value| &value.id);
    if let Some(id) = file.entries.iter().map(|n| &n.id).chain(values).find(|id| !seen.insert(*id))
    {
        return Err(ConfigError::new(path, format!("id {id} is there twice")));
    }
    for number in &file.entries {
        number.check().map_err(|e| ConfigError::new(path, format!("{}: {e}", number.id)))?;
    }
    Ok(file)
}

/// Reads the published numbers.
///
/// # Errors
/// As [`crate::configs::yaml`]; an id that is there twice.
pub fn numbers(path: &Path) -> Result<Vec<PublishedNumber>, ConfigError> {
    Ok(file::<IgnoredAny>(path)?.entries)
}

/// Reads what the paper says of its models, from the same list.
///
/// # Errors
/// As [`numbers`]; a value that is no number's and not stated, or stated twice.
pub fn model_values<A: DeserializeOwned>(path: &Path) -> Result<Vec<ModelValue<A>>, ConfigError> {
    let NumbersFile { entries, model_values, .. } = file(path)?;
    let stated = |row: ModelRow<A>| {
        let id = row.id.clone();
        row.stated(&entries).map_err(|e| ConfigError::new(path, format!("{id}: {e}")))
    };
    model_values.into_iter().map(stated).collect()
}

/// A table of the paper.
#[derive(Debug, Clone, PartialEq)]
pub struct PublishedTable {
    /// Its name: `table_7`, or with the list that it is within it, `table_20.mean_errors`.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Where it stands.
    pub place: String,
    /// Its rows: each field by its path, in the order of the file.
    pub rows: Vec<Vec<(String, Value)>>,
}

impl PublishedTable {
    /// What the table beside ours is called.
    pub fn file_stem(&self) -> String {
        self.id.replace('.', "_")
    }
}

/// Reads the published tables.
///
/// # Errors
/// As [`crate::configs::yaml`].
pub fn tables(path: &Path) -> Result<Vec<PublishedTable>, ConfigError> {
    let file: BTreeMap<String, Value> = crate::configs::yaml(path)?;
    let mut tables = Vec::new();
    for (id, content) in &file {
        let Value::Mapping(content) = content else { continue };
        for (key, value) in content {
            let (Some(key), Value::Sequence(items)) = (key.as_str(), value) else { continue };
            let rows: Option<Vec<&Mapping>> = items.iter().map(Value::as_mapping).collect();
            let Some(rows) = rows.filter(|rows| !rows.is_empty()) else { continue };
            let word = |key: &str| match content.get(key) {
                Some(Value::String(text)) => text.clone(),
                Some(Value::Sequence(items)) => {
                    items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", ")
                }
                _ => String::new(),
            };
            tables.push(PublishedTable {
                id: if key == "rows" { id.clone() } else { format!("{id}.{key}") },
                title: word("title"),
                place: word("where"),
                rows: rows.into_iter().map(flat).collect(),
            });
        }
    }
    tables.sort_by_key(|table| (number_of(&table.id), table.id.clone()));
    Ok(tables)
}

/// `table_7` comes before `table_10`; tables without a number come last.
fn number_of(id: &str) -> u64 {
    let digits = id.strip_prefix("table_").unwrap_or("");
    let digits: String = digits.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap_or(u64::MAX)
}

/// The fields of a row by their paths.
fn flat(row: &Mapping) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    flatten(row, "", &mut found);
    found
}

fn flatten(map: &Mapping, before: &str, found: &mut Vec<(String, Value)>) {
    for (key, value) in map {
        let key = match key {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            _ => continue,
        };
        let path = if before.is_empty() { key } else { format!("{before}.{key}") };
        match value {
            Value::Mapping(inner) => flatten(inner, &path, found),
            leaf => found.push((path, leaf.clone())),
        }
    }
}

/// A published value as it is shown: words, numbers, lists.
pub fn shown(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Bool(yes) => if *yes { "yes" } else { "no" }.into(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.clone(),
        Value::Sequence(items) => items.iter().map(shown).collect::<Vec<_>>().join(", "),
        Value::Mapping(_) | Value::Tagged(_) => String::new(),
    }
}

/// The numbers in a published value, if it is nothing else, and their digits after the
/// point.
pub fn numeric(value: &Value) -> Option<(Vec<f64>, usize)> {
    let items = match value {
        Value::Sequence(items) => items.as_slice(),
        one => std::slice::from_ref(one),
    };
    let mut flat = Vec::new();
    for item in items {
        match item {
            Value::Sequence(inner) => flat.extend(inner),
            one => flat.push(one),
        }
    }
    let numbers: Option<Vec<f64>> = flat.iter().map(|v| v.as_f64()).collect();
    let digits = |v: &&Value| decimals(&shown(v));
    numbers.filter(|n| !n.is_empty()).map(|n| (n, flat.iter().map(digits).max().unwrap_or(0)))
}
