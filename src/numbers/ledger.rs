//! The ledger: every published number and every row of the published tables, with what
//! answers it here and how the two stand.
//!
//! A published value is only compared with. What answers it is a query over the derived
//! tables and the settings, bound by data (`analysis/numbers/SECTION.yaml`). A status follows
//! from the comparison, it is never set.

pub mod answers;
pub mod beside;
pub mod bindings;
pub mod cause;
pub mod compare;
pub mod comparison;
pub mod drawn;
pub mod effects;
pub mod entry;
pub mod moved;
pub mod predictive;
pub mod tables;
mod written;

pub use crate::published;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::analysis::ensemble::stored::{Draws, path_of};
use crate::analysis::output_files::{DERIVED, OutputFile, table_files};
use crate::analysis::output_names::OutputNames;
use crate::query::campaign::with_tests;
use crate::query::{self, Database, QueryError, VIEWS};
use crate::setup::ConfigError;
use crate::table::Table;

use answers::{Answers, without_comparisons};
use beside::Beside;
use bindings::{BINDINGS, Bindings};
use compare::{Asked, Compared, Own, Stated, compare};
use comparison::{COMPARISON, ComparisonRules};
use drawn::Kept;
use effects::Effect;
pub use entry::{Entry, Interval, StatedCause, Status};
use moved::told;
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
pub struct LedgerInputs {
    numbers: Vec<PublishedNumber>,
    tables: Vec<PublishedTable>,
    bindings: Bindings,
    comparison: ComparisonRules,
    views: Vec<query::View>,
    settings: Table,
    draws: Draws,
    beside: BTreeMap<Beside, Draws>,
}

impl LedgerInputs {
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
            comparison: ComparisonRules::load(Path::new(COMPARISON))?,
            views: query::views(Path::new(VIEWS))?,
            settings: query::tables::settings(Path::new("configs"))?,
            draws: Draws::open(Path::new(ENSEMBLE))?,
            beside: Beside::ALL
                .into_iter()
                .map(|which| Ok((which, Draws::open(&which.folder())?)))
                .collect::<Result<_, ConfigError>>()?,
        })
    }

    /// Whether there are draws of an ensemble beside the campaign's.
    pub fn has(&self, which: Beside) -> bool {
        self.beside.get(&which).is_some_and(|draws| draws.count() > 0)
    }

    /// The files the ledger depends on beside the derived tables and the settings.
    pub fn files(&self) -> BTreeSet<PathBuf> {
        let named = [COMPARISON, VIEWS, PUBLISHED_NUMBERS, PUBLISHED_TABLES];
        let named = named.iter().map(PathBuf::from).filter(|path| path.is_file());
        let of = |folder: PathBuf, draws: &Draws| -> Vec<PathBuf> {
            draws.names().map(|name| path_of(&folder, name)).collect()
        };
        let beside = self.beside.iter().flat_map(|(which, draws)| of(which.folder(), draws));
        let draws = of(ENSEMBLE.into(), &self.draws).into_iter().chain(beside);
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
        let database = self.database(tables, names);
        let asked = self.asked();
        let answers = self.answers(&database, &asked, None)?;
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

    /// Derived tables and settings, to be asked; `names` are what runs are called in the campaign.
    fn database(
        &self,
        tables: impl IntoIterator<Item = Table>,
        names: &BTreeMap<String, String>,
    ) -> Database {
        let mut database = Database::new(self.views.clone());
        for table in tables {
            database.add(with_tests(without_comparisons(table), names));
        }
        database.add(self.settings.clone());
        database
    }

    /// The published tables with what is asked for their fields.
    fn asked(&self) -> Vec<tables::AskedTable<'_>> {
        let bound = |table: &PublishedTable| self.bindings.tables.get(&table.id);
        self.tables
            .iter()
            .map(|table| (table, bound(table).map(|(s, blocks)| (s.as_str(), &blocks[..]))))
            .map(|(table, bound)| tables::AskedTable::of(table, bound))
            .collect()
    }

    /// The answers to every query, and over the ensembles beside the campaign's to those that name
    /// them; over that of `whole` to all.
    fn answers(
        &self,
        database: &Database,
        asked: &[tables::AskedTable<'_>],
        whole: Option<Beside>,
    ) -> Result<Answers, ConfigError> {
        let wrong = |error: QueryError| ConfigError::new(Path::new(VIEWS), error.to_string());
        let numbers = || self.bindings.numbers.values().map(|(_, binding)| binding);
        let mut queries: BTreeSet<String> = numbers()
            .flat_map(|binding| [binding.query.clone(), binding.agrees.clone()])
            .flatten()
            .collect();
        queries.extend(asked.iter().flat_map(tables::AskedTable::queries));
        let kept = Kept::of(database, self.draws.names());
        let drawn = |tables: Vec<Table>| -> Vec<Table> {
            let none = BTreeMap::new();
            tables.into_iter().map(|table| kept.among(with_tests(table, &none))).collect()
        };
        let mut answers = Answers::of(&queries, database, &self.draws, drawn).map_err(wrong)?;
        for (which, draws) in &self.beside {
            let named = numbers().filter(|binding| binding.names(*which));
            let named = named.filter_map(|binding| binding.query.clone());
            let of_tables = asked.iter().flat_map(|table| table.queries_beside(*which));
            let queries = match whole == Some(*which) {
                true => queries.clone(),
                false => named.chain(of_tables).collect(),
            };
            answers
                .ask_beside((*which, draws), &queries, database, &self.draws, drawn)
                .map_err(wrong)?;
        }
        Ok(answers)
    }

    /// What an ensemble beside the campaign's makes of every number that is drawn.
    ///
    /// # Errors
    /// A view that cannot be made.
    pub fn effects(
        &self,
        tables: impl IntoIterator<Item = Table>,
        names: &BTreeMap<String, String>,
        which: Beside,
    ) -> Result<Vec<Effect>, ConfigError> {
        let database = self.database(tables, names);
        let asked = self.asked();
        let answers = self.answers(&database, &asked, Some(which))?;
        let of_number = |number: &PublishedNumber| {
            let (section, binding) = &self.bindings.numbers[&number.id];
            let answered = answers.get(binding.query.as_ref()?)?;
            let own = [None, Some(which)].map(|which| Own::of(answered, which));
            let (asked, published) = (number_asked(number, binding), printed(number, binding));
            let id = number.id.clone();
            Effect::of(id, section, published, &asked, (which, own.each_ref()), &self.comparison)
        };
        let of_numbers = self.numbers.iter().filter_map(of_number);
        let of_tables = asked.iter().flat_map(|t| t.effects(&answers, which, &self.comparison));
        Ok(of_numbers.chain(of_tables).collect())
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
        let answered = binding.query.as_ref().and_then(|sql| answers.get(sql));
        let asked = number_asked(number, binding);
        let compared = match answered {
            Some(answered) => compare(&asked, &Own::of(answered, binding.given), &self.comparison),
            None => Compared::unanswered(binding),
        };
        let mut statement = binding.statement.as_ref().unwrap_or(&number.statement).clone();
        if let (Some(cell), None) = (&number.cell, &binding.statement) {
            statement += &format!(" ({cell})");
        }
        let mut entry = Entry {
            id: number.id.clone(),
            section: section.to_owned(),
            place: number.places.join(", "),
            statement,
            kind: number.kind.word().into(),
            unit: number.unit.clone(),
            published: printed(number, binding),
            query: binding.query.clone().unwrap_or_default().trim().to_owned(),
            ..Entry::default()
        };
        entry.stand(&compared, answered.map(|answered| &answered.uses), binding);
        let other = binding.agrees.as_ref().and_then(|sql| answers.get(sql));
        let other = other.map(|other| compare(&asked, &Own::of(other, None), &self.comparison));
        let with = binding.with.zip(answered).map(|(which, answered)| {
            let [own, with] = [None, Some(which)].map(|which| Own::of(answered, which));
            told(&asked, which, &own, &with, &self.comparison)
        });
        let mut broken: Vec<String> = compared.broken.iter().cloned().collect();
        match cause::cause(&compared, binding, other.as_ref(), with, &self.comparison) {
            Ok(cause) => entry.cause = cause,
            Err(why) => broken.push(why),
        }
        (entry, broken)
    }
}

/// A published number as it is compared.
fn number_asked<'a>(number: &PublishedNumber, binding: &'a bindings::Binding) -> Asked<'a> {
    let values = number.values().into_iter().enumerate().map(|(i, x)| (x, number.digits(i)));
    let (form, approx) = (number.form, number.approx);
    Asked { values: Stated::Numbers(values.collect()), form, approx, binding }
}

/// A published number as it is printed.
fn printed(number: &PublishedNumber, binding: &bindings::Binding) -> String {
    let values = number.values().into_iter().enumerate();
    let values = values.map(|(i, x)| crate::digits::fixed(x, number.digits(i)));
    let values = values.collect::<Vec<_>>().join(number.form.joint());
    let bound = binding.bound.map_or_else(String::new, |side| format!("{} ", side.words()));
    let about = if number.approx { "about " } else { "" };
    format!("{bound}{about}{values}")
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
