//! A layout: how a run directory of another shape answers format 1.
//!
//! It renames files, columns and keys, changes units, maps words, adds and subtracts
//! columns of one row, chooses rows, and puts the rows of one moment together where each
//! holds one metric.

mod rule;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

pub use rule::{Others, Rule, Scalar, Term, Unit};

use super::yaml::{self, ConfigError};
use crate::hash::sha256_hex;

/// A layout as `configs/layouts/<name>.yaml` states it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Layout {
    /// Its name; equals the file's stem.
    pub name: String,
    /// Whose shape it is, for readers.
    pub about: String,
    /// The file that says who, what and when of a run: YAML where its name ends so, else
    /// JSON. A directory that holds it, and all of `with`, is a run of this layout.
    pub metadata: String,
    /// Files that must be there too: stems, or names with a `*`.
    #[serde(default)]
    pub with: Vec<String>,
    /// Time 0 of the run on the clock of the columns that are `absolute`: a key of the metadata.
    #[serde(default)]
    pub origin: Option<Rule>,
    /// The zone of dates that are written without one, as `+02:00`; UTC where it is not said.
    #[serde(default)]
    pub zone: Option<String>,
    /// Which of the metadata's keys answers each key of format 1's `meta.json`. Parts of a
    /// key are joined by dots.
    pub meta: BTreeMap<String, Rule>,
    /// The tables that such a run has.
    pub tables: BTreeMap<TableName, TableLayout>,
    /// Where the layout lies.
    #[serde(skip)]
    pub path: PathBuf,
    /// SHA-256 of its bytes.
    #[serde(skip)]
    pub sha256: String,
}

/// A table of format 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TableName {
    /// One row per turn that was sent.
    Turns,
    /// One row per session that arrived.
    Sessions,
    /// The arrival plan.
    Plan,
    /// The engine's gauges.
    Engine,
    /// Events of the client's gate.
    Gate,
}

impl TableName {
    /// The table's name in format 1.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Turns => "turns",
            Self::Sessions => "sessions",
            Self::Plan => "plan",
            Self::Engine => "engine",
            Self::Gate => "gate",
        }
    }
}

/// Where a table is and how its columns answer format 1's.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableLayout {
    /// Its file: a stem, which may end in any of format 1's endings, or a whole name. One
    /// `*` stands for anything. It may lie in a folder of the run's.
    pub file: String,
    /// For each column of format 1, what answers it. A column that may be empty need not
    /// be named: it is unknown in every row.
    pub columns: BTreeMap<String, Rule>,
    /// The rows that are read, of a file that holds others too: for each of these columns of
    /// theirs its value, or several.
    #[serde(default)]
    pub only: BTreeMap<String, Words>,
    /// Of a file with a row per metric and moment.
    #[serde(default)]
    pub long: Option<Long>,
}

/// Where a file with a row per metric and moment has the metric's name and its value. Rules
/// name metrics as if they were columns; the inputs of the time's rule are columns.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Long {
    /// The column of the metric's name.
    pub name: String,
    /// The column of its value.
    pub value: String,
}

/// A word, or a list of words.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged, expecting = "expected a word or a list of words")]
pub enum Words {
    /// One.
    One(Scalar),
    /// Any of these.
    Any(Vec<Scalar>),
}

impl Words {
    /// All of them.
    pub fn all(&self) -> &[Scalar] {
        match self {
            Self::One(word) => std::slice::from_ref(word),
            Self::Any(words) => words,
        }
    }
}

impl Layout {
    /// Parses and hashes a layout; whether format 1 has what it names is for the reader of
    /// runs to check.
    ///
    /// # Errors
    /// As [`yaml::from_bytes`].
    pub fn parse(path: &Path, bytes: &[u8]) -> Result<Self, ConfigError> {
        let layout: Self = yaml::from_bytes(path, bytes)?;
        Ok(Self { path: path.into(), sha256: sha256_hex(bytes), ..layout })
    }

    /// How a table of format 1 is answered, if such runs have it.
    pub fn table(&self, name: &str) -> Option<&TableLayout> {
        self.tables.iter().find(|(table, _)| table.word() == name).map(|(_, layout)| layout)
    }
}
