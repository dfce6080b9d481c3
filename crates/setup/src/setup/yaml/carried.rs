//! A configuration file as a page carries it: its SHA-256 as it lies, and behind that its values
//! as JSON. A page reads no other, so it has no parser of YAML, nor for each type the code that
//! reads it from YAML's text: that was a quarter of what it had to load.
//!
//! Nor does it have the code that tells a type's keys from each other: each field's value is
//! looked up by its name. A tagged enum of the configuration is no tagged one here, for which
//! serde would copy all values first: it has the key of its tag as its serde name. The files were
//! checked when they were built in, so a key that no field has is not told.

use std::path::Path;
use std::slice::Iter;

use serde::de::value::{MapDeserializer, SeqDeserializer, U64Deserializer};
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer, SeqAccess,
    Unexpected, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;
use serde_json::{Error, Map, Value};

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
    let values = serde_json::from_slice(text.as_bytes().get(DIGITS..).unwrap_or_default());
    values.map(Carried).and_then(T::deserialize).map_err(|e| ConfigError::new(path, e.to_string()))
}

/// A value. Unlike JSON's own, a type with named fields is an object and nothing else.
struct Carried(Value);

impl<'de> Deserializer<'de> for Carried {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Value::Array(_) => self.deserialize_seq(visitor),
            Value::Object(_) => self.deserialize_map(visitor),
            other => other.deserialize_any(visitor),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Value::Bool(value) => visitor.visit_bool(value),
            _ => Err(wrong(&visitor)),
        }
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0.as_u64() {
            Some(value) => visitor.visit_u64(value),
            None => Err(wrong(&visitor)),
        }
    }

    fn deserialize_u32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_u64(visitor)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0.as_f64() {
            Some(value) => visitor.visit_f64(value),
            None => Err(wrong(&visitor)),
        }
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Value::String(value) => visitor.visit_string(value),
            _ => Err(wrong(&visitor)),
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

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Value::Object(values) => {
                let entries = values.into_iter().map(|(key, value)| (key, Self(value)));
                visitor.visit_map(MapDeserializer::new(entries))
            }
            _ => Err(wrong(&visitor)),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self.0 {
            Value::Object(values) => visitor.visit_seq(Fields { names: fields.iter(), values }),
            _ => Err(wrong(&visitor)),
        }
    }

    /// A word; or an object with a word under the key that is the type's name, and with the
    /// variant's fields beside it.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let (word, fields) = match self.0 {
            Value::Object(mut values) => (values.remove(name).unwrap_or_default(), values),
            word => (word, Map::new()),
        };
        match variants.iter().position(|variant| word == *variant) {
            Some(index) => visitor.visit_enum(Variant { index: index as u64, fields }),
            None => Err(wrong(&visitor)),
        }
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u8 u16 u128 f32 char str bytes byte_buf unit unit_struct tuple_struct
        identifier ignored_any
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

/// The values of a type's fields, in the order of the fields. One that is not there has its
/// default; without one the type says so.
struct Fields {
    names: Iter<'static, &'static str>,
    values: Map<String, Value>,
}

impl<'de> SeqAccess<'de> for Fields {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Error> {
        let value = self.names.next().and_then(|name| self.values.remove(*name));
        value.map(|value| seed.deserialize(Carried(value))).transpose()
    }
}

/// A variant by its place in its type, and the values of its fields.
struct Variant {
    index: u64,
    fields: Map<String, Value>,
}

impl<'de> EnumAccess<'de> for Variant {
    type Error = Error;
    type Variant = Self;

    fn variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<(T::Value, Self), Error> {
        let index: U64Deserializer<Error> = self.index.into_deserializer();
        Ok((seed.deserialize(index)?, self))
    }
}

impl<'de> VariantAccess<'de> for Variant {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Error> {
        seed.deserialize(Carried(Value::Object(self.fields)))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        Err(wrong(&visitor))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        Carried(Value::Object(self.fields)).deserialize_struct("", fields, visitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, serde::Deserialize)]
    #[serde(default)]
    struct Limits {
        least: f64,
        most: Option<u64>,
    }

    impl Default for Limits {
        fn default() -> Self {
            Self { least: 0.5, most: Some(2) }
        }
    }

    #[derive(Debug, PartialEq, serde::Deserialize)]
    #[serde(rename = "kind", rename_all = "kebab-case")]
    enum Rule {
        None,
        SetOf(Limits),
        Named { name: String },
    }

    fn read<T: DeserializeOwned>(values: &str) -> Result<T, String> {
        let text = "0".repeat(DIGITS) + values;
        parse(Path::new("x.yaml"), &text).map_err(|e| e.message)
    }

    #[test]
    fn a_value_that_is_missing_is_the_default_and_null_is_none() {
        assert_eq!(read("{}"), Ok(Limits::default()));
        assert_eq!(read(r#"{"most": null, "least": 1}"#), Ok(Limits { least: 1.0, most: None }));
        assert_eq!(read(r#"{"most": 7}"#), Ok(Limits { least: 0.5, most: Some(7) }));
    }

    #[test]
    fn a_variant_is_told_by_the_word_under_its_types_name() {
        let set = Rule::SetOf(Limits { least: 3.0, most: Some(2) });
        assert_eq!(read(r#"{"least": 3, "kind": "set-of"}"#), Ok(set));
        let named = Rule::Named { name: "none".into() };
        assert_eq!(read(r#"{"kind": "named", "name": "none"}"#), Ok(named));
        assert_eq!(read(r#"{"kind": "none"}"#), Ok(Rule::None));
        assert_eq!(read(r#""none""#), Ok(Rule::None));
    }

    #[test]
    fn what_does_not_fit_is_an_error() {
        for values in [r#"{"kind": "named"}"#, r#"{"kind": "other"}"#, r#"{"name": "x"}"#, "[]"] {
            assert!(read::<Rule>(values).is_err(), "{values}");
        }
        for values in [r#"{"most": -1}"#, r#"{"most": "2"}"#, r#"{"least": true}"#, "[1, 2]"] {
            assert!(read::<Limits>(values).is_err(), "{values}");
        }
    }
}
