//! A table of another shape: which of its columns answer each field, by a layout.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

use super::super::answer::{self, Answer, Clock, Wrong};
use super::super::problem::Problem;
use super::{CONVERTED, Field, Labels, Located, Place, Presence, missing};
use crate::date;
use crate::setup::layout::{Long, Rule, Words};

/// What answers the columns of one table.
#[derive(Debug, Clone, Copy)]
pub struct Mapping<'a> {
    /// The layout's rules, by the column of format 1.
    pub rules: &'a BTreeMap<String, Rule>,
    /// The clock of absolute times.
    pub clock: Clock,
    /// The rows that are read, by columns of theirs.
    pub only: &'a BTreeMap<String, Words>,
    /// Of a file with a row per metric and moment.
    pub long: Option<&'a Long>,
}

/// Ends a message about a value that does not fit: it is not in the file as it is quoted, or
/// it is a date where none is expected.
pub fn said(message: String, value: &[u8], converted: bool) -> String {
    let is_date = || std::str::from_utf8(value).is_ok_and(|t| date::unix_s(t, 0).is_some());
    match converted {
        true => message + CONVERTED,
        false if is_date() => message + answer::A_DATE,
        false => message,
    }
}

/// A rule with the places of its inputs in the file.
#[derive(Debug)]
pub struct Mapped {
    answer: Answer,
    places: Vec<usize>,
    /// How a problem names each input.
    names: Vec<String>,
}

impl Mapped {
    /// The value of a row, whose fields are given by their place; or how to name what is
    /// wrong with it, and why.
    pub fn value<'v>(
        &'v self,
        field: impl Fn(usize) -> &'v [u8],
    ) -> Result<Option<Cow<'v, str>>, (&'v str, String)> {
        let text = |input: usize| std::str::from_utf8(field(self.places[input]));
        if let Some(input) = (0..self.places.len()).find(|input| text(*input).is_err()) {
            return Err((&self.names[input], "expected UTF-8 text".into()));
        }
        self.answer
            .value(|input| text(input).ok().filter(|text| !text.is_empty()))
            .map_err(|Wrong { input, message }| (self.names[input].as_str(), message))
    }

    /// The places it reads.
    pub fn places(&self) -> &[usize] {
        &self.places
    }
}

impl Mapping<'_> {
    /// How problems name the fields.
    pub fn labels(&self, schema: &[Field]) -> Labels {
        let label = |f: &Field| Some((f.name, answer::label(self.rules.get(f.name)?, f.name)));
        schema.iter().filter_map(label).collect()
    }

    /// Where the inputs of each field are, and which fields lack.
    ///
    /// # Errors
    /// An input that is missing or there twice.
    pub fn locate(
        &self,
        file: &Path,
        names: &[String],
        schema: &[Field],
    ) -> Result<Located, Vec<Problem>> {
        let mut problems = Vec::new();
        let (mut places, mut lacking) = (Vec::new(), Vec::new());
        for field in schema {
            let place = self.place(file, names, field, &mut problems);
            if matches!(place, Place::Lacking) && field.presence != Presence::OfSome {
                lacking.push(field.name);
            }
            places.push(place);
        }
        problems.dedup();
        if problems.is_empty() { Ok((places, lacking)) } else { Err(problems) }
    }

    fn place(
        &self,
        file: &Path,
        names: &[String],
        field: &Field,
        problems: &mut Vec<Problem>,
    ) -> Place {
        // The layout's own check has refused one that leaves out a needed field.
        let Some(rule) = self.rules.get(field.name) else { return Place::Lacking };
        let inputs = answer::inputs(rule);
        let mut places = Vec::new();
        for input in &inputs {
            let mut there = (0..names.len()).filter(|i| names[*i] == **input);
            let label = answer::named(input, field.name);
            match (there.next(), there.next()) {
                (Some(place), None) => places.push(place),
                (Some(_), Some(_)) => {
                    problems.push(Problem::at(file, 1, &label, "this column is there twice"));
                }
                (None, _) if matches!(field.presence, Presence::MayLack | Presence::OfSome) => {}
                (None, _) => problems.push(missing(file, &label, names)),
            }
        }
        if places.len() < inputs.len() {
            return Place::Lacking;
        }
        let names = inputs.iter().map(|input| answer::named(input, field.name)).collect();
        Place::By(Box::new(Mapped { answer: Answer::new(rule, self.clock), places, names }))
    }
}
