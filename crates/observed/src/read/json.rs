//! JSON as a stream of events, of any size and as it is found in the field: several values
//! after another, NaN and Infinity, records cut off or glued to the next.

use std::collections::BTreeSet;

use memchr::memchr3;

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
    Broken(&'static str, u64),
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

/// Cuts a stream into events.
pub struct Events {
    /// Whether each record is on a line of its own: then a line's end ends what is broken.
    lines: bool,
    state: State,
    /// Where the path of each container begins; whether it is an object.
    stack: Vec<(usize, bool)>,
    path: String,
    buffer: Vec<u8>,
    escaped: bool,
    line: u64,
}

impl Events {
    pub fn new(lines: bool) -> Self {
        let (stack, path, buffer) = (Vec::new(), String::new(), Vec::new());
        Self { lines, state: State::Value, stack, path, buffer, escaped: false, line: 1 }
    }

    /// The line that is being read, from 1.
    pub const fn line(&self) -> u64 {
        self.line
    }

    fn broken(&mut self, why: &'static str, sink: &mut impl FnMut(Event<'_>)) {
        sink(Event::Broken(why, self.line));
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
    pub fn push(&mut self, mut bytes: &[u8], sink: &mut impl FnMut(Event<'_>)) {
        while let Some(byte) = bytes.first().copied() {
            match self.state {
                State::Skip => {
                    let Some(end) = memchr::memchr(b'\n', bytes) else { return };
                    bytes = &bytes[end..];
                    self.state = State::Value;
                }
                State::Text { key } => bytes = self.text(bytes, key, sink),
                State::Word => {
                    let ends = |b: &u8| {
                        matches!(
                            b,
                            b',' | b']' | b'}' | b' ' | b'\n' | b'\r' | b'\t' | b'{' | b'[' | b'"'
                        )
                    };
                    let end = bytes.iter().position(ends).unwrap_or(bytes.len());
                    self.buffer.extend_from_slice(&bytes[..end]);
                    bytes = &bytes[end..];
                    if self.buffer.len() > 64 {
                        self.broken("records that are no JSON", sink);
                    } else if !bytes.is_empty() {
                        self.word(sink);
                    }
                }
                _ => {
                    if byte == b'\n' {
                        self.newline(sink);
                    } else if !byte.is_ascii_whitespace() {
                        self.mark(byte, sink);
                    }
                    bytes = &bytes[1..];
                    if self.state == State::Word {
                        self.buffer.push(byte);
                    }
                }
            }
        }
    }

    fn newline(&mut self, sink: &mut impl FnMut(Event<'_>)) {
        if self.lines && !self.stack.is_empty() {
            sink(Event::Broken("records cut off within the file", self.line));
            self.reset();
        }
        self.line += 1;
    }

    fn mark(&mut self, byte: u8, sink: &mut impl FnMut(Event<'_>)) {
        let in_object = self.stack.last().map(|(_, object)| *object);
        match (self.state, byte) {
            (State::Value, b'{') => self.open(true, sink),
            (State::Value, b'[') => self.open(false, sink),
            (State::Value, b'"') => self.state = State::Text { key: false },
            (State::Value, b']') if in_object == Some(false) => self.close(sink),
            (State::Value, b',') if in_object.is_none() => {}
            (State::Value, b'-' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z') => {
                self.buffer.clear();
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

    fn open(&mut self, object: bool, sink: &mut impl FnMut(Event<'_>)) {
        if self.stack.len() == DEPTH {
            return self.broken("records nested too deeply", sink);
        }
        if object {
            sink(Event::Open(&self.path));
        }
        self.stack.push((self.path.len(), object));
        self.state = State::Key;
        if !object {
            self.path.push_str("[]");
            self.state = State::Value;
        }
    }

    fn close(&mut self, sink: &mut impl FnMut(Event<'_>)) {
        let Some((start, object)) = self.stack.pop() else { return };
        self.path.truncate(start);
        if object {
            sink(Event::Close(&self.path));
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
        sink: &mut impl FnMut(Event<'_>),
    ) -> &'b [u8] {
        if self.escaped {
            self.escaped = false;
            self.keep(&bytes[..1]);
            return &bytes[1..];
        }
        let Some(end) = memchr3(b'"', b'\\', b'\n', bytes) else {
            self.keep(bytes);
            return &[];
        };
        self.keep(&bytes[..end]);
        match bytes[end] {
            b'\\' => {
                self.keep(b"\\");
                self.escaped = true;
            }
            b'\n' => {
                // No text goes over a line: this one was cut off.
                sink(Event::Broken("records cut off within the file", self.line));
                self.reset();
                self.line += 1;
            }
            _ => {
                let raw = std::mem::take(&mut self.buffer);
                let text = unescaped(&raw);
                if key {
                    let start = self.stack.last().map_or(0, |(start, _)| *start);
                    self.path.truncate(start);
                    if start > 0 {
                        self.path.push('.');
                    }
                    self.path.push_str(&text);
                    self.state = State::Colon;
                } else {
                    sink(Event::Scalar(&self.path, Scalar::Text(&text)));
                    self.ended();
                }
                self.buffer = raw;
                self.buffer.clear();
            }
        }
        &bytes[end + 1..]
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = TEXT.saturating_sub(self.buffer.len());
        self.buffer.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    fn word(&mut self, sink: &mut impl FnMut(Event<'_>)) {
        let word = std::mem::take(&mut self.buffer);
        let scalar = match &*word {
            b"null" | b"None" => Some(Scalar::Null),
            b"true" | b"True" => Some(Scalar::Flag(true)),
            b"false" | b"False" => Some(Scalar::Flag(false)),
            b"NaN" | b"nan" => Some(Scalar::Number(f64::NAN)),
            b"Infinity" | b"inf" => Some(Scalar::Number(f64::INFINITY)),
            b"-Infinity" | b"-inf" => Some(Scalar::Number(f64::NEG_INFINITY)),
            digits => fast_float2::parse(digits).ok().map(Scalar::Number),
        };
        match scalar {
            Some(scalar) => {
                sink(Event::Scalar(&self.path, scalar));
                self.ended();
            }
            None => self.broken("records that are no JSON", sink),
        }
        self.buffer = word;
        self.buffer.clear();
    }

    /// The stream has ended.
    pub fn finish(&mut self, sink: &mut impl FnMut(Event<'_>)) {
        if !self.stack.is_empty() || matches!(self.state, State::Text { .. }) {
            sink(Event::Broken("records cut off at the end", self.line));
        }
        self.reset();
    }
}

/// A text with its escapes spelled out; what is no escape stays as it is.
fn unescaped(raw: &[u8]) -> String {
    let text = String::from_utf8_lossy(raw);
    if !text.contains('\\') {
        return text.into_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
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
    }
    out
}

/// Whether a source has a record per line: its first line is a value of its own, or the file
/// is one line that ends it.
pub fn is_lines(head: &[u8]) -> bool {
    let Some(end) = memchr::memchr(b'\n', head) else { return false };
    let mut events = Events::new(false);
    let (mut broken, mut scalars) = (false, 0);
    events.push(&head[..end], &mut |event| match event {
        Event::Broken(..) => broken = true,
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
    events.push(head, &mut |event| match event {
        Event::Open(path) | Event::Scalar(path, _)
            if paths.len() < 4000 && !paths.contains(path) =>
        {
            paths.insert(path.to_owned());
        }
        Event::Broken(..) => broken += 1,
        _ => {}
    });
    (broken < 1 + paths.len()).then_some(paths)
}
