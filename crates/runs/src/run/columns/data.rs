//! The values of a column, known or not.

use std::ops::Range;

use super::{Type, count_at, number_at, parse_count, parse_number};
use crate::limits;

/// The values of one column.
#[derive(Debug)]
pub enum Data {
    /// Texts, empty where there is none.
    Text(Texts),
    /// Whole numbers.
    Count(Counts),
    /// Finite numbers.
    Number(Numbers),
}

/// A column of whole numbers, of at most [`limits::COUNT`].
pub type Counts = Values<u64>;

/// A column of finite numbers.
pub type Numbers = Values<f64>;

/// A column of values of which some are unknown: those are kept as a value that no known one
/// has. An `Option` takes twice the room, and a run's tables are filled and read only once.
#[derive(Debug)]
pub struct Values<T>(Vec<T>);

/// What stands for an unknown value among known ones.
pub trait Unknown: Copy {
    /// No known value is this one.
    const UNKNOWN: Self;

    /// Whether it is that one.
    fn is_unknown(self) -> bool;
}

impl Unknown for u64 {
    const UNKNOWN: Self = Self::MAX;

    #[inline]
    fn is_unknown(self) -> bool {
        self == Self::UNKNOWN
    }
}

impl Unknown for f64 {
    const UNKNOWN: Self = Self::NAN;

    #[inline]
    fn is_unknown(self) -> bool {
        self.is_nan()
    }
}

impl<T: Unknown> Values<T> {
    /// Appends one. What no column of its kind may hold is unknown.
    #[inline]
    pub fn push(&mut self, value: Option<T>) {
        self.0.push(value.unwrap_or(T::UNKNOWN));
    }

    /// Appends fields, empty ones as unknown; false at the first that does not fit.
    #[inline]
    fn push_fields(
        &mut self,
        mut fields: impl Iterator<Item = Range<usize>>,
        needed: bool,
        parse: impl Fn(Range<usize>) -> Result<T, String>,
    ) -> bool {
        fields.all(|field| {
            let value = if field.is_empty() { Some(T::UNKNOWN) } else { parse(field).ok() };
            let value = value.filter(|value| !(needed && value.is_unknown()));
            self.0.extend(value);
            value.is_some()
        })
    }

    /// The value of row `i`.
    #[inline]
    pub fn get(&self, i: usize) -> Option<T> {
        known(self.0[i])
    }

    /// The values in order of their rows.
    pub fn iter(&self) -> impl Iterator<Item = Option<T>> {
        self.0.iter().copied().map(known)
    }
}

#[inline]
fn known<T: Unknown>(value: T) -> Option<T> {
    (!value.is_unknown()).then_some(value)
}

/// A column of texts in one allocation.
#[derive(Debug, Default)]
pub struct Texts {
    bytes: String,
    /// Where each begins and ends: no table holds 4 GiB of text.
    places: Vec<(u32, u32)>,
}

impl Texts {
    /// Appends one.
    #[inline]
    pub fn push(&mut self, text: &str) {
        let start = self.bytes.len();
        self.bytes.push_str(text);
        self.places.push((start as u32, self.bytes.len() as u32));
    }

    /// Appends the last one again, if it is that; most words of a column are.
    #[inline]
    fn push_again(&mut self, text: &[u8]) -> bool {
        let last = self.places.last().copied();
        let last = last.filter(|place| same(&self.bytes.as_bytes()[range(*place)], text));
        self.places.extend(last);
        last.is_some()
    }

    /// Whether there is room for more, within what a table may hold.
    pub fn has_room(&self) -> bool {
        self.bytes.len() as u64 <= limits::FILE_BYTES
    }

    /// The text of row `i`.
    #[inline]
    pub fn get(&self, i: usize) -> &str {
        &self.bytes[range(self.places[i])]
    }
}

/// Whether two texts are the same; short ones are compared without a call.
#[inline]
fn same(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    match a.len() {
        2..=3 => a.first_chunk::<2>() == b.first_chunk::<2>() && a.last() == b.last(),
        4..=8 => {
            a.first_chunk::<4>() == b.first_chunk::<4>()
                && a.last_chunk::<4>() == b.last_chunk::<4>()
        }
        _ => a == b,
    }
}

#[inline]
fn range((start, end): (u32, u32)) -> std::ops::Range<usize> {
    start as usize..end as usize
}

impl Data {
    /// With room for so many rows.
    pub fn with_capacity(ty: Type, rows: usize) -> Self {
        match ty {
            Type::Text | Type::Word(_) => {
                Self::Text(Texts { bytes: String::new(), places: Vec::with_capacity(rows) })
            }
            Type::Count => Self::Count(Values(Vec::with_capacity(rows))),
            Type::Number => Self::Number(Values(Vec::with_capacity(rows))),
        }
    }

    /// Appends a value given as text. `None` is an empty field.
    ///
    /// # Errors
    /// It does not fit the column: what was expected.
    #[inline]
    pub fn push(&mut self, value: Option<&[u8]>) -> Result<(), String> {
        match self {
            Self::Text(texts) => {
                let value = value.unwrap_or_default();
                if !texts.push_again(value) {
                    let text = std::str::from_utf8(value).map_err(|_| "expected UTF-8 text")?;
                    texts.push(text);
                }
            }
            Self::Count(counts) => counts.push(value.map(parse_count).transpose()?),
            Self::Number(numbers) => numbers.push(value.map(parse_number).transpose()?),
        }
        Ok(())
    }

    /// Appends the fields at these places of a text; false where one does not fit, or is empty
    /// and needed. What came before that one is appended.
    pub(super) fn push_fields(
        &mut self,
        text: &[u8],
        mut fields: impl Iterator<Item = Range<usize>>,
        needed: bool,
    ) -> bool {
        match self {
            Self::Text(texts) => fields.all(|field| {
                let value = &text[field];
                let is_there = !(needed && value.is_empty());
                let again = is_there && texts.push_again(value);
                again || is_there && std::str::from_utf8(value).map(|text| texts.push(text)).is_ok()
            }),
            Self::Count(counts) => counts.push_fields(fields, needed, |at| count_at(text, at)),
            Self::Number(numbers) => numbers.push_fields(fields, needed, |at| number_at(text, at)),
        }
    }

    pub(super) fn retain(&mut self, keep: &[bool]) {
        match self {
            Self::Text(texts) => {
                let mut kept = Texts::default();
                for (row, _) in keep.iter().enumerate().filter(|(_, keep)| **keep) {
                    kept.push(texts.get(row));
                }
                *texts = kept;
            }
            Self::Count(counts) => keep_of(&mut counts.0, keep),
            Self::Number(numbers) => keep_of(&mut numbers.0, keep),
        }
    }

    pub(super) fn truncate(&mut self, rows: usize) {
        match self {
            Self::Text(texts) => {
                texts.places.truncate(rows);
                texts.bytes.truncate(texts.places.last().map_or(0, |place| range(*place).end));
            }
            Self::Count(counts) => counts.0.truncate(rows),
            Self::Number(numbers) => numbers.0.truncate(rows),
        }
    }
}

/// Keeps the values whose place says so.
pub(super) fn keep_of<T>(values: &mut Vec<T>, keep: &[bool]) {
    let mut keep = keep.iter();
    values.retain(|_| keep.next().is_some_and(|keep| *keep));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(ty: Type, values: &[&str]) -> Data {
        let mut data = Data::with_capacity(ty, values.len());
        for value in values {
            data.push(Some(value.as_bytes()).filter(|value| !value.is_empty())).unwrap();
        }
        data
    }

    #[test]
    fn the_largest_count_is_known_and_an_empty_field_is_not_0() {
        let most = limits::COUNT.to_string();
        let Data::Count(counts) = column(Type::Count, &["0", "", &most]) else { panic!() };
        assert_eq!(counts.iter().collect::<Vec<_>>(), [Some(0), None, Some(limits::COUNT)]);
        let Data::Number(numbers) = column(Type::Number, &["", "0", "-1e308"]) else { panic!() };
        assert_eq!([0, 1, 2].map(|row| numbers.get(row)), [None, Some(0.0), Some(-1e308)]);
    }

    #[test]
    fn no_text_reads_as_the_value_that_stands_for_unknown() {
        for text in ["18446744073709551615", "NaN", "nan", "-1"] {
            let mut data = Data::with_capacity(Type::Count, 1);
            assert!(data.push(Some(text.as_bytes())).is_err(), "{text}");
        }
        for text in ["NaN", "-nan", "inf"] {
            let mut data = Data::with_capacity(Type::Number, 1);
            assert!(data.push(Some(text.as_bytes())).is_err(), "{text}");
        }
    }

    #[test]
    fn texts_of_any_length_are_the_same_only_byte_by_byte() {
        for length in 0..20 {
            let text: Vec<u8> = (0..length).map(|i| b'a' + i).collect();
            assert!(same(&text, &text) && !same(&text, &[&text, &b"a"[..]].concat()));
            for place in 0..text.len() {
                let mut other = text.clone();
                other[place] = b'Z';
                assert!(!same(&text, &other), "{length} bytes, at {place}");
            }
        }
    }

    #[test]
    fn rows_that_are_left_out_leave_the_others_as_they_are() {
        let keep = [true, false, true, true];
        let mut texts = column(Type::Text, &["base", "base", "", "burst"]);
        texts.retain(&keep);
        texts.truncate(2);
        assert!(texts.push(Some(b"base")).is_ok());
        let Data::Text(texts) = texts else { panic!() };
        assert_eq!([0, 1, 2].map(|row| texts.get(row)), ["base", "", "base"]);
        let mut counts = column(Type::Count, &["1", "2", "", "4"]);
        counts.retain(&keep);
        counts.truncate(2);
        let Data::Count(counts) = counts else { panic!() };
        assert_eq!(counts.iter().collect::<Vec<_>>(), [Some(1), None]);
    }
}
