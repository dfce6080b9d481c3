//! A question: an object whose fields are flags.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::Refused;

/// What is asked, and its fields.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// The word of `ask`.
    pub ask: String,
    /// The fields beside it; those that are `null` were not given.
    pub fields: Map<String, Value>,
}

impl Question {
    /// Reads a question.
    ///
    /// # Errors
    /// No JSON, no object, or no `ask` in it.
    pub fn parse(text: &str) -> Result<Self, Refused> {
        // Files are bytes: one reader of bytes serves them and questions.
        let value = serde_json::from_slice(text.as_bytes())
            .map_err(|e| Refused(format!("question: {e}")))?;
        Self::of(value)
    }

    /// The same of JSON that was parsed.
    ///
    /// # Errors
    /// No object, or no `ask` in it.
    pub fn of(value: Value) -> Result<Self, Refused> {
        let Value::Object(mut fields) = value else {
            return Err(Refused::new("question: expected an object"));
        };
        let Some(Value::String(ask)) = fields.remove("ask") else {
            return Err(Refused::new("ask: expected a word"));
        };
        fields.retain(|_, value| !value.is_null());
        Ok(Self { ask, fields })
    }

    /// Whether a field was given.
    pub fn has(&self, name: &str) -> bool {
        self.fields.contains_key(name)
    }

    /// A field, if it was given.
    ///
    /// # Errors
    /// It is of another type.
    pub fn field<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, Refused> {
        let read = |value: &Value| {
            T::deserialize(value).map_err(|e| Refused(format!("--{}: {e}", flag(name))))
        };
        self.fields.get(name).map(read).transpose()
    }

    /// The fields that a type has.
    ///
    /// # Errors
    /// One of them is of another type.
    pub fn part<T: DeserializeOwned>(&self) -> Result<T, Refused> {
        let object = Value::Object(self.fields.clone());
        T::deserialize(object).map_err(|e| Refused(format!("question: {e}")))
    }
}

/// A field's name as a flag's.
pub fn flag(name: &str) -> String {
    name.replace('_', "-")
}
