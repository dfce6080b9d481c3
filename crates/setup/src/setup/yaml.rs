//! Reading YAML strictly: unknown keys, repeated keys and numbers that are not
//! finite are errors that name the file, the line and the column.

use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
#[cfg(not(target_family = "wasm"))]
use serde_yaml::Value;

#[cfg(not(target_family = "wasm"))]
use crate::escape::shortened;
use crate::name::PlainName;
#[cfg(not(target_family = "wasm"))]
use crate::nearest::nearest;
#[cfg(not(target_family = "wasm"))]
use crate::parse_message::in_words;

pub mod carried;
#[cfg(not(target_family = "wasm"))]
mod size;

/// The parser quotes a value whole, however long it is: so many characters are told.
#[cfg(not(target_family = "wasm"))]
const MOST_TOLD: usize = 400;

/// A configuration file that cannot be used, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {message}", at(path, *line, *column))]
pub struct ConfigError {
    /// The file that was read.
    pub path: PathBuf,
    /// 1-based line, when the parser knows it.
    pub line: Option<usize>,
    /// 1-based column, when the parser knows it.
    pub column: Option<usize>,
    /// What is wrong and what was expected.
    pub message: String,
}

impl ConfigError {
    /// An error about the file as a whole.
    pub fn new(path: &Path, message: impl Into<String>) -> Self {
        Self { path: path.into(), line: None, column: None, message: message.into() }
    }

    #[cfg(not(target_family = "wasm"))]
    fn from_yaml(path: &Path, error: &serde_yaml::Error) -> Self {
        let location = error.location();
        Self {
            path: path.into(),
            line: location.as_ref().map(|l| l.line()),
            column: location.as_ref().map(|l| l.column()),
            message: shortened(
                &in_words(&with_the_nearest(without_location(&error.to_string()))),
                MOST_TOLD,
            ),
        }
    }
}

/// `file`, `file:line` or `file:line:column`.
fn at(path: &Path, line: Option<usize>, column: Option<usize>) -> String {
    match (line, column) {
        (Some(line), Some(column)) => format!("{}:{line}:{column}", path.display()),
        (Some(line), None) => format!("{}:{line}", path.display()),
        _ => path.display().to_string(),
    }
}

#[cfg(not(target_family = "wasm"))]
/// The parser repeats the location at the end of its message; we print it first.
fn without_location(message: &str) -> String {
    match message.rfind(" at line ") {
        Some(end) => message[..end].to_owned(),
        None => message.to_owned(),
    }
}

#[cfg(not(target_family = "wasm"))]
/// Names the known key or word that was meant by one that is unknown.
fn with_the_nearest(message: String) -> String {
    let starts = ["unknown field `", "unknown variant `"];
    let Some((_, rest)) = starts.iter().find_map(|start| message.split_once(start)) else {
        return message;
    };
    // The parser quotes the wrong name first, and then each name that it knows.
    let mut quoted = rest.split('`').step_by(2);
    let asked = quoted.next().unwrap_or_default();
    match nearest(asked, quoted.filter(|name| !name.is_empty())) {
        Some(meant) => format!("{message}; did you mean {meant}?"),
        None => message,
    }
}

/// Parses the bytes of a YAML file into `T`; `path` is only named in errors.
///
/// # Errors
/// They are not UTF-8 or not YAML, nested too deeply, have an unknown or a repeated key,
/// lack a key, or hold `.nan` or `.inf`.
pub fn from_bytes<T: DeserializeOwned>(path: &Path, bytes: &[u8]) -> Result<T, ConfigError> {
    let text = std::str::from_utf8(bytes)
        .map_err(|e| ConfigError::new(path, format!("not UTF-8 after byte {}", e.valid_up_to())))?;
    parse(path, text)
}

/// The same of text.
///
/// # Errors
/// As [`from_bytes`].
#[cfg(not(target_family = "wasm"))]
pub fn parse<T: DeserializeOwned>(path: &Path, text: &str) -> Result<T, ConfigError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    size::check(text).map_err(|message| ConfigError::new(path, message))?;
    // The untyped pass is the one that rejects repeated keys in maps.
    let value: Value = serde_yaml::from_str(text).map_err(|e| ConfigError::from_yaml(path, &e))?;
    if let Some(place) = first_non_finite(&value, "") {
        return Err(ConfigError::new(path, format!("{place}: a number must be finite")));
    }
    serde_yaml::from_str(text).map_err(|e| ConfigError::from_yaml(path, &e))
}

#[cfg(target_family = "wasm")]
pub use carried::{parse, sha256};

/// The SHA-256 of a file of the configuration.
#[cfg(not(target_family = "wasm"))]
pub fn sha256(bytes: &[u8]) -> String {
    crate::hash::sha256_hex(bytes)
}

#[cfg(not(target_family = "wasm"))]
fn first_non_finite(value: &Value, place: &str) -> Option<String> {
    match value {
        Value::Number(n) => n.as_f64().filter(|x| !x.is_finite()).map(|_| place.to_owned()),
        Value::Sequence(items) => items
            .iter()
            .enumerate()
            .find_map(|(i, item)| first_non_finite(item, &format!("{place}[{i}]"))),
        Value::Mapping(entries) => entries.iter().find_map(|(key, item)| {
            let key = key.as_str().unwrap_or("?");
            let place = if place.is_empty() { key.to_owned() } else { format!("{place}.{key}") };
            first_non_finite(item, &place)
        }),
        _ => None,
    }
}

/// Checks the name that a file states: a plain one, and the file's stem.
pub fn check_name(path: &Path, name: &str) -> Result<(), ConfigError> {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    if name != stem {
        let message = format!("name: expected {stem}, the file's stem, found {name}");
        return Err(ConfigError::new(path, message));
    }
    PlainName::new(name).map_err(|e| ConfigError::new(path, format!("name: {e}")))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn read(text: &str) -> Result<BTreeMap<String, f64>, ConfigError> {
        parse(Path::new("x.yaml"), text)
    }

    #[test]
    fn a_repeated_key_is_an_error_even_in_a_map() {
        assert!(read("a: 1\na: 2\n").unwrap_err().to_string().contains("duplicate"));
    }

    #[test]
    fn a_number_that_is_not_finite_is_named() {
        assert_eq!(
            read("a: .inf\n").unwrap_err().to_string(),
            "x.yaml: a: a number must be finite"
        );
    }

    #[test]
    fn an_error_names_line_and_column_once() {
        let error = read("a: 1\nb: word\n").unwrap_err();
        assert_eq!(error.line, Some(2));
        assert!(!error.message.contains("at line"), "{error}");
    }

    #[test]
    fn an_unknown_key_or_word_suggests_the_nearest() {
        #[derive(Debug, serde::Deserialize)]
        #[serde(deny_unknown_fields, rename_all = "snake_case")]
        enum Rule {
            Paired { slope_factor: f64, hit_above: f64 },
            Rescue {},
        }
        let said = |text: &str| match parse::<Rule>(Path::new("x.yaml"), text) {
            Ok(Rule::Paired { slope_factor, hit_above }) => format!("{slope_factor} {hit_above}"),
            Ok(Rule::Rescue {}) => "rescue".to_owned(),
            Err(error) => error.to_string(),
        };
        let wrong = said("!paired\nslop_factor: 1\nhit_above: 1\n");
        assert!(wrong.contains("did you mean slope_factor?"), "{wrong}");
        let wrong = said("!pared\nslope_factor: 1\n");
        assert!(wrong.contains("did you mean paired?"), "{wrong}");
        let wrong = said("!paired\nnothing_like_it: 1\n");
        assert!(wrong.contains("nothing_like_it") && !wrong.contains("did you mean"), "{wrong}");
    }

    #[test]
    fn a_byte_order_mark_is_accepted() {
        assert_eq!(read("\u{feff}a: 1\n").unwrap()["a"], 1.0);
    }
}
