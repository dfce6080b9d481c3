//! The page of a section: what differs first.

use std::fmt::Write as _;

use super::super::ledger::answers::in_words;
use super::super::ledger::bindings::stem;
use super::super::ledger::{Entry, Interval, Status};
use super::{cause, code, sections};

/// A page for each section: the stem of its file and its text.
pub fn pages(ledger: &[Entry]) -> Vec<(String, String)> {
    sections(ledger).into_iter().map(|section| (stem(section), page(section, ledger))).collect()
}

fn page(section: &str, ledger: &[Entry]) -> String {
    let mut out = format!(
        "# {section}: the paper's numbers, and ours\n\nMade by `trapcheck numbers`; [all sections](../NUMBERS.md). `trapcheck numbers show ID` has the query.\n"
    );
    let of_section: Vec<&Entry> = ledger.iter().filter(|entry| entry.section == section).collect();
    for status in Status::ALL {
        let entries: Vec<&Entry> =
            of_section.iter().copied().filter(|entry| entry.status == status).collect();
        if entries.is_empty() {
            continue;
        }
        let _ = write!(out, "\n## {} ({})\n\n", heading(status), entries.len());
        if status.is_compared() {
            compared(&mut out, &entries, status);
        } else {
            out.push_str("| id | what | published | why |\n|---|---|---|---|\n");
            for entry in entries {
                let published = with_unit(&entry.published, &entry.unit);
                row(&mut out, [code(&entry.id), what(entry), published, entry.because.clone()]);
            }
        }
    }
    out
}

fn heading(status: Status) -> String {
    let words = status.words();
    words[..1].to_uppercase() + &words[1..]
}

fn compared(out: &mut String, entries: &[&Entry], status: Status) {
    let differs = status == Status::Differs;
    let last = if differs { "cause" } else { "remark" };
    let _ = writeln!(out, "| id | what | published | ours | interval | rank | rests on | {last} |");
    out.push_str("|---|---|---|---|---|---|---|---|\n");
    for entry in entries {
        let remark = match differs {
            true => format!("{}; {}", way(entry), cause(entry)),
            false => entry.because.clone(),
        };
        let (intervals, ranks) = intervals(entry);
        row(
            out,
            [
                code(&entry.id),
                what(entry),
                with_unit(&entry.published, &entry.unit),
                entry.ours.clone(),
                intervals,
                ranks,
                in_words(&entry.basis),
                remark,
            ],
        );
    }
}

/// Which way and by how much it differs.
fn way(entry: &Entry) -> String {
    let how = if entry.gap.is_empty() { &entry.because } else { &entry.gap };
    entry.direction.map_or_else(|| how.clone(), |direction| format!("{direction}: {how}"))
}

/// Intervals and ranks; of a table's row those of its failing fields.
pub fn intervals(entry: &Entry) -> (String, String) {
    let failing: Vec<&Interval> =
        entry.intervals.iter().filter(|interval| interval.outside.is_some()).collect();
    let shown: Vec<&Interval> = match entry.kind == "table" {
        true => failing,
        false => entry.intervals.iter().collect(),
    };
    let alone = shown.len() == 1 && entry.kind != "table";
    let one = |interval: &&Interval| {
        let ends = format!("{} to {}", interval.low, interval.high);
        if alone { ends } else { format!("{}: {ends}", interval.what) }
    };
    let ends: Vec<String> = shown.iter().map(one).collect();
    let rank = |interval: &&Interval| interval.rank.map_or_else(String::new, |r| r.to_string());
    let ranks: Vec<String> = shown.iter().map(rank).collect();
    (ends.join("; "), ranks.join("; "))
}

fn what(entry: &Entry) -> String {
    format!("{} ({})", entry.statement, entry.place)
}

fn with_unit(value: &str, unit: &str) -> String {
    if unit.is_empty() { value.to_owned() } else { format!("{value} {unit}") }
}

fn row<const N: usize>(out: &mut String, cells: [String; N]) {
    let cells = cells.map(|cell| cell.replace('|', "\\|").replace('\n', " "));
    let _ = writeln!(out, "| {} |", cells.join(" | "));
}

#[cfg(test)]
mod tests {
    use super::super::super::ledger::entry::End;
    use super::super::super::ledger::predictive::Direction;
    use super::*;
    use crate::digits::Rounded;

    #[test]
    fn what_differs_stands_first_with_the_end_that_fails() {
        let entry = |id: &str, status| Entry {
            id: id.into(),
            section: "sec 4".into(),
            statement: "a slope".into(),
            place: "sec 4".into(),
            published: "1.01".into(),
            status,
            ..Entry::default()
        };
        let interval = Interval {
            what: "value".into(),
            published: Rounded::new(1.01, 2),
            low: End::At(Rounded::new(1.1, 1)),
            high: End::At(Rounded::new(1.3, 1)),
            median: Rounded::new(1.2, 1),
            rank: Some(Rounded::new(0.0, 0)),
            width: Some(Rounded::new(0.2, 2)),
            outside: Some(Direction::OursAbove),
        };
        let ledger = [
            entry("inside", Status::Consistent),
            Entry {
                direction: Some(Direction::OursAbove),
                gap: "value 1.01, ours 1.1 to 1.3".into(),
                intervals: vec![interval],
                ..entry("off", Status::Differs)
            },
        ];
        let pages = pages(&ledger);
        assert_eq!(pages[0].0, "sec-4");
        let text = &pages[0].1;
        assert!(text.find("## Differs (1)") < text.find("## Consistent (1)"), "{text}");
        let line = text.lines().find(|line| line.contains("`off`")).unwrap();
        assert!(line.contains("| 1.1 to 1.3 | 0 |"), "{line}");
        assert!(line.contains("ours above: value 1.01, ours 1.1 to 1.3; not known"), "{line}");
    }
}
