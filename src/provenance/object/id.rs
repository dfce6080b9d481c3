//! The name of a git object.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer};
use sha1_checked::Sha1;

use super::super::Malformed;

/// The name of a git object: the SHA-1 of its framed bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id([u8; 20]);

impl Id {
    /// The name of framed bytes.
    ///
    /// # Errors
    /// They carry the marks of a forged SHA-1 collision.
    pub fn of(framed: &[u8]) -> Result<Self, Malformed> {
        let result = Sha1::try_digest(framed);
        if result.has_collision() {
            return Err(Malformed("its bytes are a forged SHA-1 collision".into()));
        }
        Ok(Self((*result.hash()).into()))
    }

    /// From its twenty bytes.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }
}

impl FromStr for Id {
    type Err = Malformed;

    fn from_str(text: &str) -> Result<Self, Malformed> {
        let wrong = || Malformed(format!("expected 40 hexadecimal digits, found {text:?}"));
        let digits = text.as_bytes();
        if digits.len() != 40 || !digits.iter().all(|d| matches!(d, b'0'..=b'9' | b'a'..=b'f')) {
            return Err(wrong());
        }
        let mut bytes = [0; 20];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            let pair = std::str::from_utf8(pair).map_err(|_| wrong())?;
            *byte = u8::from_str_radix(pair, 16).map_err(|_| wrong())?;
        }
        Ok(Self(bytes))
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}
