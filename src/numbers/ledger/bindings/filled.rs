//! Queries of a published table's rows.

use serde_yaml::Value;

use crate::numbers::ledger::published::{numeric, shown};

/// A query with the row's own published keys in their places, `{field}`.
///
/// # Errors
/// A place that no field of the row fills; or one that would be filled with what is to be
/// answered.
pub fn filled(query: &str, keys: &[String], row: &[(String, Value)]) -> Result<String, String> {
    let mut text = String::new();
    let mut rest = query;
    while let Some((before, after)) = rest.split_once('{') {
        let (field, behind) = after.split_once('}').ok_or("expected } after {")?;
        let value = row.iter().find(|(name, _)| name == field);
        let (_, value) = value.ok_or_else(|| format!("{{{field}}}: the row has no such field"))?;
        if !keys.iter().any(|key| key == field) {
            return Err(format!("{{{field}}}: no key of the row"));
        }
        text.push_str(before);
        text.push_str(&match numeric(value) {
            Some(_) => shown(value),
            None => shown(value).replace('\'', "''"),
        });
        rest = behind;
    }
    Ok(text + rest)
}
