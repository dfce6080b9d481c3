//! One table, read into typed columns by their names.
//!
//! Text tables (csv, plain or packed) and parquet come out the same. The schema
//! is given, never inferred: a value that does not fit it is a [`Problem`] with
//! file, line and column. This is the only module that names polars when reading.

use std::cell::Cell;
use std::io::{self, Cursor, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use csv::ByteRecord;
use polars::prelude::{
    Column as PolarsColumn, DataType, ParallelStrategy, ParquetReader, SerReader,
};

use super::problem::Problem;
use super::source::{Bytes, Packing};

/// A file with more problems than this is not read further.
const MOST_PROBLEMS: usize = 1000;

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    /// Any text.
    Text,
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
}

/// One column of a schema.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    pub name: &'static str,
    pub ty: Type,
    pub presence: Presence,
}

/// A table in memory.
#[derive(Debug)]
pub struct Columns {
    pub file: PathBuf,
    /// Per row: its line in the file (its row number in parquet).
    pub lines: Vec<u64>,
    /// Columns the schema allows to lack, and which do.
    pub lacking: Vec<&'static str>,
    /// Rows that were left out because the file was cut off there.
    pub dropped: Vec<Problem>,
    data: Vec<(&'static str, Data)>,
}

#[derive(Debug)]
enum Data {
    Text(Texts),
    Count(Vec<Option<u64>>),
    Number(Vec<Option<f64>>),
}

/// A column of texts in one allocation.
#[derive(Debug, Default)]
pub struct Texts {
    bytes: String,
    ends: Vec<usize>,
}

impl Texts {
    fn push(&mut self, text: &str) {
        self.bytes.push_str(text);
        self.ends.push(self.bytes.len());
    }

    /// The text of row `i`.
    pub fn get(&self, i: usize) -> &str {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        &self.bytes[start..self.ends[i]]
    }
}

impl Columns {
    /// Reads a table.
    ///
    /// # Errors
    /// Everything found wrong with it, in file order.
    pub fn read(bytes: &Bytes, schema: &[Field], drop_cut_off: bool) -> Result<Self, Vec<Problem>> {
        match bytes.packing() {
            Packing::Parquet => read_parquet(bytes, schema),
            _ => TextTable::new(bytes, schema, drop_cut_off)?.read(),
        }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// The column `name`, which the schema declares as text.
    pub fn text(&self, name: &str) -> &Texts {
        match self.column(name) {
            Data::Text(texts) => texts,
            _ => unreachable!("{name} is declared as text"),
        }
    }

    /// The column `name`, which the schema declares as a count.
    pub fn count(&self, name: &str) -> &[Option<u64>] {
        match self.column(name) {
            Data::Count(counts) => counts,
            _ => unreachable!("{name} is declared as a count"),
        }
    }

    /// The column `name`, which the schema declares as a number.
    pub fn number(&self, name: &str) -> &[Option<f64>] {
        match self.column(name) {
            Data::Number(numbers) => numbers,
            _ => unreachable!("{name} is declared as a number"),
        }
    }

    fn column(&self, name: &str) -> &Data {
        let found = self.data.iter().find(|(n, _)| *n == name);
        &found.unwrap_or_else(|| unreachable!("{name} is in the schema")).1
    }

    /// An error at row `i` of this table.
    pub fn problem(&self, i: usize, column: &str, message: impl Into<String>) -> Problem {
        Problem::at(&self.file, self.lines[i], column, message)
    }
}

impl Data {
    fn new(ty: Type) -> Self {
        match ty {
            Type::Text => Self::Text(Texts::default()),
            Type::Count => Self::Count(Vec::new()),
            Type::Number => Self::Number(Vec::new()),
        }
    }

    /// Appends a value given as text. `None` is an empty field.
    fn push(&mut self, value: Option<&[u8]>) -> Result<(), String> {
        match self {
            Self::Text(texts) => {
                let text = std::str::from_utf8(value.unwrap_or_default())
                    .map_err(|_| "expected UTF-8 text".to_owned())?;
                texts.push(text);
            }
            Self::Count(counts) => counts.push(value.map(parse_count).transpose()?),
            Self::Number(numbers) => numbers.push(value.map(parse_number).transpose()?),
        }
        Ok(())
    }

    fn truncate(&mut self, rows: usize) {
        match self {
            Self::Text(texts) => {
                texts.ends.truncate(rows);
                texts.bytes.truncate(texts.ends.last().copied().unwrap_or(0));
            }
            Self::Count(counts) => counts.truncate(rows),
            Self::Number(numbers) => numbers.truncate(rows),
        }
    }
}

fn quoted(value: &[u8]) -> String {
    let text = String::from_utf8_lossy(value);
    match text.char_indices().nth(40) {
        Some((cut, _)) => format!("\u{201c}{}…\u{201d}", &text[..cut]),
        None => format!("\u{201c}{text}\u{201d}"),
    }
}

fn parse_number(value: &[u8]) -> Result<f64, String> {
    match fast_float2::parse::<f64, _>(value) {
        Ok(x) if x.is_finite() => Ok(x),
        Ok(_) => Err(format!(
            "expected a finite number, found {}; leave the field empty where it is unknown",
            quoted(value)
        )),
        Err(_) => Err(format!("expected a number, found {}", quoted(value))),
    }
}

fn parse_count(value: &[u8]) -> Result<u64, String> {
    let wrong = || format!("expected a whole number, 0 or more, found {}", quoted(value));
    if let Some(count) = std::str::from_utf8(value).ok().and_then(|text| text.parse().ok()) {
        return Ok(count);
    }
    // Data frames with unknown values write whole numbers as 192.0.
    count_from_float(parse_number(value).map_err(|_| wrong())?).ok_or_else(wrong)
}

/// Whole, not negative, and small enough to be exact.
fn count_from_float(x: f64) -> Option<u64> {
    (x >= 0.0 && x.fract() == 0.0 && x <= 9.0e15).then_some(x as u64)
}

/// Per field the file's column that answers it, and the fields that lack.
type Places = (Vec<Option<usize>>, Vec<&'static str>);

/// Finds each field's column by name.
fn locate(file: &Path, names: &[String], schema: &[Field]) -> Result<Places, Vec<Problem>> {
    let mut problems = Vec::new();
    for (i, name) in names.iter().enumerate() {
        if names[..i].contains(name) && schema.iter().any(|f| f.name == name) {
            problems.push(Problem::at(file, 1, name, "this column is there twice"));
        }
    }
    let places: Vec<_> =
        schema.iter().map(|f| names.iter().position(|name| name == f.name)).collect();
    let mut lacking = Vec::new();
    for (field, place) in schema.iter().zip(&places) {
        match (place, field.presence) {
            (None, Presence::Needed | Presence::MayBeEmpty) => {
                let there = names.join(", ");
                problems.push(Problem::at(
                    file,
                    1,
                    field.name,
                    format!("this column is missing; the file has: {there}"),
                ));
            }
            (None, Presence::MayLack) => lacking.push(field.name),
            _ => {}
        }
    }
    if problems.is_empty() { Ok((places, lacking)) } else { Err(problems) }
}

/// Remembers the last byte that went through, to know whether the text ended
/// with a newline.
struct LastByte<'a> {
    inner: Box<dyn Read + 'a>,
    last: Rc<Cell<u8>>,
}

impl Read for LastByte<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buffer)?;
        if n > 0 {
            self.last.set(buffer[n - 1]);
        }
        Ok(n)
    }
}

struct TextTable<'a> {
    reader: csv::Reader<LastByte<'a>>,
    last_byte: Rc<Cell<u8>>,
    schema: &'a [Field],
    width: usize,
    places: Vec<Option<usize>>,
    drop_cut_off: bool,
    columns: Columns,
}

/// How reading one record went.
enum Step {
    Row(ByteRecord),
    End,
    /// The stream broke (a cut gzip or zstd file).
    Broken(String),
}

impl<'a> TextTable<'a> {
    fn new(
        bytes: &'a Bytes,
        schema: &'a [Field],
        drop_cut_off: bool,
    ) -> Result<Self, Vec<Problem>> {
        let last_byte = Rc::new(Cell::new(b'\n'));
        let stream = bytes.text().map_err(|p| vec![p])?;
        let mut table = Self {
            // Only \n ends a line: other separators occur inside values.
            reader: csv::ReaderBuilder::new()
                .has_headers(false)
                .flexible(true)
                .terminator(csv::Terminator::Any(b'\n'))
                .from_reader(LastByte { inner: stream, last: last_byte.clone() }),
            last_byte,
            schema,
            width: 0,
            places: Vec::new(),
            drop_cut_off,
            columns: Columns {
                file: bytes.path.clone(),
                lines: Vec::new(),
                lacking: Vec::new(),
                dropped: Vec::new(),
                data: schema.iter().map(|f| (f.name, Data::new(f.ty))).collect(),
            },
        };
        let header = match table.next() {
            Step::Row(record) => record,
            Step::End => return Err(vec![Problem::new(&bytes.path, "empty; expected a header")]),
            Step::Broken(why) => return Err(vec![Problem::new(&bytes.path, why)]),
        };
        let names: Vec<String> =
            header.iter().map(|n| String::from_utf8_lossy(n).trim().to_owned()).collect();
        table.width = names.len();
        (table.places, table.columns.lacking) = locate(&bytes.path, &names, schema)?;
        Ok(table)
    }

    /// The next record that is not a blank line, without a carriage return.
    fn next(&mut self) -> Step {
        let mut record = ByteRecord::new();
        loop {
            match self.reader.read_byte_record(&mut record) {
                Ok(false) => return Step::End,
                Ok(true) if record.len() == 1 && matches!(&record[0], b"" | b"\r") => {}
                Ok(true) => return Step::Row(without_carriage_return(record)),
                Err(e) => return Step::Broken(format!("cut off or damaged: {e}")),
            }
        }
    }

    fn read(mut self) -> Result<Columns, Vec<Problem>> {
        let mut problems = Vec::new();
        // One record is held back, because only the last may be cut off.
        let mut held: Option<ByteRecord> = None;
        let broken = loop {
            match self.next() {
                Step::Row(record) => {
                    if let Some(record) = held.replace(record) {
                        problems.extend(self.row(&record));
                    }
                    if problems.len() > MOST_PROBLEMS {
                        let file = &self.columns.file;
                        problems.push(Problem::new(file, "not read further: too many problems"));
                        return Err(problems);
                    }
                }
                Step::End => break None,
                Step::Broken(why) => break Some(why),
            }
        };
        let at_fault = held.map_or_else(Vec::new, |record| self.last_row(&record));
        problems.extend(at_fault);
        if let Some(why) = broken {
            let line = self.reader.position().line();
            self.cut_off(Problem::at_line(&self.columns.file, line, why), &mut problems);
        }
        if problems.is_empty() { Ok(self.columns) } else { Err(problems) }
    }

    /// Appends a row, or says what is wrong with it and appends nothing.
    fn row(&mut self, record: &ByteRecord) -> Vec<Problem> {
        let file = self.columns.file.clone();
        let line = record.position().map_or(0, csv::Position::line);
        if record.len() != self.width {
            let message = format!("expected {} fields, found {}", self.width, record.len());
            return vec![Problem::at_line(&file, line, message)];
        }
        let mut problems = Vec::new();
        for ((field, place), (name, data)) in
            self.schema.iter().zip(&self.places).zip(&mut self.columns.data)
        {
            let value = place.map(|at| &record[at]).filter(|v| !v.is_empty());
            if value.is_none() && field.presence == Presence::Needed {
                problems.push(Problem::at(&file, line, name, "expected a value, found none"));
            }
            if let Err(message) = data.push(value) {
                problems.push(Problem::at(&file, line, name, message));
            }
        }
        if problems.is_empty() {
            self.columns.lines.push(line);
        } else {
            let rows = self.columns.lines.len();
            self.columns.data.iter_mut().for_each(|(_, data)| data.truncate(rows));
        }
        problems
    }

    /// The last row: a row like any other when it is complete, with or without
    /// a newline; cut off when fields are missing or it ends inside one.
    fn last_row(&mut self, record: &ByteRecord) -> Vec<Problem> {
        let problems = self.row(record);
        let ends_with_newline = self.last_byte.get() == b'\n';
        let cut = record.len() < self.width || (!problems.is_empty() && !ends_with_newline);
        if !cut {
            return problems;
        }
        let line = record.position().map_or(0, csv::Position::line);
        let message = format!(
            "the last line is cut off: {} of {} fields; --drop-cut-off leaves it out",
            record.len(),
            self.width
        );
        let mut left = Vec::new();
        self.cut_off(Problem::at_line(&self.columns.file, line, message), &mut left);
        left
    }

    fn cut_off(&mut self, problem: Problem, problems: &mut Vec<Problem>) {
        if self.drop_cut_off {
            let message = format!("left out, as asked: {}", problem.message);
            self.columns.dropped.push(Problem { message, ..problem }.as_note());
        } else {
            problems.push(problem);
        }
    }
}

fn without_carriage_return(record: ByteRecord) -> ByteRecord {
    let Some(last) = record.len().checked_sub(1) else { return record };
    if !record[last].ends_with(b"\r") {
        return record;
    }
    let mut stripped = ByteRecord::with_capacity(record.as_slice().len(), record.len());
    for (i, field) in record.iter().enumerate() {
        stripped.push_field(if i == last { &field[..field.len() - 1] } else { field });
    }
    stripped.set_position(record.position().cloned());
    stripped
}

fn read_parquet(bytes: &Bytes, schema: &[Field]) -> Result<Columns, Vec<Problem>> {
    let one = |message: String| vec![Problem::new(&bytes.path, message)];
    // A damaged file must not take the batch down with it, whatever it does to the reader.
    let frame = catch_unwind(AssertUnwindSafe(|| {
        // On this thread: one that waits for polars' own threads takes up the next run
        // meanwhile, run within run, until the stack overflows.
        ParquetReader::new(Cursor::new(bytes.raw.as_slice()))
            .read_parallel(ParallelStrategy::None)
            .finish()
    }))
    .map_err(|_| one("damaged: the parquet reader failed on it".into()))?
    .map_err(|e| one(format!("not readable as parquet: {e}")))?;
    let names: Vec<String> = frame.get_column_names().iter().map(|n| n.to_string()).collect();
    let (places, lacking) = locate(&bytes.path, &names, schema)?;
    let rows = frame.height();
    let mut problems = Vec::new();
    let mut data = Vec::new();
    for (field, place) in schema.iter().zip(&places) {
        let column = place.map(|at| &frame.columns()[at]);
        match parquet_column(&bytes.path, field, column, rows, &mut problems) {
            Ok(values) => data.push((field.name, values)),
            Err(problem) => problems.push(problem),
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    Ok(Columns {
        file: bytes.path.clone(),
        lines: (1..=rows as u64).collect(),
        lacking,
        dropped: Vec::new(),
        data,
    })
}

fn parquet_column(
    file: &Path,
    field: &Field,
    column: Option<&PolarsColumn>,
    rows: usize,
    problems: &mut Vec<Problem>,
) -> Result<Data, Problem> {
    let mut data = Data::new(field.ty);
    let Some(column) = column else {
        (0..rows).for_each(|_| drop(data.push(None)));
        return Ok(data);
    };
    let wrong = |what: &str| {
        let message = format!("expected {what}, found a column of {}", column.dtype());
        Problem { column: Some(field.name.to_owned()), ..Problem::new(file, message) }
    };
    let mut report = |row: usize, message: String| {
        if problems.len() < MOST_PROBLEMS {
            problems.push(Problem::at(file, row as u64 + 1, field.name, message));
        }
    };
    if field.presence == Presence::Needed && column.null_count() > 0 {
        let first = column.is_null().iter().position(|null| null == Some(true)).unwrap_or(0);
        report(first, "expected a value, found none".into());
    }
    let is_text = matches!(column.dtype(), DataType::String);
    match &mut data {
        Data::Text(texts) => {
            let cast = column.cast(&DataType::String).map_err(|_| wrong("text"))?;
            let values = cast.str().map_err(|_| wrong("text"))?;
            values.iter().for_each(|v| texts.push(v.unwrap_or_default()));
        }
        Data::Count(counts) => {
            if is_text || !column.dtype().is_primitive_numeric() {
                return Err(wrong("whole numbers"));
            }
            let cast = column.cast(&DataType::Float64).map_err(|_| wrong("whole numbers"))?;
            for (row, value) in cast.f64().map_err(|_| wrong("whole numbers"))?.iter().enumerate() {
                counts.push(value.and_then(count_from_float));
                if let Some(x) = value.filter(|x| count_from_float(*x).is_none()) {
                    report(row, format!("expected a whole number, 0 or more, found {x}"));
                }
            }
        }
        Data::Number(numbers) => {
            if is_text || !column.dtype().is_primitive_numeric() {
                return Err(wrong("numbers"));
            }
            let cast = column.cast(&DataType::Float64).map_err(|_| wrong("numbers"))?;
            for (row, value) in cast.f64().map_err(|_| wrong("numbers"))?.iter().enumerate() {
                numbers.push(value);
                if let Some(x) = value.filter(|x| !x.is_finite()) {
                    report(row, format!("expected a finite number, found {x}"));
                }
            }
        }
    }
    Ok(data)
}
