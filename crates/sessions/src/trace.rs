//! A file of recorded sessions, of whatever format: told from its first characters.

use std::collections::BTreeSet;
use std::io::{self, BufRead, BufReader, Read};

use csv::ByteRecord;

use crate::reading::{Fault, Reading, Receiver, UpToTheCut, Why};
use crate::session::Session;
use crate::table;

/// The names of the sessions that were read so far: over several files, each is read once.
pub type Names = BTreeSet<String>;

/// What a row's input length counts, where a row is a request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Inputs {
    /// The whole prompt.
    #[default]
    Whole,
    /// What is new: the prompt is the previous one, its answer, and this.
    New,
}

/// Reads a file, which is already unpacked, and hands each of its sessions to `take`.
///
/// # Errors
/// The file is of no format that is read here or breaks its own, its bytes do not come, or
/// `take` fails. What was handed on before stays handed on.
pub fn read(
    file: &str,
    source: impl Read,
    inputs: Inputs,
    names: &mut Names,
    take: &mut dyn FnMut(Session) -> io::Result<()>,
) -> Result<Reading, Fault> {
    let mut receiver = Receiver::new(file, names, take);
    let mut source = BufReader::with_capacity(1 << 16, UpToTheCut::new(source));
    let first = first_byte(&mut source).map_err(|e| receiver.unreadable(e))?;
    match first {
        None => return Err(receiver.malformed(1, "expected sessions, found an empty file")),
        Some(0xfe | 0xff) => return Err(receiver.malformed(1, "UTF-16: write it as UTF-8")),
        Some(b'{' | b'[') => todo!("{inputs:?}"),
        Some(_) => rows_of_text(&mut source, &mut receiver)?,
    }
    if source.get_ref().cut && !receiver.reading.cut {
        receiver.reading.cut = true;
        receiver.leave_out(0, None, 0, Why::Cut, "the packed stream ends early");
    }
    Ok(receiver.reading)
}

/// The first character, after a byte-order mark and blanks, which are skipped.
fn first_byte(source: &mut impl BufRead) -> io::Result<Option<u8>> {
    if source.fill_buf()?.starts_with(b"\xef\xbb\xbf") {
        source.consume(3);
    }
    Ok(source.fill_buf()?.iter().copied().find(|b| !b.is_ascii_whitespace()))
}

fn rows_of_text(source: impl Read, receiver: &mut Receiver<'_>) -> Result<(), Fault> {
    let mut text = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(source);
    let mut header = ByteRecord::new();
    text.read_byte_record(&mut header).map_err(|e| receiver.csv(e))?;
    let name = |name: &[u8]| String::from_utf8_lossy(name.trim_ascii()).into_owned();
    let names: Vec<String> = header.iter().map(name).collect();
    if table::is_header(&names) {
        return table::read(&mut text, &names, receiver);
    }
    Err(receiver.malformed(1, "expected JSON objects, or a header with session and turn"))
}
