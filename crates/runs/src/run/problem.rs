//! What is wrong with a run, and exactly where.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// How bad a [`Problem`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Severity {
    /// The run cannot be used as it is.
    Error,
    /// Worth knowing; the run is used, and what it cannot say stays unknown.
    Note,
}

/// One thing that is wrong, with the place and what was expected.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Problem {
    /// The file (or the directory, when the run as a whole is meant).
    pub file: PathBuf,
    /// How many problems it is: 1, or those of its file that are not listed.
    #[serde(default = "one")]
    pub stands_for: u64,
    /// 1-based line in a text file, 1-based row in a parquet file.
    pub line: Option<u64>,
    /// The column's name.
    pub column: Option<String>,
    /// What is wrong and what was expected.
    pub message: String,
    /// Whether the run can still be used.
    pub severity: Severity,
}

const fn one() -> u64 {
    1
}

impl Problem {
    /// An error about a whole file or directory.
    pub fn new(file: &Path, message: impl Into<String>) -> Self {
        Self {
            file: file.into(),
            stands_for: 1,
            line: None,
            column: None,
            message: message.into(),
            severity: Severity::Error,
        }
    }

    /// An error at one line and column of a file.
    pub fn at(file: &Path, line: u64, column: &str, message: impl Into<String>) -> Self {
        Self { line: Some(line), column: Some(column.to_owned()), ..Self::new(file, message) }
    }

    /// An error about one line of a file.
    pub(crate) fn at_line(file: &Path, line: u64, message: impl Into<String>) -> Self {
        Self { line: Some(line), ..Self::new(file, message) }
    }

    /// An error about one key of a file of keys and values, or about a whole column.
    pub fn of_key(file: &Path, key: &str, message: impl Into<String>) -> Self {
        Self { column: Some(key.to_owned()), ..Self::new(file, message) }
    }

    /// So many more problems of a file.
    pub fn more(file: &Path, count: u64) -> Self {
        let message = format!("{count} more problems, which are not listed");
        Self { stands_for: count, ..Self::new(file, message) }
    }

    /// How many a list of them is.
    pub fn count<'a>(problems: impl IntoIterator<Item = &'a Self>) -> u64 {
        problems.into_iter().map(|problem| problem.stands_for).sum()
    }

    /// The same place and words, but only a note.
    #[must_use]
    pub fn as_note(self) -> Self {
        Self { severity: Severity::Note, ..self }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        if let Some(column) = &self.column {
            write!(f, ": {column}")?;
        }
        write!(f, ": {}", self.message)
    }
}

/// Every error found in one run. Never empty.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", summary(.0))]
pub struct Problems(pub Vec<Problem>);

fn summary(problems: &[Problem]) -> String {
    match problems {
        [] => "unknown problem".into(),
        [only] => only.to_string(),
        [first, rest @ ..] => format!("{first} (and {} more)", Problem::count(rest)),
    }
}
