//! Words from outside, as they may be printed.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::path::Path;

/// Text on one line that steers no terminal: control characters, line breaks and marks that
/// turn the direction of writing become `\n`, `\t`, `\r` or `\u001b`, as in JSON. Other text
/// stays as it is.
pub fn escaped(text: &str) -> Cow<'_, str> {
    if !text.chars().any(steers) {
        return text.into();
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            // Writing to a String cannot fail.
            c if steers(c) => drop(write!(out, "\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.into()
}

/// The first characters of a text that may be a whole damaged file.
pub fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text.to_owned(),
    }
}

/// A path as it is printed.
pub fn shown(path: &Path) -> String {
    escaped(&path.to_string_lossy()).into_owned()
}

/// Whether a character does something else than stand in its place.
pub(crate) fn steers(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_a_terminal_or_breaks_a_line_is_spelled_out() {
        assert_eq!(escaped("a\nok  b\t\r"), "a\\nok  b\\t\\r");
        assert_eq!(escaped("\u{1b}[2J\u{7f}\u{9b}"), "\\u001b[2J\\u007f\\u009b");
        assert_eq!(escaped("a\u{202e}b\u{2028}"), "a\\u202eb\\u2028");
    }

    #[test]
    fn other_text_stays_as_it_is() {
        let text = "λ ≥ 1.65, \"a\\b\", 'ü', 日本";
        assert!(matches!(escaped(text), Cow::Borrowed(same) if same == text));
        assert_eq!(shown(Path::new("results/a b")), "results/a b");
    }

    #[test]
    fn the_escapes_are_those_of_json() {
        let text = "\u{1b}\n\u{7f}\u{2066}";
        let quoted = format!("\"{}\"", escaped(text));
        assert_eq!(serde_json::from_str::<String>(&quoted).unwrap(), text);
    }
}
