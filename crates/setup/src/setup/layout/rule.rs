//! One rule of a layout: where a value comes from and how it is converted.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// What answers a column or key of format 1. A name alone is short for `{from: name}`.
///
/// The value is `from` (through `values`), times its unit or factor, plus and minus further
/// terms, plus `add`; an absolute time counts from the layout's origin. It is unknown where
/// one of its parts is empty.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(remote = "Self", deny_unknown_fields)]
pub struct Rule {
    /// The column or key of theirs.
    #[serde(default)]
    pub from: Option<String>,
    /// The unit of a time.
    #[serde(default)]
    pub unit: Option<Unit>,
    /// What to multiply any other number by: 1000 for tokens in thousands.
    #[serde(default)]
    pub factor: Option<f64>,
    /// Columns that are added.
    #[serde(default)]
    pub plus: Vec<Term>,
    /// Columns that are subtracted.
    #[serde(default)]
    pub minus: Vec<Term>,
    /// A number that is added, in format 1's unit: 1 where they count from 0.
    #[serde(default)]
    pub add: Option<f64>,
    /// Whether the time is read off the clock that the layout's origin is read off.
    #[serde(default)]
    pub absolute: bool,
    /// What separates the times of a list.
    #[serde(default)]
    pub separator: Option<String>,
    /// Format 1's word for each of theirs; a key that ends in `*` stands for all words
    /// that begin so, an empty word for unknown.
    #[serde(default)]
    pub values: BTreeMap<Scalar, Scalar>,
    /// What to do with words that `values` does not name.
    #[serde(default)]
    pub others: Others,
    /// The value itself, where theirs do not write it down.
    #[serde(default)]
    pub constant: Option<Scalar>,
}

/// A further column or key of a sum. A name alone is short for `{from: name}`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(remote = "Self", deny_unknown_fields)]
pub struct Term {
    /// The column or key of theirs.
    pub from: String,
    /// The unit of a time.
    #[serde(default)]
    pub unit: Option<Unit>,
    /// What to multiply any other number by.
    #[serde(default)]
    pub factor: Option<f64>,
}

/// A unit of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Seconds.
    S,
    /// Milliseconds.
    Ms,
    /// Microseconds.
    Us,
    /// Nanoseconds.
    Ns,
}

impl Unit {
    /// e, where one unit is 10^e seconds.
    pub const fn exponent(self) -> i32 {
        match self {
            Self::S => 0,
            Self::Ms => -3,
            Self::Us => -6,
            Self::Ns => -9,
        }
    }
}

/// What to do with a word that the map of values does not name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Others {
    /// It is an error.
    #[default]
    Refuse,
    /// It stays as it is.
    Keep,
}

/// A scalar of YAML as text: `200`, `true` and `ok` need no quotes; null is empty.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Scalar(pub String);

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl Visitor<'_> for Any {
            type Value = Scalar;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a word, a number, true, false or null")
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Scalar, E> {
                Ok(Scalar(text.into()))
            }
            fn visit_bool<E: Error>(self, flag: bool) -> Result<Scalar, E> {
                Ok(Scalar(flag.to_string()))
            }
            fn visit_u64<E: Error>(self, x: u64) -> Result<Scalar, E> {
                Ok(Scalar(x.to_string()))
            }
            fn visit_i64<E: Error>(self, x: i64) -> Result<Scalar, E> {
                Ok(Scalar(x.to_string()))
            }
            fn visit_f64<E: Error>(self, x: f64) -> Result<Scalar, E> {
                Ok(Scalar(x.to_string()))
            }
            fn visit_unit<E: Error>(self) -> Result<Scalar, E> {
                Ok(Scalar(String::new()))
            }
        }
        deserializer.deserialize_any(Any)
    }
}

/// What may be written as a name alone.
trait Named: Sized {
    fn from_name(name: String) -> Self;
    fn from_map<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error>;
}

impl Named for Rule {
    fn from_name(name: String) -> Self {
        Self { from: Some(name), ..Self::default() }
    }
    fn from_map<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::deserialize(deserializer)
    }
}

impl Named for Term {
    fn from_name(from: String) -> Self {
        Self { from, unit: None, factor: None }
    }
    fn from_map<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::deserialize(deserializer)
    }
}

/// Reads a name alone or a map.
struct NameOrMap<T>(PhantomData<T>);

impl<'de, T: Named> Visitor<'de> for NameOrMap<T> {
    type Value = T;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name of theirs, or a map like {from: name, unit: ms}")
    }
    fn visit_str<E: Error>(self, name: &str) -> Result<T, E> {
        Ok(T::from_name(name.to_owned()))
    }
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        T::from_map(MapAccessDeserializer::new(map))
    }
}

impl<'de> Deserialize<'de> for Rule {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NameOrMap(PhantomData))
    }
}

impl<'de> Deserialize<'de> for Term {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NameOrMap(PhantomData))
    }
}
