//! What was read of a file: sessions handed on one at a time, and counts of all that was not.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, ErrorKind, Read};
use std::rc::Rc;

use crate::limits;
use crate::session::{Format, Session};

/// The names of the sessions that were read so far: over several files, each is read once.
pub type Names = BTreeSet<String>;

/// Examples that are kept of what was left out of a file; all of it is counted.
pub(crate) const MOST_EXAMPLES: usize = 20;

/// Why a session was left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Why {
    /// Another session of that name was read before it.
    Duplicate,
    /// It has no turn.
    NoTurns,
    /// A value in it makes no sense or is not what its name says.
    BadValue,
    /// The file ends inside it.
    Cut,
}

impl Why {
    /// Every reason.
    pub const ALL: [Self; 4] = [Self::Duplicate, Self::NoTurns, Self::BadValue, Self::Cut];

    /// Its word in tables.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Duplicate => "duplicate",
            Self::NoTurns => "no-turns",
            Self::BadValue => "bad-value",
            Self::Cut => "cut",
        }
    }
}

/// One session that was left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// The line that it begins at, or that shows the fault: 1, 2, ...
    pub line: u64,
    /// Its name, where it could be read.
    pub session: Option<String>,
    /// Why.
    pub why: Why,
    /// What was expected, and what was found.
    pub message: String,
}

/// Sessions and their turns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Count {
    /// Sessions.
    pub sessions: u64,
    /// Turns, as far as they could be read.
    pub turns: u64,
}

impl Count {
    fn add(&mut self, turns: usize) {
        self.sessions += 1;
        self.turns += turns as u64;
    }
}

/// What was read of one file.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// Its name.
    pub file: String,
    /// Its format; `None` as long as it showed none.
    pub format: Option<Format>,
    /// What was handed on.
    pub read: Count,
    /// Of these, subagents and branches: streams beside the session that started them.
    pub beside: Count,
    /// Sessions whose first turns are not in the file.
    pub begun_before: u64,
    /// Spans of a trace that are no requests to a model: tool calls, agents, failures.
    pub other_spans: u64,
    /// What was left out, by reason.
    pub left_out: BTreeMap<Why, Count>,
    /// The first of what was left out.
    pub examples: Vec<LeftOut>,
    /// Whether the file ends early: what follows is not known.
    pub cut: bool,
}

/// Why a file could not be read to its end.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// It is not of a format that is read here, or breaks its own.
    #[error("{file}:{line}: {message}")]
    Malformed {
        /// Its name.
        file: String,
        /// The line: 1, 2, ...
        line: u64,
        /// What was expected, and what was found.
        message: String,
    },
    /// The bytes do not come.
    #[error("{file}: cannot read: {error}")]
    Unreadable {
        /// Its name.
        file: String,
        /// The system's word.
        error: io::Error,
    },
    /// Whoever takes the sessions cannot.
    #[error(transparent)]
    NotTaken(io::Error),
}

/// Takes the sessions of a file: checks each, hands it on, counts.
pub(crate) struct Receiver<'a> {
    names: &'a mut Names,
    take: &'a mut dyn FnMut(Session) -> io::Result<()>,
    /// Whether the stream ended early, as far as it was read.
    pub(crate) ends_early: Rc<Cell<bool>>,
    pub(crate) reading: Reading,
}

impl<'a> Receiver<'a> {
    pub fn new(
        file: &str,
        names: &'a mut Names,
        take: &'a mut dyn FnMut(Session) -> io::Result<()>,
    ) -> Self {
        let reading = Reading {
            file: file.to_owned(),
            format: None,
            read: Count::default(),
            beside: Count::default(),
            begun_before: 0,
            other_spans: 0,
            left_out: BTreeMap::new(),
            examples: Vec::new(),
            cut: false,
        };
        Self { names, take, ends_early: Rc::default(), reading }
    }

    /// Hands a session on, unless something is wrong with it; whether it was.
    pub(crate) fn offer(&mut self, line: u64, session: Session) -> Result<bool, Fault> {
        let turns = session.turns.len();
        let wrong = match session.check() {
            Err(_) if turns == 0 => Some((Why::NoTurns, "no turns".to_owned())),
            Err(message) => Some((Why::BadValue, message)),
            Ok(()) if self.names.contains(&session.id) => {
                Some((Why::Duplicate, "another session of this name came before".to_owned()))
            }
            Ok(()) => None,
        };
        if let Some((why, message)) = wrong {
            self.leave_out(line, Some(session.id), turns, why, message);
            return Ok(false);
        }
        self.names.insert(session.id.clone());
        self.reading.read.add(turns);
        if session.parent.is_some() {
            self.reading.beside.add(turns);
        }
        (self.take)(session).map_err(Fault::NotTaken)?;
        Ok(true)
    }

    /// Counts a session that is not handed on.
    pub(crate) fn leave_out(
        &mut self,
        line: u64,
        session: Option<String>,
        turns: usize,
        why: Why,
        message: impl Into<String>,
    ) {
        self.reading.left_out.entry(why).or_default().add(turns);
        if self.reading.examples.len() < MOST_EXAMPLES {
            let message = message.into();
            self.reading.examples.push(LeftOut { line, session, why, message });
        }
    }

    pub fn malformed(&self, line: u64, message: impl Into<String>) -> Fault {
        Fault::Malformed { file: self.reading.file.clone(), line, message: message.into() }
    }

    /// What the csv reader says.
    pub fn csv(&self, error: csv::Error) -> Fault {
        let line = error.position().map_or(0, csv::Position::line);
        match error.into_kind() {
            csv::ErrorKind::Io(error) => self.unreadable(error),
            kind => self.malformed(line, format!("not readable as csv: {kind:?}")),
        }
    }

    pub fn unreadable(&self, error: io::Error) -> Fault {
        Fault::Unreadable { file: self.reading.file.clone(), error }
    }
}

/// A stream whose early end is an end, and is remembered: a packed file that is cut.
pub(crate) struct UpToTheCut<R> {
    inner: R,
    cut: Rc<Cell<bool>>,
}

impl<R> UpToTheCut<R> {
    pub fn new(inner: R, cut: Rc<Cell<bool>>) -> Self {
        Self { inner, cut }
    }
}

impl<R: Read> Read for UpToTheCut<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.inner.read(buffer) {
            Err(e) if e.kind() == ErrorKind::UnexpectedEof => {
                self.cut.set(true);
                Ok(0)
            }
            read => read,
        }
    }
}

/// A text whose rows are of bounded length: what a small packed file unpacks to may be one row
/// without an end.
pub(crate) struct ShortRows<R> {
    inner: R,
    row: u64,
}

impl<R> ShortRows<R> {
    pub fn new(inner: R) -> Self {
        Self { inner, row: 0 }
    }
}

impl<R: Read> Read for ShortRows<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buffer)?;
        let last = buffer[..n].iter().rposition(|b| *b == b'\n');
        self.row = last.map_or(self.row + n as u64, |last| (n - last) as u64);
        if self.row > limits::ROW_BYTES {
            let message = format!("a row is longer than {} MiB", limits::ROW_BYTES >> 20);
            return Err(io::Error::new(ErrorKind::FileTooLarge, message));
        }
        Ok(n)
    }
}
