//! Colour for states, on a terminal only. The word says the state; colour helps to find it.

use std::ffi::OsString;

/// Whether a reader wants colour: stdout is a terminal that can, and `NO_COLOR` is not set.
pub fn is_wanted(is_terminal: bool, environment: impl Fn(&str) -> Option<OsString>) -> bool {
    let refused = environment("NO_COLOR").is_some_and(|value| !value.is_empty());
    let cannot = environment("TERM").is_some_and(|value| value == "dumb");
    is_terminal && !refused && !cannot
}

const RED: &str = "\x1b[31m";
const GREEN: &str = "\x1b[32m";
const YELLOW: &str = "\x1b[33m";
const END: &str = "\x1b[0m";

/// The words of states and outcomes, and what they mean to a reader in a hurry.
const WORDS: [(&str, &str); 12] = [
    ("TRAPPED", RED),
    ("STUCK", RED),
    ("PERSISTED", RED),
    ("FAIL", RED),
    ("RECOVERED", GREEN),
    ("RESCUED", GREEN),
    ("GOOD", GREEN),
    ("PASS", GREEN),
    ("DRAINING", YELLOW),
    ("INDETERMINATE", YELLOW),
    ("UNMEASURABLE", YELLOW),
    ("INCOMPLETE", YELLOW),
];

/// A text with its states in colour. Only whole words count, so that a name of a file keeps
/// its letters together.
pub fn of_states(text: &str) -> String {
    let is_inside = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '/' | '.');
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(is_inside) {
        let (between, from) = rest.split_at(start);
        let end = from.find(|c| !is_inside(c)).unwrap_or(from.len());
        let (word, after) = from.split_at(end);
        out.push_str(between);
        match WORDS.iter().find(|(state, _)| *state == word) {
            Some((_, colour)) => out.extend([*colour, word, END]),
            None => out.push_str(word),
        }
        rest = after;
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colour_is_for_terminals_that_do_not_refuse_it() {
        let with = |name: &'static str, value: &'static str| {
            move |asked: &str| (asked == name).then(|| OsString::from(value))
        };
        assert!(is_wanted(true, |_| None));
        assert!(!is_wanted(false, |_| None), "a pipe");
        assert!(!is_wanted(true, with("NO_COLOR", "1")));
        assert!(is_wanted(true, with("NO_COLOR", "")), "set to nothing is not set");
        assert!(!is_wanted(true, with("TERM", "dumb")));
    }

    #[test]
    fn only_whole_words_are_coloured_and_no_letter_is_lost() {
        let text = "burst  TRAPPED  x\nTRAPPED-run/PASS: PASS (RECOVERED)\n";
        let coloured = of_states(text);
        assert_eq!(
            coloured,
            "burst  \x1b[31mTRAPPED\x1b[0m  x\nTRAPPED-run/PASS: \x1b[32mPASS\x1b[0m \
             (\x1b[32mRECOVERED\x1b[0m)\n"
        );
        let plain =
            [RED, GREEN, YELLOW, END].iter().fold(coloured, |text, code| text.replace(code, ""));
        assert_eq!(plain, text);
    }
}
