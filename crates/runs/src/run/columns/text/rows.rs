//! The rows of a csv text, as parts of the text itself. Only a row with quotes is copied.

use std::borrow::Cow;
use std::ops::Range;

use csv_core::ReadRecordResult;

use crate::limits::ROW_BYTES;

/// Goes through a text row by row.
pub struct Rows<'t> {
    text: &'t [u8],
    /// Where the next row begins.
    at: usize,
    /// The line it begins on, from 1.
    line: u64,
    /// Where the last row begins that is not blank, if it has no newline in it.
    last: usize,
    /// For rows with quotes. Only \n ends a row: other separators occur inside values.
    quotes: csv_core::Reader,
}

/// Rows that follow each other and have nothing special about them: no quotes, the same number
/// of fields, and more rows behind them.
#[derive(Default)]
pub struct Block<'t> {
    /// The line that the first of them begins on.
    pub line: u64,
    /// From its beginning on.
    pub text: &'t [u8],
    /// Where its fields begin, one byte behind the one before; where the next row would, too.
    starts: Vec<u32>,
    width: usize,
    /// Where it begins in the whole text.
    at: usize,
}

impl Block<'_> {
    /// Number of rows.
    pub fn len(&self) -> usize {
        (self.starts.len() - 1) / self.width
    }

    /// Where the fields of a column lie in the text, row by row.
    #[inline]
    pub fn column(&self, at: usize) -> impl Iterator<Item = Range<usize>> {
        let starts = |from: usize| self.starts[from..].iter().step_by(self.width);
        starts(at).zip(starts(at + 1)).map(|(from, next)| *from as usize..*next as usize - 1)
    }
}

/// One row.
#[derive(Default)]
pub struct Row<'t> {
    /// The line it begins on.
    pub line: u64,
    bytes: Cow<'t, [u8]>,
    /// Where each field ends in `bytes`.
    ends: Vec<usize>,
    /// Bytes between one field and the next.
    between: usize,
}

impl Row<'_> {
    /// Number of fields.
    #[inline]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Field `i`, without quotes.
    #[inline]
    pub fn field(&self, i: usize) -> &[u8] {
        let start = if i == 0 { 0 } else { self.ends[i - 1] + self.between };
        &self.bytes[start..self.ends[i]]
    }

    /// The fields in order.
    pub fn fields(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).map(|i| self.field(i))
    }

    /// Whether a quoted field goes over several lines.
    pub(crate) fn has_newline(&self) -> bool {
        self.bytes.contains(&b'\n')
    }

    #[inline]
    fn is_blank(&self) -> bool {
        self.len() == 1 && matches!(self.field(0), b"" | b"\r")
    }

    #[inline]
    fn strip_carriage_return(&mut self) {
        if let Some(last) = self.len().checked_sub(1).filter(|i| self.field(*i).ends_with(b"\r")) {
            self.ends[last] -= 1;
        }
    }
}

/// What comes next in a text.
#[derive(Debug, PartialEq, Eq)]
pub enum Step {
    /// A row, which is not blank.
    Row,
    /// A row that no newline ends.
    LastRow,
    /// Nothing.
    End,
    /// A row of more than [`ROW_BYTES`].
    TooLong,
}

impl<'t> Rows<'t> {
    /// The rows of a text.
    pub fn new(text: &'t [u8]) -> Self {
        let quotes =
            csv_core::ReaderBuilder::new().terminator(csv_core::Terminator::Any(b'\n')).build();
        let last = memchr::memrchr(b'\n', text.trim_ascii_end()).map_or(0, |newline| newline + 1);
        Self { text, at: 0, line: 1, last, quotes }
    }

    /// Reads rows of `width` fields, at most so many; false if the next one has something special
    /// about it, or is the last.
    pub fn block(&mut self, width: usize, most: usize, block: &mut Block<'t>) -> bool {
        let rest = self.text.get(self.at..self.last).unwrap_or_default();
        block.starts.clear();
        block.starts.push(0);
        (block.text, block.line, block.at, block.width) = (rest, self.line, self.at, width);
        let (words, tail) = rest.as_chunks();
        let mut last = [u8::MAX; 8];
        last[..tail.len()].copy_from_slice(tail);
        // Of whole rows: where the one after them begins, and how many fields there are.
        let (mut bytes, mut fields) = (0, 0);
        'rows: for (i, word) in words.iter().chain([&last]).enumerate() {
            let mut marks = low_bytes(*word);
            while marks != 0 {
                let at = 8 * i + marks.trailing_zeros() as usize / 8;
                match rest[at] {
                    b',' => block.starts.push(at as u32 + 1),
                    b'\n' => {
                        let has_all = block.starts.len() == fields + width;
                        let is_odd = at == bytes || rest[at - 1] == b'\r';
                        if !has_all || is_odd || (at - bytes) as u64 > ROW_BYTES {
                            break 'rows;
                        }
                        block.starts.push(at as u32 + 1);
                        (bytes, fields) = (at + 1, fields + width);
                        if fields == most * width {
                            break 'rows;
                        }
                    }
                    b'"' => break 'rows,
                    _ => {}
                }
                marks &= marks - 1;
            }
        }
        block.starts.truncate(fields + 1);
        self.at += bytes;
        self.line += block.len() as u64;
        fields > 0
    }

    /// Goes back to the beginning of a block.
    pub(crate) fn back_to(&mut self, block: &Block<'_>) {
        (self.at, self.line) = (block.at, block.line);
    }

    /// Reads the next row that is not blank, without its carriage return.
    #[inline]
    pub fn next(&mut self, row: &mut Row<'t>) -> Step {
        loop {
            row.line = self.line;
            row.ends.clear();
            let step = self.plain(row).unwrap_or_else(|| self.quoted(row));
            if matches!(step, Step::End | Step::TooLong) || !row.is_blank() {
                row.strip_carriage_return();
                return step;
            }
        }
    }

    /// Reads a row without quotes; `None` where it has one.
    fn plain(&mut self, row: &mut Row<'t>) -> Option<Step> {
        let rest = &self.text[self.at..];
        if rest.is_empty() {
            return Some(Step::End);
        }
        let (mut end, mut step) = (rest.len(), Step::LastRow);
        let (words, tail) = rest.as_chunks();
        let mut last = [u8::MAX; 8];
        last[..tail.len()].copy_from_slice(tail);
        'row: for (i, word) in words.iter().chain([&last]).enumerate() {
            let mut marks = low_bytes(*word);
            while marks != 0 {
                let at = 8 * i + marks.trailing_zeros() as usize / 8;
                match rest[at] {
                    b',' => row.ends.push(at),
                    b'\n' => {
                        (end, step) = (at, Step::Row);
                        break 'row;
                    }
                    b'"' => return None,
                    _ => {}
                }
                marks &= marks - 1;
            }
        }
        if end as u64 > ROW_BYTES {
            return Some(Step::TooLong);
        }
        row.ends.push(end);
        (row.bytes, row.between) = (Cow::Borrowed(&rest[..end]), 1);
        let newline = usize::from(step == Step::Row);
        self.at += end + newline;
        self.line += newline as u64;
        Some(step)
    }

    /// Reads a row with quotes.
    fn quoted(&mut self, row: &mut Row<'t>) -> Step {
        let (mut bytes, mut ends) = (vec![0; 1 << 8], vec![0; 1 << 5]);
        let (mut read, mut written, mut fields) = (0, 0, 0);
        self.quotes.set_line(self.line);
        let step = loop {
            let rest = &self.text[self.at + read..];
            let (result, n_read, n_written, n_fields) =
                self.quotes.read_record(rest, &mut bytes[written..], &mut ends[fields..]);
            read += n_read;
            written += n_written;
            fields += n_fields;
            match result {
                ReadRecordResult::Record if rest.is_empty() => break Step::LastRow,
                ReadRecordResult::Record => break Step::Row,
                ReadRecordResult::End => break Step::End,
                // Once more, on nothing: that ends the row.
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::OutputFull => bytes.resize(2 * bytes.len(), 0),
                ReadRecordResult::OutputEndsFull => ends.resize(2 * ends.len(), 0),
            }
            if read as u64 > ROW_BYTES {
                return Step::TooLong;
            }
        };
        self.at += read;
        self.line = self.quotes.line();
        bytes.truncate(written);
        row.ends.clear();
        row.ends.extend(&ends[..fields]);
        (row.bytes, row.between) = (Cow::Owned(bytes), 0);
        step
    }
}

/// The highest bit of each byte that is a comma or less, and with it any mark that may end a
/// field; now and then of another byte. Eight at a time, because most fields are shorter.
#[inline]
fn low_bytes(word: [u8; 8]) -> u64 {
    const EACH: u64 = u64::from_le_bytes([1; 8]);
    const ABOVE: u64 = EACH * (b',' as u64 + 1);
    let word = u64::from_le_bytes(word);
    word.wrapping_sub(ABOVE) & !word & (EACH << 7)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each row's line and fields.
    fn rows(text: &str) -> Vec<(u64, Vec<String>)> {
        let (mut rows, mut row, mut all) = (Rows::new(text.as_bytes()), Row::default(), Vec::new());
        while !matches!(rows.next(&mut row), Step::End | Step::TooLong) {
            let text = |field: &[u8]| String::from_utf8_lossy(field).into_owned();
            all.push((row.line, row.fields().map(text).collect()));
        }
        all
    }

    #[test]
    fn rows_are_those_of_a_csv_reader_with_and_without_quotes() {
        let texts = [
            "a,b\n1,2\n",
            "a,b\n\n\n1,2\n\r\n3,\n,\n",
            "a,b\r\n1,2\r\n",
            "a\n\"x\"\n\"\"\ny\n",
            "a,b\n\"1,5\",\"say \"\"so\"\"\"\n3,4\n",
            "a,b\n\"over\nlines\",2\n3,4\n\n5,6",
            "in \"the\" middle,b\n\"a\" after,c\n",
            "no,end\n\"open,1\n2,3\n",
            "last,\"quoted\"",
            "last,\"quoted\"\r\n",
            ",,\n\"\",\"\"\n",
        ];
        for text in texts {
            let mut reader = csv::ReaderBuilder::new()
                .has_headers(false)
                .flexible(true)
                .terminator(csv::Terminator::Any(b'\n'))
                .from_reader(text.as_bytes());
            let theirs = reader.records().map(|record| {
                let record = record.expect("UTF-8");
                let mut fields: Vec<String> = record.iter().map(str::to_owned).collect();
                if let Some(last) = fields.last_mut().filter(|last| last.ends_with('\r')) {
                    last.pop();
                }
                fields
            });
            let theirs: Vec<_> = theirs.filter(|fields| *fields != [""]).collect();
            let ours = rows(text).into_iter().map(|(_, fields)| fields);
            assert_eq!(ours.collect::<Vec<_>>(), theirs, "{text:?}");
        }
    }

    #[test]
    fn marks_are_found_wherever_they_lie_among_other_low_bytes() {
        for before in 0..20 {
            let value = "\t !#$%&'()*+-.é\r~".chars().cycle().take(before).collect::<String>();
            for text in [format!("{value},b\n,"), format!("{value}\n"), format!("{value},,")] {
                let expected: Vec<Vec<&str>> =
                    text.lines().map(|line| line.split(',').collect()).collect();
                let expected = expected.into_iter().filter(|fields| *fields != [""]);
                let found: Vec<_> = rows(&text).into_iter().map(|(_, fields)| fields).collect();
                assert_eq!(found, expected.collect::<Vec<_>>(), "{text:?}");
            }
        }
    }

    #[test]
    fn a_row_knows_the_line_it_begins_on() {
        let text = "a,b\n\n\"over\nlines\",2\n\"x\",1\n\n5,6\n\"y\",2";
        let lines: Vec<u64> = rows(text).iter().map(|(line, _)| *line).collect();
        assert_eq!(lines, [1, 3, 5, 7, 8]);
    }

    #[test]
    fn a_long_quoted_field_is_read_whole() {
        let long = "x".repeat(10_000);
        assert_eq!(rows(&format!("\"{long}\",{}\n", "y,".repeat(99)))[0].1.len(), 101);
        assert_eq!(rows(&format!("\"{long}\"\n")), [(1, vec![long])]);
    }
}
