//! A row of the ledger, and how many rows stand how.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::digits::{NotPrinted, Rounded};
use crate::table::{Cell, Col, Heading, Table};

use super::answers::{Basis, Uses};
use super::bindings::{Binding, Cause, StatedBasis};
use super::compare::Compared;
use super::predictive::{Against, Direction};
use super::written::{self, always, or_nothing};

/// The table of settings. How many there are in all is no number's matter.
pub(crate) const SETTINGS: &str = "settings";

/// How a published number stands.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub enum Status {
    /// Rests on simulated runs, and outside the interval of the draws; or on none, and another
    /// number.
    #[serde(rename = "differs")]
    Differs,
    /// Inside the interval of the draws, and that is narrow enough to say something.
    #[serde(rename = "consistent")]
    Consistent,
    /// Inside, but nearly anything would be; or there are too few draws.
    #[serde(rename = "uninformative")]
    Uninformative,
    /// Agrees, and ours could hardly have come out otherwise.
    #[serde(rename = "by construction")]
    ByConstruction,
    /// A model value, a setting or a measurement of the same runs, equal to the printed digits.
    #[serde(rename = "reproduced")]
    Reproduced,
    /// Only the cluster's data can answer.
    #[serde(rename = "needs nova")]
    NeedsNova,
    /// Nothing here computes it; the reason stands beside it.
    #[default]
    #[serde(rename = "not computed")]
    NotComputed,
}

impl Status {
    /// All of them, in the order of a page.
    pub const ALL: [Self; 7] = [
        Self::Differs,
        Self::Consistent,
        Self::Uninformative,
        Self::ByConstruction,
        Self::Reproduced,
        Self::NeedsNova,
        Self::NotComputed,
    ];

    /// The words of the ledger.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Differs => "differs",
            Self::Consistent => "consistent",
            Self::Uninformative => "uninformative",
            Self::ByConstruction => "by construction",
            Self::Reproduced => "reproduced",
            Self::NeedsNova => "needs nova",
            Self::NotComputed => "not computed",
        }
    }

    /// Whether something of ours was compared.
    pub(crate) const fn is_compared(self) -> bool {
        !matches!(self, Self::NeedsNova | Self::NotComputed)
    }
}

/// One value against the draws, as it is printed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Interval {
    /// Which value, where there are several: `low end`, `spread`, `value 2`; of a table's row
    /// with its field.
    pub what: String,
    /// What is published.
    #[serde(with = "always")]
    pub published: Rounded,
    /// The interval's lower end.
    #[serde(with = "always")]
    pub low: End,
    /// Its upper end.
    #[serde(with = "always")]
    pub high: End,
    /// The middle draw.
    #[serde(with = "always")]
    pub median: Rounded,
    /// How many draws lie below what is published; none where there are no draws.
    #[serde(with = "or_nothing")]
    pub rank: Option<Rounded>,
    /// The interval's width over the published value; none for one of 0.
    #[serde(with = "or_nothing")]
    pub width: Option<Rounded>,
    /// On which side ours lies; none inside.
    #[serde(with = "or_nothing")]
    pub outside: Option<Direction>,
}

/// An end of an interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum End {
    /// Here.
    At(Rounded),
    /// Nowhere: any value on this side is inside.
    Any,
}

/// How an end that is nowhere is printed.
const ANY: &str = "any";

impl fmt::Display for End {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::At(end) => end.fmt(to),
            Self::Any => to.write_str(ANY),
        }
    }
}

impl FromStr for End {
    type Err = NotPrinted;

    fn from_str(text: &str) -> Result<Self, NotPrinted> {
        if text == ANY { Ok(Self::Any) } else { text.parse().map(Self::At) }
    }
}

/// What makes a number differ.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StatedCause {
    /// Its kind.
    pub kind: Cause,
    /// In a sentence.
    pub because: String,
    /// What was computed that bears it out; empty where nothing can be.
    pub checked: String,
}

/// A row of the ledger.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The number's id, or the table's and the row's keys.
    pub id: String,
    /// The section of the paper whose page it is on.
    pub section: String,
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
    /// What ours rests on.
    #[serde(with = "written::bases")]
    pub basis: BTreeSet<Basis>,
    /// How it stands.
    pub status: Status,
    /// On which side ours lies, where it differs and that can be told.
    #[serde(with = "or_nothing")]
    pub direction: Option<Direction>,
    /// By how much the two are apart.
    pub gap: String,
    /// The same as a share of the larger of the two; none where they are not apart.
    #[serde(with = "or_nothing")]
    pub apart: Option<Rounded>,
    /// Value by value against the draws.
    pub intervals: Vec<Interval>,
    /// How likely it is to differ by chance; none where chance has no part.
    #[serde(with = "or_nothing")]
    pub by_chance: Option<Rounded>,
    /// What makes it differ; nothing where that is not known.
    pub cause: Option<StatedCause>,
    /// Why it is not computed, or what else is to be known.
    pub because: String,
    /// The query that answers it; empty for a table's row.
    pub query: String,
    /// The rows that were read: table, how many, of how many.
    pub read: Vec<(String, usize, usize)>,
    /// The files it is computed from: derived tables and settings.
    pub computed_from: Vec<PathBuf>,
}

impl Interval {
    /// With one digit more than what is published; counts with none.
    pub fn of(against: &Against, digits: usize) -> Self {
        let (low, high) = against.interval;
        let is_whole = digits == 0 && [low, high].iter().all(|x| x.fract() == 0.0);
        let more = if is_whole { 0 } else { digits + 1 };
        let end = |x: f64| if x.is_finite() { End::At(Rounded::new(x, more)) } else { End::Any };
        let rank = |rank: f64| Rounded::new(rank, usize::from(rank.fract() != 0.0));
        Self {
            what: against.what.clone(),
            published: Rounded::new(
                against.published,
                if against.what == "share" { 2 } else { digits },
            ),
            low: end(low),
            high: end(high),
            median: Rounded::new(against.median, more),
            rank: against.rank.map(rank),
            width: against.relative_width.map(|width| Rounded::new(width, 2)),
            outside: against.outside,
        }
    }
}

impl Entry {
    /// Takes in how it compares, what that rests on, and what its binding says.
    pub fn stand(&mut self, compared: &Compared, uses: Option<&Uses>, binding: &Binding) {
        self.ours.clone_from(&compared.ours);
        self.status = compared.status;
        self.direction = compared.direction;
        self.gap.clone_from(&compared.gap);
        self.apart = (compared.apart > 0.0).then(|| Rounded::new(compared.apart, 3));
        self.intervals.clone_from(&compared.intervals);
        self.by_chance = chance(compared.by_chance);
        self.because.clone_from(&compared.because);
        let Some(uses) = uses else { return };
        self.basis = basis(uses, binding);
        let read = uses.read.iter().filter(|read| read.table != SETTINGS);
        self.read = read.map(|read| (read.table.clone(), read.rows.len(), read.of)).collect();
        self.computed_from = uses.files.iter().cloned().collect();
    }
}

/// A probability as it is printed; none where chance has no part.
pub fn chance(by_chance: f64) -> Option<Rounded> {
    (by_chance > 0.0).then(|| Rounded::new(by_chance, 3))
}

/// What an answer rests on, with what its binding says.
pub fn basis(uses: &Uses, binding: &Binding) -> BTreeSet<Basis> {
    let mut basis = uses.basis.clone();
    if binding.basis == Some(StatedBasis::DefinitionInferred) {
        basis.remove(&Basis::Model);
        basis.insert(Basis::Inferred);
    }
    basis
}

/// How many entries of each kind have each status.
pub fn summary(entries: &[Entry]) -> Table {
    type OfKind<'a> = (&'a str, Vec<Status>);
    fn count((_, all): &OfKind<'_>, status: Status) -> u64 {
        all.iter().filter(|found| **found == status).count() as u64
    }
    let columns: &[Col<OfKind<'_>>] = &[
        Heading("kind", "", "Kind of entry: a number or a row of a table")
            .key(|(kind, _)| Cell::text(*kind)),
        Heading("all", "", "Entries that are published").count(|(_, all)| all.len() as u64),
        Heading("differs", "", "Entries that differ").count(|of| count(of, Status::Differs)),
        Heading("consistent", "", "Entries inside the draws' interval")
            .count(|of| count(of, Status::Consistent)),
        Heading("uninformative", "", "Entries inside an interval that says little")
            .count(|of| count(of, Status::Uninformative)),
        Heading("by_construction", "", "Entries that could hardly have come out otherwise")
            .count(|of| count(of, Status::ByConstruction)),
        Heading("reproduced", "", "Entries equal to the printed digits")
            .count(|of| count(of, Status::Reproduced)),
        Heading("needs_nova", "", "Entries that need the cluster's runs")
            .count(|of| count(of, Status::NeedsNova)),
        Heading("not_computed", "", "Entries that are not computed")
            .count(|of| count(of, Status::NotComputed)),
    ];
    let mut kinds: BTreeMap<&str, Vec<Status>> = BTreeMap::new();
    for entry in entries {
        for kind in [entry.kind.as_str(), "all"] {
            kinds.entry(kind).or_default().push(entry.status);
        }
    }
    let order = |kind: &str| (kind == "all", kind == "table", kind.to_owned());
    let mut kinds: Vec<_> = kinds.into_iter().collect();
    kinds.sort_by_key(|(kind, _)| order(kind));
    let title = "Published numbers and table rows, by kind and status";
    Table::of("numbers_summary", title, columns, kinds, |(kind, _)| ((*kind).into(), Vec::new()))
}
