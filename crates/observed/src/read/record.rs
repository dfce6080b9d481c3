//! One record of a shape: which of its keys are there, and their values by what they mean.

use std::borrow::Cow;

use super::json::{Event, Events, Scalar};
use super::shape::{Field, Shape};
use crate::form::{Losses, tokens};

/// A value of a record.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cell {
    Null,
    Number(f64),
    /// A place in the record's texts.
    Text {
        from: usize,
        to: usize,
    },
    Flag(bool),
}

/// Keys whose order is remembered.
const MOST_KEYS: usize = 256;

/// A record, filled again for each one.
pub struct Record {
    shape: &'static Shape,
    /// For each field its places in the shape.
    places: Vec<Vec<usize>>,
    cells: Vec<Option<Cell>>,
    texts: String,
    /// The keys of the record before with their places: mostly the next one has the same, in
    /// the same order, and none is looked up.
    order: Vec<(String, Option<usize>)>,
    /// How many of them this record has had.
    had: usize,
}

impl Record {
    pub fn new(shape: &'static Shape) -> Self {
        let mut places = vec![Vec::new(); Field::COUNT];
        for (place, (_, field, _)) in shape.fields.iter().enumerate() {
            places[*field as usize].push(place);
        }
        let cells = vec![None; shape.fields.len()];
        Self { shape, places, cells, texts: String::new(), order: Vec::new(), had: 0 }
    }

    /// Whether a record of this shape lies at a path.
    pub fn begins(&self, path: &str) -> bool {
        self.shape.records.contains(&path)
    }

    /// A new one begins.
    pub fn clear(&mut self) {
        self.cells.fill(None);
        self.texts.clear();
        self.had = 0;
    }

    /// The place of a key in the shape; `None` where nothing asks for it.
    pub fn place(&mut self, key: &str) -> Option<usize> {
        // Items of a list have one key.
        for at in [Some(self.had), self.had.checked_sub(1)].into_iter().flatten() {
            if let Some((known, place)) = self.order.get(at)
                && known == key
            {
                self.had = at + 1;
                return *place;
            }
        }
        let place = self.shape.fields.iter().position(|(known, ..)| *known == key);
        if let Some((known, there)) = self.order.get_mut(self.had) {
            known.clear();
            known.push_str(key);
            *there = place;
            self.had += 1;
        } else if self.order.len() < MOST_KEYS {
            self.order.push((key.to_owned(), place));
            self.had += 1;
        }
        place
    }

    /// What a place of the shape means.
    pub fn field(&self, place: usize) -> Field {
        self.shape.fields[place].1
    }

    /// Whether a place has a value.
    pub fn has(&self, place: usize) -> bool {
        self.cells[place].is_some()
    }

    /// Sets a place's value.
    pub fn set(&mut self, place: usize, scalar: Scalar<'_>) {
        self.cells[place] = Some(match scalar {
            Scalar::Null => Cell::Null,
            Scalar::Flag(flag) => Cell::Flag(flag),
            Scalar::Number(x) => Cell::Number(x),
            Scalar::Text(text) => {
                let from = self.texts.len();
                self.texts.push_str(text);
                Cell::Text { from, to: self.texts.len() }
            }
        });
    }

    /// The cells of a field that are there, in the shape's order, with their factors.
    pub fn cells(&self, field: Field) -> impl Iterator<Item = (Cell, f64)> {
        let places = self.places[field as usize].iter();
        places.filter_map(|place| Some((self.cells[*place]?, self.shape.fields[*place].2)))
    }

    /// A field's number.
    pub fn number(&self, field: Field) -> Option<f64> {
        self.cells(field).find_map(|(cell, factor)| match cell {
            Cell::Number(x) if x.is_finite() => Some(x * factor),
            // Times in words, and numbers that were quoted.
            Cell::Text { from, to } => {
                super::clock::moment(&self.texts[from..to]).map(|x| x * factor)
            }
            _ => None,
        })
    }

    /// A field's number of tokens.
    pub fn count(&self, field: Field, losses: &mut Losses, line: u64) -> Option<u64> {
        let count = tokens(self.number(field)?);
        if count.is_none() {
            losses.add("impossible numbers of tokens: taken as unknown", line);
        }
        count
    }

    /// The sum of a field's parts, tokens.
    pub fn sum(&self, field: Field) -> Option<u64> {
        let parts = self.cells(field).filter_map(|(cell, _)| match cell {
            Cell::Number(x) => tokens(x),
            _ => None,
        });
        parts.fold(None, |sum, part| Some(sum.unwrap_or(0) + part))
    }

    /// A field's text.
    pub fn text(&self, field: Field) -> Option<Cow<'_, str>> {
        self.cells(field).find_map(|(cell, _)| match cell {
            Cell::Text { from, to } if from < to => Some(Cow::Borrowed(&self.texts[from..to])),
            Cell::Number(x) => Some(Cow::Owned(x.to_string())),
            _ => None,
        })
    }

    /// The session's id, in a field of its own or in the request's parameters.
    pub fn session(&self) -> Option<Cow<'_, str>> {
        self.text(Field::Session).or_else(|| {
            let parameters = self.text(Field::Parameters)?;
            let mut events = Events::new(false);
            let mut found = None;
            events.push(parameters.as_bytes(), &mut |event, _| {
                if let Event::Scalar(
                    "conversation_id" | "session_params.id" | "session_id",
                    Scalar::Text(id),
                ) = event
                {
                    found = Some(Cow::Owned(id.to_owned()));
                }
            });
            found
        })
    }
}
