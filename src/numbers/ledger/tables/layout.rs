//! How a published table is set beside ours.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde_yaml::Value;

use crate::digits::fixed;
use crate::run::SourceFile;
use crate::table::{Cell, Column, Row, Table};

use super::super::bindings::BoundTable;
use super::super::compare::Compared;
use super::super::evaluate::{self, Found, Lack};
use super::super::published::{Form, PublishedTable, numeric, shown};
use super::super::{Status, from_words, in_words, rests_on};
use super::Field;

/// A table with more fields than this is set one field per line, as is one that would be
/// more than half empty: its rows hardly share a field.
const MOST_COLUMNS: usize = 14;

/// The table: two rows per published row, or where that would be too wide or too empty, a
/// field per line.
pub fn laid_out(
    table: &PublishedTable,
    keys: &[String],
    names: &[String],
    rows: &[FieldRow<'_>],
    bound: BoundTable<'_>,
) -> Table {
    let fields = rows.iter().flat_map(|(_, _, fields)| fields);
    let filled = fields.filter(|field| names.contains(&field.name)).count();
    let is_sparse = 2 * filled < names.len() * rows.len();
    if names.len() > MOST_COLUMNS || is_sparse {
        one_below_another(table, keys, rows, bound)
    } else {
        side_by_side(table, keys, names, rows, bound)
    }
}

/// A field as the table shows it: a range by its ends, and the letters that the paper uses
/// for states in the words that ours are in.
pub fn cells(
    value: &Value,
    form: Option<Form>,
    published: &str,
    compared: &Compared,
    found: &Result<Found, Lack>,
    dictionary: &BTreeMap<String, String>,
) -> [Cell; 2] {
    let ours = &compared.ours;
    if let (Some(Form::Range), Some((_, digits))) = (form, numeric(value)) {
        let range = |ends: Vec<String>, whole: &str| match <[String; 2]>::try_from(ends) {
            Ok(ends) => Cell::Range(ends),
            Err(_) => Cell::text(whole),
        };
        let stated = match value {
            Value::Sequence(items) => items.iter().map(shown).collect(),
            _ => Vec::new(),
        };
        let own = found.as_ref().map_or(&[][..], |found| &found.values);
        let own = own.iter().filter_map(|value| match value {
            evaluate::Value::Number(x) => Some(fixed(*x, digits)),
            evaluate::Value::Text(_) => None,
        });
        return [range(stated, published), range(own.collect(), ours)];
    }
    let letter = |word: &str| dictionary.get(word).filter(|_| word.len() == 1);
    let written = match (value, found) {
        (Value::Number(_), _) | (_, Err(_)) => published.to_owned(),
        (_, Ok(_)) => published
            .split(", ")
            .map(|word| letter(word).map_or(word, String::as_str))
            .collect::<Vec<_>>()
            .join(", "),
    };
    [Cell::text(written), Cell::text(ours)]
}

/// A title as a sentence begins.
fn title(table: &PublishedTable, how: &str) -> String {
    let mut letters = table.title.chars();
    let first = letters.next().map(|c| c.to_uppercase().collect::<String>()).unwrap_or_default();
    format!("{first}{} ({}): {how}", letters.as_str(), table.place)
}

fn column(name: &str, is_key: bool, bound: BoundTable<'_>) -> Column {
    let last = name.rsplit('.').next().unwrap_or(name);
    let unit = bound.all.units.get(last).cloned().unwrap_or_default();
    Column {
        name: Cow::Owned(name.replace('.', "_")),
        unit: Cow::Owned(unit),
        meaning: Cow::Borrowed("As the published table has it"),
        is_key,
    }
}

/// One line per field of every row: published, ours, how they stand.
fn one_below_another(
    table: &PublishedTable,
    keys: &[String],
    rows: &[FieldRow<'_>],
    bound: BoundTable<'_>,
) -> Table {
    let mut columns: Vec<Column> = keys.iter().map(|key| column(key, true, bound)).collect();
    // Some of the paper's tables have a column of that name themselves.
    let field = if keys.iter().any(|key| key == "field") { "part" } else { "field" };
    columns.push(column(field, true, bound));
    for name in ["published", "ours", "whose", "status"] {
        columns.push(column(name, false, bound));
    }
    let mut out = Vec::new();
    for (id, own, fields) in rows {
        let known: Vec<Cell> = keys.iter().map(|key| shown_key(own, key)).collect();
        for field in fields.iter().filter(|f| !f.compared.ours.is_empty()) {
            let found = [
                Cell::text(field.name.replace('.', " ")),
                field.cells[0].clone(),
                field.cells[1].clone(),
                Cell::text(from_words(&field.found)),
                Cell::text(field.compared.status.words()),
            ];
            let sources = field
                .found
                .as_ref()
                .map_or_else(|_| Vec::new(), |found| found.uses.sources.iter().cloned().collect());
            out.push(Row {
                key: format!("{id}/{}", field.name),
                cells: known.iter().cloned().chain(found).collect(),
                sources,
            });
        }
    }
    let title = title(table, "published and ours, a field per line");
    Table { name: table.id.replace('.', "_"), title, columns, rows: out }
}

fn shown_key(row: &[(String, Value)], key: &str) -> Cell {
    let value = row.iter().find(|(name, _)| name == key);
    value.map_or(Cell::Empty, |(_, value)| Cell::text(shown(value)))
}

/// A row's identity, its published values and its fields.
pub type FieldRow<'a> = (String, &'a Vec<(String, Value)>, Vec<Field>);

/// Two rows per published row: the paper's and ours.
fn side_by_side(
    table: &PublishedTable,
    keys: &[String],
    names: &[String],
    rows: &[FieldRow<'_>],
    bound: BoundTable<'_>,
) -> Table {
    let mut columns: Vec<Column> = keys.iter().map(|key| column(key, true, bound)).collect();
    columns.push(column("whose", true, bound));
    columns.extend(names.iter().map(|name| column(name, false, bound)));
    for name in ["fields_compared", "fields_that_agree", "fields_that_differ"] {
        columns.push(column(name, false, bound));
    }
    let mut out = Vec::new();
    for (id, own, fields) in rows {
        let known: Vec<Cell> = keys.iter().map(|key| shown_key(own, key)).collect();
        let of = |pick: &dyn Fn(&Field) -> Cell| -> Vec<Cell> {
            names
                .iter()
                .map(|name| fields.iter().find(|f| f.name == *name).map_or(Cell::Empty, pick))
                .collect()
        };
        let compared: Vec<&Field> = fields.iter().filter(|f| !f.compared.ours.is_empty()).collect();
        let (agree, differ): (Vec<&Field>, Vec<&Field>) = compared
            .iter()
            .partition(|f| matches!(f.compared.status, Status::Reproduced | Status::Replicated));
        let differ: Vec<&str> = differ.iter().map(|f| f.name.as_str()).collect();
        let stand = vec![
            Cell::Count(compared.len() as u64),
            Cell::Count(agree.len() as u64),
            Cell::text(differ.join(", ")),
        ];
        let sources: BTreeSet<SourceFile> = fields
            .iter()
            .filter_map(|f| f.found.as_ref().ok())
            .flat_map(|f| f.uses.sources.iter().cloned())
            .collect();
        let whose: BTreeSet<String> = fields.iter().flat_map(|f| rests_on(&f.found)).collect();
        let line =
            |whose: String, found: Vec<Cell>, stand: Vec<Cell>, sources: Vec<SourceFile>| Row {
                key: format!("{id}/{}", if sources.is_empty() { "published" } else { "ours" }),
                cells: [known.clone(), vec![Cell::text(whose)], found, stand].concat(),
                sources,
            };
        out.push(Row {
            key: format!("{id}/published"),
            ..line(
                "published".into(),
                of(&|f| f.cells[0].clone()),
                vec![Cell::Empty; 3],
                Vec::new(),
            )
        });
        out.push(Row {
            key: format!("{id}/ours"),
            ..line(
                if whose.is_empty() { "ours".into() } else { in_words(&whose) },
                of(&|f| f.cells[1].clone()),
                stand,
                sources.into_iter().collect(),
            )
        });
    }
    Table {
        name: table.id.replace('.', "_"),
        title: title(table, "published, and ours under it"),
        columns,
        rows: out,
    }
}
