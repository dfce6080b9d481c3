//! The manifest: every derived value and figure, tied to the files it came from.
//!
//! `numbers.json` is for machines, `NUMBERS.md` says the same for people. Both
//! are a pure function of the results, so that verifying is making them again
//! and comparing.

pub mod markdown;
pub mod verify;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::analysis::outputs::{Evaluated, FigureFiles, OutputFile, table_file};
use crate::hash::sha256_hex;
use crate::run::SourceFile;
use crate::table::{Cell, Table};

/// Where the manifest lies, relative to the project's folder.
pub const JSON_PATH: &str = "paper/numbers.json";
/// The same for people.
pub const MARKDOWN_PATH: &str = "paper/NUMBERS.md";

/// The manifest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Format of this file, 1.
    pub format: u64,
    /// What was analysed.
    pub analyses: Vec<AnalysisEntry>,
    /// Every file a value came from, in order of path; entries point into this.
    pub sources: Vec<SourceEntry>,
    /// Every derived value, in order of analysis, table, row and column.
    pub numbers: Vec<NumberEntry>,
    /// Every file that was written.
    pub outputs: Vec<OutputEntry>,
}

/// An analysis and the configuration it depends on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnalysisEntry {
    /// Its name.
    pub name: String,
    /// What it shows.
    pub title: String,
    /// Its own file and the configuration files behind it.
    pub configs: Vec<SourceEntry>,
    /// Runs that were named but could not be read, and why.
    pub not_used: Vec<String>,
}

/// A file and its hash.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SourceEntry {
    /// Path relative to the project's folder.
    pub path: PathBuf,
    /// SHA-256 of its bytes.
    pub sha256: String,
}

/// A derived value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NumberEntry {
    /// `table.row.column`; the table's name starts with the analysis'.
    pub id: String,
    /// The analysis.
    pub analysis: String,
    /// The value as it is printed.
    pub value: String,
    /// Its unit; empty for words and ratios.
    pub unit: String,
    /// Indices into `sources`.
    pub sources: Vec<usize>,
}

/// A written file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutputEntry {
    /// Path relative to the project's folder.
    pub path: PathBuf,
    /// SHA-256 of its bytes.
    pub sha256: String,
    /// The analysis.
    pub analysis: String,
    /// Indices into `sources`.
    pub sources: Vec<usize>,
}

/// One analysis with everything made from it.
#[derive(Debug)]
pub struct Made {
    /// Its judged runs.
    pub evaluated: Evaluated,
    /// Its tables.
    pub tables: Vec<Table>,
    /// Its figures.
    pub figures: Vec<FigureFiles>,
}

impl Made {
    /// Every file it gives, in order of path.
    pub fn files(&self) -> Vec<OutputFile> {
        let tables = self.tables.iter().map(table_file);
        tables.chain(self.figures.iter().flat_map(|f| f.files.iter().cloned())).collect()
    }
}

impl From<&SourceFile> for SourceEntry {
    fn from(file: &SourceFile) -> Self {
        Self { path: file.path.clone(), sha256: file.sha256.clone() }
    }
}

impl Manifest {
    /// The manifest of everything that was made.
    pub fn of(made: &[Made]) -> Self {
        let all: BTreeSet<SourceEntry> = made.iter().flat_map(sources_of).collect();
        let sources: Vec<SourceEntry> = all.into_iter().collect();
        let place: BTreeMap<&PathBuf, usize> =
            sources.iter().enumerate().map(|(i, source)| (&source.path, i)).collect();
        let places = |files: &[SourceFile]| -> Vec<usize> {
            let mut found: Vec<usize> =
                files.iter().filter_map(|f| place.get(&f.path).copied()).collect();
            found.sort_unstable();
            found.dedup();
            found
        };
        let numbers = made.iter().flat_map(|m| numbers_of(m, &places)).collect();
        let outputs = made.iter().flat_map(|m| outputs_of(m, &places)).collect();
        let analyses = made.iter().map(analysis_entry).collect();
        Self { format: 1, analyses, sources, numbers, outputs }
    }

    /// As it is written.
    pub fn to_json(&self) -> String {
        // Serialising plain structs to a string cannot fail.
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }
}

fn analysis_entry(made: &Made) -> AnalysisEntry {
    let evaluated = &made.evaluated;
    let mut configs = vec![SourceEntry::from(&evaluated.spec)];
    configs.extend(evaluated.configs.iter().map(SourceEntry::from));
    let unreadable = evaluated.scoring.unreadable.iter().map(|run| {
        let first = run.problems.first().map(ToString::to_string).unwrap_or_default();
        format!("{}: {first}", run.dir.display())
    });
    AnalysisEntry {
        name: evaluated.analysis.name.clone(),
        title: evaluated.analysis.title.clone(),
        configs,
        not_used: unreadable.collect(),
    }
}

fn sources_of(made: &Made) -> Vec<SourceEntry> {
    let rows = made.tables.iter().flat_map(|table| &table.rows).flat_map(|row| &row.sources);
    rows.chain(made.figures.iter().flat_map(|f| &f.sources)).map(SourceEntry::from).collect()
}

fn numbers_of(made: &Made, places: &impl Fn(&[SourceFile]) -> Vec<usize>) -> Vec<NumberEntry> {
    let analysis = &made.evaluated.analysis.name;
    let mut numbers = Vec::new();
    for table in &made.tables {
        for row in &table.rows {
            let sources = places(&row.sources);
            let cells = table.columns.iter().zip(&row.cells);
            numbers.extend(
                cells.filter(|(column, cell)| !column.is_key && **cell != Cell::Empty).map(
                    |(column, cell)| NumberEntry {
                        id: format!("{}.{}.{}", table.name, row.key, column.name),
                        analysis: analysis.clone(),
                        value: cell.print(),
                        unit: column.unit.to_owned(),
                        sources: sources.clone(),
                    },
                ),
            );
        }
    }
    numbers
}

fn outputs_of(made: &Made, places: &impl Fn(&[SourceFile]) -> Vec<usize>) -> Vec<OutputEntry> {
    let entry = |file: &OutputFile, sources: Vec<usize>| OutputEntry {
        path: file.path.clone(),
        sha256: sha256_hex(&file.bytes),
        analysis: made.evaluated.analysis.name.clone(),
        sources,
    };
    let tables = made.tables.iter().map(|table| {
        let sources: Vec<SourceFile> = table.rows.iter().flat_map(|r| r.sources.clone()).collect();
        entry(&table_file(table), places(&sources))
    });
    let figures = made.figures.iter().flat_map(|figure| {
        let sources = places(&figure.sources);
        figure.files.iter().map(move |file| entry(file, sources.clone())).collect::<Vec<_>>()
    });
    tables.chain(figures).collect()
}
