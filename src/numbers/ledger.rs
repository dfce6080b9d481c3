//! The ledger: every published number and every row of the published tables, with what
//! answers it here and how the two stand.
//!
//! A published value is only compared with. What answers it is a query over the derived
//! tables and the settings, bound by data (`analysis/numbers/SECTION.yaml`). A status follows
//! from the comparison, it is never set.

pub mod answers;
pub mod bindings;
pub mod cause;
pub mod compare;
pub mod comparison;
pub mod drawn;
pub mod entry;
pub mod predictive;
pub mod tables;

pub use crate::published;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::analysis::ensemble::stored::{Draws, path_of};
use crate::analysis::output_files::{DERIVED, OutputFile, table_files};
use crate::analysis::output_names::OutputNames;
use crate::query::campaign::with_tests;
use crate::query::{self, Database, VIEWS};
use crate::setup::ConfigError;
use crate::table::Table;

use answers::{Answers, without_comparisons};
use bindings::{BINDINGS, Bindings};
use compare::{Asked, Compared, Own, Stated, compare};
use comparison::{COMPARISON, Comparison};
use drawn::Kept;
pub use entry::{Entry, Interval, StatedCause, Status};
use published::{PublishedNumber, PublishedTable};

/// Where the numbers that the paper states in prose lie.
pub const PUBLISHED_NUMBERS: &str = "paper/published/numbers.yaml";
/// Where the simulated campaign's draws lie.
const ENSEMBLE: &str = "results/sim/ensemble";
const PUBLISHED_TABLES: &str = "paper/published/tables.yaml";

/// The ledger and the tables that set published beside ours.
#[derive(Debug, Clone, PartialEq)]
pub struct Ledger {
    /// Every number, in the order of the paper, then every row of every table.
    pub entries: Vec<Entry>,
    /// A table per published table.
    pub tables: Vec<Table>,
    /// Bindings that lead nowhere: each named with its reason.
    pub broken: Vec<String>,
}

/// The published values and what they are bound to, read and checked.
#[derive(Debug)]
pub struct Books {
    numbers: Vec<PublishedNumber>,
    tables: Vec<PublishedTable>,
    bindings: Bindings,
    comparison: Comparison,
    views: Vec<query::View>,
    settings: Table,
    draws: Draws,
}

impl Books {
    /// Whether the project has bindings at all.
    pub fn are_there() -> bool {
        Path::new(COMPARISON).is_file()
    }

    /// Reads published values, bindings, settings and the ensemble's draws.
    ///
    /// # Errors
    /// A file that cannot be used; a number without a binding, a binding without a number.
    pub fn load() -> Result<Self, ConfigError> {
        let numbers = published::numbers(Path::new(PUBLISHED_NUMBERS))?;
        let tables = published::tables(Path::new(PUBLISHED_TABLES))?;
        let bindings = Bindings::load(Path::new(BINDINGS), &numbers, &tables)?;
        Ok(Self {
            numbers,
            tables,
            bindings,
            comparison: Comparison::load(Path::new(COMPARISON))?,
            views: query::views(Path::new(VIEWS))?,
            settings: query::tables::settings(Path::new("configs"))?,
            draws: Draws::open(Path::new(ENSEMBLE))?,
        })
    }

    /// The files the ledger depends on beside the derived tables and the settings.
    pub fn files(&self) -> BTreeSet<PathBuf> {
        let named = [COMPARISON, VIEWS, PUBLISHED_NUMBERS, PUBLISHED_TABLES];
        let named = named.iter().map(PathBuf::from).filter(|path| path.is_file());
        let draws = self.draws.names().map(|name| path_of(Path::new(ENSEMBLE), name));
        named.chain(self.bindings.files.iter().cloned()).chain(draws).collect()
    }

    /// Takes the names of the published tables among a project's outputs.
    ///
    /// # Errors
    /// One that is no name, or that something else has.
    pub fn claim_names(&self, mut among: OutputNames) -> Result<(), ConfigError> {
        for table in &self.tables {
            let maker = format!("published table {}", table.id);
            among
                .claim(Path::new(DERIVED), &table.file_stem(), maker)
                .map_err(|e| ConfigError::new(Path::new(PUBLISHED_TABLES), e.to_string()))?;
        }
        Ok(())
    }

    /// The ledger over derived tables; `names` are what runs are called in the campaign.
    ///
    /// # Errors
    /// A view that cannot be made.
    pub fn ledger(
        &self,
        tables: impl IntoIterator<Item = Table>,
        names: &BTreeMap<String, String>,
    ) -> Result<Ledger, ConfigError> {
        let mut database = Database::new(self.views.clone());
        for table in tables {
            database.add(with_tests(without_comparisons(table), names));
        }
        database.add(self.settings.clone());
        let numbers = self.bindings.numbers.values();
        let mut queries: BTreeSet<String> = numbers
            .flat_map(|(_, binding)| [binding.query.clone(), binding.agrees.clone()])
            .flatten()
            .collect();
        let asked: Vec<tables::AskedTable<'_>> = self
            .tables
            .iter()
            .map(|table| {
                let bound = self.bindings.tables.get(&table.id);
                tables::AskedTable::of(table, bound.map(|(s, blocks)| (s.as_str(), &blocks[..])))
            })
            .collect();
        queries.extend(asked.iter().flat_map(tables::AskedTable::queries));
        let kept = Kept::of(&database, self.draws.names());
        let drawn = |tables: Vec<Table>| -> Vec<Table> {
            let none = BTreeMap::new();
            tables.into_iter().map(|table| kept.among(with_tests(table, &none))).collect()
        };
        let answers = Answers::of(&queries, &database, &self.draws, drawn)
            .map_err(|error| ConfigError::new(Path::new(VIEWS), error.to_string()))?;
        let mut ledger = Ledger { entries: Vec::new(), tables: Vec::new(), broken: Vec::new() };
        for number in &self.numbers {
            let (section, binding) = &self.bindings.numbers[&number.id];
            let (entry, broken) = self.entry(number, section, binding, &answers);
            ledger.broken.extend(broken.into_iter().map(|why| format!("{}: {why}", number.id)));
            ledger.entries.push(entry);
        }
        for asked in &asked {
            let compared = asked.compared(&answers, &self.comparison);
            ledger.entries.extend(compared.entries);
            ledger.broken.extend(compared.broken);
            ledger.tables.extend(compared.table);
        }
        ledger.broken.extend(cause::more_than_chance(&ledger.entries));
        Ok(ledger)
    }

    /// A number's row of the ledger, and why its binding leads nowhere or the cause that it
    /// states is contradicted, if so.
    fn entry(
        &self,
        number: &PublishedNumber,
        section: &str,
        binding: &bindings::Binding,
        answers: &Answers,
    ) -> (Entry, Vec<String>) {
        let values: Vec<(f64, usize)> =
            number.values().into_iter().enumerate().map(|(i, x)| (x, number.digits(i))).collect();
        let printed: Vec<String> =
            values.iter().map(|(x, digits)| crate::digits::fixed(*x, *digits)).collect();
        let answered = binding.query.as_ref().and_then(|sql| answers.get(sql));
        let (approx, values) = (number.approx, Stated::Numbers(values));
        let asked = Asked { values, form: number.form, approx, binding };
        let compared = match answered {
            Some(answered) => compare(&asked, &Own::of(answered), &self.comparison),
            None => Compared::unanswered(binding),
        };
        let mut statement = binding.statement.as_ref().unwrap_or(&number.statement).clone();
        if let (Some(cell), None) = (&number.cell, &binding.statement) {
            statement += &format!(" ({cell})");
        }
        let bound = binding.bound.map_or_else(String::new, |side| format!("{} ", side.words()));
        let about = if number.approx { "about " } else { "" };
        let mut entry = Entry {
            id: number.id.clone(),
            section: section.to_owned(),
            place: number.places.join(", "),
            statement,
            kind: number.kind.word().into(),
            unit: number.unit.clone(),
            published: format!("{bound}{about}{}", printed.join(number.form.joint())),
            query: binding.query.clone().unwrap_or_default().trim().to_owned(),
            ..Entry::default()
        };
        entry.stand(&compared, answered.map(|answered| &answered.uses), binding);
        let other = binding.agrees.as_ref().and_then(|sql| answers.get(sql));
        let other = other.map(|other| compare(&asked, &Own::of(other), &self.comparison));
        let mut broken: Vec<String> = compared.broken.iter().cloned().collect();
        match cause::cause(&compared, binding, other.as_ref(), &self.comparison) {
            Ok(cause) => entry.cause = cause,
            Err(why) => broken.push(why),
        }
        (entry, broken)
    }
}

impl Ledger {
    /// The published tables beside ours, as files.
    pub fn files(&self) -> Vec<OutputFile> {
        self.tables.iter().flat_map(table_files).collect()
    }

    /// How many entries of each kind have each status.
    pub fn summary(&self) -> Table {
        entry::summary(&self.entries)
    }
}
