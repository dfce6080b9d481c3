//! What each published number and each field of a published table is bound to: a query, or
//! why there is none. One file per section of the paper.

mod filled;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_yaml::{Mapping, Value};

use crate::configs::yaml_files;
use crate::nearest::unknown;
use crate::query::VIEWS;
use crate::setup::ConfigError;

use super::beside::Beside;
use super::comparison::COMPARISON;
use super::predictive::{Direction, Side};
use super::published::{PublishedNumber, PublishedTable, shown};

pub use filled::filled;

/// Where the files lie.
pub const BINDINGS: &str = "analysis/numbers";

/// All bindings.
#[derive(Debug, Default)]
pub struct Bindings {
    /// The files, in order of name.
    pub files: Vec<PathBuf>,
    /// By id of a number: its section and what it is bound to.
    pub numbers: BTreeMap<String, (String, Binding)>,
    /// By id of a table: its section and its blocks.
    pub tables: BTreeMap<String, (String, Vec<Block>)>,
}

/// What a number or a field is bound to.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Binding {
    /// What it says, in our words.
    #[serde(default)]
    pub statement: Option<String>,
    /// The `select` that answers it.
    #[serde(default)]
    pub query: Option<String>,
    /// Where the cluster's data lie that alone can answer it.
    #[serde(default)]
    pub needs_nova: Option<String>,
    /// Why nothing answers it.
    #[serde(default)]
    pub not_computed: Option<String>,
    /// Why it needs the cluster's data, or what is known of the cause.
    #[serde(default)]
    pub because: Option<String>,
    /// Why ours could hardly come out otherwise.
    #[serde(default)]
    pub by_construction: Option<String>,
    /// Whether the paper states a bound.
    #[serde(default)]
    pub bound: Option<Side>,
    /// How the values belong together, where that is not as published.
    #[serde(default)]
    pub form: Option<BoundForm>,
    /// What it rests on beside what the query reads.
    #[serde(default)]
    pub basis: Option<StatedBasis>,
    /// Why the plan that the paper's runs received matters.
    #[serde(default)]
    pub paper_plan: Option<String>,
    /// What makes it differ, where that is known.
    #[serde(default)]
    pub cause: Option<Cause>,
    /// On which side that would put ours.
    #[serde(default)]
    pub ours: Option<Direction>,
    /// The `select` that agrees if the cause is that: by another definition, or of runs whose
    /// plan is like the paper's.
    #[serde(default)]
    pub agrees: Option<String>,
    /// The ensemble that moves ours nearer if the cause is what is otherwise in it.
    #[serde(default)]
    pub with: Option<Beside>,
    /// The ensemble that it is held against in place of the campaign's.
    #[serde(default)]
    pub given: Option<Beside>,
}

/// How several values belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BoundForm {
    /// From the least to the greatest.
    Range,
    /// Each for itself, in order.
    List,
    /// The first of the second.
    KOfN,
    /// Of seeds, in no order that means anything.
    Seeds,
}

/// What a binding says of its basis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StatedBasis {
    /// The paper does not define what is computed; the definition is inferred.
    DefinitionInferred,
}

/// What makes a number differ.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize, serde::Serialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Cause {
    /// The simulator has another mechanism than the engine.
    #[default]
    Simulator,
    /// The paper's definition is not known; ours is inferred.
    Definition,
    /// The plan that the paper's runs received.
    Plan,
    /// The draw: as many differ by chance.
    Chance,
    /// Not known, after what it was held against.
    Unknown,
}

impl Cause {
    /// All that are known.
    pub const ALL: [Self; 4] = [Self::Simulator, Self::Definition, Self::Plan, Self::Chance];

    /// The word of the file.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Simulator => "simulator",
            Self::Definition => "definition",
            Self::Plan => "plan",
            Self::Chance => "chance",
            Self::Unknown => "not known",
        }
    }
}

/// Some rows of a published table and what their fields are bound to.
#[derive(Debug, Clone)]
pub struct Block {
    /// Fields that say which row it is.
    pub keys: Vec<String>,
    /// Which rows: fields and what each is one of; all rows, if there is no condition.
    rows: Vec<(String, Vec<Wanted>)>,
    /// A query that gives a row for each of them.
    pub query: Option<String>,
    /// What fields are bound to, `*` for every other.
    pub fields: BTreeMap<String, Binding>,
}

/// A value that a row's field may have.
#[derive(Debug, Clone)]
enum Wanted {
    Number(f64),
    Words(globset::GlobMatcher),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenBlock {
    keys: Vec<String>,
    #[serde(default)]
    rows: Mapping,
    #[serde(default)]
    query: Option<String>,
    #[serde(default)]
    fields: Mapping,
}

impl Bindings {
    /// Reads the files of a folder.
    ///
    /// # Errors
    /// As [`crate::configs::yaml`]; a binding that makes no sense, a number that is published
    /// and not bound, an id that is bound twice or not published.
    pub fn load(
        folder: &Path,
        numbers: &[PublishedNumber],
        tables: &[PublishedTable],
    ) -> Result<Self, ConfigError> {
        let mut found = Self::default();
        let ids: BTreeSet<&str> = numbers.iter().map(|number| number.id.as_str()).collect();
        for path in yaml_files(folder)? {
            if [VIEWS, COMPARISON].iter().any(|other| path == Path::new(other)) {
                continue;
            }
            let file: Mapping = crate::configs::yaml(&path)?;
            let section = section(&path);
            for (id, value) in &file {
                let id = shown(id);
                let wrong = |why: String| ConfigError::new(&path, format!("{id}: {why}"));
                if found.numbers.contains_key(&id) || found.tables.contains_key(&id) {
                    return Err(wrong("bound in another file as well".into()));
                }
                if ids.contains(id.as_str()) {
                    let binding = Binding::parse(value).map_err(wrong)?;
                    found.numbers.insert(id, (section.clone(), binding));
                } else if let Some(table) = tables.iter().find(|table| table.id == id) {
                    let blocks = blocks(value, table).map_err(wrong)?;
                    found.tables.insert(id, (section.clone(), blocks));
                } else {
                    let known = ids.iter().copied().chain(tables.iter().map(|t| t.id.as_str()));
                    return Err(wrong(unknown("published number or table", &id, "", known)));
                }
            }
            found.files.push(path);
        }
        match numbers.iter().find(|number| !found.numbers.contains_key(&number.id)) {
            Some(number) => {
                let message = format!("{} is published and not bound", number.id);
                Err(ConfigError::new(folder, message))
            }
            None => Ok(found),
        }
    }
}

/// What a file's section is called: `sec 4` for `sec-4.yaml`, `App. E.3` for `app-e-3.yaml`.
fn section(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    match (stem.strip_prefix("sec-"), stem.strip_prefix("app-")) {
        (Some(number), _) => format!("sec {number}"),
        (_, Some(rest)) => format!("App. {}", rest.to_uppercase().replace('-', ".")),
        (None, None) => stem.into_owned(),
    }
}

/// The file name that a section's page has.
pub fn stem(section: &str) -> String {
    section.to_lowercase().replace("app. ", "app-").replace([' ', '.'], "-")
}

impl Binding {
    /// What is written for a number, or for a field: a query alone, or keys.
    fn parse(value: &Value) -> Result<Self, String> {
        let binding = match value {
            Value::String(query) => Self { query: Some(query.clone()), ..Self::default() },
            other => serde_yaml::from_value(other.clone()).map_err(|error| error.to_string())?,
        };
        binding.check()?;
        Ok(binding)
    }

    fn check(&self) -> Result<(), String> {
        let ways = [&self.query, &self.needs_nova, &self.not_computed];
        if ways.iter().filter(|way| way.is_some()).count() > 1 {
            return Err("expected one of query, needs_nova and not_computed".into());
        }
        let checks = [self.ours.is_some(), self.agrees.is_some(), self.with.is_some()];
        if self.cause.is_none() && checks.contains(&true) {
            return Err("cause is missing: of which ours, agrees or with is a check".into());
        }
        match (&self.because, &self.needs_nova, self.cause) {
            (None, Some(_), _) => Err("because is missing: why it needs the cluster's data".into()),
            (None, _, Some(_)) => Err("because is missing: what is known of the cause".into()),
            _ if self.with.is_some_and(Beside::has_other_plans) => {
                Err("with: only ways has the same plans draw by draw".into())
            }
            _ => Ok(()),
        }
    }

    /// Whether it is held against an ensemble, or a cause of it is.
    pub fn names(&self, which: Beside) -> bool {
        [self.with, self.given].contains(&Some(which))
    }

    /// Whether anything is said of what answers it.
    pub fn answers(&self) -> bool {
        self.query.is_some() || self.needs_nova.is_some() || self.not_computed.is_some()
    }
}

fn blocks(value: &Value, table: &PublishedTable) -> Result<Vec<Block>, String> {
    let items = value.as_sequence().ok_or("expected a list of blocks of rows")?;
    items.iter().map(|item| Block::parse(item, table)).collect()
}

impl Block {
    fn parse(value: &Value, table: &PublishedTable) -> Result<Self, String> {
        let written: WrittenBlock =
            serde_yaml::from_value(value.clone()).map_err(|error| error.to_string())?;
        let rows = written.rows.iter().map(|(field, value)| Ok((shown(field), wanted(value)?)));
        let bound = |(field, value): (&Value, &Value)| {
            let field = shown(field);
            let binding = Binding::parse(value).map_err(|why| format!("{field}: {why}"))?;
            Ok((field, binding))
        };
        let block = Self {
            keys: written.keys,
            rows: rows.collect::<Result<_, String>>()?,
            query: written.query,
            fields: written.fields.iter().map(bound).collect::<Result<_, String>>()?,
        };
        let has = |field: &String| table.rows.iter().flatten().any(|(name, _)| name == field);
        let named = block.keys.iter().chain(block.fields.keys());
        let mut named = named.chain(block.rows.iter().map(|(field, _)| field));
        if let Some(field) = named.find(|field| *field != "*" && !has(field)) {
            return Err(format!("{field}: no row of the table has this field"));
        }
        if !table.rows.iter().any(|row| block.holds(row)) {
            return Err(format!("rows: no row of the table fits the block of {:?}", block.keys));
        }
        let loose = |(_, binding): &(&String, &Binding)| {
            block.query.is_none() && !binding.answers() && binding.cause.is_none()
        };
        match block.fields.iter().find(loose) {
            Some((field, _)) => Err(format!("{field}: no query answers it")),
            None => Ok(block),
        }
    }

    /// Whether it is about a row.
    pub fn holds(&self, row: &[(String, Value)]) -> bool {
        self.rows.iter().all(|(field, any)| {
            let own = row.iter().find(|(name, _)| name == field).map(|(_, value)| value);
            any.iter().any(|wanted| match wanted {
                Wanted::Number(x) => own.and_then(Value::as_f64) == Some(*x),
                Wanted::Words(glob) => glob.is_match(own.map_or_else(String::new, shown)),
            })
        })
    }

    /// What it says of a field, by its name or for every other.
    pub fn of(&self, field: &str) -> Option<&Binding> {
        self.fields.get(field).or_else(|| self.fields.get("*"))
    }
}

fn wanted(value: &Value) -> Result<Vec<Wanted>, String> {
    let items = match value {
        Value::Sequence(items) => items.as_slice(),
        one => std::slice::from_ref(one),
    };
    let one = |item: &Value| match item.as_f64() {
        Some(number) => Ok(Wanted::Number(number)),
        None => {
            let glob = globset::GlobBuilder::new(&shown(item))
                .literal_separator(false)
                .case_insensitive(true)
                .build();
            Ok(Wanted::Words(glob.map_err(|error| error.to_string())?.compile_matcher()))
        }
    };
    items.iter().map(one).collect()
}

#[cfg(test)]
#[path = "bindings/tests.rs"]
mod tests;
