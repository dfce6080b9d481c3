//! JSON as a stream of events, of any size and as it is found in the field: several values
//! after another, NaN and Infinity, records cut off or glued to the next.

use std::borrow::Cow;
use std::collections::BTreeSet;

use memchr::memchr3;

use super::lines::whole_number;

/// A scalar.
#[derive(Debug, Clone, PartialEq)]
pub enum Scalar<'a> {
    Null,
    Flag(bool),
    /// NaN and Infinity too.
    Number(f64),
    Text(&'a str),
}

/// What the stream holds next. Paths join keys by dots, items of a list are `[]`.
pub enum Event<'a> {
    /// An object begins at this path.
    Open(&'a str),
    /// The object at this path ends.
    Close(&'a str),
    /// A scalar at this path.
    Scalar(&'a str, Scalar<'a>),
    /// A record could not be read to its end, for this reason.
    Broken(&'static str),
}

/// Bytes of a text that are kept.
const TEXT: usize = 1 << 20;
/// Containers within containers.
const DEPTH: usize = 64;

#[derive(Debug, Clone, Copy, PartialEq)]
enum State {
    /// A value, or the end of an empty list.
    Value,
    Key,
    Colon,
    /// A comma or an end.
    After,
    Text {
        key: bool,
    },
    Word,
    /// To the next line.
    Skip,
}

/// Bytes of a number or word.
const WORD: usize = 64;

/// Which bytes end a number or word.
const ENDS: [bool; 256] = {
    let mut ends = [false; 256];
    let marks = b",]} \n\r\t{[\"";
    let mut i = 0;
    while i < marks.len() {
        ends[marks[i] as usize] = true;
        i += 1;
    }
    ends
};

/// Cuts a stream into events. A sink takes each with the line that it is on, from 1.
pub struct Events {
    /// Whether each record is on a line of its own: then a line's end ends what is broken.
    lines: bool,
    state: State,
    /// Where the path of each container begins; whether it is an object.
    stack: Vec<(usize, bool)>,
    path: String,
    /// The beginning of a text or word that a piece broke off.
    buffer: Vec<u8>,
    escaped: bool,
    line: u64,
}

impl Events {
    pub fn new(lines: bool) -> Self {
        let (stack, path, buffer) = (Vec::new(), String::new(), Vec::new());
        Self { lines, state: State::Value, stack, path, buffer, escaped: false, line: 1 }
    }

    fn broken(&mut self, why: &'static str, sink: &mut impl FnMut(Event<'_>, u64)) {
        sink(Event::Broken(why), self.line);
        self.reset();
        self.state = State::Skip;
    }

    fn reset(&mut self) {
        self.stack.clear();
        self.path.clear();
        self.buffer.clear();
        self.escaped = false;
        self.state = State::Value;
    }

    /// The next bytes.
    pub fn push(&mut self, mut bytes: &[u8], sink: &mut impl FnMut(Event<'_>, u64)) {
        while let Some(byte) = bytes.first().copied() {
            match self.state {
                State::Skip => {
                    let Some(end) = memchr::memchr(b'\n', bytes) else { return };
                    bytes = &bytes[end..];
                    self.state = State::Value;
                }
                State::Text { key } => bytes = self.text(bytes, key, sink),
                State::Word => bytes = self.word(bytes, sink),
                _ => match byte {
                    b'\n' => {
                        self.newline(sink);
                        bytes = &bytes[1..];
                    }
                    byte if byte.is_ascii_whitespace() => bytes = &bytes[1..],
                    byte => {
                        self.mark(byte, sink);
                        // A word begins with this byte.
                        bytes = &bytes[usize::from(self.state != State::Word)..];
                    }
                },
            }
        }
    }

    fn newline(&mut self, sink: &mut impl FnMut(Event<'_>, u64)) {
        if self.lines && !self.stack.is_empty() {
            sink(Event::Broken("records cut off within the file"), self.line);
            self.reset();
        }
        self.line += 1;
    }

    fn mark(&mut self, byte: u8, sink: &mut impl FnMut(Event<'_>, u64)) {
        let in_object = self.stack.last().map(|(_, object)| *object);
        match (self.state, byte) {
            (State::Value, b'{') => self.open(true, sink),
            (State::Value, b'[') => self.open(false, sink),
            (State::Value, b'"') => self.state = State::Text { key: false },
            (State::Value, b']') if in_object == Some(false) => self.close(sink),
            (State::Value, b',') if in_object.is_none() => {}
            (State::Value, b'-' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z') => {
                self.state = State::Word;
            }
            (State::Key, b'"') => self.state = State::Text { key: true },
            (State::Key, b'}') => self.close(sink),
            (State::Colon, b':') => self.state = State::Value,
            (State::After, b',') => {
                self.state = if in_object == Some(true) { State::Key } else { State::Value };
            }
            (State::After, b'}') if in_object == Some(true) => self.close(sink),
            (State::After, b']') if in_object == Some(false) => self.close(sink),
            _ => self.broken("records that are no JSON", sink),
        }
    }

    fn open(&mut self, object: bool, sink: &mut impl FnMut(Event<'_>, u64)) {
        if self.stack.len() == DEPTH {
            return self.broken("records nested too deeply", sink);
        }
        if object {
            sink(Event::Open(&self.path), self.line);
        }
        self.stack.push((self.path.len(), object));
        self.state = State::Key;
        if !object {
            self.path.push_str("[]");
            self.state = State::Value;
        }
    }

    fn close(&mut self, sink: &mut impl FnMut(Event<'_>, u64)) {
        let Some((start, object)) = self.stack.pop() else { return };
        self.path.truncate(start);
        if object {
            sink(Event::Close(&self.path), self.line);
        }
        self.ended();
    }

    /// A value has ended.
    fn ended(&mut self) {
        self.state = State::After;
        match self.stack.last() {
            Some((start, true)) => self.path.truncate(*start),
            Some((_, false)) => {}
            None => self.state = State::Value,
        }
    }

    fn text<'b>(
        &mut self,
        bytes: &'b [u8],
        key: bool,
        sink: &mut impl FnMut(Event<'_>, u64),
    ) -> &'b [u8] {
        if self.escaped {
            self.escaped = false;
            self.keep(&bytes[..1]);
            return &bytes[1..];
        }
        let mut end = 0;
        let (end, escapes) = loop {
            let Some(mark) = memchr3(b'"', b'\\', b'\n', &bytes[end..]) else {
                self.keep(bytes);
                return &[];
            };
            match (bytes[end + mark], bytes.len() - end - mark) {
                (b'\\', 1) => {
                    self.keep(bytes);
                    self.escaped = true;
                    return &[];
                }
                (b'\\', _) => end += mark + 2,
                _ => break (end + mark, end > 0),
            }
        };
        if bytes[end] == b'\n' {
            // No text goes over a line: this one was cut off.
            sink(Event::Broken("records cut off within the file"), self.line);
            self.reset();
            self.line += 1;
        } else if self.buffer.is_empty() {
            // Mostly it lies in one piece, and is not copied.
            self.whole(&bytes[..end.min(TEXT)], escapes, key, sink);
        } else {
            self.keep(&bytes[..end]);
            let mut raw = std::mem::take(&mut self.buffer);
            self.whole(&raw, true, key, sink);
            raw.clear();
            self.buffer = raw;
        }
        &bytes[end + 1..]
    }

    /// A text is there, with escapes or without: a key, or a value.
    fn whole(
        &mut self,
        raw: &[u8],
        escapes: bool,
        key: bool,
        sink: &mut impl FnMut(Event<'_>, u64),
    ) {
        let plain =
            std::str::from_utf8(raw).map_or_else(|_| String::from_utf8_lossy(raw), Cow::Borrowed);
        let text = if escapes { Cow::Owned(unescaped(&plain)) } else { plain };
        if key {
            let start = self.stack.last().map_or(0, |(start, _)| *start);
            self.path.truncate(start);
            if start > 0 {
                self.path.push('.');
            }
            self.path.push_str(&text);
            self.state = State::Colon;
        } else {
            sink(Event::Scalar(&self.path, Scalar::Text(&text)), self.line);
            self.ended();
        }
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = TEXT.saturating_sub(self.buffer.len());
        self.buffer.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    fn word<'b>(&mut self, bytes: &'b [u8], sink: &mut impl FnMut(Event<'_>, u64)) -> &'b [u8] {
        let end = bytes.iter().position(|byte| ENDS[usize::from(*byte)]);
        let (word, rest) = bytes.split_at(end.unwrap_or(bytes.len()));
        if self.buffer.len() + word.len() > WORD {
            self.broken("records that are no JSON", sink);
        } else if end.is_none() {
            self.buffer.extend_from_slice(word);
        } else if self.buffer.is_empty() {
            self.scalar(word, sink);
        } else {
            let mut whole = std::mem::take(&mut self.buffer);
            whole.extend_from_slice(word);
            self.scalar(&whole, sink);
            whole.clear();
            self.buffer = whole;
        }
        rest
    }

    fn scalar(&mut self, word: &[u8], sink: &mut impl FnMut(Event<'_>, u64)) {
        match scalar_of(word) {
            Some(scalar) => {
                sink(Event::Scalar(&self.path, scalar), self.line);
                self.ended();
            }
            None => self.broken("records that are no JSON", sink),
        }
    }

    /// The stream has ended.
    pub fn finish(&mut self, sink: &mut impl FnMut(Event<'_>, u64)) {
        if !self.stack.is_empty() || matches!(self.state, State::Text { .. }) {
            sink(Event::Broken("records cut off at the end"), self.line);
        }
        self.reset();
    }
}

fn scalar_of(word: &[u8]) -> Option<Scalar<'static>> {
    if let Some(x) = whole_number(word) {
        return Some(Scalar::Number(x));
    }
    Some(match word {
        b"null" | b"None" => Scalar::Null,
        b"true" | b"True" => Scalar::Flag(true),
        b"false" | b"False" => Scalar::Flag(false),
        b"NaN" | b"nan" => Scalar::Number(f64::NAN),
        b"Infinity" | b"inf" => Scalar::Number(f64::INFINITY),
        b"-Infinity" | b"-inf" => Scalar::Number(f64::NEG_INFINITY),
        digits => Scalar::Number(fast_float2::parse(digits).ok()?),
    })
}

/// A text with its escapes spelled out; what is no escape stays as it is.
fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
        out.push_str(&rest[..at]);
        let mut chars = rest[at + 1..].chars();
        match chars.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some('u') => {
                let digits: String = chars.by_ref().take(4).collect();
                let code = u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32);
                out.push(code.unwrap_or('\u{fffd}'));
            }
            Some(c) => out.push(c),
            None => {}
        }
        rest = chars.as_str();
    }
    out.push_str(rest);
    out
}

/// Whether a source has a record per line: its first line is a value of its own, or the file
/// is one line that ends it.
pub(crate) fn is_lines(head: &[u8]) -> bool {
    let Some(end) = memchr::memchr(b'\n', head) else { return false };
    let mut events = Events::new(false);
    let (mut broken, mut scalars) = (false, 0);
    events.push(&head[..end], &mut |event, _| match event {
        Event::Broken(_) => broken = true,
        Event::Scalar(..) => scalars += 1,
        _ => {}
    });
    !broken && scalars > 0 && events.stack.is_empty()
}

/// The paths of the scalars and objects at the beginning of a source; `None` where it is none.
pub fn paths(head: &[u8]) -> Option<BTreeSet<String>> {
    let mut events = Events::new(is_lines(head));
    let mut paths = BTreeSet::new();
    let mut broken = 0;
    events.push(head, &mut |event, _| match event {
        Event::Open(path) | Event::Scalar(path, _)
            if paths.len() < 4000 && !paths.contains(path) =>
        {
            paths.insert(path.to_owned());
        }
        Event::Broken(_) => broken += 1,
        _ => {}
    });
    (broken < 1 + paths.len()).then_some(paths)
}
