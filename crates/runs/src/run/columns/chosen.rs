//! Which rows of a file are a table's, where it holds others too; and the rows of one moment
//! put together, where each of them is one metric.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::super::answer;
use super::super::problem::Problem;
use super::{Mapping, missing};
use crate::escape::shortened;

/// The rows that a layout takes of a file.
#[derive(Debug, Default)]
pub struct Chosen {
    /// The places of columns, and the words that a row must have there.
    only: Vec<(usize, Vec<String>)>,
    /// Of a file with a row per metric and moment.
    pub long: Option<Moments>,
}

/// Rows of one metric each, put together by their time.
#[derive(Debug)]
pub struct Moments {
    file: PathBuf,
    /// What tells the time, with its places.
    times: Vec<(String, usize)>,
    name: (String, usize),
    value: usize,
    /// The metrics that are asked for.
    wanted: BTreeSet<String>,
    /// By the texts of the time: the first line, and the metrics.
    rows: BTreeMap<Vec<String>, (u64, Metrics)>,
}

/// Each metric's line and value.
type Metrics = BTreeMap<String, (u64, String)>;

/// A table with a row per moment: the names of its columns; each row's line and fields.
pub type Wide = (Vec<String>, Vec<(u64, Vec<String>)>);

impl Chosen {
    /// Finds the columns that choose among a file's rows.
    ///
    /// # Errors
    /// One that is missing.
    pub fn locate(
        file: &Path,
        names: &[String],
        mapping: &Mapping<'_>,
    ) -> Result<Self, Vec<Problem>> {
        let place = |name: &str| {
            let found = names.iter().position(|there| there == name);
            found.ok_or_else(|| vec![missing(file, name, names)])
        };
        let words =
            |words: &[crate::setup::layout::Scalar]| words.iter().map(|w| w.0.clone()).collect();
        let only = mapping.only.iter().map(|(name, any)| Ok((place(name)?, words(any.all()))));
        let only = only.collect::<Result<_, Vec<Problem>>>()?;
        let Some(long) = mapping.long else { return Ok(Self { only, long: None }) };
        let inputs = |column: &str| mapping.rules.get(column).map_or_else(Vec::new, answer::inputs);
        let times = inputs("t").into_iter().map(|name| Ok((name.to_owned(), place(name)?)));
        let metrics = mapping.rules.iter().filter(|(column, _)| *column != "t");
        let wanted = metrics.flat_map(|(_, rule)| answer::inputs(rule)).map(str::to_owned);
        let long = Moments {
            file: file.into(),
            times: times.collect::<Result<_, Vec<Problem>>>()?,
            name: (long.name.clone(), place(&long.name)?),
            value: place(&long.value)?,
            wanted: wanted.collect(),
            rows: BTreeMap::new(),
        };
        Ok(Self { only, long: Some(long) })
    }

    /// Whether a row is one of the table's.
    #[inline]
    pub fn takes<'v>(&self, field: impl Fn(usize) -> &'v [u8]) -> bool {
        self.only.iter().all(|(at, words)| words.iter().any(|word| word.as_bytes() == field(*at)))
    }

    /// The places that it reads.
    pub fn places(&self) -> impl Iterator<Item = usize> + '_ {
        let of_long = |long: &Moments| {
            let times = long.times.iter().map(|(_, at)| *at);
            times.chain([long.name.1, long.value]).collect::<Vec<_>>()
        };
        let of_long = self.long.as_ref().map_or_else(Vec::new, of_long);
        self.only.iter().map(|(at, _)| *at).chain(of_long)
    }
}

impl Moments {
    /// Takes a row; other metrics than those that are asked for are none of the table's.
    ///
    /// # Errors
    /// A metric that is there twice at one time, and what is not UTF-8.
    pub fn take<'v>(
        &mut self,
        line: u64,
        field: impl Fn(usize) -> &'v [u8],
    ) -> Result<(), Problem> {
        let text = |name: &str, at: usize| {
            let text = std::str::from_utf8(field(at));
            text.map_err(|_| Problem::at(&self.file, line, name, "expected UTF-8 text"))
        };
        let metric = text(&self.name.0, self.name.1)?;
        if !self.wanted.contains(metric) {
            return Ok(());
        }
        let value = text(metric, self.value)?.to_owned();
        let times = self.times.iter().map(|(name, at)| text(name, *at).map(str::to_owned));
        let times: Vec<String> = times.collect::<Result<_, _>>()?;
        let (_, metrics) =
            self.rows.entry(times.clone()).or_insert_with(|| (line, BTreeMap::new()));
        if let Some((first, _)) = metrics.insert(metric.to_owned(), (line, value)) {
            let message = format!(
                "{} is there twice at {}, on line {first} too: say with only whose rows are meant",
                shortened(metric, 60),
                shortened(&times.join(" "), 40),
            );
            return Err(Problem::at(&self.file, line, &self.name.0, message));
        }
        Ok(())
    }

    /// The table that they make.
    pub fn wide(self) -> Wide {
        let there: BTreeSet<&String> =
            self.rows.values().flat_map(|(_, metrics)| metrics.keys()).collect();
        let row = |(times, (line, metrics)): (&Vec<String>, &(u64, Metrics))| {
            let value = |name: &&String| metrics.get(*name).map_or(String::new(), |m| m.1.clone());
            (*line, times.iter().cloned().chain(there.iter().map(value)).collect())
        };
        let rows = self.rows.iter().map(row).collect();
        let times = self.times.iter().map(|(name, _)| name.clone());
        (times.chain(there.iter().map(|name| (*name).clone())).collect(), rows)
    }
}
