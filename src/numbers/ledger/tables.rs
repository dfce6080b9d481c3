//! A published table with ours under each row, in the same shape.

mod beside;
mod columns;
mod layout;
mod row;

use std::collections::BTreeSet;

use serde_yaml::Value;

use crate::run::SourceFile;
use crate::table::{Cell, Table};

use super::StatedCause;
use super::answers::{Answers, Basis, Uses};
use super::beside::Beside;
use super::bindings::{Binding, Block, filled};
use super::cause::cause;
use super::compare::{Asked, Compared, Own, Stated, compare, of_cells};
use super::comparison::ComparisonRules;
use super::entry::{Entry, basis};
use super::moved::told;
use super::published::{Form, PublishedTable, numeric, shown};
use columns::{column_form, form_of_columns, places_of};
use layout::{cells, laid_out};

/// A published table, compared.
pub(crate) struct ComparedTable {
    /// A row of the ledger per row of the table.
    pub entries: Vec<Entry>,
    /// Published beside ours; `None` where nothing of the table is bound to a query.
    pub table: Option<Table>,
    /// Bindings that lead nowhere.
    pub broken: Vec<String>,
}

/// A published table and what is asked for its fields.
pub(crate) struct AskedTable<'a> {
    table: &'a PublishedTable,
    section: String,
    keys: Vec<String>,
    rows: Vec<AskedRow<'a>>,
}

/// A row and what is asked for its fields.
struct AskedRow<'a> {
    id: String,
    keys: &'a [String],
    published: &'a [(String, Value)],
    blocks: Vec<&'a Block>,
    fields: Vec<AskedField<'a>>,
}

/// A field of a row: what is published, and what it is bound to.
struct AskedField<'a> {
    name: &'a str,
    value: &'a Value,
    /// A query of its own, with the row's keys in it.
    query: Option<Result<String, String>>,
    /// What is said of it, with a query or without one.
    binding: Option<&'a Binding>,
    /// What is said of why it differs.
    caused: Option<&'a Binding>,
    /// The query that agrees if that is so, with the row's keys in it.
    agrees: Option<Result<String, String>>,
}

/// One field of one row, compared.
struct Field<'a> {
    name: &'a str,
    published: String,
    compared: Compared,
    /// Published and ours as they are set in the table.
    cells: [Cell; 2],
    basis: BTreeSet<Basis>,
    sources: BTreeSet<SourceFile>,
    uses: Option<&'a Uses>,
    cause: Option<StatedCause>,
    /// That the cause that is stated is contradicted.
    contradicted: Option<String>,
}

impl<'a> AskedTable<'a> {
    /// A published table with its section and blocks, if it has any.
    pub fn of(table: &'a PublishedTable, bound: Option<(&str, &'a [Block])>) -> Self {
        let place = table.place.split(['(', ',']).next().unwrap_or_default().trim();
        let (section, blocks) = bound.unwrap_or((place, &[]));
        let keys = blocks.first().map_or(&[][..], |block| &block.keys[..]);
        let row = |(i, published): (usize, &'a Vec<(String, Value)>)| {
            let blocks: Vec<&Block> =
                blocks.iter().filter(|block| block.holds(published)).collect();
            let keys = blocks.first().map_or(keys, |block| &block.keys[..]);
            let is_asked =
                |(name, value): &&(String, Value)| !keys.contains(name) && !value.is_null();
            let field = |(name, value): &'a (String, Value)| {
                AskedField::of(name, value, keys, published, &blocks)
            };
            AskedRow {
                id: identity(&table.id, keys, published, i),
                fields: published.iter().filter(is_asked).map(field).collect(),
                keys,
                published,
                blocks,
            }
        };
        let rows = table.rows.iter().enumerate().map(row).collect();
        Self { table, section: section.to_owned(), keys: keys.to_vec(), rows }
    }

    /// Every query that it asks.
    pub fn queries(&self) -> Vec<String> {
        let blocks = self.rows.iter().flat_map(|row| &row.blocks);
        let of_blocks = blocks.filter_map(|block| block.query.clone());
        let fields = self.rows.iter().flat_map(|row| &row.fields);
        let own = fields.flat_map(|field| [&field.query, &field.agrees]);
        let of_fields = own.filter_map(|query| query.as_ref()?.as_ref().ok().cloned());
        of_blocks.chain(of_fields).collect()
    }

    /// Compares every row.
    pub fn compared(&self, answers: &Answers, how: &ComparisonRules) -> ComparedTable {
        let mut out = ComparedTable { entries: Vec::new(), table: None, broken: Vec::new() };
        let (mut rows, mut names): (Vec<_>, Vec<String>) = (Vec::new(), Vec::new());
        for row in &self.rows {
            let fields: Vec<Field<'_>> =
                row.fields.iter().map(|field| row.field(field, answers, how)).collect();
            for field in &fields {
                let broken = [&field.compared.broken, &field.contradicted];
                for why in broken.into_iter().flatten() {
                    out.broken.push(format!("{}: {}: {why}", row.id, field.name));
                }
                if !names.iter().any(|name| name == field.name) && !field.compared.ours.is_empty() {
                    names.push(field.name.to_owned());
                }
            }
            out.entries.push(Entry {
                section: self.section.clone(),
                place: self.table.place.clone(),
                statement: self.table.title.clone(),
                ..row::entry(&row.id, &fields)
            });
            rows.push((row.id.clone(), row.published, fields));
        }
        out.broken.extend(self.strange_columns(answers));
        if !names.is_empty() {
            out.table = Some(laid_out(self.table, &self.keys, &names, &rows, how));
        }
        out
    }

    /// Columns of answers that are no field of the table.
    fn strange_columns(&self, answers: &Answers) -> BTreeSet<String> {
        let fields = || self.table.rows.iter().flatten().map(|(name, _)| name.as_str());
        let blocks = self.rows.iter().flat_map(|row| &row.blocks);
        let answers =
            blocks.filter_map(|block| answers.get(block.query.as_ref()?)?.ours.as_ref().ok());
        let columns = answers.flat_map(|answer| &answer.columns);
        let is_strange = |name: &str| !fields().any(|field| column_form(name, field).is_some());
        let strange = columns.filter(|column| is_strange(&column.name));
        strange.map(|c| format!("{}: {}: no field of the table", self.table.id, c.name)).collect()
    }
}

fn identity(table: &str, keys: &[String], row: &[(String, Value)], i: usize) -> String {
    let of = |key: &String| {
        let own = row.iter().find(|(name, _)| name == key);
        own.map(|(_, value)| shown(value)).filter(|text| !text.is_empty())
    };
    let parts: Vec<String> = keys.iter().filter_map(of).collect();
    if parts.is_empty() {
        format!("{table}/{}", i + 1)
    } else {
        format!("{table}/{}", parts.join("/"))
    }
}

impl<'a> AskedField<'a> {
    fn of(
        name: &'a str,
        value: &'a Value,
        keys: &[String],
        row: &[(String, Value)],
        blocks: &[&'a Block],
    ) -> Self {
        let own = || blocks.iter().filter_map(|block| block.fields.get(name));
        let for_all = || blocks.iter().filter_map(|block| block.of(name));
        let said = || own().chain(for_all());
        let binding = said().find(|binding| binding.answers()).or_else(|| said().next());
        let caused = said().find(|binding| binding.cause.is_some());
        let with_keys = |sql: &String| filled(sql, keys, row);
        Self {
            name,
            value,
            query: binding.and_then(|binding| binding.query.as_ref()).map(with_keys),
            binding,
            caused,
            agrees: caused.and_then(|binding| binding.agrees.as_ref()).map(with_keys),
        }
    }
}

impl AskedRow<'_> {
    fn field<'f>(
        &'f self,
        field: &'f AskedField<'_>,
        answers: &'f Answers,
        how: &ComparisonRules,
    ) -> Field<'f> {
        let none = Binding::default();
        if let Some(Err(why)) = &field.query {
            return field.unanswered(Compared::broken(why.clone()), how);
        }
        let of = |which| self.own(field, which, answers, how);
        let Some((own, uses, form)) = of(field.given()) else {
            let compared = Compared::unanswered(field.binding.unwrap_or(&none));
            return field.unanswered(compared, how);
        };
        // What is said of every other field is not said of one that is answered.
        let is_answered =
            |binding: &&Binding| binding.needs_nova.is_none() && binding.not_computed.is_none();
        let binding = field.binding.filter(is_answered);
        let form = form.unwrap_or(Form::List);
        let asked = field.asked(form, binding.unwrap_or(&none));
        let compared = compare(&asked, &own, how);
        let with = field.with().and_then(|which| {
            let ((own, ..), (with, ..)) = of(None).zip(of(Some(which)))?;
            Some(told(&asked, which, &own, &with, how))
        });
        let (cause, contradicted) = match field.cause(&asked, &compared, with, answers, how) {
            Ok(cause) => (cause, None),
            Err(why) => (None, Some(why)),
        };
        let published = match field.value {
            Value::Sequence(items) if items.len() == 2 => {
                items.iter().map(shown).collect::<Vec<_>>().join(form.joint())
            }
            _ => shown(field.value),
        };
        let bound = binding.and_then(|binding| binding.bound);
        let published = match bound {
            Some(side) => format!("{} {published}", side.words()),
            None => published,
        };
        Field {
            name: field.name,
            cells: cells(field.value, form, &published, &compared, how),
            published,
            basis: basis(uses, binding.unwrap_or(&none)),
            sources: uses.sources.clone(),
            compared,
            uses: Some(uses),
            cause,
            contradicted,
        }
    }

    /// What answers a field, by the draws of an ensemble.
    fn own<'f>(
        &self,
        field: &AskedField<'_>,
        which: Option<Beside>,
        answers: &'f Answers,
        how: &ComparisonRules,
    ) -> Option<(Own, &'f Uses, Option<Form>)> {
        let Some(query) = &field.query else {
            return self.of_blocks(field.name, which, answers, how);
        };
        let answered = answers.get(query.as_ref().ok()?)?;
        let form = answered.ours.as_ref().ok().and_then(form_of_columns);
        Some((Own::of(answered, which), &answered.uses, form))
    }

    /// What the query of one of its blocks gives for a field.
    fn of_blocks<'f>(
        &self,
        field: &str,
        which: Option<Beside>,
        answers: &'f Answers,
        how: &ComparisonRules,
    ) -> Option<(Own, &'f Uses, Option<Form>)> {
        self.blocks.iter().find_map(|block| {
            let answered = answers.get(block.query.as_ref()?)?;
            let (places, form, own) = match &answered.ours {
                Ok(answer) => {
                    let (places, form) = places_of(answer, field)?;
                    (places, form, self.own_row(answer, how))
                }
                // Every field of the block is broken, each says why.
                Err(_) => (Vec::new(), None, None),
            };
            let pick = |answer: &Table| {
                let row = &answer.rows[self.own_row(answer, how)?];
                of_cells(&places.iter().map(|place| &row.cells[*place]).collect::<Vec<_>>())
            };
            let uses = answered.uses_of(own);
            Some((Own::by(answered, which, uses, pick), uses, form))
        })
    }

    /// Which row is its own in an answer with one for each of some published rows.
    fn own_row(&self, answer: &Table, how: &ComparisonRules) -> Option<usize> {
        let is_own = |cells: &[Cell]| {
            self.keys.iter().all(|key| {
                let published = self.published.iter().find(|(name, _)| name == key);
                match (answer.place(key), published) {
                    (Some(place), Some((_, value))) => is_key(&cells[place], value, how),
                    _ => true,
                }
            })
        };
        answer.rows.iter().position(|row| is_own(&row.cells))
    }
}

impl AskedField<'_> {
    fn unanswered(&self, compared: Compared, how: &ComparisonRules) -> Field<'_> {
        let published = shown(self.value);
        Field {
            name: self.name,
            cells: cells(self.value, Form::List, &published, &compared, how),
            published,
            compared,
            basis: BTreeSet::new(),
            sources: BTreeSet::new(),
            uses: None,
            cause: None,
            contradicted: None,
        }
    }

    /// What makes it differ.
    ///
    /// # Errors
    /// As [`cause`]; a place in the query that would agree that nothing fills.
    fn cause(
        &self,
        asked: &Asked<'_>,
        compared: &Compared,
        with: Option<Result<String, String>>,
        answers: &Answers,
        how: &ComparisonRules,
    ) -> Result<Option<StatedCause>, String> {
        let none = Binding::default();
        let other = match &self.agrees {
            Some(Err(why)) => return Err(why.clone()),
            Some(Ok(sql)) => answers.get(sql),
            None => None,
        };
        let other = other.map(|other| compare(asked, &Own::of(other, None), how));
        cause(compared, self.caused.unwrap_or(&none), other.as_ref(), with, how)
    }

    /// As it is compared.
    fn asked<'b>(&self, form: Form, binding: &'b Binding) -> Asked<'b> {
        Asked { values: stated(self.value), form, approx: false, binding }
    }

    /// The ensemble that it is held against, if that is not the campaign's.
    fn given(&self) -> Option<Beside> {
        self.binding.and_then(|binding| binding.given)
    }

    /// The ensemble that a cause is held against.
    fn with(&self) -> Option<Beside> {
        self.caused.and_then(|binding| binding.with)
    }
}

fn stated(value: &Value) -> Stated {
    match (numeric(value), value) {
        (Some((numbers, digits)), _) => {
            Stated::Numbers(numbers.into_iter().map(|x| (x, digits)).collect())
        }
        (None, Value::Sequence(items)) => Stated::Words(items.iter().map(shown).collect()),
        (None, one) => Stated::Words(vec![shown(one)]),
    }
}

/// Whether a cell of ours names the same as a published key.
fn is_key(own: &Cell, published: &Value, how: &ComparisonRules) -> bool {
    let number = match own {
        Cell::Number(x, _) => Some(*x),
        Cell::Count(n) => Some(*n as f64),
        _ => None,
    };
    match (number, published.as_f64()) {
        (Some(own), Some(published)) => (own - published).abs() < 1e-9,
        _ => how.plain(&own.print()) == how.plain(&shown(published)),
    }
}
