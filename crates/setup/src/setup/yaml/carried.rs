//! A configuration file as a page carries it: its SHA-256 as it lies, and behind that its values
//! as JSON. A page reads no other, so it has no parser of YAML, nor for each type the code that
//! reads it from YAML's text: that was a quarter of what it had to load.

use std::path::Path;

use serde::de::value::{MapAccessDeserializer, MapDeserializer, SeqDeserializer};
use serde::de::{DeserializeOwned, Deserializer, IntoDeserializer, Unexpected, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::{Error, Value};

use super::ConfigError;

/// Digits of a SHA-256.
const DIGITS: usize = 64;

/// The SHA-256 of the file as it lies.
pub fn sha256(bytes: &[u8]) -> String {
    String::from_utf8_lossy(&bytes[..DIGITS.min(bytes.len())]).into_owned()
}

/// The values of a file.
///
/// # Errors
/// It is no JSON, or lacks a key.
pub fn parse<T: DeserializeOwned>(path: &Path, text: &str) -> Result<T, ConfigError> {
    let values = serde_json::from_str(text.get(DIGITS..).unwrap_or_default());
    values.map(Carried).and_then(T::deserialize).map_err(|e| ConfigError::new(path, e.to_string()))
}

/// A value. Unlike JSON's own, a type with named fields is an object and nothing else.
struct Carried(Value);

impl<'de> Deserializer<'de> for Carried {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Value::Array(items) => {
                visitor.visit_seq(SeqDeserializer::new(items.into_iter().map(Self)))
            }
            Value::Object(fields) => visitor.visit_map(map(fields)),
            other => other.deserialize_any(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Value::Object(fields) => visitor.visit_map(map(fields)),
            _ => Err(wrong(&visitor)),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_map(visitor)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Value::Array(items) => {
                visitor.visit_seq(SeqDeserializer::new(items.into_iter().map(Self)))
            }
            _ => Err(wrong(&visitor)),
        }
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self.0 {
            Value::String(word) => visitor.visit_enum(word.into_deserializer()),
            Value::Object(fields) => visitor.visit_enum(MapAccessDeserializer::new(map(fields))),
            _ => Err(wrong(&visitor)),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct tuple_struct identifier ignored_any
    }
}

impl IntoDeserializer<'_, Error> for Carried {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

fn wrong(expected: &dyn serde::de::Expected) -> Error {
    serde::de::Error::invalid_type(Unexpected::Other("another value"), expected)
}

type Fields<'de> = MapDeserializer<
    'de,
    std::iter::Map<serde_json::map::IntoIter, fn((String, Value)) -> (String, Carried)>,
    Error,
>;

fn map<'de>(fields: serde_json::Map<String, Value>) -> Fields<'de> {
    MapDeserializer::new(fields.into_iter().map(|(key, value)| (key, Carried(value))))
}
