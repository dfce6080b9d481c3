//! Computing what a binding says, from derived tables, model values and settings.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde_yaml::Value as Yaml;

use crate::measure::stats;
use crate::run::SourceFile;
use crate::table::{Cell, Row, Table};

use super::catalogue::Catalogue;
use super::pattern::{Pattern, exact};
use super::quantity::{Bound, Cells, Operation, Quantity, Reduction, Take, Where};

/// Columns that say which runs a row is about, rather than what became of them.
const IDENTITY: [&str; 6] = ["run", "cell", "arm", "registration", "rate_multiple", "population"];

/// The `source` of rows that restate what `configs/` and its defaults fix.
const SETTINGS: &str = "settings";

/// The `source` of rows that rest on no run in a table whose others do.
const MODEL: &str = "model";

/// One value of ours.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A number.
    Number(f64),
    /// Words.
    Text(String),
}

/// What was found, and what it rests on.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Found {
    /// The values, in order.
    pub values: Vec<Value>,
    /// What was used.
    pub uses: Uses,
    /// Whether the published value is a bound on them.
    pub bound: Option<Bound>,
    /// Why they could hardly have come out otherwise, if that is so.
    pub by_construction: Option<String>,
}

/// What a quantity rests on.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Uses {
    /// Derived tables and the rows of them, by their keys.
    pub rows: BTreeSet<(String, String)>,
    /// Model values, by id.
    pub models: BTreeSet<String>,
    /// Settings: file and path.
    pub settings: BTreeSet<(String, String)>,
    /// Files that the rows were computed from.
    pub sources: BTreeSet<SourceFile>,
    /// Whether a run is among what was used, and whose.
    pub origins: BTreeSet<String>,
}

/// Why a quantity has no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lack {
    /// Only the cluster's data can answer.
    Nova {
        /// Where they would lie.
        path: String,
        /// Why they are needed.
        because: String,
    },
    /// Nothing can answer, or our data cannot say.
    NotComputed(String),
    /// Ours has no such thing: a gate that never came off, a load without an unstable run.
    Nothing {
        /// What it has not.
        why: String,
        /// Whose runs have it not.
        whose: String,
    },
    /// The binding leads to nothing: a table, column, id or path that is not there.
    Broken(String),
}

/// The values of a quantity.
///
/// # Errors
/// [`Lack`].
pub(super) fn of(catalogue: &Catalogue, quantity: &Quantity) -> Result<Found, Lack> {
    Evaluation { catalogue, open: Vec::new() }.of(quantity)
}

struct Evaluation<'a> {
    catalogue: &'a Catalogue,
    /// Numbers that are being evaluated: one that is met again is a cycle.
    open: Vec<String>,
}

impl Evaluation<'_> {
    fn of(&mut self, quantity: &Quantity) -> Result<Found, Lack> {
        match quantity {
            Quantity::Model(ids) => self.models(ids),
            Quantity::Config(file, paths) => self.settings(file, paths),
            Quantity::Cells(cells) => self.cells(cells),
            Quantity::Number(id) => self.number(id),
            Quantity::List(items) => self.all(items),
            Quantity::Range(items) => {
                let found = self.all(items)?;
                let values = numbers(&found)?;
                let range = [Reduction::Min, Reduction::Max].map(|r| reduce(r, &values));
                found.with(range.into_iter().collect::<Result<_, _>>()?)
            }
            Quantity::Reduce(reduction, of) => {
                let found = self.of(of)?;
                let value = reduce(*reduction, &numbers(&found)?)?;
                found.with(vec![value])
            }
            Quantity::Combine(operation, pair) => {
                let (a, b) = (self.of(&pair.0)?, self.of(&pair.1)?);
                let values = combine(*operation, &numbers(&a)?, &numbers(&b)?)?;
                a.and(b).with(values)
            }
            Quantity::Bound(bound, of) => Ok(Found { bound: Some(*bound), ..self.of(of)? }),
            Quantity::ByConstruction(why, of) => {
                Ok(Found { by_construction: Some(why.clone()), ..self.of(of)? })
            }
            Quantity::Abs(of) => self.each(of, f64::abs),
            Quantity::Scale(factor, of) => self.each(of, |x| x * factor),
            Quantity::Count(of, is) | Quantity::ShareOf(of, is) => {
                let found = self.of(of)?;
                let values = numbers(&found)?;
                let matching =
                    values.iter().filter(|x| is.iter().any(|p| p.matches_number(**x))).count();
                let mut counts = vec![matching as f64];
                if matches!(quantity, Quantity::ShareOf(..)) {
                    counts.push(values.len() as f64);
                }
                found.with(counts)
            }
            Quantity::Nova(path, because) => {
                Err(Lack::Nova { path: path.clone(), because: because.clone() })
            }
            Quantity::None(why) => Err(Lack::NotComputed(why.clone())),
        }
    }

    fn each(&mut self, of: &Quantity, map: impl Fn(f64) -> f64) -> Result<Found, Lack> {
        let found = self.of(of)?;
        let values = numbers(&found)?.into_iter().map(map).collect();
        found.with(values)
    }

    fn all(&mut self, items: &[Quantity]) -> Result<Found, Lack> {
        let mut all = Found::default();
        for item in items {
            let found = self.of(item)?;
            all.values.extend(found.values.iter().cloned());
            all.uses.extend(found.uses);
        }
        Ok(all)
    }

    fn number(&mut self, id: &str) -> Result<Found, Lack> {
        if self.open.iter().any(|open| open == id) {
            self.open.push(id.to_owned());
            return Err(Lack::Broken(format!("a cycle: {}", self.open.join(" -> "))));
        }
        let quantity = self
            .catalogue
            .numbers
            .get(id)
            .ok_or_else(|| Lack::Broken(format!("no number {id}")))?;
        self.open.push(id.to_owned());
        let found = self.of(quantity);
        self.open.pop();
        found
    }

    fn models(&self, ids: &[String]) -> Result<Found, Lack> {
        let mut found = Found::default();
        for id in ids {
            let (value, why) = self
                .catalogue
                .models
                .get(id)
                .ok_or_else(|| Lack::Broken(format!("no model value {id}")))?;
            let value = value.ok_or_else(|| Lack::NotComputed(format!("{id}: {why}")))?;
            found.values.push(Value::Number(value));
            found.uses.models.insert(id.clone());
        }
        Ok(found)
    }

    fn settings(&self, file: &str, paths: &[String]) -> Result<Found, Lack> {
        let content = self
            .catalogue
            .settings
            .get(file)
            .ok_or_else(|| Lack::Broken(format!("{file}: no such file of settings")))?;
        let mut found = Found::default();
        for path in paths {
            let leaf = at(content, path)
                .ok_or_else(|| Lack::Broken(format!("{file}: nothing at {path}")))?;
            let items = match leaf {
                Yaml::Sequence(items) => items.as_slice(),
                one => std::slice::from_ref(one),
            };
            for item in items {
                found.values.push(match item {
                    Yaml::Number(n) => Value::Number(n.as_f64().unwrap_or(f64::NAN)),
                    Yaml::String(text) => Value::Text(text.clone()),
                    _ => return Err(Lack::Broken(format!("{file}: {path} is no value"))),
                });
            }
            found.uses.settings.insert((file.to_owned(), path.clone()));
        }
        Ok(found)
    }

    fn cells(&self, cells: &Cells) -> Result<Found, Lack> {
        let table = self
            .catalogue
            .tables
            .get(&cells.table)
            .ok_or_else(|| Lack::Broken(format!("no table {}", cells.table)))?;
        let place = |column: &String| {
            table
                .columns
                .iter()
                .position(|c| c.name == column.as_str())
                .ok_or_else(|| Lack::Broken(format!("{}: no column {column}", cells.table)))
        };
        let resolve = |patterns: &Where| -> Result<Vec<usize>, Lack> {
            patterns.iter().map(|(column, _)| place(column)).collect()
        };
        let (where_at, is_at) = (resolve(&cells.rows)?, resolve(&cells.is)?);
        let columns: Vec<usize> = cells.columns.iter().map(place).collect::<Result<_, _>>()?;
        let holds = |row: &Row, patterns: &Where, at: &[usize]| {
            let mut asked = patterns.iter().zip(at);
            asked.all(|((column, any), i)| self.catalogue.matches(column, &row.cells[*i], any))
        };
        let rows: Vec<&Row> =
            table.rows.iter().filter(|row| holds(row, &cells.rows, &where_at)).collect();
        let mut found = Found::default();
        found.uses.rest_on(table, &rows);
        let values = match cells.take {
            Take::Count => {
                // Of runs that are not there, none is as asked: that says nothing.
                let asked: Vec<(usize, &(String, Vec<Pattern>))> = where_at
                    .iter()
                    .copied()
                    .zip(&cells.rows)
                    .filter(|(_, (column, _))| IDENTITY.contains(&column.as_str()))
                    .collect();
                let is_there = |row: &Row| {
                    asked.iter().all(|(i, (column, any))| {
                        self.catalogue.matches(column, &row.cells[*i], any)
                    })
                };
                if !table.rows.iter().any(is_there) {
                    let why = format!("no run of {} fits", cells.table);
                    return Err(Lack::NotComputed(why));
                }
                vec![rows.len() as f64]
            }
            Take::Of => {
                let asked = rows.iter().filter(|row| holds(row, &cells.is, &is_at)).count();
                if rows.is_empty() {
                    return Err(Lack::NotComputed(format!("no row of {} fits", cells.table)));
                }
                vec![asked as f64, rows.len() as f64]
            }
            Take::Each => {
                found.values = rows
                    .iter()
                    .flat_map(|row| columns.iter().map(move |i| value(table, row, *i)))
                    .collect::<Result<_, _>>()?;
                if found.values.is_empty() {
                    return Err(Lack::NotComputed(format!("no row of {} fits", cells.table)));
                }
                return Ok(found);
            }
            Take::Range | Take::One(_) => {
                let each: Vec<Value> = rows
                    .iter()
                    .flat_map(|row| columns.iter().map(move |i| value(table, row, *i)))
                    .collect::<Result<_, _>>()?;
                let each = Found { values: each, ..Found::default() };
                let each = numbers(&each)?;
                match cells.take {
                    Take::One(reduction) => vec![reduce(reduction, &each)?],
                    _ => vec![reduce(Reduction::Min, &each)?, reduce(Reduction::Max, &each)?],
                }
            }
        };
        found.with(values)
    }
}

impl Found {
    fn with(self, numbers: Vec<f64>) -> Result<Self, Lack> {
        if let Some(odd) = numbers.iter().find(|x| !x.is_finite()) {
            return Err(Lack::NotComputed(format!("the arithmetic gives {odd}")));
        }
        Ok(Self { values: numbers.into_iter().map(Value::Number).collect(), ..self })
    }

    fn and(mut self, other: Self) -> Self {
        self.uses.extend(other.uses);
        self
    }
}

impl Uses {
    fn extend(&mut self, other: Self) {
        self.rows.extend(other.rows);
        self.models.extend(other.models);
        self.settings.extend(other.settings);
        self.sources.extend(other.sources);
        self.origins.extend(other.origins);
    }

    fn rest_on(&mut self, table: &Table, rows: &[&Row]) {
        let source = table.columns.iter().position(|c| c.name == "source");
        for row in rows {
            self.rows.insert((table.name.clone(), row.key.clone()));
            self.sources.extend(row.sources.iter().cloned());
        }
        // That no row fits is a finding about the runs of the whole table.
        let all: Vec<&Row> = table.rows.iter().collect();
        let looked_at = if rows.is_empty() { &all } else { rows };
        for origin in source.iter().flat_map(|i| looked_at.iter().map(|row| row.cells[*i].print()))
        {
            if origin == SETTINGS {
                self.settings.insert((table.name.clone(), String::new()));
            } else if origin != MODEL && !origin.is_empty() {
                self.origins.insert(origin);
            }
        }
    }
}

fn value(table: &Table, row: &Row, i: usize) -> Result<Value, Lack> {
    let cell = &row.cells[i];
    match (exact(cell), cell) {
        (Some(number), _) => Ok(Value::Number(number)),
        (None, Cell::Text(text)) => Ok(Value::Text(text.clone())),
        (None, Cell::Empty) => {
            let name = &table.columns[i].name;
            let source = table.columns.iter().position(|c| c.name == "source");
            Err(Lack::Nothing {
                why: format!("{}: {} has no {name}", table.name, row.key),
                whose: source.map_or_else(String::new, |i| row.cells[i].print()),
            })
        }
        _ => {
            let name = &table.columns[i].name;
            Err(Lack::NotComputed(format!("{}: {name} of {} is unknown", table.name, row.key)))
        }
    }
}

fn numbers(found: &Found) -> Result<Vec<f64>, Lack> {
    let number = |value: &Value| match value {
        Value::Number(x) => Ok(*x),
        Value::Text(text) => Err(Lack::NotComputed(format!("{text} is no number"))),
    };
    found.values.iter().map(number).collect()
}

fn reduce(reduction: Reduction, values: &[f64]) -> Result<f64, Lack> {
    let value = match reduction {
        Reduction::Min => values.iter().copied().min_by(f64::total_cmp),
        Reduction::Max => values.iter().copied().max_by(f64::total_cmp),
        Reduction::Mean => stats::mean(values),
        Reduction::Median => stats::median(values),
        Reduction::Sum => (!values.is_empty()).then(|| values.iter().sum()),
        Reduction::First => values.first().copied(),
        Reduction::Last => values.last().copied(),
    };
    value.ok_or_else(|| Lack::NotComputed("no run of ours has it".into()))
}

fn combine(operation: Operation, a: &[f64], b: &[f64]) -> Result<Vec<f64>, Lack> {
    let n = a.len().max(b.len());
    let fits = |v: &[f64]| v.len() == n || v.len() == 1;
    if !fits(a) || !fits(b) {
        let message = format!("{} and {} values cannot be paired", a.len(), b.len());
        return Err(Lack::NotComputed(message));
    }
    let pick = |v: &[f64], i: usize| if v.len() == 1 { v[0] } else { v[i] };
    let apply = |i| {
        let (x, y) = (pick(a, i), pick(b, i));
        match operation {
            Operation::Ratio => x / y,
            Operation::Difference => x - y,
            Operation::Total => x + y,
            Operation::Product => x * y,
        }
    };
    Ok((0..n).map(apply).collect())
}

/// The value at a dotted path; items of a list by their place.
fn at<'a>(content: &'a Yaml, path: &str) -> Option<&'a Yaml> {
    path.split('.').try_fold(content, |value, step| match value {
        Yaml::Mapping(map) => map.get(step).or_else(|| {
            let number: serde_yaml::Value = serde_yaml::from_str(step).ok()?;
            map.get(&number)
        }),
        Yaml::Sequence(items) => items.get(step.parse::<usize>().ok()?),
        _ => None,
    })
}

/// The files of settings that quantities name.
pub fn settings_named<'a>(quantities: impl Iterator<Item = &'a Quantity>) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    let mut open: Vec<&Quantity> = quantities.collect();
    while let Some(quantity) = open.pop() {
        match quantity {
            Quantity::Config(file, _) => {
                found.insert(PathBuf::from(file));
            }
            Quantity::List(items) | Quantity::Range(items) => open.extend(items),
            Quantity::Reduce(_, of)
            | Quantity::Abs(of)
            | Quantity::Scale(_, of)
            | Quantity::Bound(_, of)
            | Quantity::ByConstruction(_, of)
            | Quantity::Count(of, _)
            | Quantity::ShareOf(of, _) => open.push(of),
            Quantity::Combine(_, pair) => open.extend([&pair.0, &pair.1]),
            Quantity::Model(_)
            | Quantity::Cells(_)
            | Quantity::Number(_)
            | Quantity::Nova(..)
            | Quantity::None(_) => {}
        }
    }
    found
}
