//! How what an entry says is written in the manifest: as the text that is printed, from which it
//! is read back.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::str::FromStr;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serializer};

use super::answers::{Basis, in_words, of_words};

/// What is always there.
pub mod always {
    use super::*;

    pub(crate) fn serialize<T: Display, S: Serializer>(
        value: &T,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.collect_str(value)
    }

    pub fn deserialize<'de, T, D>(from: D) -> Result<T, D::Error>
    where
        T: FromStr<Err: Display>,
        D: Deserializer<'de>,
    {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

/// What may be lacking: then the text is empty.
pub mod or_nothing {
    use super::*;

    pub(crate) fn serialize<T, S>(value: &Option<T>, to: S) -> Result<S::Ok, S::Error>
    where
        T: Display,
        S: Serializer,
    {
        match value {
            Some(value) => to.collect_str(value),
            None => to.serialize_str(""),
        }
    }

    pub fn deserialize<'de, T, D>(from: D) -> Result<Option<T>, D::Error>
    where
        T: FromStr<Err: Display>,
        D: Deserializer<'de>,
    {
        let text = String::deserialize(from)?;
        let read = (!text.is_empty()).then(|| text.parse()).transpose();
        read.map_err(D::Error::custom)
    }
}

/// What ours rests on, in words.
pub mod bases {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(
        bases: &BTreeSet<Basis>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.serialize_str(&in_words(bases))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<BTreeSet<Basis>, D::Error> {
        of_words(&String::deserialize(from)?).map_err(D::Error::custom)
    }
}
