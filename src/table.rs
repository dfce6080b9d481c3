//! Derived tables: typed rows with a unit per column and sources per row.
//!
//! One file per table under `table/`. A table is built from measurements and
//! verdicts, and rendered here: csv, JSON and Markdown come from the same cells,
//! with the same stated digits.

pub mod answers;
pub mod arm_counts;
pub mod binomial;
pub mod bins;
pub mod burst;
pub mod calibration;
pub mod cell_calibration;
pub mod client_cost;
pub mod closed_curve;
pub mod cohort;
pub mod crossing_fit;
pub mod crossings;
pub mod cut;
pub mod detector;
pub mod doses;
pub mod edges;
pub mod fidelity;
pub mod from_empty;
pub mod goodput;
pub mod loop_variables;
pub mod measured_curve;
pub mod mirror;
pub mod model_extras;
pub mod model_values;
pub mod open_run;
pub mod paired;
pub mod paired_ranges;
pub mod persistence;
pub mod plan_model;
pub mod plug_in;
pub mod release_estimates;
pub mod rescue;
pub mod rule_values;
pub mod runs;
pub mod self_similarity;
pub mod sim_against_engine;
pub mod theory;
pub mod token_rates;
pub mod trap_check;
pub mod trap_scores;
pub mod trap_summary;
pub mod trigger;
pub mod verdict;
pub mod verdicts;
pub mod what_if;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::{Map, Value as Json};

use crate::analysis::ScoredRun;
pub use crate::digits::fixed;
use crate::escape::escaped;
use crate::measure::RunMeasures;
use crate::measure::stretches::Stretches;
use crate::model::SessionMeans;
use crate::rule::Arm;
use crate::run::SourceFile;
use crate::setup::Configs;

/// One column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Its name in csv and JSON, with the unit where it has one.
    pub name: Cow<'static, str>,
    /// Its unit; empty for words and ratios.
    pub unit: Cow<'static, str>,
    /// Whether it says which row this is, rather than what was found.
    pub is_key: bool,
}

/// One value.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// Words.
    Text(String),
    /// A whole number.
    Count(u64),
    /// A number, with the digits after the point it is printed with.
    Number(f64, usize),
    /// The data cannot say.
    Unknown,
    /// The question does not arise for this row.
    Empty,
}

/// One row.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// What identifies it within its table.
    pub key: String,
    /// A value per column.
    pub cells: Vec<Cell>,
    /// The files it was computed from.
    pub sources: Vec<SourceFile>,
}

/// A table.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// Its name: a file stem.
    pub name: String,
    /// What it shows.
    pub title: String,
    /// Its columns.
    pub columns: Vec<Column>,
    /// Its rows, in the order they are printed.
    pub rows: Vec<Row>,
}

impl Cell {
    /// Words.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// A number that may be unknown.
    pub fn known(value: Option<f64>, digits: usize) -> Self {
        value.map_or(Self::Unknown, |x| Self::Number(x, digits))
    }

    /// A number that may not apply.
    pub fn optional(value: Option<f64>, digits: usize) -> Self {
        value.map_or(Self::Empty, |x| Self::Number(x, digits))
    }

    /// Yes or no, where it can be told.
    pub fn yes_no(value: Option<bool>) -> Self {
        value.map_or(Self::Unknown, |yes| Self::text(if yes { "yes" } else { "no" }))
    }

    /// What is found in stretches of a run; unknown where a turn in them is.
    fn of_stretches(
        stretches: &Stretches,
        found: impl FnOnce(&Stretches) -> Option<f64>,
        digits: usize,
    ) -> Self {
        if stretches.is_known() { Self::optional(found(stretches), digits) } else { Self::Unknown }
    }

    /// As it is printed everywhere: on one line, whatever is in it.
    pub fn print(&self) -> String {
        match self {
            Self::Text(text) => escaped(text).into_owned(),
            Self::Count(n) => n.to_string(),
            Self::Number(x, digits) => fixed(*x, *digits),
            Self::Unknown => "unknown".into(),
            Self::Empty => String::new(),
        }
    }

    fn json(&self) -> Option<Json> {
        match self {
            Self::Text(text) => Some(Json::from(text.as_str())),
            Self::Count(n) => Some(Json::from(*n)),
            // The printed digits, so that every form of a table says the same.
            Self::Number(..) => self.print().parse::<f64>().ok().map(Json::from),
            Self::Unknown => Some(Json::Null),
            Self::Empty => None,
        }
    }
}

impl Table {
    /// The table as csv: header, rows, LF.
    pub fn to_csv(&self) -> String {
        let mut out = String::new();
        csv_line(&mut out, self.columns.iter().map(|c| c.name.clone().into_owned()));
        for row in &self.rows {
            csv_line(&mut out, row.cells.iter().map(Cell::print));
        }
        out
    }

    /// The rows as JSON objects: `null` is unknown, a missing key does not apply.
    pub fn to_json(&self) -> Json {
        let object = |row: &Row| {
            let pairs = self.columns.iter().zip(&row.cells);
            pairs
                .filter_map(|(column, cell)| {
                    cell.json().map(|v| (column.name.clone().into_owned(), v))
                })
                .collect::<Map<_, _>>()
        };
        self.rows.iter().map(|row| Json::Object(object(row))).collect()
    }

    /// The table as a LaTeX `tabular` with the rules of booktabs; numbers to the right, the
    /// units in a second heading line.
    pub fn to_latex(&self) -> String {
        let number = |c: &Cell| match c {
            Cell::Number(..) | Cell::Count(_) => true,
            Cell::Text(text) => text.parse::<f64>().is_ok(),
            Cell::Unknown | Cell::Empty => false,
        };
        let numeric = |i: usize| self.rows.iter().filter_map(|row| row.cells.get(i)).any(number);
        let spec: String =
            (0..self.columns.len()).map(|i| if numeric(i) { 'r' } else { 'l' }).collect();
        let line = |fields: Vec<String>| format!("{} \\\\\n", fields.join(" & "));
        let names = self.columns.iter().map(|c| latex_words(&c.name.replace('_', " ")));
        let mut out = format!(
            "% {}\n% \\usepackage{{booktabs}}\n\\begin{{tabular}}{{{spec}}}\n\\toprule\n{}",
            self.title.replace('\n', " "),
            line(names.collect())
        );
        if self.columns.iter().any(|c| !c.unit.is_empty()) {
            out += &line(self.columns.iter().map(|c| latex_words(&c.unit)).collect());
        }
        out += "\\midrule\n";
        for row in &self.rows {
            out += &line(row.cells.iter().map(|cell| latex_words(&cell.print())).collect());
        }
        out + "\\bottomrule\n\\end{tabular}\n"
    }

    /// The table in Markdown, with units under the names.
    pub fn to_markdown(&self) -> String {
        let mut out = format!("**{}**\n\n|", self.title);
        for column in &self.columns {
            let _ = write!(out, " {} |", column.heading().replace('\n', " "));
        }
        out.push_str("\n|");
        out.push_str(&"---|".repeat(self.columns.len()));
        out.push('\n');
        for row in &self.rows {
            out.push('|');
            for cell in &row.cells {
                let _ = write!(out, " {} |", cell.print().replace('|', "\\|"));
            }
            out.push('\n');
        }
        out
    }
}

/// Whether the hyphen at a place is a number's sign.
fn before_digit(text: &str, at: usize) -> bool {
    let begins = at == 0 || text[..at].ends_with(' ');
    begins && text[at + 1..].starts_with(|c: char| c.is_ascii_digit())
}

/// Words as LaTeX prints them.
fn latex_words(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        match c {
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => out.extend(['\\', c]),
            '\\' => out.push_str("\\textbackslash{}"),
            '~' => out.push_str("\\textasciitilde{}"),
            '^' => out.push_str("\\textasciicircum{}"),
            '-' if before_digit(text, at) => out.push_str("$-$"),
            '<' => out.push_str("\\textless{}"),
            '>' => out.push_str("\\textgreater{}"),
            c => out.push(c),
        }
    }
    out
}

/// The runs of the paired test: judged by a registration, of one of its arms, and where any
/// run of a cell is bound to its registration, only those that are. Other tests have BURST
/// runs too.
fn judged_for_the_paired_test(runs: &[ScoredRun]) -> impl Iterator<Item = &ScoredRun> {
    let bound = |run: &ScoredRun| run.binding.is_bound();
    let of_arm = |run: &&ScoredRun| {
        let judged = run.state.is_some() && run.binding.is_of_a_registration();
        judged && Arm::of(&run.meta.arm).is_some()
    };
    let kind = move |run: &ScoredRun| (run.meta.cell.clone(), run.meta.source.word());
    let with_bound: BTreeSet<_> =
        runs.iter().filter(of_arm).filter(|run| bound(run)).map(kind).collect();
    runs.iter().filter(of_arm).filter(move |run| bound(run) || !with_bound.contains(&kind(run)))
}

/// Whether something holds, in the words of the output.
fn holds(held: Option<bool>) -> Cell {
    held.map_or(Cell::Unknown, |yes| Cell::text(if yes { "yes" } else { "no" }))
}

/// Whether a run is stuck over its window: its follow-up hit fraction is below the threshold.
fn stuck(measures: &RunMeasures, below: f64) -> Cell {
    holds(measures.window.as_ref().and_then(|w| w.follow_up_hits.is_below(below)))
}

/// What a session of a cell's workload asks for on average.
fn session_means(configs: &Configs, cell: &str) -> Option<SessionMeans> {
    configs.of_cell(cell).map(|(_, workload, _)| SessionMeans::of(workload))
}

impl Column {
    /// A column of findings.
    pub const fn new(name: &'static str, unit: &'static str) -> Self {
        Self { name: Cow::Borrowed(name), unit: Cow::Borrowed(unit), is_key: false }
    }

    /// A column that says which row this is.
    pub const fn key(name: &'static str, unit: &'static str) -> Self {
        Self { name: Cow::Borrowed(name), unit: Cow::Borrowed(unit), is_key: true }
    }

    /// Name and unit for readers, on two lines.
    pub fn heading(&self) -> String {
        let words = self.name.replace('_', " ");
        if self.unit.is_empty() { words } else { format!("{words}\n({})", self.unit) }
    }
}

/// Appends one csv line, quoting what has to be.
pub fn csv_line(out: &mut String, fields: impl Iterator<Item = String>) {
    for (i, field) in fields.enumerate() {
        if i > 0 {
            out.push(',');
        }
        if field.contains([',', '"', '\n', '\r']) {
            let _ = write!(out, "\"{}\"", field.replace('"', "\"\""));
        } else {
            out.push_str(&field);
        }
    }
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_and_not_applicable_differ_in_every_form() {
        let table = Table {
            name: "t".into(),
            title: "t".into(),
            columns: vec![Column::new("a", ""), Column::new("b", "s")],
            rows: vec![Row {
                key: "r".into(),
                cells: vec![Cell::Unknown, Cell::Empty],
                sources: Vec::new(),
            }],
        };
        assert_eq!(table.to_csv(), "a,b\nunknown,\n");
        assert_eq!(table.to_json().to_string(), r#"[{"a":null}]"#);
    }
}
