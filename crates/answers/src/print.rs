//! Answers as text: lines for people, JSON for machines (`docs/output.md`).

use serde_json::{Map, Value};

use crate::escape::escaped;

/// Raised when a field of an answer changes its meaning or goes; a new field raises nothing.
const VERSION: u32 = 1;

/// Lines of text, whatever is in them.
pub fn lines<T: AsRef<str>>(lines: impl IntoIterator<Item = T>) -> String {
    lines.into_iter().map(|line| escaped(line.as_ref()).into_owned() + "\n").collect()
}

/// A command's answer in JSON: the name and version of its shape beside its parts.
pub fn object<K: Into<String>>(
    command: &str,
    parts: impl IntoIterator<Item = (K, Value)>,
) -> Map<String, Value> {
    let mut answer: Map<String, Value> =
        parts.into_iter().map(|(name, part)| (name.into(), part)).collect();
    answer.insert("format".into(), format!("trapcheck-{command}/{VERSION}").into());
    answer
}

/// The same as text.
///
/// # Errors
/// A text that JSON cannot hold.
pub fn json<K: Into<String>>(
    command: &str,
    parts: impl IntoIterator<Item = (K, Value)>,
) -> serde_json::Result<String> {
    Ok(serde_json::to_string_pretty(&object(command, parts))? + "\n")
}
