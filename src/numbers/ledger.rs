//! The ledger: every published number and every row of the published tables, with what
//! answers it here and how close that comes.
//!
//! A published value is only compared with. What is computed for it is bound by data
//! (`analysis/numbers.yaml`, `analysis/numbers/tables.yaml`); how close is close enough is
//! data as well. A status follows from these, it is never set.

pub mod bindings;
pub mod catalogue;
pub mod compare;
pub mod evaluate;
pub mod pattern;
pub mod predictive;
pub mod quantity;
pub mod tables;
pub mod tolerance;

pub use crate::published;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::analysis::output_names::OutputNames;
use crate::analysis::outputs::{DERIVED, OutputFile, table_files};
use crate::setup::ConfigError;
use crate::table::Table;

use bindings::{NumberBindings, TableBindings};
use catalogue::Catalogue;
use compare::{Compared, compare};
use evaluate::{Found, Lack, settings_named};
use published::{PublishedNumber, PublishedTable};
use tolerance::Tolerances;

pub use crate::analysis::outputs::NUMBERS;
/// Where the bindings of the tables lie.
pub const TABLES: &str = "analysis/numbers/tables.yaml";
/// Where the tolerances lie.
pub const TOLERANCES: &str = "analysis/numbers/tolerances.yaml";
/// Where the numbers that the paper states in prose lie.
pub const PUBLISHED_NUMBERS: &str = "paper/published/numbers.yaml";
const PUBLISHED_TABLES: &str = "paper/published/tables.yaml";

/// How a published number stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Status {
    /// A model value or a setting, equal to the printed digits.
    #[serde(rename = "reproduced")]
    Reproduced,
    /// Recomputed on runs, inside the tolerance.
    #[serde(rename = "replicated")]
    Replicated,
    /// Recomputed, and not inside it.
    #[serde(rename = "differs")]
    Differs,
    /// Only the cluster's data can answer.
    #[serde(rename = "needs nova")]
    NeedsNova,
    /// Nothing here computes it; the reason stands beside it.
    #[serde(rename = "not computed")]
    NotComputed,
}

impl Status {
    /// All of them, in the order of a summary.
    pub const ALL: [Self; 5] =
        [Self::Reproduced, Self::Replicated, Self::Differs, Self::NeedsNova, Self::NotComputed];

    /// The words of the ledger.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Reproduced => "reproduced",
            Self::Replicated => "replicated",
            Self::Differs => "differs",
            Self::NeedsNova => "needs nova",
            Self::NotComputed => "not computed",
        }
    }
}

/// A row of the ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The number's id, or the table's and the row's keys.
    pub id: String,
    /// Where it stands in the paper.
    pub place: String,
    /// What it says.
    pub statement: String,
    /// model, measured, simulated, registered, count, posthoc; `table` for a table's row.
    pub kind: String,
    /// Its unit.
    pub unit: String,
    /// As published.
    pub published: String,
    /// As computed here, to the same digits; empty where it is not.
    pub ours: String,
    /// Whose runs ours rests on: engine, simulator, both; `model` or `settings` without runs.
    pub from: String,
    /// How it stands.
    pub status: Status,
    /// By how much the two are apart.
    pub gap: String,
    /// Why it is not computed, or what was allowed.
    pub because: String,
    /// What it is computed from: derived tables and settings.
    pub computed_from: Vec<PathBuf>,
}

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
    number_bindings: NumberBindings,
    table_bindings: TableBindings,
    tolerances: Tolerances,
    settings: BTreeMap<String, serde_yaml::Value>,
}

impl Books {
    /// Whether the project has bindings at all.
    pub fn are_there() -> bool {
        Path::new(NUMBERS).is_file()
    }

    /// The files the ledger depends on beside the derived tables and the settings.
    pub const FILES: [&'static str; 5] =
        [NUMBERS, TABLES, TOLERANCES, PUBLISHED_NUMBERS, PUBLISHED_TABLES];

    /// Reads published values, bindings, tolerances and the settings that are named.
    ///
    /// # Errors
    /// A file that cannot be used; a number without a binding, a binding without a number.
    pub fn load() -> Result<Self, ConfigError> {
        let numbers = published::numbers(Path::new(PUBLISHED_NUMBERS))?;
        let tables = published::tables(Path::new(PUBLISHED_TABLES))?;
        let number_bindings = NumberBindings::load(Path::new(NUMBERS), &numbers)?;
        let table_bindings = TableBindings::load(Path::new(TABLES), &tables)?;
        let tolerances = Tolerances::load(Path::new(TOLERANCES))?;
        let mut named = settings_named(number_bindings.quantities.values());
        named.extend(table_bindings.settings().into_iter().map(PathBuf::from));
        let mut settings = BTreeMap::new();
        for file in named {
            // A file that is not there is a broken binding, said with the number it breaks.
            if file.is_file() {
                settings.insert(file.display().to_string(), crate::configs::yaml(&file)?);
            }
        }
        Ok(Self { numbers, tables, number_bindings, table_bindings, tolerances, settings })
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
    pub fn ledger(
        &self,
        tables: impl IntoIterator<Item = Table>,
        names: BTreeMap<String, String>,
    ) -> Ledger {
        let mut catalogue = Catalogue::new(tables);
        catalogue.add_names(names);
        for (path, content) in &self.settings {
            catalogue.add_settings(path, content.clone());
        }
        catalogue.add_numbers(self.number_bindings.quantities.clone());
        let mut ledger = Ledger { entries: Vec::new(), tables: Vec::new(), broken: Vec::new() };
        for number in &self.numbers {
            let quantity = &self.number_bindings.quantities[&number.id];
            let found = catalogue.evaluate(quantity);
            if let Err(Lack::Broken(why)) = &found {
                ledger.broken.push(format!("{}: {why}", number.id));
            }
            ledger.entries.push(entry(number, &found, &self.tolerances));
        }
        for table in &self.tables {
            let bound = self.table_bindings.of(&table.id);
            let compared = tables::compared(table, bound, &catalogue, &self.tolerances);
            ledger.entries.extend(compared.entries);
            ledger.broken.extend(compared.broken);
            ledger.tables.extend(compared.table);
        }
        ledger
    }
}

fn entry(number: &PublishedNumber, found: &Result<Found, Lack>, tolerances: &Tolerances) -> Entry {
    let digits = number.digits();
    let asked = compare::Asked {
        values: number.values(),
        form: number.form,
        kind: number.kind,
        unit: &number.unit,
        digits,
        approx: number.approx,
    };
    let Compared { ours, status, gap, because } = compare(&asked, found, tolerances);
    let published: Vec<String> =
        asked.values.iter().map(|x| crate::digits::fixed(*x, digits)).collect();
    let about = if number.approx { "about " } else { "" };
    let statement = match &number.cell {
        Some(cell) => format!("{} ({cell})", number.statement),
        None => number.statement.clone(),
    };
    Entry {
        id: number.id.clone(),
        place: number.places.join(", "),
        statement,
        kind: number.kind.word().into(),
        unit: number.unit.clone(),
        published: format!("{about}{}", published.join(number.form.joint())),
        ours,
        from: from_words(found),
        status,
        gap,
        because,
        computed_from: computed_from(found),
    }
}

/// What a quantity rests on: whose runs, models, settings.
pub fn from_words(found: &Result<Found, Lack>) -> String {
    in_words(&rests_on(found))
}

/// The same, a word each.
pub fn rests_on(found: &Result<Found, Lack>) -> BTreeSet<String> {
    let uses = match found {
        Ok(found) => &found.uses,
        Err(Lack::Nothing { whose, .. }) => return [whose.clone()].into(),
        Err(_) => return BTreeSet::new(),
    };
    let mut words = uses.origins.clone();
    let of_model = |(table, _): &(String, String)| table.starts_with("model_");
    if !uses.models.is_empty() || uses.rows.iter().any(of_model) {
        words.insert("model".into());
    }
    if !uses.settings.is_empty() {
        words.insert("settings".into());
    }
    if words.is_empty() && !uses.rows.is_empty() {
        words.insert("model".into());
    }
    words
}

/// Runs first, then models, then settings.
pub fn in_words(words: &BTreeSet<String>) -> String {
    let last = |word: &&String| ["model", "settings"].contains(&word.as_str());
    let runs = words.iter().filter(|word| !last(word));
    let ordered: Vec<&str> = runs.chain(words.iter().filter(last)).map(String::as_str).collect();
    ordered.join(" and ")
}

/// The files a quantity is computed from: derived tables, model values, settings.
pub fn computed_from(found: &Result<Found, Lack>) -> Vec<PathBuf> {
    let Ok(found) = found else { return Vec::new() };
    let derived = |name: &str| Path::new("paper/derived").join(format!("{name}.csv"));
    let mut files: Vec<PathBuf> = found.uses.rows.iter().map(|(table, _)| derived(table)).collect();
    if !found.uses.models.is_empty() {
        files.push(derived("model_values"));
    }
    let of_files = found.uses.settings.iter().filter(|(_, path)| !path.is_empty());
    files.extend(of_files.map(|(file, _)| PathBuf::from(file)));
    files.sort();
    files.dedup();
    files
}

impl Ledger {
    /// The published tables beside ours, as files.
    pub fn files(&self) -> Vec<OutputFile> {
        self.tables.iter().flat_map(table_files).collect()
    }

    /// How many entries of each kind have each status.
    pub fn summary(&self) -> Table {
        use crate::table::{Cell, Col, Heading};
        type OfKind<'a> = (&'a str, Vec<Status>);
        fn count((_, all): &OfKind<'_>, status: Status) -> u64 {
            all.iter().filter(|found| **found == status).count() as u64
        }
        let columns: &[Col<OfKind<'_>>] = &[
            Heading("kind", "", "Kind of entry: a number or a row of a table")
                .key(|(kind, _)| Cell::text(*kind)),
            Heading("published", "", "Entries that are published")
                .count(|(_, all)| all.len() as u64),
            Heading("reproduced", "", "Entries reproduced")
                .count(|of| count(of, Status::Reproduced)),
            Heading("replicated", "", "Entries replicated")
                .count(|of| count(of, Status::Replicated)),
            Heading("differs", "", "Entries that differ").count(|of| count(of, Status::Differs)),
            Heading("needs_nova", "", "Entries that need the cluster's runs")
                .count(|of| count(of, Status::NeedsNova)),
            Heading("not_computed", "", "Entries that are not computed")
                .count(|of| count(of, Status::NotComputed)),
        ];
        let mut kinds: BTreeMap<&str, Vec<Status>> = BTreeMap::new();
        for entry in &self.entries {
            for kind in [entry.kind.as_str(), "all"] {
                kinds.entry(kind).or_default().push(entry.status);
            }
        }
        let order = |kind: &str| (kind == "all", kind == "table", kind.to_owned());
        let mut kinds: Vec<_> = kinds.into_iter().collect();
        kinds.sort_by_key(|(kind, _)| order(kind));
        let title = "Published numbers and table rows, by kind and status";
        Table::of("numbers_summary", title, columns, kinds, |(kind, _)| {
            ((*kind).into(), Vec::new())
        })
    }
}
