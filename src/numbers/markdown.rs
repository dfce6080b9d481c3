//! `NUMBERS.md`: the manifest for people.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use crate::escape::{escaped, shown};

use super::ledger::Status;
use super::{Entry, Manifest, PUBLISHED, TableEntry};

/// Renders the manifest.
pub fn render(manifest: &Manifest) -> String {
    let mut out = String::from(
        "# NUMBERS\n\n\
         Every number that the paper states and every row of its tables, with what answers it here;\n\
         then every derived table and figure, with what it was computed from. Made by\n\
         `trapcheck numbers`; `trapcheck numbers --verify` computes everything again and compares.\n\
         The derived values themselves are in `paper/derived/` and `paper/numbers.json`.\n",
    );
    if !manifest.ledger.is_empty() {
        ledger(&mut out, manifest);
    }
    for analysis in &manifest.analyses {
        let _ = write!(
            out,
            "\n## Analysis {}\n\n{}\n\nDeclared in and configured by:\n\n",
            analysis.name, analysis.title
        );
        for config in &analysis.configs {
            let _ = writeln!(out, "- `{}` `{}`", shown(&config.path), config.sha256);
        }
        if !analysis.not_used.is_empty() {
            out.push_str("\nNamed, but not usable:\n\n");
            for why in &analysis.not_used {
                let _ = writeln!(out, "- {}", escaped(why));
            }
        }
        outputs(&mut out, manifest, &analysis.name);
        rows(&mut out, manifest, &analysis.name);
    }
    if !manifest.ledger.is_empty() {
        out.push_str("\n## Published tables beside ours\n");
        outputs(&mut out, manifest, PUBLISHED);
    }
    out.push_str("\n## Sources\n\n| # | file | SHA-256 |\n|---|---|---|\n");
    for (i, source) in manifest.sources.iter().enumerate() {
        let _ = writeln!(out, "| {i} | `{}` | `{}` |", shown(&source.path), source.sha256);
    }
    out
}

/// The ledger: a summary, a row per number and per table row, the files it rests on.
fn ledger(out: &mut String, manifest: &Manifest) {
    out.push_str(
        "\n## Published numbers\n\n\
         - *reproduced*: a model value or a setting, equal to the printed digits\n\
         - *replicated*: recomputed on runs of ours, inside the tolerance of `analysis/numbers/tolerances.yaml`;\n\
         \u{20} a range of ours agrees if it lies within the published range, widened by the tolerance at each end\n\
         - *differs*: recomputed, and not inside it\n\
         - *needs nova*: only the cluster's data can answer; the path where they belong\n\
         - *not computed*: the reason\n\n\
         `from` says what ours rests on: `simulator` or `engine` runs, a `model`, or `settings` of\n\
         `configs/`, which restate what the paper fixed and are no evidence. *By construction* marks\n\
         what could hardly have come out otherwise, *as wide as a value itself* a tolerance that tells\n\
         little. `site` is the project page, `posthoc` an analysis that the paper made after the outcome.\n\
         `computed from` counts the files listed below the table.\n\n",
    );
    summary(out, "kind", &manifest.ledger, |e| e.kind.clone());
    summary(out, "what ours rests on", &manifest.ledger, |e| {
        if e.from.is_empty() { "nothing".into() } else { e.from.clone() }
    });
    summary(out, "section", &manifest.ledger, |e| section(&e.place));
    let place: BTreeMap<&PathBuf, usize> =
        manifest.ledger_files.iter().enumerate().map(|(i, f)| (&f.path, i)).collect();
    out.push_str(
        "| id | where | what | unit | published | ours | from | status | apart by; why | computed from |\n\
         |---|---|---|---|---|---|---|---|---|---|\n",
    );
    for entry in &manifest.ledger {
        let files: Vec<usize> =
            entry.computed_from.iter().filter_map(|f| place.get(f).copied()).collect();
        let why = match (entry.gap.is_empty(), entry.because.is_empty()) {
            (true, _) => entry.because.clone(),
            (false, true) => entry.gap.clone(),
            (false, false) => format!("{}; {}", entry.gap, entry.because),
        };
        let cells = [
            format!("`{}`", entry.id),
            entry.place.clone(),
            entry.statement.clone(),
            entry.unit.clone(),
            entry.published.clone(),
            entry.ours.clone(),
            entry.from.clone(),
            entry.status.words().into(),
            why,
            ranges(&files),
        ];
        let cells: Vec<String> = cells.iter().map(|c| c.replace('|', "\\|")).collect();
        let _ = writeln!(out, "| {} |", cells.join(" | "));
    }
    out.push_str("\nComputed from:\n\n| # | file | SHA-256 |\n|---|---|---|\n");
    for (i, file) in manifest.ledger_files.iter().enumerate() {
        let _ = writeln!(out, "| {i} | `{}` | `{}` |", shown(&file.path), file.sha256);
    }
}

/// The first place of a number, without its subsection.
fn section(place: &str) -> String {
    let first = place.split(',').next().unwrap_or("").trim();
    let upto = |text: &str| text.split('.').next().unwrap_or("").to_owned();
    match first.strip_prefix("App. ") {
        Some(rest) => format!("App. {}", upto(rest)),
        None if first.starts_with("sec ") => upto(first),
        None if first.starts_with("Table") => "tables".into(),
        None => first.to_owned(),
    }
}

fn summary(out: &mut String, what: &str, ledger: &[Entry], of: impl Fn(&Entry) -> String) {
    let mut counts: BTreeMap<String, [u64; 5]> = BTreeMap::new();
    let mut total = [0; 5];
    for entry in ledger {
        let place = Status::ALL.iter().position(|s| *s == entry.status).unwrap_or(4);
        counts.entry(of(entry)).or_default()[place] += 1;
        total[place] += 1;
    }
    let _ = write!(
        out,
        "| {what} | all | reproduced | replicated | differs | needs nova | not computed |\n\
         |---|---|---|---|---|---|---|\n"
    );
    for (kind, counts) in counts.iter().chain([(&"**all**".to_owned(), &total)]) {
        let all: u64 = counts.iter().sum();
        let cells: Vec<String> = counts.iter().map(u64::to_string).collect();
        let _ = writeln!(out, "| {kind} | {all} | {} |", cells.join(" | "));
    }
    out.push('\n');
}

fn outputs(out: &mut String, manifest: &Manifest, analysis: &str) {
    out.push_str("\n### Files\n\n| file | SHA-256 | sources |\n|---|---|---|\n");
    for output in manifest.outputs.iter().filter(|o| o.analysis == analysis) {
        let _ = writeln!(
            out,
            "| `{}` | `{}` | {} |",
            shown(&output.path),
            output.sha256,
            ranges(&output.sources)
        );
    }
}

/// What each row of the analysis' tables was computed from.
fn rows(out: &mut String, manifest: &Manifest, analysis: &str) {
    let tables: Vec<&TableEntry> =
        manifest.tables.iter().filter(|t| t.analysis == analysis && !t.rows.is_empty()).collect();
    if tables.is_empty() {
        return;
    }
    out.push_str("\n### Rows\n\n| table | row | sources |\n|---|---|---|\n");
    for table in tables {
        let mut rows = table.rows.iter().peekable();
        while let Some(first) = rows.next() {
            // Rows of the same sources in one line.
            let mut last = first;
            while let Some(next) = rows.next_if(|next| next.sources == first.sources) {
                last = next;
            }
            let row = if std::ptr::eq(first, last) {
                format!("`{}`", escaped(&first.row))
            } else {
                format!("`{}` to `{}`", escaped(&first.row), escaped(&last.row))
            };
            let _ = writeln!(out, "| {} | {row} | {} |", table.name, ranges(&first.sources));
        }
    }
}

/// 3, 4, 5, 9 as `3-5, 9`.
fn ranges(indices: &[usize]) -> String {
    let mut parts: Vec<(usize, usize)> = Vec::new();
    for &i in indices {
        match parts.last_mut() {
            Some((_, end)) if *end + 1 == i => *end = i,
            _ => parts.push((i, i)),
        }
    }
    let part = |(a, b): &(usize, usize)| if a == b { a.to_string() } else { format!("{a}-{b}") };
    parts.iter().map(part).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::ranges;

    #[test]
    fn neighbours_are_joined() {
        assert_eq!(ranges(&[3, 4, 5, 9]), "3-5, 9");
        assert_eq!(ranges(&[]), "");
    }
}
