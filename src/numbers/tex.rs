//! `numbers.tex`: every published number and ours as a LaTeX macro, and the check that a
//! text uses only numbers that there are.
//!
//! `\\ours{gap-ratio-median}` prints what is computed here, `\\published{gap-ratio-median}`
//! what the paper states. A name that there is not prints as an error in LaTeX as well.

use std::fmt::Write as _;

use crate::nearest::nearest;

use super::Entry;

/// Renders the macros; numbers of the text only, not the rows of tables.
pub fn render(ledger: &[Entry]) -> String {
    let mut out = String::from(
        "% Published numbers and what is computed for them here. Made by: trapcheck numbers\n\
         % Use: \\input{numbers.tex}, then \\ours{id} or \\published{id}.\n\
         \\makeatletter\n\
         \\newcommand{\\trapcheck@use}[2]{\\ifcsname trapcheck@#1@#2\\endcsname\\csname trapcheck@#1@#2\\endcsname\\else\\GenericError{}{trapcheck: no number #2}{}{}\\fi}\n\
         \\newcommand{\\ours}[1]{\\trapcheck@use{ours}{#1}}\n\
         \\newcommand{\\published}[1]{\\trapcheck@use{published}{#1}}\n\
         \\newcommand{\\trapcheck@set}[3]{\\expandafter\\def\\csname trapcheck@ours@#1\\endcsname{#2}\\expandafter\\def\\csname trapcheck@published@#1\\endcsname{#3}}\n",
    );
    for entry in ledger.iter().filter(|e| e.kind != "table") {
        let ours = if entry.ours.is_empty() { "(not computed)" } else { &entry.ours };
        let _ = writeln!(
            out,
            "\\trapcheck@set{{{}}}{{{}}}{{{}}}",
            entry.id,
            number(ours),
            number(&entry.published)
        );
    }
    out + "\\makeatother\n"
}

/// A minus sign that is one.
fn number(text: &str) -> String {
    text.split(' ')
        .map(|word| match word.strip_prefix('-') {
            Some(rest) if rest.starts_with(|c: char| c.is_ascii_digit()) => format!("$-${rest}"),
            _ => word.to_owned(),
        })
        .collect::<Vec<_>>()
        .join(" ")
}

/// A use of a number that there is not: its line and its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownUse {
    /// 1-based line.
    pub line: usize,
    /// The name.
    pub id: String,
    /// The known name that is closest, if one is close.
    pub meant: Option<String>,
}

/// The uses in a text of numbers that there are not. A comment is no use; a brace that is
/// not closed is named with what follows it.
pub fn unknown_uses(text: &str, ledger: &[Entry]) -> Vec<UnknownUse> {
    let known: Vec<&str> =
        ledger.iter().filter(|e| e.kind != "table").map(|e| e.id.as_str()).collect();
    // Comments become empty, lines stay lines.
    let text: String = text.lines().map(|line| format!("{}\n", without_comment(line))).collect();
    uses(&text)
        .into_iter()
        .filter(|(_, id)| !id.contains('#') && !known.contains(&id.as_str()))
        .map(|(line, id)| {
            let meant = nearest(&id, known.iter().copied()).map(str::to_owned);
            UnknownUse { line, meant, id }
        })
        .collect()
}

fn without_comment(line: &str) -> &str {
    let mut escaped = false;
    for (i, c) in line.char_indices() {
        match c {
            '%' if !escaped => return &line[..i],
            '\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    line
}

/// Each use: its line and the name in its braces, spaces and line ends left out.
fn uses(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for name in ["\\ours", "\\published"] {
        for (at, _) in text.match_indices(name) {
            // After another backslash it is a line break and a word.
            let before = text[..at].chars().rev().take_while(|c| *c == '\\').count();
            let rest = text[at + name.len()..].trim_start();
            let Some(rest) = rest.strip_prefix('{').filter(|_| before % 2 == 0) else { continue };
            let line = text[..at].matches('\n').count() + 1;
            let end = rest.find(['}', '{']).unwrap_or(rest.len().min(40));
            let id = rest.get(..end).unwrap_or_default();
            found.push((line, id.split_whitespace().collect()));
        }
    }
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ledger() -> Vec<Entry> {
        let entry = |id: &str, ours: &str| Entry {
            id: id.into(),
            kind: "measured".into(),
            published: "-0.5, 2".into(),
            ours: ours.into(),
            ..Entry::default()
        };
        vec![entry("gap-ratio", "1.13"), entry("slopes", "")]
    }

    #[test]
    fn each_number_has_a_macro_with_real_minus_signs() {
        let text = render(&ledger());
        assert!(text.contains("\\trapcheck@set{gap-ratio}{1.13}{$-$0.5, 2}"), "{text}");
        assert!(text.contains("\\trapcheck@set{slopes}{(not computed)}"));
    }

    #[test]
    fn an_unknown_name_is_found_with_its_line_and_what_was_meant() {
        let text = "a \\ours{gap-ratio} \\% \\ours{gap-ratoi}\n% \\ours{nothing}\n\\published{other-thing}\n";
        let found = unknown_uses(text, &ledger());
        assert_eq!(found.len(), 2);
        assert_eq!((found[0].line, found[0].meant.as_deref()), (1, Some("gap-ratio")));
        assert_eq!((found[1].line, found[1].meant.as_deref()), (3, None));
    }

    #[test]
    fn a_use_may_run_over_lines_and_a_line_break_is_none() {
        let of = |text: &str| -> Vec<String> {
            unknown_uses(text, &ledger()).into_iter().map(|one| one.id).collect()
        };
        assert_eq!(of("\\ours {nope} \\ours{gap-\nratio}"), ["nope"]);
        assert_eq!(of("\\ours{never-closed"), ["never-closed"]);
        assert!(of("a \\\\ours{x} \\newcommand{\\m}[1]{\\ours{#1}}").is_empty());
    }
}
