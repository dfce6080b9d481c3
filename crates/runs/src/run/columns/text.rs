//! A text table as columns: csv, plain or packed, told apart into whole, cut off and
//! damaged.

mod rows;

use std::borrow::Cow;
use std::io;
use std::path::Path;

use super::super::problem::Problem;
use super::super::source::Text;
use super::{
    Chosen, Columns, Data, Field, Labels, LeftOut, Mapping, Place, Presence, Type, label, locate,
    said,
};
use crate::limits::{ROW_BYTES, ROWS};
use rows::{Block, Row, Rows, Step};

/// Rows of a block: as many as the nearest memory holds with their values.
const BLOCK_ROWS: usize = 128;

/// Reads a text table.
///
/// # Errors
/// Everything found wrong with it, in the order of its lines.
pub fn read(
    file: &Path,
    text: &Text<'_>,
    schema: &[Field],
    mapping: Option<&Mapping<'_>>,
    drop_cut_off: bool,
) -> Result<Columns, Vec<Problem>> {
    let mut rows = Rows::new(text.bytes());
    let mut table = TextTable::new(file, text, &mut rows, schema, mapping, drop_cut_off)?;
    table.read(&mut rows)?;
    if let Some((mapping, moments)) = mapping.zip(table.chosen.long.take()) {
        let (names, rows) = moments.wide();
        (table.places, table.columns.lacking) = mapping.locate(file, &names, schema)?;
        let mut problems = Vec::new();
        for (line, fields) in &rows {
            problems.extend(table.append(*line, |at| fields[at].as_bytes()));
            table.columns.bound(&mut problems);
        }
        if !problems.is_empty() {
            return Err(problems);
        }
    }
    Ok(table.columns)
}

struct TextTable<'a> {
    text: &'a Text<'a>,
    schema: &'a [Field],
    width: usize,
    places: Vec<Place>,
    chosen: Chosen,
    /// Whether rows may be read by blocks: columns that are the schema's, and no problem so far.
    by_blocks: bool,
    drop_cut_off: bool,
    columns: Columns,
}

/// Room for about as many rows as a text has, by its beginning: its lines get longer.
fn lines_about(text: &[u8]) -> usize {
    const BEGINNING: usize = 1 << 14;
    let beginning = &text[..text.len().min(BEGINNING)];
    let lines = memchr::memchr_iter(b'\n', beginning).count() + 1;
    lines * text.len().div_ceil(beginning.len().max(1))
}

/// Where a packed stream ends before its end, or holds what it cannot.
struct Break {
    /// Only its tail is missing; what came before is whole.
    cut: bool,
    message: String,
}

impl Break {
    fn new(error: &io::Error) -> Self {
        let message = match error.kind() {
            io::ErrorKind::UnexpectedEof => {
                "the packed stream is cut off; --drop-cut-off leaves its last line out".into()
            }
            io::ErrorKind::FileTooLarge => error.to_string(),
            _ => format!("damaged: {error}"),
        };
        Self { cut: error.kind() == io::ErrorKind::UnexpectedEof, message }
    }
}

impl<'a> TextTable<'a> {
    fn new(
        file: &Path,
        text: &'a Text<'a>,
        rows: &mut Rows<'a>,
        schema: &'a [Field],
        mapping: Option<&Mapping<'_>>,
        drop_cut_off: bool,
    ) -> Result<Self, Vec<Problem>> {
        let lines = lines_about(text.bytes()).min(ROWS);
        let mut table = Self {
            text,
            schema,
            width: 0,
            places: Vec::new(),
            chosen: Chosen::default(),
            by_blocks: mapping.is_none(),
            drop_cut_off,
            columns: Columns {
                file: file.into(),
                lines: Vec::with_capacity(lines),
                lacking: Vec::new(),
                notes: Vec::new(),
                left_out: None,
                labels: mapping.map_or_else(Labels::new, |mapping| mapping.labels(schema)),
                data: schema.iter().map(|f| (f.name, Data::with_capacity(f.ty, lines))).collect(),
            },
        };
        let mut header = Row::default();
        match table.next(rows, &mut header) {
            Ok(true) => {}
            Ok(false) => return Err(vec![Problem::new(file, "empty; expected a header")]),
            Err(why) => return Err(vec![Problem::new(file, why.message)]),
        };
        let names: Vec<String> =
            header.fields().map(|n| String::from_utf8_lossy(n).trim().to_owned()).collect();
        table.width = names.len();
        if let Some(mapping) = mapping {
            table.chosen = Chosen::locate(file, &names, mapping)?;
        }
        // Which metrics there are shows once all rows are read.
        if table.chosen.long.is_none() {
            (table.places, table.columns.lacking) = match mapping {
                None => locate(file, &names, schema)?,
                Some(mapping) => mapping.locate(file, &names, schema)?,
            };
        }
        Ok(table)
    }

    /// Reads the next row, if there is one. A row that the break cuts is none.
    fn next(&self, rows: &mut Rows<'a>, row: &mut Row<'a>) -> Result<bool, Break> {
        match (rows.next(row), &self.text.broken) {
            (Step::TooLong, _) => {
                let message = format!("a row is longer than {} MiB", ROW_BYTES >> 20);
                Err(Break { cut: false, message })
            }
            (Step::End | Step::LastRow, Some(error)) => Err(Break::new(error)),
            (Step::End, None) => Ok(false),
            (Step::Row | Step::LastRow, _) => Ok(true),
        }
    }

    fn read(&mut self, rows: &mut Rows<'a>) -> Result<(), Vec<Problem>> {
        let mut problems = Vec::new();
        // One row is held back, because only the last may be cut off.
        let (mut held, mut row) = (Row::default(), Row::default());
        let mut holds = false;
        let mut block = Block::default();
        let broken = loop {
            while self.by_blocks && rows.block(self.width, BLOCK_ROWS, &mut block) {
                if std::mem::take(&mut holds) {
                    problems.extend(self.row(&held));
                }
                self.by_blocks = problems.is_empty() && self.block(&block);
                if !self.by_blocks {
                    rows.back_to(&block);
                }
            }
            match self.next(rows, &mut row) {
                Ok(true) => {
                    std::mem::swap(&mut held, &mut row);
                    if std::mem::replace(&mut holds, true) {
                        problems.extend(self.row(&row));
                    }
                    if self.columns.lines.len() == ROWS {
                        let message = format!("expected at most {ROWS} rows");
                        return Err(vec![Problem::new(&self.columns.file, message)]);
                    }
                    self.columns.bound(&mut problems);
                }
                Ok(false) => break None,
                Err(why) => break Some(why),
            }
        };
        problems.extend(match broken {
            _ if !holds => Vec::new(),
            None => self.last_row(&held),
            // The row after this one was the last.
            Some(_) => self.row(&held),
        });
        if let Some(Break { cut, message }) = broken {
            let problem = Problem::at_line(&self.columns.file, row.line, message);
            if cut {
                problems.extend(self.cut_off(problem, LeftOut::Tail));
            } else {
                problems.push(problem);
            }
        }
        if problems.is_empty() { Ok(()) } else { Err(problems) }
    }

    /// Appends a block of rows, or nothing: what is wrong is for its rows to say, one by one.
    fn block(&mut self, block: &Block<'_>) -> bool {
        let rows = self.columns.lines.len();
        let data = self.columns.data.iter_mut().map(|(_, data)| data);
        let mut columns = self.schema.iter().zip(&self.places).zip(data);
        let fits = rows + block.len() < ROWS
            && columns.all(|((field, place), data)| match place {
                Place::At(at) => {
                    let needed = field.presence == Presence::Needed;
                    data.push_fields(block.text, block.column(*at), needed)
                }
                _ => (0..block.len()).all(|_| data.push(None).is_ok()),
            });
        if fits {
            self.columns.lines.extend((block.line..).take(block.len()));
        } else {
            self.columns.data.iter_mut().for_each(|(_, data)| data.truncate(rows));
        }
        fits
    }

    /// Takes a row if it is one of the table's, or says what is wrong with it.
    fn row(&mut self, row: &Row<'_>) -> Vec<Problem> {
        if row.len() != self.width {
            let message = format!("expected {} fields, found {}", self.width, row.len());
            return vec![Problem::at_line(&self.columns.file, row.line, message)];
        }
        if !self.chosen.takes(|at| row.field(at)) {
            return Vec::new();
        }
        match &mut self.chosen.long {
            Some(moments) => moments.take(row.line, |at| row.field(at)).err().into_iter().collect(),
            None => self.append(row.line, |at| row.field(at)),
        }
    }

    /// Appends a row, or says what is wrong with it and appends nothing.
    #[inline]
    fn append<'r>(&mut self, line: u64, field_at: impl Fn(usize) -> &'r [u8]) -> Vec<Problem> {
        let file = &self.columns.file;
        let mut problems = Vec::new();
        let labels = &self.columns.labels;
        for ((field, place), (name, data)) in
            self.schema.iter().zip(&self.places).zip(&mut self.columns.data)
        {
            let mut say = |column: &str, message: String| {
                problems.push(Problem::at(file, line, column, message));
            };
            let theirs;
            let mut converted = false;
            let value = match place {
                Place::Lacking => None,
                Place::At(at) => Some(field_at(*at)).filter(|value| !value.is_empty()),
                Place::By(mapped) => match mapped.value(|at| field_at(at)) {
                    Ok(value) => {
                        theirs = value;
                        converted = matches!(theirs, Some(Cow::Owned(_)));
                        theirs.as_deref().map(str::as_bytes)
                    }
                    Err((column, message)) => {
                        say(column, message);
                        continue;
                    }
                },
            };
            if value.is_none() && field.presence == Presence::Needed {
                say(label(labels, name), "expected a value, found none".into());
            }
            if let Err(message) = data.push(value) {
                let value = value.unwrap_or_default();
                say(label(labels, name), said(message, value, converted));
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
    fn last_row(&mut self, row: &Row<'_>) -> Vec<Problem> {
        let (line, text) = (row.line, self.text.bytes());
        // Never left out on request: it may have swallowed any number of rows.
        let ends_in_quote = text.trim_ascii_end().ends_with(b"\"");
        if row.has_newline() && !ends_in_quote {
            let message = "a quote opened on this line is never closed";
            return vec![Problem::at_line(&self.columns.file, line, message)];
        }
        let ends_with_newline = text.ends_with(b"\n");
        if let Some((column, message)) = self.cut_word(row).filter(|_| !ends_with_newline) {
            let column = label(&self.columns.labels, column);
            let problem = Problem::at(&self.columns.file, line, column, message);
            return self.cut_off(problem, LeftOut::Line).into_iter().collect();
        }
        let problems = self.row(row);
        let cut = row.len() < self.width || (!problems.is_empty() && !ends_with_newline);
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
            row.len(),
            self.width
        );
        let problem = Problem::at_line(&self.columns.file, line, message);
        self.cut_off(problem, LeftOut::Line).into_iter().collect()
    }

    /// The beginning of a word that the last field may hold, where that field is whole text
    /// otherwise: an error's words could be read in it.
    fn cut_word(&self, row: &Row<'_>) -> Option<(&'static str, String)> {
        let last = self.width.checked_sub(1).filter(|last| row.len() == last + 1)?;
        let is_last = |place: &Place| matches!(place, Place::At(at) if *at == last);
        let (field, _) = self.schema.iter().zip(&self.places).find(|(_, place)| is_last(place))?;
        let Type::Word(words) = field.ty else { return None };
        let found = std::str::from_utf8(row.field(last)).ok().filter(|text| !text.is_empty())?;
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

#[cfg(test)]
mod tests;
