//! A file of recorded sessions, of whatever format: told from its first characters.

use std::io::{self, BufRead, BufReader, Read};

use csv::ByteRecord;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use crate::objects::{Next, Objects, broken, next, said, torn};
use crate::reading::{Fault, Names, Reading, Receiver, ShortRows, UpToTheCut, Why};
use crate::row::{Fields, Inputs};
use crate::rows::Rows;
use crate::session::{Format, Session};
use crate::{spans, table, turn_arrays, weka};

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
    let mut source =
        BufReader::with_capacity(1 << 16, UpToTheCut::new(source, receiver.ends_early.clone()));
    let first = first_byte(&mut source).map_err(|e| receiver.unreadable(e))?;
    match first {
        None => return Err(receiver.malformed(1, "expected sessions, found an empty file")),
        Some(0xfe | 0xff) => return Err(receiver.malformed(1, "UTF-16: write it as UTF-8")),
        Some(b'{' | b'[') => objects(&mut source, inputs, &mut receiver)?,
        Some(_) => rows_of_text(&mut source, inputs, &mut receiver)?,
    }
    if receiver.ends_early.get() && !receiver.reading.cut {
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

/// What the objects of a file are; all of them are alike.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Weka,
    TurnArrays,
    Spans,
    Row(Format),
}

/// The keys by which the objects of a file are told apart.
#[derive(serde::Deserialize)]
struct Keys<S> {
    #[serde(default)]
    requests: Option<IgnoredAny>,
    #[serde(default)]
    num_turns: Option<IgnoredAny>,
    #[serde(default, rename = "resourceSpans", alias = "resource_spans", alias = "spans")]
    spans: Option<S>,
    #[serde(flatten)]
    others: Map<String, Value>,
}

fn kind_of(text: &[u8]) -> serde_json::Result<Option<Kind>> {
    let keys: Keys<Vec<IgnoredAny>> = match serde_json::from_slice(text) {
        // A row may have something else under that name.
        Err(e) if e.is_data() => {
            let keys: Keys<IgnoredAny> = serde_json::from_slice(text)?;
            Keys {
                requests: keys.requests,
                num_turns: keys.num_turns,
                spans: None,
                others: keys.others,
            }
        }
        keys => keys?,
    };
    Ok(match keys {
        Keys { requests: Some(_), .. } => Some(Kind::Weka),
        Keys { num_turns: Some(_), .. } => Some(Kind::TurnArrays),
        Keys { spans: Some(_), .. } => Some(Kind::Spans),
        Keys { others, .. } => Fields::new(others).format().map(Kind::Row),
    })
}

fn objects(source: impl BufRead, inputs: Inputs, receiver: &mut Receiver<'_>) -> Result<(), Fault> {
    let mut objects = Objects::new(source);
    match next(&mut objects, receiver)? {
        Next::Object(line) => {
            let kind = kind_of(objects.bytes());
            let expected = "expected sessions (objects with requests or num_turns), spans (objects with \
                            resourceSpans or spans) or rows with session_id, chat_id or input_length";
            match kind.map_err(|e| broken(receiver, line, &e))? {
                None => Err(receiver.malformed(line, expected)),
                Some(Kind::Spans) => spans::read(objects, line, inputs, receiver),
                Some(Kind::Row(format)) => rows(objects, line, inputs, format, receiver),
                Some(kind) => sessions(objects, line, kind, receiver),
            }
        }
        Next::Torn(line) => {
            torn(objects.bytes(), line, receiver)?;
            receiver.leave_out(line, None, 0, Why::Cut, "the file ends inside this session");
            Ok(())
        }
        Next::End { .. } => Err(receiver.malformed(1, "expected sessions, found none")),
    }
}

/// Objects that are a session each.
fn sessions<R: BufRead>(
    mut objects: Objects<R>,
    mut line: u64,
    kind: Kind,
    receiver: &mut Receiver<'_>,
) -> Result<(), Fault> {
    let format = if kind == Kind::Weka { Format::Weka } else { Format::TurnArrays };
    receiver.reading.format = Some(format);
    loop {
        one_session(objects.bytes(), line, kind, receiver)?;
        match next(&mut objects, receiver)? {
            Next::Object(next) => line = next,
            Next::Torn(line) => {
                torn(objects.bytes(), line, receiver)?;
                let name = name_of(objects.bytes());
                let message = "the file ends inside this session";
                receiver.leave_out(line, name, 0, Why::Cut, message);
                return Ok(());
            }
            Next::End { cut } => {
                receiver.reading.cut |= cut;
                return Ok(());
            }
        }
    }
}

fn one_session(
    text: &[u8],
    line: u64,
    kind: Kind,
    receiver: &mut Receiver<'_>,
) -> Result<(), Fault> {
    let unnamed = format!("{}:{line}", receiver.reading.file);
    let parse = |text: &[u8]| match kind {
        Kind::Weka => weka::sessions(text, &unnamed),
        _ => turn_arrays::session(text, &unnamed).map(|session| vec![session]),
    };
    let found = match parse(text) {
        Ok(found) => found,
        Err(error) if error.is_data() => {
            if kind_of(text).is_ok_and(|found| found != Some(kind)) {
                let format = receiver.reading.format.map_or("", Format::word);
                let message = format!("expected a session of {format}, as before it");
                return Err(receiver.malformed(line, message));
            }
            let name = name_of(text).or(Some(unnamed));
            receiver.leave_out(line, name, 0, Why::BadValue, said(&error));
            return Ok(());
        }
        Err(error) => return Err(broken(receiver, line, &error)),
    };
    let mut lost: Vec<String> = Vec::new();
    for session in found {
        let parent = session.parent.as_ref().map(|parent| &parent.session);
        let id = session.id.clone();
        if parent.is_some_and(|parent| lost.contains(parent)) {
            let turns = session.turns.len();
            let message = "the session that started it is left out";
            receiver.leave_out(line, Some(session.id), turns, Why::BadValue, message);
            lost.push(id);
        } else if !receiver.offer(line, session)? {
            lost.push(id);
        }
    }
    Ok(())
}

/// The name in an object that is not readable as a session, or not to its end.
fn name_of(text: &[u8]) -> Option<String> {
    const KEY: &[u8] = b"\"id\"";
    let at = text.windows(KEY.len()).position(|window| window == KEY)?;
    let value = text[at + KEY.len()..].trim_ascii_start().strip_prefix(b":")?;
    let mut values = serde_json::Deserializer::from_slice(value).into_iter::<Value>();
    let id = values.next()?.ok()?;
    Some(id.as_str().map_or_else(|| id.to_string(), str::to_owned))
}

/// Objects that are a request each.
fn rows<R: BufRead>(
    mut objects: Objects<R>,
    mut line: u64,
    inputs: Inputs,
    format: Format,
    receiver: &mut Receiver<'_>,
) -> Result<(), Fault> {
    let mut rows = Rows::new(receiver, inputs, format);
    loop {
        let fields = serde_json::from_slice(objects.bytes());
        let fields = fields.map_err(|e| broken(rows.receiver(), line, &e))?;
        rows.push(line, &Fields::new(fields))?;
        match next(&mut objects, rows.receiver())? {
            Next::Object(next) => line = next,
            Next::Torn(line) => {
                torn(objects.bytes(), line, rows.receiver())?;
                rows.cut(line);
                return rows.end();
            }
            Next::End { cut } => {
                rows.receiver().reading.cut |= cut;
                return rows.end();
            }
        }
    }
}

fn rows_of_text(
    source: impl Read,
    inputs: Inputs,
    receiver: &mut Receiver<'_>,
) -> Result<(), Fault> {
    let mut text = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .from_reader(ShortRows::new(source));
    let mut record = ByteRecord::new();
    text.read_byte_record(&mut record).map_err(|e| receiver.csv(e))?;
    let cell = |cell: &[u8]| String::from_utf8_lossy(cell.trim_ascii()).into_owned();
    let names: Vec<String> = record.iter().map(cell).collect();
    if table::is_header(&names) {
        return table::read(&mut text, &names, receiver);
    }
    let header = names.iter().map(|name| (name.clone(), Value::from("?"))).collect();
    let Some(format) = Fields::new(header).format() else {
        let message = "expected JSON objects, or a header with session and turn, or with \
                       session_id, chat_id or input_length";
        return Err(receiver.malformed(1, message));
    };
    let mut rows = Rows::new(receiver, inputs, format);
    let mut short = None;
    while text.read_byte_record(&mut record).map_err(|e| rows.receiver().csv(e))? {
        let line = record.position().map_or(0, csv::Position::line);
        if let Some((line, found)) = short {
            let message = format!("expected {} fields, found {found}", names.len());
            return Err(rows.receiver().malformed(line, message));
        }
        if record.len() != names.len() {
            // The last row of a file that is cut, unless another follows.
            short = Some((line, record.len()));
            continue;
        }
        let values = record.iter().map(|value| Value::from(cell(value)));
        rows.push(line, &Fields::new(names.iter().cloned().zip(values).collect()))?;
    }
    if let Some((line, _)) = short {
        rows.cut(line);
    }
    rows.end()
}
