//! How large a YAML text is before it is made into values: a few hundred kilobytes of
//! aliases can stand for gigabytes, and of open brackets for minutes.

use std::fmt;

use serde::de::{DeserializeSeed, EnumAccess, Error, MapAccess, SeqAccess, VariantAccess, Visitor};

use crate::limits;

/// Says what is too large about a text, if anything. One that is not YAML is left to the
/// parser, which says why.
pub fn check(text: &str) -> Result<(), String> {
    let most = limits::YAML_BYTES;
    if text.len() as u64 > most {
        return Err(format!("too large: expected at most {} MiB of YAML", most >> 20));
    }
    if let Some(line) = line_nested_too_deeply(text) {
        let most = limits::YAML_DEPTH;
        return Err(format!("line {line}: nested more than {most} deep"));
    }
    let mut left = Some(most);
    let spent = Spending(&mut left).deserialize(serde_yaml::Deserializer::from_str(text));
    match (spent, left) {
        (Err(_), None) => {
            let most = most >> 20;
            Err(format!("its aliases (*name) stand for more than {most} MiB: write it out"))
        }
        _ => Ok(()),
    }
}

/// The first line whose brackets are too many to be open at once. Only a bracket that can
/// begin a value opens one: others are part of a text, as in "[0, 300) s".
fn line_nested_too_deeply(text: &str) -> Option<usize> {
    let mut open = 0_usize;
    for (i, line) in text.lines().enumerate() {
        let mut begins = true;
        for byte in line.bytes() {
            match byte {
                b'{' | b'[' if begins => open += 1,
                b'}' | b']' => open = open.saturating_sub(1),
                _ => {}
            }
            if open > limits::YAML_DEPTH {
                return Some(i + 1);
            }
            let separates = matches!(byte, b'{' | b'[' | b',' | b':' | b'-' | b'?' | b'!');
            begins = separates || (begins && byte.is_ascii_whitespace());
        }
    }
    None
}

/// Goes over a text's values, aliases followed, and keeps none: each costs a byte, and a
/// text its length. `None`: all is spent.
struct Spending<'a>(&'a mut Option<u64>);

impl Spending<'_> {
    fn spend<E: Error>(&mut self, bytes: usize) -> Result<(), E> {
        *self.0 = self.0.and_then(|left| left.checked_sub(1 + bytes as u64));
        if self.0.is_some() { Ok(()) } else { Err(E::custom("too large")) }
    }
}

impl<'de> DeserializeSeed<'de> for Spending<'_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Spending<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_bool<E: Error>(mut self, _: bool) -> Result<(), E> {
        self.spend(0)
    }

    fn visit_i64<E: Error>(mut self, _: i64) -> Result<(), E> {
        self.spend(0)
    }

    fn visit_u64<E: Error>(mut self, _: u64) -> Result<(), E> {
        self.spend(0)
    }

    fn visit_f64<E: Error>(mut self, _: f64) -> Result<(), E> {
        self.spend(0)
    }

    fn visit_str<E: Error>(mut self, text: &str) -> Result<(), E> {
        self.spend(text.len())
    }

    fn visit_unit<E: Error>(mut self) -> Result<(), E> {
        self.spend(0)
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<(), A::Error> {
        self.spend(0)?;
        while items.next_element_seed(Spending(self.0))?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut entries: A) -> Result<(), A::Error> {
        self.spend(0)?;
        while entries.next_key_seed(Spending(self.0))?.is_some() {
            entries.next_value_seed(Spending(self.0))?;
        }
        Ok(())
    }

    fn visit_enum<A: EnumAccess<'de>>(mut self, tagged: A) -> Result<(), A::Error> {
        self.spend(0)?;
        let ((), value) = tagged.variant_seed(Spending(self.0))?;
        value.newtype_variant_seed(Spending(self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aliases_that_stand_for_too_much_are_refused() {
        let word = "x".repeat(1000);
        let alias = |times: usize| format!("a: &a {word}\nb: [{}]\n", "*a, ".repeat(times));
        assert_eq!(check(&alias(1000)), Ok(()));
        let message = check(&alias(10_000)).unwrap_err();
        assert_eq!(message, "its aliases (*name) stand for more than 4 MiB: write it out");
    }

    #[test]
    fn aliases_of_aliases_are_refused() {
        let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x]\n");
        for i in 1..12 {
            let inner = format!("*a{}, ", i - 1).repeat(8);
            text += &format!("a{i}: &a{i} [{inner}]\n");
        }
        // The parser's own limit comes first here; neither lets the text grow.
        let parsed = super::super::parse::<serde_yaml::Value>("x.yaml".as_ref(), &text);
        assert!(parsed.unwrap_err().message.contains("repetition limit"));
    }

    #[test]
    fn brackets_without_end_are_refused_with_their_line() {
        let deep = format!("a: 1\nb: {}", "{a: ".repeat(100_000));
        assert_eq!(check(&deep).unwrap_err(), "line 2: nested more than 128 deep");
        let lines = "[\n".repeat(100_000);
        assert_eq!(check(&lines).unwrap_err(), "line 129: nested more than 128 deep");
        assert!(check(&"? [".repeat(100_000)).is_err());
    }

    #[test]
    fn brackets_in_texts_are_no_collections() {
        let text = "a: the window [0, 300) and [300, 600)\n".repeat(1000).replace("a:", "-");
        assert_eq!(check(&text), Ok(()));
    }

    #[test]
    fn a_file_that_is_too_large_says_so() {
        let text = "#".repeat((limits::YAML_BYTES + 1) as usize);
        assert_eq!(check(&text).unwrap_err(), "too large: expected at most 4 MiB of YAML");
    }
}
