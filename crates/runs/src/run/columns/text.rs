//! A text table as columns: csv, plain or packed, told apart into whole, cut off and
//! damaged.

use std::borrow::Cow;
use std::cell::Cell;
use std::io::{self, Read};
use std::path::Path;
use std::rc::Rc;

use csv::ByteRecord;

use super::super::problem::Problem;
use super::{
    CONVERTED, Columns, Data, Field, Labels, LeftOut, MOST_PROBLEMS, Mapping, Place, Presence,
    Type, label, locate,
};
use crate::limits::{ROW_BYTES, ROWS};

/// Reads a text table.
///
/// # Errors
/// Everything found wrong with it, in the order of its lines.
pub fn read(
    file: &Path,
    text: Box<dyn Read + '_>,
    schema: &[Field],
    mapping: Option<&Mapping<'_>>,
    drop_cut_off: bool,
) -> Result<Columns, Vec<Problem>> {
    TextTable::new(file, text, schema, mapping, drop_cut_off)?.read()
}

/// How the text that went through ended.
#[derive(Debug, Clone, Copy)]
struct End {
    /// Its last byte.
    last: u8,
    /// Its last byte that ends no line.
    last_of_content: u8,
}

/// Remembers how the text ended: with a newline, inside a quoted value? And fails where a
/// row has no end.
struct Watched<'a> {
    inner: Box<dyn Read + 'a>,
    end: Rc<Cell<End>>,
    /// Bytes read since a row was complete.
    row: Rc<Cell<u64>>,
}

impl Read for Watched<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buffer)?;
        self.row.set(self.row.get() + n as u64);
        if self.row.get() > ROW_BYTES {
            let message = format!("a row is longer than {} MiB", ROW_BYTES >> 20);
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
        }
        if let Some(last) = buffer[..n].last() {
            let content = buffer[..n].iter().rfind(|byte| !matches!(byte, b'\r' | b'\n'));
            let last_of_content = content.copied().unwrap_or(self.end.get().last_of_content);
            self.end.set(End { last: *last, last_of_content });
        }
        Ok(n)
    }
}

struct TextTable<'a> {
    reader: csv::Reader<Watched<'a>>,
    end: Rc<Cell<End>>,
    row_bytes: Rc<Cell<u64>>,
    schema: &'a [Field],
    width: usize,
    places: Vec<Place>,
    drop_cut_off: bool,
    columns: Columns,
}

/// How reading one record went.
enum Step {
    /// It is in the record that was given.
    Row,
    End,
    /// The stream broke.
    Broken(Break),
}

/// Where a packed stream ends before its end, or holds what it cannot.
struct Break {
    /// Only its tail is missing; what came before is whole.
    cut: bool,
    message: String,
}

impl Break {
    fn new(error: &csv::Error) -> Self {
        let at_its_end = matches!(error.kind(), csv::ErrorKind::Io(e) if e.kind() == io::ErrorKind::UnexpectedEof);
        if at_its_end {
            let message = "the packed stream is cut off; --drop-cut-off leaves its last line out";
            return Self { cut: true, message: message.into() };
        }
        let message = match error.kind() {
            csv::ErrorKind::Io(e) if e.kind() == io::ErrorKind::FileTooLarge => e.to_string(),
            _ => format!("damaged: {error}"),
        };
        Self { cut: false, message }
    }
}

impl<'a> TextTable<'a> {
    fn new(
        file: &Path,
        stream: Box<dyn Read + 'a>,
        schema: &'a [Field],
        mapping: Option<&Mapping<'_>>,
        drop_cut_off: bool,
    ) -> Result<Self, Vec<Problem>> {
        let end = Rc::new(Cell::new(End { last: b'\n', last_of_content: b'\n' }));
        let row_bytes = Rc::new(Cell::new(0));
        let mut table = Self {
            // Only \n ends a line: other separators occur inside values.
            reader: csv::ReaderBuilder::new()
                .has_headers(false)
                .flexible(true)
                .terminator(csv::Terminator::Any(b'\n'))
                .from_reader(Watched { inner: stream, end: end.clone(), row: row_bytes.clone() }),
            end,
            row_bytes,
            schema,
            width: 0,
            places: Vec::new(),
            drop_cut_off,
            columns: Columns {
                file: file.into(),
                lines: Vec::new(),
                lacking: Vec::new(),
                notes: Vec::new(),
                left_out: None,
                labels: mapping.map_or_else(Labels::new, |mapping| mapping.labels(schema)),
                data: schema.iter().map(|f| (f.name, Data::new(f.ty))).collect(),
            },
        };
        let mut header = ByteRecord::new();
        match table.next(&mut header) {
            Step::Row => {}
            Step::End => return Err(vec![Problem::new(file, "empty; expected a header")]),
            Step::Broken(why) => return Err(vec![Problem::new(file, why.message)]),
        };
        let names: Vec<String> =
            header.iter().map(|n| String::from_utf8_lossy(n).trim().to_owned()).collect();
        table.width = names.len();
        (table.places, table.columns.lacking) = match mapping {
            None => locate(file, &names, schema)?,
            Some(mapping) => mapping.locate(file, &names, schema)?,
        };
        Ok(table)
    }

    /// Reads the next record that is not a blank line, without a carriage return.
    fn next(&mut self, record: &mut ByteRecord) -> Step {
        loop {
            self.row_bytes.set(0);
            match self.reader.read_byte_record(record) {
                Ok(false) => return Step::End,
                Ok(true) if record.len() == 1 && matches!(&record[0], b"" | b"\r") => {}
                Ok(true) => {
                    strip_carriage_return(record);
                    return Step::Row;
                }
                Err(e) => return Step::Broken(Break::new(&e)),
            }
        }
    }

    fn read(mut self) -> Result<Columns, Vec<Problem>> {
        let mut problems = Vec::new();
        // One record is held back, because only the last may be cut off.
        let (mut held, mut record) = (ByteRecord::new(), ByteRecord::new());
        let mut holds = false;
        let broken = loop {
            match self.next(&mut record) {
                Step::Row => {
                    std::mem::swap(&mut held, &mut record);
                    if std::mem::replace(&mut holds, true) {
                        problems.extend(self.row(&record));
                    }
                    if self.columns.lines.len() == ROWS {
                        let message = format!("expected at most {ROWS} rows");
                        return Err(vec![Problem::new(&self.columns.file, message)]);
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
        problems.extend(match broken {
            _ if !holds => Vec::new(),
            None => self.last_row(&held),
            // The record after this one was the last.
            Some(_) => self.row(&held),
        });
        if let Some(Break { cut, message }) = broken {
            let line = self.reader.position().line();
            let problem = Problem::at_line(&self.columns.file, line, message);
            if cut {
                problems.extend(self.cut_off(problem, LeftOut::Tail));
            } else {
                problems.push(problem);
            }
        }
        if problems.is_empty() { Ok(self.columns) } else { Err(problems) }
    }

    /// Appends a row, or says what is wrong with it and appends nothing.
    fn row(&mut self, record: &ByteRecord) -> Vec<Problem> {
        let file = &self.columns.file;
        let line = record.position().map_or(0, csv::Position::line);
        if record.len() != self.width {
            let message = format!("expected {} fields, found {}", self.width, record.len());
            return vec![Problem::at_line(file, line, message)];
        }
        let mut problems = Vec::new();
        let labels = &self.columns.labels;
        for ((field, place), (name, data)) in
            self.schema.iter().zip(&self.places).zip(&mut self.columns.data)
        {
            let value = match value(place, record) {
                Ok(value) => value,
                Err((column, message)) => {
                    problems.push(Problem::at(file, line, column, message));
                    continue;
                }
            };
            if value.is_none() && field.presence == Presence::Needed {
                let message = "expected a value, found none";
                problems.push(Problem::at(file, line, label(labels, name), message));
            }
            if let Err(mut message) = data.push(value.as_deref()) {
                if matches!(value, Some(Cow::Owned(_))) {
                    message += CONVERTED;
                }
                problems.push(Problem::at(file, line, label(labels, name), message));
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
        let line = record.position().map_or(0, csv::Position::line);
        // Never left out on request: it may have swallowed any number of rows.
        if record.as_slice().contains(&b'\n') && self.end.get().last_of_content != b'"' {
            let message = "a quote opened on this line is never closed";
            return vec![Problem::at_line(&self.columns.file, line, message)];
        }
        let ends_with_newline = self.end.get().last == b'\n';
        if let Some((column, message)) = self.cut_word(record).filter(|_| !ends_with_newline) {
            let column = label(&self.columns.labels, column);
            let problem = Problem::at(&self.columns.file, line, column, message);
            return self.cut_off(problem, LeftOut::Line).into_iter().collect();
        }
        let problems = self.row(record);
        let cut = record.len() < self.width || (!problems.is_empty() && !ends_with_newline);
        if !cut {
            if problems.is_empty() && !ends_with_newline {
                let message = "the last line has no newline: taken as complete";
                let note = Problem::at_line(&self.columns.file, line, message).as_note();
                self.columns.notes.push(note);
            }
            return problems;
        }
        let message = format!(
            "the last line is cut off: {} of {} fields; --drop-cut-off leaves it out",
            record.len(),
            self.width
        );
        let problem = Problem::at_line(&self.columns.file, line, message);
        self.cut_off(problem, LeftOut::Line).into_iter().collect()
    }

    /// The beginning of a word that the last field may hold, where that field is whole text
    /// otherwise: an error's words could be read in it.
    fn cut_word(&self, record: &ByteRecord) -> Option<(&'static str, String)> {
        let last = self.width.checked_sub(1).filter(|last| record.len() == last + 1)?;
        let is_last = |place: &Place| matches!(place, Place::At(at) if *at == last);
        let (field, _) = self.schema.iter().zip(&self.places).find(|(_, place)| is_last(place))?;
        let Type::Word(words) = field.ty else { return None };
        let found = std::str::from_utf8(&record[last]).ok().filter(|text| !text.is_empty())?;
        let begun = words.iter().find(|word| word.starts_with(found))?;
        let message = format!(
            "the last line is cut off: \u{201c}{found}\u{201d} begins {begun}; --drop-cut-off \
             leaves it out"
        );
        (!words.contains(&found)).then_some((field.name, message))
    }

    /// Leaves out what was cut off, and notes it, or says that it is.
    fn cut_off(&mut self, problem: Problem, what: LeftOut) -> Option<Problem> {
        if !self.drop_cut_off {
            return Some(problem);
        }
        let message = format!("left out, as asked: {}", problem.message);
        self.columns.notes.push(Problem { message, ..problem }.as_note());
        self.columns.left_out = Some(what);
        None
    }
}

/// The value of a field in a row; `None` where it is empty. Or how to name what is wrong
/// with it, and why.
fn value<'v>(
    place: &'v Place,
    record: &'v ByteRecord,
) -> Result<Option<Cow<'v, [u8]>>, (&'v str, String)> {
    match place {
        Place::Lacking => Ok(None),
        Place::At(at) => Ok(Some(&record[*at]).filter(|v| !v.is_empty()).map(Cow::Borrowed)),
        Place::By(mapped) => Ok(mapped.value(|at| &record[at])?.map(|value| match value {
            Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
            Cow::Owned(text) => Cow::Owned(text.into_bytes()),
        })),
    }
}

fn strip_carriage_return(record: &mut ByteRecord) {
    let Some(last) = record.iter().next_back().filter(|field| field.ends_with(b"\r")) else {
        return;
    };
    let last = last[..last.len() - 1].to_owned();
    let position = record.position().cloned();
    record.truncate(record.len() - 1);
    record.push_field(&last);
    record.set_position(position);
}
