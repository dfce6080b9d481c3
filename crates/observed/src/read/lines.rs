//! Lines out of a stream: `\n` ends one, a `\r` before it goes; in a log a `\r` alone ends one
//! too (progress bars), and what colours a terminal is left out.

use std::borrow::Cow;

use memchr::memmem::Finder;
use memchr::{memchr, memchr2};

use super::Parse;
use crate::form::{Losses, Observed};

/// Bytes of a line that are kept; longer ones are counted and left out.
const LINE: usize = 1 << 20;

/// What reads lines.
pub(crate) trait LineReader {
    /// A line without its end. `ended` is false for a last one without a newline.
    fn line(&mut self, number: u64, line: &[u8], ended: bool);
    /// What was read.
    fn finish(self) -> Observed;
}

/// Cuts a stream into lines.
pub struct Lines<T> {
    reader: T,
    is_log: bool,
    /// The beginning of a line that goes on.
    begun: Vec<u8>,
    number: u64,
    too_long: bool,
    dropped: Losses,
}

impl<T: LineReader> Lines<T> {
    pub fn new(reader: T, is_log: bool) -> Self {
        let dropped = Losses::default();
        Self { reader, is_log, begun: Vec::new(), number: 0, too_long: false, dropped }
    }

    fn line(&mut self, line: &[u8], ended: bool) {
        self.number += 1;
        if std::mem::take(&mut self.too_long) || line.len() > LINE {
            self.dropped.add("lines longer than 1 MiB", self.number);
            return;
        }
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if !self.is_log {
            self.reader.line(self.number, line, ended);
            return;
        }
        if memchr2(0x1b, b'\r', line).is_none() {
            return self.reader.line(self.number, line, ended);
        }
        let plain = without_colours(line);
        plain.split(|b| *b == b'\r').for_each(|part| self.reader.line(self.number, part, ended));
    }
}

impl<T: LineReader> Parse for Lines<T> {
    fn push(&mut self, mut bytes: &[u8]) {
        while let Some(end) = memchr(b'\n', bytes) {
            if self.begun.is_empty() {
                self.line(&bytes[..end], true);
            } else {
                let mut line = std::mem::take(&mut self.begun);
                line.extend_from_slice(&bytes[..end]);
                self.line(&line, true);
            }
            bytes = &bytes[end + 1..];
        }
        if self.begun.len() <= LINE {
            self.begun.extend_from_slice(bytes);
        } else {
            self.too_long = true;
        }
    }

    fn finish(mut self: Box<Self>) -> Observed {
        let rest = std::mem::take(&mut self.begun);
        if !rest.is_empty() {
            self.line(&rest, false);
        }
        let mut observed = self.reader.finish();
        observed.dropped.add_all(self.dropped);
        observed
    }
}

/// A line without the escape sequences that colour a terminal.
fn without_colours(line: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = memchr(0x1b, rest) {
        plain.extend_from_slice(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(sequence) = rest.strip_prefix(b"[") {
            let end = sequence.iter().position(|b| (0x40..0x7f).contains(b));
            rest = end.map_or(&[][..], |end| &sequence[end + 1..]);
        }
    }
    plain.extend_from_slice(rest);
    plain
}

/// Texts that mark a line, with what each means; searched for in one order.
pub struct Marks<T: 'static>(Vec<(Finder<'static>, &'static T)>);

impl<T> Marks<T> {
    /// Made once: a search costs little then.
    pub fn new(marks: &'static [(&'static str, T)]) -> Self {
        Self(marks.iter().map(|(text, mark)| (Finder::new(*text), mark)).collect())
    }

    /// The first one that a line has, with up to 80 bytes of what follows it.
    pub fn of<'a>(&self, line: &'a [u8]) -> Option<(&'static T, Cow<'a, str>)> {
        self.0.iter().find_map(|(finder, mark)| {
            let rest = &line[finder.find(line)? + finder.needle().len()..];
            Some((*mark, String::from_utf8_lossy(&rest[..rest.len().min(80)])))
        })
    }
}

/// A number of at most fifteen digits and nothing else: it is exact in binary too.
pub(crate) fn whole_number(digits: &[u8]) -> Option<f64> {
    let whole = (1..=15).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit);
    let number = || digits.iter().fold(0_u64, |x, digit| 10 * x + u64::from(digit - b'0'));
    whole.then(|| number() as f64)
}

/// A number with an optional unit behind it: `97.3%`, `12 reqs`, `178,880 tokens`, `nan`.
pub fn number(text: &str) -> Option<f64> {
    let text = text.trim();
    let bytes = text.as_bytes();
    if let Some(x) = whole_number(bytes) {
        return Some(x);
    }
    let of_number = |b: &u8| {
        b.is_ascii_digit()
            || matches!(b, b',' | b'.' | b'+' | b'-' | b'e' | b'E')
            || matches!(b, b'n' | b'a' | b'i' | b'f' | b'N' | b'A' | b'I')
    };
    let end = bytes.iter().position(|b| !of_number(b)).unwrap_or(bytes.len());
    let of_words = |b: &u8| matches!(b, b',' | b'.' | b'e' | b'E' | b'n' | b'a' | b'i' | b'f');
    let end = bytes[..end].iter().rposition(|b| !of_words(b)).map_or(0, |last| last + 1);
    let digits = &text[..end];
    let plain;
    let digits = if digits.contains(',') {
        plain = digits.replace(',', "");
        &plain
    } else {
        digits
    };
    fast_float2::parse::<f64, _>(digits).ok().filter(|x| x.is_finite())
}

/// A `name: value` pair.
pub fn pair(piece: &str) -> Option<(&str, &str)> {
    let (name, value) = piece.split_once(':')?;
    Some((name.trim(), value.trim()))
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn numbers_are_read_with_their_units_separators_and_words_behind_them() {
        for (text, value) in [
            ("12 reqs", Some(12.0)),
            ("97.3%", Some(97.3)),
            ("0.0%.", Some(0.0)),
            ("178,880 tokens, Maximum", Some(178_880.0)),
            (" 84032", Some(84_032.0)),
            ("1.7408e+07", Some(17_408_000.0)),
            ("-3", Some(-3.0)),
            ("5e", Some(5.0)),
            ("12345678901234567890", Some(12_345_678_901_234_567_000.0)),
            ("nan%", None),
            ("False", None),
            ("", None),
            ("inf", None),
        ] {
            assert_eq!(number(text), value, "{text:?}");
        }
    }
}
