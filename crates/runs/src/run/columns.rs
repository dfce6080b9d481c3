//! One table, read into typed columns by their names.
//!
//! Text tables (csv, plain or packed) and parquet come out the same. The schema
//! is given, never inferred: a value that does not fit it is a [`Problem`] with
//! file, line and column. Here is the text half; the parquet half, which needs a reader
//! of its own, fills [`Columns`] through what is public.

mod chosen;
mod digits;
mod mapped;
mod text;

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::path::{Path, PathBuf};

pub use chosen::{Chosen, Moments, Wide};
pub use mapped::{Mapped, Mapping, said};

use super::problem::Problem;
use super::source::Text;
use crate::escape::shortened;
use crate::limits;

/// Of a file with more problems than this the others are counted, not listed.
pub(crate) const MOST_PROBLEMS: usize = 1000;

/// Counts the problems of a file that are beyond what is listed: a row in millions may have
/// several.
#[inline]
pub fn bound(file: &Path, problems: &mut Vec<Problem>) {
    // One of them stands for all that were counted before.
    if problems.len() > 2 * MOST_PROBLEMS {
        counted(file, problems);
    }
}

fn counted(file: &Path, problems: &mut Vec<Problem>) {
    problems.sort();
    let more = problems.split_off(MOST_PROBLEMS);
    problems.push(Problem::more(file, Problem::count(&more)));
}

/// The problems of a run as they are listed: of each file `MOST_PROBLEMS`, and how many more.
pub fn listed(problems: Vec<Problem>) -> Vec<Problem> {
    if problems.len() <= MOST_PROBLEMS + 1 {
        return problems;
    }
    let mut files: BTreeMap<PathBuf, Vec<Problem>> = BTreeMap::new();
    problems.into_iter().for_each(|p| files.entry(p.file.clone()).or_default().push(p));
    for (file, of_file) in files.iter_mut().filter(|(_, list)| list.len() > MOST_PROBLEMS + 1) {
        counted(file, of_file);
    }
    files.into_values().flatten().collect()
}

/// Ends a message about a value that is not in the file as it is quoted.
pub(crate) const CONVERTED: &str = " after conversion by the layout";

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    /// Any text.
    Text,
    /// Text in which these words mean something: the beginning of one at the very end of a
    /// file is a word that was cut off.
    Word(&'static [&'static str]),
    /// A whole number, at least 0.
    Count,
    /// A finite number.
    Number,
}

/// What it means when a column or a value is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// Column and every value are needed.
    Needed,
    /// The column is needed; an empty value means unknown or not applicable.
    MayBeEmpty,
    /// An engine or client may not report it: the whole column may be lacking,
    /// which is noted.
    MayLack,
    /// Only some runs have such a thing: that the column lacks says nothing.
    OfSome,
}

/// One column of a schema.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    /// Its name in format 1.
    pub name: &'static str,
    /// What it holds.
    pub ty: Type,
    /// Whether it may lack.
    pub presence: Presence,
}

/// A table in memory.
#[derive(Debug)]
pub struct Columns {
    /// The file they were read from.
    pub file: PathBuf,
    /// Per row: its line in the file (its row number in parquet).
    pub lines: Vec<u64>,
    /// Columns the schema allows to lack, and which do.
    pub lacking: Vec<&'static str>,
    /// Worth knowing: rows left out because the file was cut off there, a last
    /// line without its newline.
    pub notes: Vec<Problem>,
    /// What was left out on request.
    pub left_out: Option<LeftOut>,
    /// How problems name the columns.
    pub labels: Labels,
    /// The values, in the order of the schema.
    pub data: Vec<(&'static str, Data)>,
}

/// What is left out of a file that was cut off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeftOut {
    /// Its last line.
    Line,
    /// The end of a packed stream: a line, or any number of them.
    Tail,
}

/// How problems name the columns of a file that names them otherwise.
pub type Labels = BTreeMap<&'static str, String>;

mod data;
pub use data::{Counts, Data, Numbers, Texts};

impl Columns {
    /// Reads a text table, whose columns have the schema's names or are mapped onto them.
    /// `file` is named in problems.
    ///
    /// # Errors
    /// Everything found wrong with it, in file order.
    pub fn read(
        file: &Path,
        text: &Text<'_>,
        schema: &[Field],
        mapping: Option<&Mapping<'_>>,
        drop_cut_off: bool,
    ) -> Result<Self, Vec<Problem>> {
        text::read(file, text, schema, mapping, drop_cut_off)
    }

    /// Leaves out the rows that are not to be kept; says how many.
    pub fn retain(&mut self, keep: &[bool]) -> usize {
        let before = self.lines.len();
        data::keep_of(&mut self.lines, keep);
        for (_, data) in &mut self.data {
            data.retain(keep);
        }
        before - self.lines.len()
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// Whether it has no row.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// The column `name`, which the schema declares as text.
    pub fn text(&self, name: &str) -> &Texts {
        match self.column(name) {
            Data::Text(texts) => texts,
            _ => unreachable!("{name} is declared as text"),
        }
    }

    /// The column `name`, which the schema declares as a count.
    pub fn count(&self, name: &str) -> &Counts {
        match self.column(name) {
            Data::Count(counts) => counts,
            _ => unreachable!("{name} is declared as a count"),
        }
    }

    /// The column `name`, which the schema declares as a number.
    pub fn number(&self, name: &str) -> &Numbers {
        match self.column(name) {
            Data::Number(numbers) => numbers,
            _ => unreachable!("{name} is declared as a number"),
        }
    }

    fn column(&self, name: &str) -> &Data {
        let found = self.data.iter().find(|(n, _)| *n == name);
        &found.unwrap_or_else(|| unreachable!("{name} is in the schema")).1
    }

    /// Counts the problems of this file that are beyond what is listed.
    #[inline]
    pub fn bound(&self, problems: &mut Vec<Problem>) {
        bound(&self.file, problems);
    }

    /// An error at row `i` of this table.
    pub fn problem(&self, i: usize, column: &str, message: impl Into<String>) -> Problem {
        Problem::at(&self.file, self.lines[i], label(&self.labels, column), message)
    }
}

/// How problems name a column.
pub fn label<'a>(labels: &'a Labels, column: &'a str) -> &'a str {
    labels.get(column).map_or(column, String::as_str)
}

fn quoted(value: &[u8]) -> String {
    format!("\u{201c}{}\u{201d}", shortened(&String::from_utf8_lossy(value), 40))
}

/// A finite number.
///
/// # Errors
/// What was expected and what was found.
#[inline]
pub(crate) fn parse_number(value: &[u8]) -> Result<f64, String> {
    number_at(value, 0..value.len())
}

/// The same of the field at this place of a text.
#[inline]
pub(crate) fn number_at(text: &[u8], at: Range<usize>) -> Result<f64, String> {
    digits::decimal(text, at.clone()).map_or_else(|| any_number(&text[at]), Ok)
}

#[cold]
fn any_number(value: &[u8]) -> Result<f64, String> {
    match fast_float2::parse::<f64, _>(value) {
        Ok(x) if x.is_finite() => Ok(x),
        Ok(_) => Err(format!(
            "expected a finite number, found {}; leave the field empty where it is unknown",
            quoted(value)
        )),
        Err(_) => Err(format!("expected a number, found {}", quoted(value))),
    }
}

/// A whole number, at least 0.
///
/// # Errors
/// What was expected and what was found.
#[inline]
pub(crate) fn parse_count(value: &[u8]) -> Result<u64, String> {
    count_at(value, 0..value.len())
}

/// The same of the field at this place of a text.
#[inline]
fn count_at(text: &[u8], at: Range<usize>) -> Result<u64, String> {
    let plain = digits::whole(text, at.clone()).filter(|count| *count <= limits::COUNT);
    plain.map_or_else(|| any_count(&text[at]), Ok)
}

#[cold]
fn any_count(value: &[u8]) -> Result<u64, String> {
    let wrong = || format!("expected a whole number, 0 or more, found {}", quoted(value));
    let too_large = || format!("expected at most {}, found {}", limits::COUNT, quoted(value));
    if let Some(count) = std::str::from_utf8(value).ok().and_then(|text| text.parse().ok()) {
        return if count <= limits::COUNT { Ok(count) } else { Err(too_large()) };
    }
    // Data frames with unknown values write whole numbers as 192.0.
    count_from_float(parse_number(value).map_err(|_| wrong())?).ok_or_else(wrong)
}

/// Whole, not negative, and small enough to be exact.
pub fn count_from_float(x: f64) -> Option<u64> {
    (x >= 0.0 && x.fract() == 0.0 && x <= limits::COUNT as f64).then_some(x as u64)
}

/// Where a field's values are.
#[derive(Debug)]
pub enum Place {
    /// Nowhere: unknown in every row.
    Lacking,
    /// In the column at this place.
    At(usize),
    /// Where a layout says.
    By(Box<Mapped>),
}

/// Per field of the schema, its place in the file; and the fields that lack.
pub(crate) type Located = (Vec<Place>, Vec<&'static str>);

/// Which of the file's columns answers each field, and which fields lack.
///
/// # Errors
/// A column that is missing or there twice.
pub fn locate(file: &Path, names: &[String], schema: &[Field]) -> Result<Located, Vec<Problem>> {
    let mut problems = Vec::new();
    let mut there: HashMap<&str, usize> = HashMap::with_capacity(names.len());
    for (i, name) in names.iter().enumerate() {
        if *there.entry(name).or_insert(i) != i && schema.iter().any(|f| f.name == name) {
            problems.push(Problem::at(file, 1, name, "this column is there twice"));
        }
    }
    let mut places = Vec::new();
    let mut lacking = Vec::new();
    for field in schema {
        let place = there.get(field.name).copied();
        match (place, field.presence) {
            (None, Presence::Needed | Presence::MayBeEmpty) => {
                problems.push(missing(file, field.name, names));
            }
            (None, Presence::MayLack) => lacking.push(field.name),
            _ => {}
        }
        places.push(place.map_or(Place::Lacking, Place::At));
    }
    if problems.is_empty() { Ok((places, lacking)) } else { Err(problems) }
}

fn missing(file: &Path, column: &str, names: &[String]) -> Problem {
    let there = shortened(&names.join(", "), 400);
    Problem::at(file, 1, column, format!("this column is missing; the file has: {there}"))
}
