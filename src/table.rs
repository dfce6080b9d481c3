//! Derived tables: typed rows with a unit per column and sources per row.
//!
//! One file per table under `table/`, which declares its columns once, each with its cell
//! ([`Col`]). A table is built from measurements and verdicts; csv, Markdown, LaTeX and JSON come from the same cells ([`form`]), with the
//! same stated digits, but for JSON, whose numbers are not rounded.

pub mod about_run;
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
mod column;
pub mod crossing_fit;
pub mod crossings;
pub mod cut;
pub mod detector;
pub mod doses;
pub mod edges;
pub mod fidelity;
pub mod form;
pub mod from_empty;
pub mod goodput;
pub mod loop_variables;
pub mod measured_curve;
pub mod mirror;
pub mod model_extras;
pub mod model_values;
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

pub use crate::digits::fixed;
use crate::escape::escaped;
use crate::judged::ScoredRun;
use crate::measure::RunMeasures;
use crate::measure::stretches::Stretches;
use crate::model::SessionMeans;
use crate::rule::pairing;
use crate::run::SourceFile;
use crate::setup::Configs;
pub use column::Col;

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
    /// From the least to the greatest, as they are printed.
    Range([String; 2]),
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
            Self::Range(ends) => ends.join(" to "),
            Self::Unknown => "unknown".into(),
            Self::Empty => String::new(),
        }
    }
}

impl Table {
    /// Where a column stands.
    pub fn place(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    /// Whether a column holds ranges: in csv these are two columns.
    fn is_range(&self, place: usize) -> bool {
        self.rows.iter().any(|row| matches!(row.cells.get(place), Some(Cell::Range(..))))
    }
}

/// The runs of the paired test: judged by a registration, of one of its arms, and where any
/// run of a cell is bound to its registration, only those that are. Other tests have BURST
/// runs too.
fn judged_for_the_paired_test(runs: &[ScoredRun]) -> impl Iterator<Item = &ScoredRun> {
    let bound = |run: &ScoredRun| run.binding.is_bound();
    let of_arm = |run: &&ScoredRun| {
        let judged = run.state.is_some() && run.binding.is_of_a_registration();
        judged && pairing::place(&run.meta.arm).is_some()
    };
    let kind = move |run: &ScoredRun| (run.meta.cell.clone(), run.meta.source.word());
    let with_bound: BTreeSet<_> =
        runs.iter().filter(of_arm).filter(|run| bound(run)).map(kind).collect();
    runs.iter().filter(of_arm).filter(move |run| bound(run) || !with_bound.contains(&kind(run)))
}

/// Whether a run is stuck over its window: its follow-up hit fraction is below the threshold.
fn stuck(measures: &RunMeasures, below: f64) -> Cell {
    Cell::yes_no(measures.window.as_ref().and_then(|w| w.follow_up_hits.is_below(below)))
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

    /// Name and unit for readers, on two lines; a unit that the name ends with is said once.
    pub fn heading(&self) -> String {
        let said = match &*self.unit {
            "s" => "_s",
            "sessions" => "_sessions",
            "tokens" => "_tokens",
            "%" => "_percent",
            unit if unit.ends_with("/s") => "_per_s",
            _ => "",
        };
        let words = self.name.strip_suffix(said).unwrap_or(&self.name).replace('_', " ");
        if self.unit.is_empty() { words } else { format!("{words}\n({})", self.unit) }
    }
}
