//! What a parser of JSON or YAML says about a file, in the words of the file: what was
//! expected and what was found there, never the name of one of the program's types.

use crate::escape::shortened;

/// Text quoted from a file is cut after so many characters.
const MOST_QUOTED: usize = 60;

/// The message of a parser, without the types of the program.
pub fn in_words(message: &str) -> String {
    for kind in ["invalid type: ", "invalid value: "] {
        let parts = message.split_once(kind).and_then(|(place, rest)| {
            rest.rsplit_once(", expected ").map(|(found, expected)| (place, found, expected))
        });
        if let Some((place, found, wanted)) = parts {
            return format!("{place}expected {}, found {}", expected(wanted), self::found(found));
        }
    }
    if let Some((place, rest)) = message.split_once("invalid length ")
        && let Some((count, wanted)) = rest.split_once(", expected ")
    {
        return format!("{place}expected {}, found {count} values", expected(wanted));
    }
    if let Some((place, _)) = message.split_once("data did not match any variant of untagged") {
        return format!("{place}this fits none of the forms that may stand here");
    }
    message.replacen("unknown variant `", "unknown word `", 1)
}

/// What may stand there. What is no type's name was worded for the user already.
fn expected(wanted: &str) -> String {
    let first = wanted.split(' ').next().unwrap_or_default();
    let count = || wanted.split(' ').find(|word| word.parse::<u64>().is_ok());
    match (first, wanted) {
        ("u8", _) => format!("a whole number from 0 to {}", u8::MAX),
        ("u16", _) => format!("a whole number from 0 to {}", u16::MAX),
        ("u32", _) => format!("a whole number from 0 to {}", u32::MAX),
        ("u64" | "u128" | "usize", _) => "a whole number, 0 or more".into(),
        ("i8" | "i16" | "i32" | "i64" | "i128" | "isize", _) => "a whole number".into(),
        ("f32" | "f64", _) => "a number".into(),
        (_, "a boolean") => "true or false".into(),
        (_, "a string" | "a character" | "string" | "str") => "a text".into(),
        (_, "a sequence") => "a list".into(),
        (_, "a map") | ("struct" | "internally" | "adjacently", _) => "keys with values".into(),
        ("enum" | "variant", _) | (_, "string or map") => {
            "one of the words that may stand here".into()
        }
        ("unit", _) => "no value".into(),
        ("tuple", _) | ("a" | "an", _)
            if wanted.contains("tuple") || wanted.contains("array of length") =>
        {
            count().map_or("a list".into(), |n| format!("a list of {n} values"))
        }
        _ => wanted.to_owned(),
    }
}

/// What stands there.
fn found(what: &str) -> String {
    let quoted = || what.split_once('`').and_then(|(_, rest)| rest.strip_suffix('`'));
    let first = what.split(' ').next().unwrap_or_default();
    match (first, what) {
        ("integer" | "floating" | "boolean" | "character", _) => quoted().unwrap_or(what).into(),
        ("string", _) => {
            format!("the text {}", shortened(what.trim_start_matches("string "), MOST_QUOTED))
        }
        (_, "null" | "unit value" | "unit" | "Option value") => "null".into(),
        (_, "map") => "keys with values".into(),
        (_, "sequence") => "a list".into(),
        _ => shortened(what, MOST_QUOTED),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only its errors are looked at")]
    struct Everything {
        count: u64,
        small: u32,
        share: f64,
        flag: bool,
        name: String,
        pair: (f64, f64),
        list: Vec<u64>,
        word: Word,
        inner: BTreeMap<String, Inner>,
        form: Form,
    }

    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "only its errors are looked at")]
    struct Inner {
        share: f64,
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Word {
        First,
        Second,
    }

    #[derive(Debug, Deserialize)]
    #[serde(untagged)]
    #[expect(dead_code, reason = "only its errors are looked at")]
    enum Form {
        Number(f64),
        Flag(bool),
    }

    fn sound() -> BTreeMap<&'static str, &'static str> {
        BTreeMap::from([
            ("count", "1"),
            ("small", "1"),
            ("share", "0.5"),
            ("flag", "true"),
            ("name", "\"x\""),
            ("pair", "[1, 2]"),
            ("list", "[1]"),
            ("word", "\"first\""),
            ("inner", "{\"a\": {\"share\": 1}}"),
            ("form", "1"),
        ])
    }

    /// What is said of one value, in JSON and in YAML.
    fn said(key: &'static str, value: &'static str) -> [String; 2] {
        let mut all = sound();
        all.insert(key, value);
        let fields: Vec<_> = all.iter().map(|(k, v)| format!("\"{k}\": {v}")).collect();
        let text = format!("{{{}}}", fields.join(", "));
        let json = serde_json::from_str::<Everything>(&text).expect_err("wrong").to_string();
        let yaml = serde_yaml::from_str::<Everything>(&text).expect_err("wrong").to_string();
        // The place is cut off before, by who puts it in front.
        [json, yaml].map(|said| in_words(said.split(" at line ").next().unwrap_or_default()))
    }

    #[test]
    fn what_was_expected_and_found_is_said_without_the_programs_types() {
        for (key, value, expected, found) in [
            ("count", "7.5", "expected a whole number, 0 or more", "found 7.5"),
            ("count", "-1", "expected a whole number, 0 or more", "found -1"),
            ("count", "\"30,000\"", "expected a whole number, 0 or more", "found the text"),
            ("count", "null", "expected a whole number, 0 or more", "found null"),
            ("small", "5000000000", "from 0 to 4294967295", "found 5000000000"),
            ("share", "\"much\"", "expected a number", "found the text \"much\""),
            ("share", "[1]", "expected a number", "found a list"),
            ("flag", "1", "expected true or false", "found 1"),
            ("name", "{\"a\": 1}", "expected a text", "found keys with values"),
            ("pair", "[1]", "expected a list of 2 values", "found 1 values"),
            ("list", "true", "expected a list", "found true"),
            ("word", "\"third\"", "unknown word `third`", "`second`"),
            ("inner", "3", "expected keys with values", "found 3"),
            ("inner", "{\"a\": null}", "expected keys with values", "found null"),
            ("form", "\"x\"", "fits none of the forms", ""),
        ] {
            for text in said(key, value) {
                assert!(text.contains(expected) && text.contains(found), "{key} {value}: {text}");
                for word in ["u64", "u32", "f64", "struct", "variant", "Inner", "tuple", "integer"]
                {
                    assert!(!text.contains(word), "{key} {value}: {text}");
                }
            }
        }
    }

    #[test]
    fn what_was_said_in_plain_words_stays() {
        for text in ["missing field `seed`", "trailing characters", "EOF while parsing a list"] {
            assert_eq!(in_words(text), text);
        }
        let own =
            "invalid type: integer `3`, expected a name of theirs, or a map like {from: name}";
        assert_eq!(in_words(own), "expected a name of theirs, or a map like {from: name}, found 3");
    }
}
