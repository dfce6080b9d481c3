//! The ledger for people: one page in front, and a page per section.

pub mod section;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use crate::digits::{Rounded, fixed};

use super::ledger::answers::in_words;
use super::ledger::bindings::{Cause, stem};
use super::ledger::predictive::Direction;
use super::ledger::{Entry, Status};
use super::{JSON_PATH, Manifest};

/// How many of the largest disagreements the front page shows.
const LARGEST: usize = 10;

/// Renders `NUMBERS.md`.
pub fn render(manifest: &Manifest) -> String {
    let mut out = String::from("# The paper's numbers, and ours\n\n");
    let ledger = &manifest.ledger;
    if ledger.is_empty() {
        let (tables, outputs) = (manifest.tables.len(), manifest.outputs.len());
        let _ = writeln!(
            out,
            "No published numbers are bound here. {tables} tables and {outputs} files follow from {} sources: `{JSON_PATH}` \
             has each with its hash.",
            manifest.sources.len()
        );
        return out;
    }
    let numbers = ledger.iter().filter(|entry| entry.kind != "table").count();
    let _ = writeln!(
        out,
        "{numbers} numbers that the paper states and {} rows of its tables, each with what answers it here. What rests on\n\
         simulated runs is held against the interval that holds 95 % of 40 simulated campaigns, each with as many runs as\n\
         the paper had; nothing is allowed but the rounding of what is printed. Made by `trapcheck numbers` from\n\
         `analysis/numbers/`; every value's files and hashes are in `{JSON_PATH}`.\n",
        ledger.len() - numbers
    );
    out.push_str(
        "- *differs*: outside the interval; a model value or setting that is another number\n\
         - *consistent*: inside an interval that is narrow enough to say something\n\
         - *uninformative*: inside one wider than `analysis/numbers/comparison.yaml` allows, or too few draws have it\n\
         - *by construction*: agrees, and ours could hardly have come out otherwise\n\
         - *reproduced*: a model value, a setting, or the same runs' own measurement, equal to the printed digits\n\
         - *needs nova*: only the cluster's data can answer; *not computed*: the reason stands beside it\n\n",
    );
    by_section(&mut out, ledger);
    by_basis(&mut out, ledger);
    chance(&mut out, ledger);
    largest(&mut out, ledger);
    causes(&mut out, ledger);
    needs_nova(&mut out, ledger);
    out
}

fn count(entries: &[&Entry], status: Status) -> usize {
    entries.iter().filter(|entry| entry.status == status).count()
}

/// Rows of counts by status, one per group, and one for all.
fn counts(out: &mut String, what: &str, groups: &[(String, Vec<&Entry>)], all: &[&Entry]) {
    let words: Vec<&str> = Status::ALL.iter().map(|status| status.words()).collect();
    let _ = writeln!(out, "| {what} | all | {} |", words.join(" | "));
    let _ = writeln!(out, "|---|---|{}", "---|".repeat(words.len()));
    let every = ("**all**".to_owned(), all.to_vec());
    for (name, entries) in groups.iter().chain([&every]) {
        let cells: Vec<String> =
            Status::ALL.iter().map(|status| count(entries, *status).to_string()).collect();
        let _ = writeln!(out, "| {name} | {} | {} |", entries.len(), cells.join(" | "));
    }
    out.push('\n');
}

/// The sections in the order of the paper.
pub fn sections(ledger: &[Entry]) -> Vec<&str> {
    let found: BTreeSet<&str> = ledger.iter().map(|entry| entry.section.as_str()).collect();
    let order = |section: &str| match section {
        "abstract" => 0,
        _ if section.starts_with("sec ") => 1,
        _ if section.starts_with("App. ") => 2,
        _ => 3,
    };
    // App. E.2 comes before App. E.10.
    let number = |section: &str| -> u64 {
        section.rsplit(['.', ' ']).next().and_then(|last| last.parse().ok()).unwrap_or(0)
    };
    let letters = |section: &str| section.trim_end_matches(|c: char| !c.is_alphabetic()).to_owned();
    let mut sections: Vec<&str> = found.into_iter().collect();
    sections.sort_by_key(|section| (order(section), letters(section), number(section)));
    sections
}

fn by_section(out: &mut String, ledger: &[Entry]) {
    let of = |section: &str| ledger.iter().filter(move |e| e.section == section).collect();
    let link = |section: &str| format!("[{section}](numbers/{}.md)", stem(section));
    let groups: Vec<(String, Vec<&Entry>)> =
        sections(ledger).into_iter().map(|section| (link(section), of(section))).collect();
    counts(out, "section", &groups, &ledger.iter().collect::<Vec<_>>());
}

fn by_basis(out: &mut String, ledger: &[Entry]) {
    let mut groups: BTreeMap<String, Vec<&Entry>> = BTreeMap::new();
    for entry in ledger {
        let basis = match entry.basis.is_empty() {
            true => "nothing".to_owned(),
            false => in_words(&entry.basis),
        };
        groups.entry(basis).or_default().push(entry);
    }
    let groups: Vec<_> = groups.into_iter().collect();
    counts(out, "ours rests on", &groups, &ledger.iter().collect::<Vec<_>>());
}

/// How many are expected to differ by chance, of those that were held against draws.
fn chance(out: &mut String, ledger: &[Entry]) {
    let chances = |is_table: bool| {
        let of = ledger.iter().filter(move |entry| (entry.kind == "table") == is_table);
        of.filter_map(|entry| Some((entry, entry.by_chance?.value())))
    };
    let mut say = |what: &str, is_table: bool| {
        let all: Vec<(&Entry, f64)> = chances(is_table).collect();
        let differ = all.iter().filter(|(entry, _)| entry.status == Status::Differs).count();
        let expected: f64 = all.iter().map(|(_, chance)| chance).sum();
        let _ = writeln!(
            out,
            "Of {} {what} that were held against draws {differ} differ; {} would by chance alone if the simulator were the engine.",
            all.len(),
            fixed(expected, 0)
        );
    };
    say("numbers", false);
    say("table rows (each differs if one of its fields does)", true);
    out.push('\n');
}

/// The share by which an entry is off.
fn apart(entry: &Entry) -> f64 {
    entry.apart.map_or(0.0, Rounded::value)
}

/// The largest disagreements, those of one stated cause together.
fn largest(out: &mut String, ledger: &[Entry]) {
    let mut differ: Vec<&Entry> =
        ledger.iter().filter(|entry| entry.status == Status::Differs).collect();
    differ.sort_by(|a, b| apart(b).total_cmp(&apart(a)).then(a.id.cmp(&b.id)));
    let mut shown: Vec<(&Entry, usize)> = Vec::new();
    for entry in differ {
        let told = |entry: &'_ Entry| {
            entry.cause.as_ref().map(|cause| (cause.kind, cause.because.clone()))
        };
        let same = |other: &Entry| entry.cause.is_some() && told(other) == told(entry);
        match shown.iter_mut().find(|(other, _)| same(other)) {
            Some((_, more)) => *more += 1,
            None => shown.push((entry, 0)),
        }
    }
    let _ = writeln!(out, "## The largest disagreements\n");
    out.push_str("| number | published | ours | how | cause |\n|---|---|---|---|---|\n");
    for (entry, more) in shown.into_iter().take(LARGEST) {
        let more = if more > 0 { format!(" (and {more} more)") } else { String::new() };
        let how = if entry.gap.is_empty() { &entry.because } else { &entry.gap };
        let cells = [
            format!("[{}](numbers/{}.md){more}", code(&entry.id), stem(&entry.section)),
            shortened(&entry.published),
            shortened(&entry.ours),
            shortened(&[entry.direction.map_or("", Direction::words), how.as_str()].join(" ")),
            cause(entry),
        ];
        let _ = writeln!(out, "| {} |", cells.map(|cell| cell.replace('|', "\\|")).join(" | "));
    }
    out.push('\n');
}

/// How many differences have which cause.
fn causes(out: &mut String, ledger: &[Entry]) {
    let differ = || ledger.iter().filter(|entry| entry.status == Status::Differs);
    let with = |kind: Cause| {
        differ().filter(|e| e.cause.as_ref().is_some_and(|cause| cause.kind == kind)).count()
    };
    let is_known = |kind: Cause| kind != Cause::Unknown;
    let none = differ().filter(|e| !e.cause.as_ref().is_some_and(|c| is_known(c.kind))).count();
    let parts = Cause::ALL.map(|kind| format!("{} {}", kind.word(), with(kind)));
    let _ = writeln!(
        out,
        "Causes of what differs: {}, not known {none}. A cause is stated with its reason in `analysis/numbers/`; what is\n\
         computed to bear it out stands behind it in brackets, and `numbers --verify` fails if that contradicts it. What\n\
         lies just outside and has no other cause is put down to chance.\n",
        parts.join(", ")
    );
}

/// What only the cluster's data can answer, by where they would lie.
fn needs_nova(out: &mut String, ledger: &[Entry]) {
    let mut paths: BTreeMap<&str, Vec<&Entry>> = BTreeMap::new();
    for entry in ledger.iter().filter(|entry| entry.status == Status::NeedsNova) {
        let path = entry.because.split(": ").next().unwrap_or_default();
        paths.entry(path).or_default().push(entry);
    }
    if paths.is_empty() {
        return;
    }
    out.push_str(
        "## What needs the cluster's data\n\n| data | entries | such as |\n|---|---|---|\n",
    );
    for (path, entries) in paths {
        let names: Vec<String> = entries.iter().take(3).map(|entry| code(&entry.id)).collect();
        let _ = writeln!(out, "| `{path}` | {} | {} |", entries.len(), names.join(", "));
    }
}

/// What is known of a cause.
fn cause(entry: &Entry) -> String {
    match &entry.cause {
        Some(cause) if cause.checked.is_empty() => {
            format!("{}: {}", cause.kind.word(), cause.because)
        }
        Some(cause) => format!("{}: {} ({})", cause.kind.word(), cause.because, cause.checked),
        None => "not known".into(),
    }
}

fn code(text: &str) -> String {
    format!("`{text}`")
}

/// A text of a table's cell, cut where a row of many fields would fill the page.
fn shortened(text: &str) -> String {
    const MOST: usize = 100;
    let text = text.trim();
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{} ...", text[..end].trim_end()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(id: &str, status: Status, apart: f64) -> Entry {
        let (id, section) = (id.into(), "sec 1".into());
        Entry { id, section, status, apart: Some(Rounded::new(apart, 3)), ..Entry::default() }
    }

    #[test]
    fn the_sections_stand_in_the_order_of_the_paper() {
        let of = |section: &str| Entry { section: section.into(), ..Entry::default() };
        let ledger = ["App. E.10", "site", "sec 2", "abstract", "App. E.2", "App. A", "sec 1"];
        assert_eq!(
            sections(&ledger.map(of)),
            ["abstract", "sec 1", "sec 2", "App. A", "App. E.2", "App. E.10", "site"]
        );
    }

    #[test]
    fn the_largest_disagreement_comes_first_and_one_cause_takes_one_line() {
        use super::super::ledger::StatedCause;
        let cause = Some(StatedCause {
            kind: Cause::Simulator,
            because: "no refresh".into(),
            checked: "ours above".into(),
        });
        let with = |id, apart| Entry { cause: cause.clone(), ..entry(id, Status::Differs, apart) };
        let ledger = [
            entry("small", Status::Differs, 0.1),
            with("first", 0.9),
            with("second", 0.5),
            entry("inside", Status::Consistent, 0.8),
        ];
        let mut page = String::new();
        largest(&mut page, &ledger);
        let lines: Vec<&str> = page.lines().filter(|line| line.starts_with("| [")).collect();
        assert_eq!(lines.len(), 2, "{page}");
        assert!(lines[0].contains("`first`](numbers/sec-1.md) (and 1 more)"), "{page}");
        assert!(lines[0].contains("simulator: no refresh"), "{page}");
        assert!(lines[1].contains("`small`") && lines[1].contains("not known"), "{page}");
    }

    #[test]
    fn what_would_differ_by_chance_stands_beside_what_does() {
        let by_chance = Some(Rounded::new(0.5, 3));
        let with = |id, status| Entry { by_chance, ..entry(id, status, 0.0) };
        let ledger = [with("a", Status::Differs), with("b", Status::Consistent)];
        let mut page = String::new();
        chance(&mut page, &ledger);
        assert!(
            page.starts_with("Of 2 numbers that were held against draws 1 differ; 1 would"),
            "{page}"
        );
    }
}
