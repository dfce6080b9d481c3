//! The table of sessions: a row per turn. What every other format is imported into.
//!
//! A session's rows stand together, its turns numbered 1, 2, ... An empty cell is unknown. The
//! first eight columns have to be there; the others may be missing.

use std::collections::BTreeSet;
use std::io::{self, Read, Write};

use csv::ByteRecord;

use crate::cell::{count, number};
use crate::reading::{Fault, Names, Reading, Receiver, Why};
use crate::session::{Format, Gap, GapSource, Parent, Session, Turn};

/// The columns that every table has.
pub const NEEDED: [&str; 8] = [
    "session",
    "turn",
    "t_s",
    "prompt_tokens",
    "output_tokens",
    "reusable_tokens",
    "think_s",
    "api_s",
];

/// The columns that a table may have: who started a subagent or a branch, the tools' and system
/// prompt, the format that the session was recorded in.
pub const OTHERS: [&str; 4] = ["parent", "parent_turn", "shared_tokens", "format"];

/// One row as it was read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Row {
    /// The session's name.
    pub session: String,
    /// The turn: 1, 2, ...
    pub turn: u64,
    /// As [`Turn::start_s`].
    pub start_s: Option<f64>,
    /// As [`Turn::prompt_tokens`].
    pub prompt_tokens: u64,
    /// As [`Turn::output_tokens`].
    pub output_tokens: u64,
    /// As [`Turn::reusable_tokens`].
    pub reusable_tokens: Option<u64>,
    /// From the previous answer's end to this request, seconds.
    pub think_s: Option<f64>,
    /// As [`Turn::service_s`].
    pub service_s: Option<f64>,
    /// As [`Session::parent`].
    pub parent: Option<Parent>,
    /// As [`Session::shared_tokens`].
    pub shared_tokens: Option<u64>,
    /// As [`Session::format`].
    pub format: Option<Format>,
}

/// The session whose rows are being read.
struct Current {
    line: u64,
    session: Session,
    fault: Option<String>,
}

/// Rows, put together into sessions.
pub(crate) struct Rows<'a, 'r> {
    receiver: &'a mut Receiver<'r>,
    current: Option<Current>,
    begun: BTreeSet<String>,
}

impl<'a, 'r> Rows<'a, 'r> {
    pub fn new(receiver: &'a mut Receiver<'r>) -> Self {
        receiver.reading.format = Some(Format::Table);
        Self { receiver, current: None, begun: BTreeSet::new() }
    }

    /// The next row, or what is wrong with it if its session's name could be read.
    pub fn push(&mut self, line: u64, row: Row, fault: Option<String>) -> Result<(), Fault> {
        if self.current.as_ref().is_none_or(|current| current.session.id != row.session) {
            self.end()?;
            if !self.begun.insert(row.session.clone()) {
                let message = format!("session {:?}: its rows do not stand together", row.session);
                return Err(self.receiver.malformed(line, message));
            }
            self.current = Some(Current {
                line,
                session: Session {
                    id: row.session.clone(),
                    parent: row.parent.clone(),
                    format: row.format.unwrap_or(Format::Table),
                    shared_tokens: row.shared_tokens,
                    turns: Vec::new(),
                },
                fault: None,
            });
        }
        let Some(current) = &mut self.current else { return Ok(()) };
        let turns = &mut current.session.turns;
        let expected = turns.len() as u64 + 1;
        let fault = fault.or_else(|| {
            let found = row.turn;
            (found != expected).then(|| format!("turn: expected {expected}, found {found}"))
        });
        if let Some(fault) = fault {
            current.fault.get_or_insert_with(|| format!("line {line}: {fault}"));
        }
        // One more than may be, so that the check sees it.
        if turns.len() <= crate::limits::TURNS {
            turns.push(row.turn_after(turns.last()));
        }
        Ok(())
    }

    /// The file is whole, and the session that was being read is too.
    pub fn end(&mut self) -> Result<(), Fault> {
        let Some(Current { line, session, fault }) = self.current.take() else { return Ok(()) };
        match fault {
            Some(fault) => {
                let turns = session.turns.len();
                self.receiver.leave_out(line, Some(session.id), turns, Why::BadValue, fault);
            }
            None => drop(self.receiver.offer(line, session)?),
        }
        Ok(())
    }

    /// The file ends inside the session that was being read.
    pub fn cut(&mut self, message: &str) {
        self.receiver.reading.cut = true;
        if let Some(Current { line, session, .. }) = self.current.take() {
            let turns = session.turns.len();
            self.receiver.leave_out(line, Some(session.id), turns, Why::Cut, message);
        }
    }
}

impl Row {
    fn turn_after(&self, previous: Option<&Turn>) -> Turn {
        let starts = previous.and_then(|p| p.start_s).zip(self.start_s);
        let gap = match previous {
            None => Gap::FIRST,
            Some(previous) => Gap::of(self.think_s, starts, previous.service_s),
        };
        Turn {
            gap,
            prompt_tokens: self.prompt_tokens,
            output_tokens: self.output_tokens,
            reusable_tokens: self.reusable_tokens,
            start_s: self.start_s,
            service_s: self.service_s,
        }
    }
}

/// Whether a header is this table's.
pub(crate) fn is_header(names: &[String]) -> bool {
    ["session", "turn", "prompt_tokens"].iter().all(|name| names.iter().any(|n| n == name))
}

/// Reads the rows below a header.
pub(crate) fn read(
    text: &mut csv::Reader<impl Read>,
    names: &[String],
    receiver: &mut Receiver<'_>,
) -> Result<(), Fault> {
    let place = |name: &str| names.iter().position(|n| n == name);
    if let Some(lacking) = NEEDED.iter().find(|name| place(name).is_none()) {
        return Err(receiver.malformed(1, format!("expected a column {lacking}, found none")));
    }
    let places: Vec<Option<usize>> = NEEDED.iter().chain(&OTHERS).map(|n| place(n)).collect();
    let mut rows = Rows::new(receiver);
    let mut record = ByteRecord::new();
    let mut short = None;
    while text.read_byte_record(&mut record).map_err(|e| rows.receiver.csv(e))? {
        let line = record.position().map_or(0, csv::Position::line);
        if let Some((line, found)) = short {
            let expected = names.len();
            let message = format!("expected {expected} fields, found {found}");
            return Err(rows.receiver.malformed(line, message));
        }
        if record.len() != names.len() {
            // The last row of a file that is cut, unless another follows.
            short = Some((line, record.len()));
            continue;
        }
        let cells = Cells { record: &record, places: &places };
        let session = cells.text(0).unwrap_or_default();
        if session.is_empty() {
            return Err(rows.receiver.malformed(line, "session: expected a name, found none"));
        }
        match cells.row() {
            Ok(row) => rows.push(line, row, None)?,
            Err(fault) => rows.push(line, Row { session, ..Row::default() }, Some(fault))?,
        }
    }
    match short {
        Some((line, _)) => rows.cut(&format!("the file ends inside line {line}")),
        None if rows.receiver.ends_early.get() => rows.cut("the packed stream ends early"),
        None => rows.end()?,
    }
    Ok(())
}

/// The same from rows that were read from elsewhere: a parquet file. They are numbered 1, 2, ...
///
/// # Errors
/// A session's rows do not stand together, or `take` fails.
pub fn from_rows(
    file: &str,
    rows: impl IntoIterator<Item = Row>,
    names: &mut Names,
    take: &mut dyn FnMut(Session) -> io::Result<()>,
) -> Result<Reading, Fault> {
    let mut receiver = Receiver::new(file, names, take);
    let mut sessions = Rows::new(&mut receiver);
    for (i, row) in rows.into_iter().enumerate() {
        sessions.push(i as u64 + 1, row, None)?;
    }
    sessions.end()?;
    Ok(receiver.reading)
}

/// The cells of a row, by their place in [`NEEDED`] and [`OTHERS`].
struct Cells<'a> {
    record: &'a ByteRecord,
    places: &'a [Option<usize>],
}

impl Cells<'_> {
    fn text(&self, column: usize) -> Option<String> {
        let cell = self.record.get(self.places[column]?)?.trim_ascii();
        (!cell.is_empty()).then(|| String::from_utf8_lossy(cell).into_owned())
    }

    fn parsed<T>(
        &self,
        column: usize,
        parse: fn(&str) -> Result<T, String>,
    ) -> Result<Option<T>, String> {
        let name = NEEDED.iter().chain(&OTHERS).nth(column).copied().unwrap_or_default();
        self.text(column).map(|t| parse(&t).map_err(|m| format!("{name}: {m}"))).transpose()
    }

    fn row(&self) -> Result<Row, String> {
        let needed = |column: usize| {
            let found = self.parsed(column, count)?;
            found.ok_or_else(|| format!("{}: expected a number, found none", NEEDED[column]))
        };
        let parent = match (self.text(8), self.parsed(9, count)?) {
            (Some(session), Some(turn)) => Some(Parent { session, turn }),
            (None, None) => None,
            _ => return Err("expected both parent and parent_turn, or neither".into()),
        };
        Ok(Row {
            session: self.text(0).unwrap_or_default(),
            turn: needed(1)?,
            start_s: self.parsed(2, number)?,
            prompt_tokens: needed(3)?,
            output_tokens: needed(4)?,
            reusable_tokens: self.parsed(5, count)?,
            think_s: self.parsed(6, number)?,
            service_s: self.parsed(7, number)?,
            parent,
            shared_tokens: self.parsed(10, count)?,
            format: self.parsed(11, format_of)?,
        })
    }
}

fn format_of(word: &str) -> Result<Format, String> {
    Format::named(word).ok_or_else(|| {
        let words = Format::ALL.map(Format::word).join(", ");
        format!("expected one of {words}, found {word:?}")
    })
}

/// Writes a table's text.
pub struct Text<W: Write> {
    csv: csv::Writer<W>,
}

impl<W: Write> Text<W> {
    /// Begins with the header.
    ///
    /// # Errors
    /// `out` cannot be written to.
    pub fn new(out: W) -> io::Result<Self> {
        let mut csv = csv::Writer::from_writer(out);
        csv.write_record(NEEDED.iter().chain(&OTHERS))?;
        Ok(Self { csv })
    }

    /// The rows of a session.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn push(&mut self, session: &Session) -> io::Result<()> {
        let known = |x: Option<u64>| x.map(|x| x.to_string()).unwrap_or_default();
        let seconds = |t: Option<f64>| t.map(|t| t.to_string()).unwrap_or_default();
        let parent = session.parent.as_ref();
        for (i, turn) in session.turns.iter().enumerate() {
            self.csv.write_record([
                session.id.clone(),
                (i + 1).to_string(),
                seconds(turn.start_s),
                turn.prompt_tokens.to_string(),
                turn.output_tokens.to_string(),
                known(turn.reusable_tokens),
                seconds(think_s(turn)),
                seconds(turn.service_s),
                parent.map(|p| p.session.clone()).unwrap_or_default(),
                known(parent.map(|p| p.turn)),
                known(session.shared_tokens),
                session.format.word().to_owned(),
            ])?;
        }
        Ok(())
    }

    /// The writer, with everything in it.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn finish(self) -> io::Result<W> {
        self.csv.into_inner().map_err(|e| io::Error::other(e.to_string()))
    }
}

/// What a turn says of the time since the previous answer, if that is recorded.
pub fn think_s(turn: &Turn) -> Option<f64> {
    let recorded = matches!(turn.gap.source, GapSource::First | GapSource::Think);
    turn.gap.seconds.filter(|_| recorded)
}
