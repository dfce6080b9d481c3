//! Plain names: what something may be called that gives its name to a file or folder.

use std::fmt;
use std::ops::Deref;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::escape::{escaped, steers};

/// The longest name, in bytes: with an ending it still fits every file system.
const LONGEST: usize = 200;

/// The name of a cell, test, figure, analysis, registration or run: one part of a path, on
/// one line.
///
/// Not empty, at most 200 bytes, without `/`, `\`, control characters and line breaks, with
/// no space at either end, and not beginning with `.` (which hides a file, and is how `..`
/// begins) or `-` (which a command takes for an option).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PlainName(String);

/// A name that is no plain name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{}\" cannot be a name: {why}", escaped(name))]
pub struct NameError {
    name: String,
    why: &'static str,
}

impl PlainName {
    /// Checks a name.
    ///
    /// # Errors
    /// It is no plain name; says why.
    pub fn new(name: impl Into<String>) -> Result<Self, NameError> {
        let name = name.into();
        let why = match name.as_str() {
            "" => "it is empty",
            n if n.len() > LONGEST => "it is longer than 200 bytes",
            n if n.contains(['/', '\\']) => "it names a place (it has a / or \\ in it)",
            n if n.chars().any(steers) => "it has a control character or line break in it",
            n if n.starts_with('.') => "it begins with a dot",
            n if n.starts_with('-') => "it begins with a hyphen",
            n if n.trim() != n => "it begins or ends with a space",
            _ => return Ok(Self(name)),
        };
        Err(NameError { name, why })
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Deref for PlainName {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for PlainName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl FromStr for PlainName {
    type Err = NameError;

    fn from_str(name: &str) -> Result<Self, NameError> {
        Self::new(name)
    }
}

impl TryFrom<String> for PlainName {
    type Error = NameError;

    fn try_from(name: String) -> Result<Self, NameError> {
        Self::new(name)
    }
}

impl From<PlainName> for String {
    fn from(name: PlainName) -> Self {
        name.0
    }
}

impl PartialEq<str> for PlainName {
    fn eq(&self, other: &str) -> bool {
        self.0 == other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_use_are_plain() {
        for name in ["sglang-300k", "fig3_rescue", "20261129-121107_x1.5_s0", "Zelle 1", "λ"] {
            assert_eq!(PlainName::new(name).unwrap().as_str(), name);
        }
    }

    #[test]
    fn a_name_that_leads_elsewhere_hides_or_breaks_a_line_is_refused_with_the_reason() {
        let why = |name: &str| PlainName::new(name).unwrap_err().to_string();
        assert_eq!(why(""), "\"\" cannot be a name: it is empty");
        for place in ["../x", "/x", "a/b", "a\\b"] {
            assert!(why(place).contains("it names a place"), "{place}");
        }
        for hidden in [".", "..", ".x"] {
            assert!(why(hidden).contains("begins with a dot"), "{hidden}");
        }
        assert!(why("--out").contains("begins with a hyphen"));
        assert!(why(" a").contains("a space") && why("a ").contains("a space"));
        assert_eq!(
            why("a\nok"),
            "\"a\\nok\" cannot be a name: it has a control character or line break in it"
        );
        assert!(why(&"x".repeat(201)).contains("longer than 200"));
    }
}
