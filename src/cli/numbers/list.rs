//! `trapcheck numbers list`: the published numbers that stand one way or another.

use std::process::ExitCode;

use anyhow::bail;

use trapcheck::nearest::unknown;
use trapcheck::numbers::Manifest;
use trapcheck::numbers::ledger::answers::{Basis, in_words};
use trapcheck::numbers::ledger::bindings::{Cause, stem};
use trapcheck::numbers::ledger::predictive::Direction;
use trapcheck::numbers::ledger::{Entry, Status};
use trapcheck::table::{Cell, Col, Heading, Table};

use super::super::output::{self, Print};

/// A cause that is not stated.
const NOT_KNOWN: &str = "unknown";

/// Which numbers are listed.
#[derive(Debug, clap::Args)]
pub struct Filter {
    /// Only those that stand so: differs, consistent, uninformative, by-construction,
    /// reproduced, needs-nova, not-computed
    #[arg(long)]
    status: Option<String>,
    /// Only those of a section: "sec 4", app-e
    #[arg(long)]
    section: Option<String>,
    /// Only those that differ for this: simulator, definition, plan, chance, or unknown
    #[arg(long)]
    cause: Option<String>,
    /// Only those that rest on this: engine, simulated, model, inferred, settings
    #[arg(long)]
    basis: Option<String>,
    /// Only those whose id, statement, place, remark or value, published or ours, holds this
    /// text; given several times, each of the texts
    #[arg(long, value_name = "TEXT")]
    grep: Vec<String>,
    /// Only those of which a published or a computed value is this, to the digits given
    #[arg(long, value_name = "NUMBER", allow_hyphen_values = true)]
    value: Option<String>,
}

/// Prints a row per number.
///
/// # Errors
/// A status, a section, a cause or a basis that there is not, or a value that is no number.
pub fn run(filter: &Filter, manifest: &Manifest, how: Print) -> anyhow::Result<ExitCode> {
    let chosen = filter.check(&manifest.ledger)?;
    let rows: Vec<&Entry> = manifest.ledger.iter().filter(|entry| chosen.holds(entry)).collect();
    let found = rows.len();
    output::table("numbers-list", &table(rows), SHOWN, how)?;
    eprintln!("{found} of {} numbers and table rows", manifest.ledger.len());
    Ok(ExitCode::SUCCESS)
}

/// The columns for people.
const SHOWN: &[(&str, &str)] = &[
    ("id", "id"),
    ("status", "status"),
    ("published", "published"),
    ("ours", "ours"),
    ("interval", "interval"),
    ("section", "section"),
];

fn table(rows: Vec<&Entry>) -> Table {
    let columns: &[Col<&Entry>] = &[
        Heading("id", "", "The number, or the table with the row's keys")
            .key(|entry| Cell::text(&entry.id)),
        Heading("section", "", "The section of the paper").key(|entry| Cell::text(&entry.section)),
        Heading("statement", "", "What it says").new(|entry| Cell::text(&entry.statement)),
        Heading("status", "", "How it stands").new(|entry| Cell::text(entry.status.words())),
        Heading("published", "", "As published").new(|entry| Cell::text(&entry.published)),
        Heading("ours", "", "As computed here").new(|entry| Cell::text(&entry.ours)),
        Heading("unit", "", "Its unit").new(|entry| Cell::text(&entry.unit)),
        Heading("interval", "", "What holds 95 % of the draws").new(|e| Cell::text(interval(e))),
        Heading("direction", "", "Which way ours differs")
            .new(|entry| Cell::text(entry.direction.map_or("", Direction::words))),
        Heading("basis", "", "What ours rests on").new(|entry| Cell::text(in_words(&entry.basis))),
        Heading("cause", "", "What makes it differ")
            .new(|entry| Cell::text(entry.cause.as_ref().map_or("", |cause| cause.kind.word()))),
        Heading("remark", "", "Why it is not computed, or what else is to be known")
            .new(|entry| Cell::text(&entry.because)),
    ];
    Table::of("numbers", "Published numbers", columns, rows, |e| (e.id.clone(), Vec::new()))
}

/// The interval, where there is one.
fn interval(entry: &Entry) -> String {
    match entry.intervals.as_slice() {
        [one] => format!("{} to {}", one.low, one.high),
        several => {
            let off = several.iter().filter(|one| one.outside.is_some());
            let parts = off.map(|one| format!("{} {} to {}", one.what, one.low, one.high));
            parts.collect::<Vec<_>>().join("; ")
        }
    }
}

/// A filter whose words were understood.
#[derive(Default)]
struct Chosen {
    status: Option<Status>,
    section: Option<String>,
    /// `Some(None)` for a cause that is not known.
    cause: Option<Option<Cause>>,
    basis: Option<Basis>,
    grep: Vec<String>,
    value: Option<(f64, usize)>,
}

impl Filter {
    fn check(&self, ledger: &[Entry]) -> anyhow::Result<Chosen> {
        let plain = |text: &str| text.to_lowercase().replace(['-', '_'], " ");
        let mut chosen = Chosen {
            grep: self.grep.iter().map(|text| text.to_lowercase()).collect(),
            ..Chosen::default()
        };
        if let Some(asked) = &self.status {
            let found = Status::ALL.into_iter().find(|s| s.words() == plain(asked));
            let known = Status::ALL.map(Status::words);
            let Some(found) = found else { bail!(unknown("status", asked, "", known)) };
            chosen.status = Some(found);
        }
        if let Some(asked) = &self.section {
            let known: Vec<&str> = trapcheck::numbers::markdown::sections(ledger);
            let found = known.iter().find(|section| stem(section) == stem(asked));
            let Some(found) = found else { bail!(unknown("section", asked, "", known)) };
            chosen.section = Some((*found).to_owned());
        }
        if let Some(asked) = &self.cause {
            let found = Cause::ALL.into_iter().find(|cause| cause.word() == plain(asked));
            if found.is_none() && plain(asked) != NOT_KNOWN {
                let known = Cause::ALL.map(Cause::word).into_iter().chain([NOT_KNOWN]);
                bail!(unknown("cause", asked, "", known));
            }
            chosen.cause = Some(found);
        }
        if let Some(asked) = &self.basis {
            let found = Basis::ALL.into_iter().find(|b| b.words().starts_with(&plain(asked)));
            let known = Basis::ALL.map(Basis::words);
            let Some(found) = found else { bail!(unknown("basis", asked, "", known)) };
            chosen.basis = Some(found);
        }
        if let Some(asked) = &self.value {
            let Ok(value) = asked.parse::<f64>() else { bail!("--value {asked}: no number") };
            chosen.value = Some((value, trapcheck::digits::decimals(asked)));
        }
        Ok(chosen)
    }
}

impl Chosen {
    fn holds(&self, entry: &Entry) -> bool {
        let cause = entry.cause.as_ref().map(|cause| cause.kind);
        let cause = cause.filter(|kind| *kind != Cause::Unknown);
        let has_text = |text: &String| {
            let (id, statement, place) = (&entry.id, &entry.statement, &entry.place);
            let places = [id, statement, place, &entry.because, &entry.published, &entry.ours];
            places.iter().any(|place| place.to_lowercase().contains(text))
        };
        self.status.is_none_or(|status| entry.status == status)
            && self.section.as_ref().is_none_or(|section| entry.section == *section)
            && self.cause.is_none_or(|asked| entry.status == Status::Differs && cause == asked)
            && self.basis.is_none_or(|basis| entry.basis.contains(&basis))
            && self.grep.iter().all(has_text)
            && self.value.is_none_or(|value| {
                [&entry.published, &entry.ours].iter().any(|text| has_value(text, value))
            })
    }
}

/// Whether a text has a number that is this one, rounded to its digits.
fn has_value(text: &str, (value, digits): (f64, usize)) -> bool {
    let is_part = |c: char| c.is_ascii_digit() || c == '.' || c == '-';
    let numbers = text.split(|c| !is_part(c)).filter_map(|part| part.parse::<f64>().ok());
    let asked = trapcheck::digits::fixed(value, digits);
    numbers.into_iter().any(|number| trapcheck::digits::fixed(number, digits) == asked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_found_to_the_digits_it_is_given_with() {
        assert!(has_value("5.83 to 7", (5.8, 1)) && has_value("5.8", (5.8, 1)));
        assert!(!has_value("58", (5.8, 1)) && !has_value("5.9", (5.8, 1)));
        assert!(has_value("about -0.30 %", (-0.3, 1)));
    }
}
