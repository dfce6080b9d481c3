//! JSON objects out of a stream: one a file, one a line, or the items of a list, each as its
//! bytes. What is held is one object.

use std::io::{self, BufRead};

use serde::de::IgnoredAny;

use crate::limits;
use crate::reading::{Fault, Receiver};

/// What comes next in a stream.
pub(crate) enum Next {
    /// An object, which begins on this line.
    Object(u64),
    /// The stream ends inside an object that begins on this line.
    Torn(u64),
    /// The end, which may be that of a list that is not closed.
    End { cut: bool },
}

/// Why there is no next object.
pub(crate) enum Stop {
    /// The bytes do not come.
    Io(io::Error),
    /// On this line is something else.
    Wrong(u64, String),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

pub(crate) struct Objects<R> {
    source: R,
    scan: Scan,
    object: Vec<u8>,
}

impl<R: BufRead> Objects<R> {
    pub fn new(source: R) -> Self {
        Self { source, scan: Scan::new(), object: Vec::new() }
    }

    /// The bytes of the object that was found last.
    pub fn bytes(&self) -> &[u8] {
        &self.object
    }

    /// Finds the next object.
    pub fn advance(&mut self) -> Result<Next, Stop> {
        self.object.clear();
        loop {
            let chunk = self.source.fill_buf()?;
            if chunk.is_empty() {
                return Ok(match self.scan.depth {
                    0 => Next::End { cut: self.scan.list == List::Open },
                    _ => Next::Torn(self.scan.began),
                });
            }
            let mut from = 0;
            let mut last = None;
            for (i, byte) in chunk.iter().enumerate() {
                match self.scan.step(*byte) {
                    Step::Keep => {}
                    Step::Skip => from = i + 1,
                    Step::Last => {
                        last = Some(i + 1);
                        break;
                    }
                    Step::Wrong => return Err(Stop::Wrong(self.scan.line, wrong(*byte))),
                }
            }
            let used = last.unwrap_or(chunk.len());
            self.object.extend_from_slice(&chunk[from..used]);
            self.source.consume(used);
            if self.object.len() as u64 > limits::FILE_BYTES {
                let most = limits::FILE_BYTES >> 20;
                let message = format!("expected an object of at most {most} MiB, found a larger");
                return Err(Stop::Wrong(self.scan.began, message));
            }
            if last.is_some() {
                if std::mem::take(&mut self.scan.no_json) {
                    self.object = without_nan(&self.object);
                }
                return Ok(Next::Object(self.scan.began));
            }
        }
    }
}

pub(crate) fn next<R: BufRead>(
    objects: &mut Objects<R>,
    receiver: &Receiver<'_>,
) -> Result<Next, Fault> {
    objects.advance().map_err(|stop| match stop {
        Stop::Io(error) => receiver.unreadable(error),
        Stop::Wrong(line, message) => receiver.malformed(line, message),
    })
}

/// A text that is no JSON, on its line of the file.
pub(crate) fn broken(receiver: &Receiver<'_>, began: u64, error: &serde_json::Error) -> Fault {
    let line = began + (error.line() as u64).saturating_sub(1);
    receiver.malformed(line, format!("not readable as JSON: {}", said(error)))
}

/// What serde_json says, without the place, which counts from the object.
pub(crate) fn said(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    let (said, column) = (text.trim_end_matches(&place), error.column());
    if error.line() == 1 { format!("{said} (column {column})") } else { said.to_owned() }
}

/// The last object has no end: either the file was cut, or the object is broken before that.
pub(crate) fn torn(text: &[u8], line: u64, receiver: &mut Receiver<'_>) -> Result<(), Fault> {
    receiver.reading.cut = true;
    let last = text.rsplit(|b| *b == b'\n').next().unwrap_or_default();
    let lines = text.iter().filter(|b| **b == b'\n').count() + 1;
    match serde_json::from_slice::<IgnoredAny>(text) {
        // Half a number is none, where it ends.
        Err(e) if e.is_eof() || (e.line(), e.column()) >= (lines, last.len()) => Ok(()),
        Err(error) => Err(broken(receiver, line, &error)),
        Ok(_) => Ok(()),
    }
}

fn wrong(byte: u8) -> String {
    match char::from(byte) {
        c if c.is_ascii_graphic() => format!("expected a JSON object, found {c:?}"),
        _ => "expected a JSON object, found bytes that are no text".to_owned(),
    }
}

#[derive(PartialEq)]
enum List {
    Unknown,
    None,
    Open,
    Closed,
}

enum Step {
    Keep,
    Skip,
    Last,
    Wrong,
}

/// Where in a text one is.
struct Scan {
    line: u64,
    /// The line that the object begins on.
    began: u64,
    depth: u64,
    list: List,
    string: bool,
    escaped: bool,
    /// Whether the object holds a letter that only NaN and Infinity have.
    no_json: bool,
}

impl Scan {
    fn new() -> Self {
        Self {
            line: 1,
            began: 1,
            depth: 0,
            list: List::Unknown,
            string: false,
            escaped: false,
            no_json: false,
        }
    }

    fn step(&mut self, byte: u8) -> Step {
        self.line += u64::from(byte == b'\n');
        if self.string {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.string = false,
                _ => {}
            }
            return Step::Keep;
        }
        if self.depth == 0 {
            return self.between(byte);
        }
        match byte {
            b'"' => self.string = true,
            b'{' => self.depth += 1,
            b'}' => self.depth -= 1,
            b'N' | b'I' => self.no_json = true,
            _ => {}
        }
        if self.depth == 0 { Step::Last } else { Step::Keep }
    }

    fn between(&mut self, byte: u8) -> Step {
        match (byte, &self.list) {
            (b'{', List::Unknown | List::None | List::Open) => {
                if self.list == List::Unknown {
                    self.list = List::None;
                }
                self.depth = 1;
                self.began = self.line;
                return Step::Keep;
            }
            (b'[', List::Unknown) => self.list = List::Open,
            (b']', List::Open) => self.list = List::Closed,
            (b',', List::Open) => {}
            (byte, _) if byte.is_ascii_whitespace() => {}
            _ => return Step::Wrong,
        }
        Step::Skip
    }
}

/// Python writes NaN and infinities, which are no JSON: the same text with null for each.
fn without_nan(text: &[u8]) -> Vec<u8> {
    const WORDS: [&[u8]; 3] = [b"-Infinity", b"Infinity", b"NaN"];
    let mut scan = Scan::new();
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let word = WORDS.iter().find(|word| !scan.string && text[at..].starts_with(word));
        match word {
            Some(word) => {
                out.extend_from_slice(b"null");
                at += word.len();
            }
            None => {
                scan.step(text[at]);
                out.push(text[at]);
                at += 1;
            }
        }
    }
    out
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::io::BufReader;

    use super::*;

    fn objects(text: &str, capacity: usize) -> (Vec<(u64, String)>, String) {
        let mut objects = Objects::new(BufReader::with_capacity(capacity, text.as_bytes()));
        let mut found = Vec::new();
        loop {
            match objects.advance() {
                Ok(Next::Object(line)) => {
                    found.push((line, String::from_utf8(objects.bytes().to_vec()).unwrap()));
                }
                Ok(Next::Torn(line)) => return (found, format!("torn {line}")),
                Ok(Next::End { cut }) => return (found, format!("end {cut}")),
                Err(Stop::Wrong(line, message)) => return (found, format!("{line}: {message}")),
                Err(Stop::Io(error)) => return (found, error.to_string()),
            }
        }
    }

    #[test]
    fn objects_come_a_line_each_or_as_a_list_or_over_many_lines() {
        let two = vec![(1, "{\"a\":1}".to_owned()), (2, "{\"b\":{}}".to_owned())];
        for (text, end) in [
            ("{\"a\":1}\n{\"b\":{}}", "end false"),
            ("{\"a\":1}\r\n{\"b\":{}}\n\n", "end false"),
            ("[{\"a\":1},\n{\"b\":{}}]\n", "end false"),
            ("[{\"a\":1},\n{\"b\":{}}", "end true"),
            ("{\"a\":1}\n{\"b\":{}} {\"c\":", "torn 2"),
            ("{\"a\":1}\n{\"b\":{}}\n,", "3: expected a JSON object, found ','"),
        ] {
            for capacity in [1, 3, 1 << 10] {
                assert_eq!(objects(text, capacity), (two.clone(), end.to_owned()), "{text}");
            }
        }
        let (found, _) = objects("\n{\n\"a\": [\n{}]\n}\n{}", 7);
        assert_eq!(found[0], (2, "{\n\"a\": [\n{}]\n}".to_owned()));
        assert_eq!(found[1], (6, "{}".to_owned()));
    }

    #[test]
    fn braces_and_quotes_in_a_text_are_text() {
        let text = r#"{"a":"}{\"}\\"}"#;
        assert_eq!(objects(text, 2).0, vec![(1, text.to_owned())]);
    }

    #[test]
    fn nan_and_infinities_become_null_unless_they_are_text() {
        let text: &[u8] = br#"{"a":NaN,"b":[-Infinity,Infinity],"NaN":"NaN"}"#;
        let expected = br#"{"a":null,"b":[null,null],"NaN":"NaN"}"#;
        assert_eq!(without_nan(text), expected);
    }
}
