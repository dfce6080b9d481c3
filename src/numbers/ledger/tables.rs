//! A published table with ours under each row, in the same shape.

mod layout;

use std::collections::BTreeSet;

use serde_yaml::Value;

use crate::run::SourceFile;
use crate::table::{Cell, Table};

use super::answers::{Answered, Answers, Basis};
use super::bindings::{Binding, Block, filled};
use super::compare::{Asked, Compared, Own, Stated, Values, compare, of_cells};
use super::comparison::Comparison;
use super::entry::{Entry, Interval, SETTINGS, Status, basis, cause, chance};
use super::published::{Form, PublishedTable, numeric, shown};
use layout::{cells, laid_out};

/// A published table, compared.
pub struct ComparedTable {
    /// A row of the ledger per row of the table.
    pub entries: Vec<Entry>,
    /// Published beside ours; `None` where nothing of the table is bound to a query.
    pub table: Option<Table>,
    /// Bindings that lead nowhere.
    pub broken: Vec<String>,
}

/// A published table and what is asked for its fields.
pub struct AskedTable<'a> {
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
    answered: Option<&'a Answered>,
    binding: Option<&'a Binding>,
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
        let of_fields = fields.filter_map(|field| field.query.as_ref()?.as_ref().ok().cloned());
        of_blocks.chain(of_fields).collect()
    }

    /// Compares every row.
    pub fn compared(&self, answers: &Answers, how: &Comparison) -> ComparedTable {
        let mut out = ComparedTable { entries: Vec::new(), table: None, broken: Vec::new() };
        let (mut rows, mut names): (Vec<_>, Vec<String>) = (Vec::new(), Vec::new());
        for row in &self.rows {
            let fields: Vec<Field<'_>> =
                row.fields.iter().map(|field| row.field(field, answers, how)).collect();
            for field in &fields {
                if let Some(why) = &field.compared.broken {
                    out.broken.push(format!("{}: {}: {why}", row.id, field.name));
                }
                if !names.iter().any(|name| name == field.name) && !field.compared.ours.is_empty() {
                    names.push(field.name.to_owned());
                }
            }
            out.entries.push(self.entry(&row.id, &fields));
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

    /// A row of the ledger: it stands as well as the worst of its fields that were compared.
    fn entry(&self, id: &str, fields: &[Field<'_>]) -> Entry {
        let with = |status: Status| fields.iter().filter(|f| f.compared.status == status).count();
        let compared = fields.iter().filter(|f| f.compared.status.is_compared()).count();
        let order = [
            Status::Differs,
            Status::Consistent,
            Status::Uninformative,
            Status::Reproduced,
            Status::ByConstruction,
            Status::NeedsNova,
        ];
        let status = order.into_iter().find(|status| with(*status) > 0).unwrap_or_default();
        let off: Vec<&Field<'_>> =
            fields.iter().filter(|f| f.compared.status == Status::Differs).collect();
        let gaps: Vec<String> = off
            .iter()
            .map(|f| format!("{} {}", f.name, f.compared.gap).trim_end().to_owned())
            .collect();
        let because = if compared == 0 {
            fields.first().map_or_else(String::new, |f| f.compared.because.clone())
        } else {
            let (agree, all) = (compared - off.len(), fields.len());
            format!("{agree} of {compared} compared fields agree, of {all} in the row")
        };
        let shown_fields =
            || fields.iter().filter(|f| !f.compared.ours.is_empty() || compared == 0);
        let of = |pick: &dyn Fn(&Field<'_>) -> String| {
            let parts = shown_fields().map(|f| format!("{} {}", f.name, pick(f)));
            parts.collect::<Vec<_>>().join("; ")
        };
        let named = |f: &Field<'_>| -> Vec<Interval> {
            let with_field = |interval: &Interval| Interval {
                what: format!("{} {}", f.name, interval.what).replace(" value", ""),
                ..interval.clone()
            };
            f.compared.intervals.iter().map(with_field).collect()
        };
        let agrees_by_chance: f64 = fields.iter().map(|f| 1.0 - f.compared.by_chance).product();
        let causes: Option<Vec<_>> = off.iter().map(|f| cause(&f.compared, f.binding?)).collect();
        let farthest = off.iter().max_by(|a, b| a.compared.apart.total_cmp(&b.compared.apart));
        let directions: BTreeSet<&str> =
            off.iter().map(|f| f.compared.direction.as_str()).collect();
        let words: BTreeSet<Basis> = fields.iter().flat_map(|f| f.basis.iter().copied()).collect();
        let uses = || fields.iter().filter_map(|f| f.answered).map(|answered| &answered.uses);
        let read: BTreeSet<(String, usize, usize)> = uses()
            .flat_map(|uses| &uses.read)
            .filter(|read| read.table != SETTINGS)
            .map(|read| (read.table.clone(), read.rows.len(), read.of))
            .collect();
        Entry {
            id: id.to_owned(),
            section: self.section.clone(),
            place: self.table.place.clone(),
            statement: self.table.title.clone(),
            kind: "table".into(),
            published: of(&|f| f.published.clone()),
            ours: if compared == 0 { String::new() } else { of(&|f| f.compared.ours.clone()) },
            basis: words.iter().map(|b| b.words()).collect::<Vec<_>>().join(" and "),
            status,
            direction: match directions.len() {
                1 => directions.into_iter().collect(),
                _ => String::new(),
            },
            gap: gaps.join("; "),
            apart: farthest.map_or_else(String::new, |f| crate::digits::fixed(f.compared.apart, 3)),
            intervals: fields.iter().flat_map(named).collect(),
            by_chance: chance(1.0 - agrees_by_chance),
            cause: causes.and_then(|causes| causes.into_iter().next()),
            because,
            read: read.into_iter().collect(),
            computed_from: uses()
                .flat_map(|uses| uses.files.iter().cloned())
                .collect::<BTreeSet<_>>()
                .into_iter()
                .collect(),
            ..Entry::default()
        }
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
        let own = || blocks.iter().find_map(|block| block.fields.get(name));
        let binding = own().or_else(|| blocks.iter().find_map(|block| block.of(name)));
        let query = binding.and_then(|binding| binding.query.as_ref());
        Self { name, value, query: query.map(|sql| filled(sql, keys, row)), binding }
    }
}

impl AskedRow<'_> {
    fn field<'f>(
        &'f self,
        field: &'f AskedField<'_>,
        answers: &'f Answers,
        how: &Comparison,
    ) -> Field<'f> {
        let none = Binding::default();
        let (own, answered, form) = match &field.query {
            Some(Err(why)) => return field.unanswered(Compared::broken(why.clone()), how),
            Some(Ok(sql)) => {
                let answered = answers.get(sql);
                let form = answered.and_then(form_of_columns);
                (answered.map(Own::of), answered, form)
            }
            None => match self.of_blocks(field.name, answers, how) {
                Some((own, answered, form)) => (Some(own), Some(answered), form),
                None => (None, None, None),
            },
        };
        let (Some(own), Some(answered)) = (own, answered) else {
            let compared = Compared::unanswered(field.binding.unwrap_or(&none));
            return field.unanswered(compared, how);
        };
        // What is said of every other field is not said of one that is answered.
        let is_answered =
            |binding: &&Binding| binding.needs_nova.is_none() && binding.not_computed.is_none();
        let binding = field.binding.filter(is_answered);
        let form = form.unwrap_or(Form::List);
        let asked = Asked {
            values: stated(field.value),
            form,
            approx: false,
            binding: binding.unwrap_or(&none),
        };
        let compared = compare(&asked, &own, how);
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
            basis: basis(&answered.uses, binding.unwrap_or(&none)),
            sources: answered.uses.sources.clone(),
            compared,
            answered: Some(answered),
            binding,
        }
    }

    /// What the query of one of its blocks gives for a field.
    fn of_blocks<'f>(
        &self,
        field: &str,
        answers: &'f Answers,
        how: &Comparison,
    ) -> Option<(Own, &'f Answered, Option<Form>)> {
        self.blocks.iter().find_map(|block| {
            let answered = answers.get(block.query.as_ref()?)?;
            let (places, form) = match &answered.ours {
                Ok(answer) => places_of(answer, field)?,
                // Every field of the block is broken, each says why.
                Err(_) => (Vec::new(), None),
            };
            let pick = |answer: &Table| self.values(answer, &places, how);
            Some((Own::by(answered, pick), answered, form))
        })
    }

    /// Its values in an answer with a row for each of some published rows.
    fn values(&self, answer: &Table, places: &[usize], how: &Comparison) -> Values {
        let is_own = |cells: &[Cell]| {
            self.keys.iter().all(|key| {
                let published = self.published.iter().find(|(name, _)| name == key);
                match (answer.place(key), published) {
                    (Some(place), Some((_, value))) => is_key(&cells[place], value, how),
                    _ => true,
                }
            })
        };
        let row = answer.rows.iter().find(|row| is_own(&row.cells))?;
        of_cells(&places.iter().map(|place| &row.cells[*place]).collect::<Vec<_>>())
    }
}

impl AskedField<'_> {
    fn unanswered(&self, compared: Compared, how: &Comparison) -> Field<'_> {
        let published = shown(self.value);
        Field {
            name: self.name,
            cells: cells(self.value, Form::List, &published, &compared, how),
            published,
            compared,
            basis: BTreeSet::new(),
            sources: BTreeSet::new(),
            answered: None,
            binding: self.binding,
        }
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
fn is_key(own: &Cell, published: &Value, how: &Comparison) -> bool {
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

/// Which value of a field a column holds, and how its values belong together: `FIELD`,
/// `FIELD_least` and `FIELD_most`, `FIELD_k` and `FIELD_n`, `FIELD_1` and so on.
fn column_form(column: &str, field: &str) -> Option<(usize, Option<Form>)> {
    let rest = column.strip_prefix(field)?;
    match rest {
        "" => return Some((0, None)),
        "_least" => return Some((0, Some(Form::Range))),
        "_most" => return Some((1, Some(Form::Range))),
        "_k" => return Some((0, Some(Form::Of))),
        "_n" => return Some((1, Some(Form::Of))),
        _ => {}
    }
    let place: usize = rest.strip_prefix('_')?.parse().ok()?;
    Some((place.checked_sub(1)?, Some(Form::List)))
}

/// Where an answer holds the values of a field, in order.
fn places_of(answer: &Table, field: &str) -> Option<(Vec<usize>, Option<Form>)> {
    let of = |(place, name): (usize, &str)| {
        let (order, form) = column_form(name, field)?;
        Some((order, place, form))
    };
    let names = answer.columns.iter().map(|column| &*column.name).enumerate();
    let mut found: Vec<_> = names.filter_map(of).collect();
    found.sort_by_key(|(order, ..)| *order);
    let form = found.first()?.2;
    Some((found.into_iter().map(|(_, place, _)| place).collect(), form))
}

/// How the two values of an answer belong together, by the endings of its columns.
fn form_of_columns(answered: &Answered) -> Option<Form> {
    let names: Vec<&str> =
        answered.ours.as_ref().ok()?.columns.iter().map(|column| &*column.name).collect();
    let [first, second] = names[..] else { return None };
    let ends = |name: &str, end: &str| name == end || name.ends_with(&format!("_{end}"));
    if ends(first, "least") && ends(second, "most") {
        Some(Form::Range)
    } else if ends(first, "k") && ends(second, "n") {
        Some(Form::Of)
    } else {
        None
    }
}
