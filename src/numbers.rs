//! The manifest: every derived value and figure, tied to the files it came from.
//!
//! `numbers.json` is for machines, `NUMBERS.md` and a page per section say the same for
//! people. All are a pure function of the results, so that verifying is making them again
//! and comparing.

pub mod ledger;
pub mod markdown;
pub mod tex;
pub mod verify;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::analysis::Evaluated;
use crate::analysis::output_files::{FigureFiles, OutputFile, table_files};
use crate::configs::hashed;
use crate::hash::sha256_hex;
use crate::run::SourceFile;
use crate::setup::yaml::ConfigError;
use crate::table::Table;

use ledger::{Entry, Ledger, LedgerInputs};

/// Where the manifest lies, relative to the project's folder.
pub const JSON_PATH: &str = "paper/numbers.json";
/// The same for people.
pub(crate) const MARKDOWN_PATH: &str = "paper/NUMBERS.md";
/// Where the pages of the sections lie.
pub(crate) const PAGES: &str = "paper/numbers";
/// The published numbers and ours as LaTeX macros.
pub(crate) const TEX_PATH: &str = "paper/numbers.tex";

/// The format of the manifest.
pub const FORMAT: u64 = 4;

/// The manifest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Format of this file, 4.
    pub format: u64,
    /// What was analysed.
    pub analyses: Vec<AnalysisEntry>,
    /// Every file a value came from, in order of path; entries point into this.
    pub sources: Vec<SourceEntry>,
    /// Every derived table with its values, in order of analysis and table.
    pub tables: Vec<TableEntry>,
    /// Every file that was written.
    pub outputs: Vec<OutputEntry>,
    /// Every published number and table row, and what answers it.
    pub ledger: Vec<Entry>,
    /// The files that the ledger rests on: derived tables, bindings, settings.
    pub ledger_files: Vec<SourceEntry>,
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

/// A derived table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableEntry {
    /// Its name, which starts with the analysis'.
    pub name: String,
    /// The analysis.
    pub analysis: String,
    /// The columns that hold findings: name and unit.
    pub columns: Vec<(String, String)>,
    /// Its rows.
    pub rows: Vec<RowEntry>,
}

/// A row of a derived table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RowEntry {
    /// What identifies it.
    pub row: String,
    /// A value per column, as it is printed; empty where it does not apply.
    pub values: Vec<String>,
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
pub struct MadeAnalysis {
    /// Its judged runs.
    pub evaluated: Evaluated,
    /// Its tables.
    pub tables: Vec<Table>,
    /// Its figures.
    pub figures: Vec<FigureFiles>,
}

impl MadeAnalysis {
    /// Every file it gives, in order of path.
    pub fn files(&self) -> Vec<OutputFile> {
        let tables = self.tables.iter().flat_map(table_files);
        tables.chain(self.figures.iter().flat_map(|f| f.files.iter().cloned())).collect()
    }
}

impl From<&SourceFile> for SourceEntry {
    fn from(file: &SourceFile) -> Self {
        Self { path: file.path.clone(), sha256: file.sha256.clone() }
    }
}

/// The name under which the tables of the ledger stand among the analyses.
pub const PUBLISHED: &str = "published";

impl Manifest {
    /// The manifest of everything that was made.
    pub fn of(made: &[MadeAnalysis], ledger: Option<&MadeLedger>) -> Self {
        let tables = made.iter().flat_map(|m| &m.tables);
        let figures = made.iter().flat_map(|m| &m.figures);
        let all: BTreeSet<SourceEntry> = tables
            .chain(ledger.iter().flat_map(|made| &made.ledger.tables))
            .flat_map(|table| &table.rows)
            .flat_map(|row| &row.sources)
            .chain(figures.flat_map(|f| &f.sources))
            .map(SourceEntry::from)
            .collect();
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
        let (mut tables, mut outputs) = (Vec::new(), Vec::new());
        for made in made {
            let name = &made.evaluated.analysis.name;
            for table in &made.tables {
                tables.push(table_entry(table, name, &places));
                outputs.extend(outputs_of_table(table, name, &places));
            }
            for figure in &made.figures {
                let sources = places(&figure.sources);
                outputs.extend(figure.files.iter().map(|f| output(f, name, sources.clone())));
            }
        }
        let mut manifest = Self {
            format: FORMAT,
            analyses: made.iter().map(analysis_entry).collect(),
            tables,
            outputs,
            ledger: Vec::new(),
            ledger_files: Vec::new(),
            sources: Vec::new(),
        };
        if let Some(made) = ledger {
            for table in &made.ledger.tables {
                manifest.tables.push(table_entry(table, PUBLISHED, &places));
                manifest.outputs.extend(outputs_of_table(table, PUBLISHED, &places));
            }
            manifest.ledger.clone_from(&made.ledger.entries);
            manifest.ledger_files.clone_from(&made.files);
        }
        manifest.sources = sources;
        manifest
    }

    /// What one analysis has made of this: the ledger is of none.
    pub fn of_analysis(mut self, name: &str) -> Self {
        self.analyses.retain(|analysis| analysis.name == name);
        self.tables.retain(|table| table.analysis == name);
        self.outputs.retain(|output| output.analysis == name);
        self.ledger.clear();
        self.ledger_files.clear();
        let rows = self.tables.iter().flat_map(|table| &table.rows);
        let used: BTreeSet<usize> = rows
            .flat_map(|row| row.sources.iter().copied())
            .chain(self.outputs.iter().flat_map(|output| output.sources.iter().copied()))
            .collect();
        let sources = std::mem::take(&mut self.sources).into_iter().enumerate();
        self.sources = sources.filter(|(i, _)| used.contains(i)).map(|(_, file)| file).collect();
        self
    }

    /// As it is written: one row of anything per line, so that a change is one line.
    ///
    /// # Errors
    /// A path that JSON cannot hold, because it is not UTF-8.
    pub fn to_json(&self) -> serde_json::Result<String> {
        let tables = self
            .tables
            .iter()
            .map(|table| {
                Ok(format!(
                    "{{\"name\":{},\"analysis\":{},\"columns\":{},\"rows\":{}}}",
                    line(&table.name)?,
                    line(&table.analysis)?,
                    line(&table.columns)?,
                    lines(&table.rows)?
                ))
            })
            .collect::<serde_json::Result<Vec<String>>>()?;
        Ok(format!(
            "{{\"format\":{},\n\"analyses\":{},\n\"sources\":{},\n\"tables\":[\n{}\n],\n\"outputs\":{},\n\"ledger\":{},\n\"ledger_files\":{}}}\n",
            self.format,
            lines(&self.analyses)?,
            lines(&self.sources)?,
            tables.join(",\n"),
            lines(&self.outputs)?,
            lines(&self.ledger)?,
            lines(&self.ledger_files)?
        ))
    }

    /// Number of values in its tables.
    pub fn count_values(&self) -> usize {
        let rows = self.tables.iter().flat_map(|t| &t.rows);
        rows.map(|row| row.values.iter().filter(|v| !v.is_empty()).count()).sum()
    }
}

/// The ledger and the files it rests on.
#[derive(Debug)]
pub struct MadeLedger {
    /// The ledger.
    pub ledger: Ledger,
    /// Derived tables, bindings and settings with their hashes, in order of path.
    pub files: Vec<SourceEntry>,
}

impl MadeLedger {
    /// The ledger over what was made.
    ///
    /// # Errors
    /// Published values or bindings that cannot be used; a file that cannot be read.
    pub fn of(made: &[MadeAnalysis]) -> Result<Self, ConfigError> {
        let inputs = LedgerInputs::load()?;
        let names = made.iter().flat_map(|m| m.evaluated.names.clone()).collect();
        let ledger = inputs.ledger(made.iter().flat_map(|m| m.tables.iter().cloned()), &names)?;
        let derived: BTreeMap<PathBuf, String> = made
            .iter()
            .flat_map(|m| m.tables.iter().flat_map(table_files))
            .map(|file| (file.path, sha256_hex(&file.bytes)))
            .collect();
        let mut named = inputs.files();
        named.extend(ledger.entries.iter().flat_map(|e| e.computed_from.iter().cloned()));
        let entry = |path: PathBuf| match derived.get(&path) {
            Some(sha256) => Ok(SourceEntry { path, sha256: sha256.clone() }),
            None => hashed(&path).map(|file| SourceEntry::from(&file)),
        };
        let files = named.into_iter().map(entry).collect::<Result<_, _>>()?;
        Ok(Self { ledger, files })
    }

    /// The files it gives.
    pub fn outputs(&self) -> Vec<OutputFile> {
        self.ledger.files()
    }
}

/// The pages that people read of a manifest, and the macros: path and text.
pub fn pages(manifest: &Manifest) -> Vec<(PathBuf, String)> {
    let mut pages = vec![(PathBuf::from(MARKDOWN_PATH), markdown::render(manifest))];
    if !manifest.ledger.is_empty() {
        pages.push((TEX_PATH.into(), tex::render(&manifest.ledger)));
        pages.extend(
            markdown::section::pages(&manifest.ledger)
                .into_iter()
                .map(|(stem, text)| (Path::new(PAGES).join(format!("{stem}.md")), text)),
        );
    }
    pages
}

fn line(value: &impl Serialize) -> serde_json::Result<String> {
    serde_json::to_string(value)
}

fn lines<T: Serialize>(values: &[T]) -> serde_json::Result<String> {
    if values.is_empty() {
        return Ok("[]".into());
    }
    let rows = values.iter().map(line).collect::<serde_json::Result<Vec<String>>>()?;
    Ok(format!("[\n{}\n]", rows.join(",\n")))
}

fn analysis_entry(made: &MadeAnalysis) -> AnalysisEntry {
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

fn table_entry(
    table: &Table,
    analysis: &str,
    places: &impl Fn(&[SourceFile]) -> Vec<usize>,
) -> TableEntry {
    let found: Vec<usize> =
        (0..table.columns.len()).filter(|i| !table.columns[*i].is_key).collect();
    TableEntry {
        name: table.name.clone(),
        analysis: analysis.into(),
        columns: found
            .iter()
            .map(|i| &table.columns[*i])
            .map(|c| (c.name.clone().into_owned(), c.unit.clone().into_owned()))
            .collect(),
        rows: table
            .rows
            .iter()
            .map(|row| RowEntry {
                row: row.key.clone(),
                values: found.iter().map(|i| row.cells[*i].print()).collect(),
                sources: places(&row.sources),
            })
            .collect(),
    }
}

fn output(file: &OutputFile, analysis: &str, sources: Vec<usize>) -> OutputEntry {
    OutputEntry {
        path: file.path.clone(),
        sha256: sha256_hex(&file.bytes),
        analysis: analysis.into(),
        sources,
    }
}

fn outputs_of_table(
    table: &Table,
    analysis: &str,
    places: &impl Fn(&[SourceFile]) -> Vec<usize>,
) -> Vec<OutputEntry> {
    let sources: Vec<SourceFile> = table.rows.iter().flat_map(|r| r.sources.clone()).collect();
    let sources = places(&sources);
    table_files(table).iter().map(|file| output(file, analysis, sources.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_recorded_is_read_and_written_again_as_it_was() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(JSON_PATH);
        let text = std::fs::read_to_string(path).unwrap();
        let manifest: Manifest = serde_json::from_str(&text).unwrap();
        assert!(manifest.to_json().unwrap() == text);
    }
}
