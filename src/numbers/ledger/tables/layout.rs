//! How a published table is set beside ours.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde_yaml::Value;

use crate::digits::Rounded;
use crate::run::SourceFile;
use crate::table::{Cell, Column, Row, Table};

use super::super::Status;
use super::super::answers::{Basis, in_words};
use super::super::compare::Compared;
use super::super::comparison::ComparisonRules;
use super::super::published::{Form, PublishedTable, numeric, shown};
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
    how: &ComparisonRules,
) -> Table {
    let fields = rows.iter().flat_map(|(_, _, fields)| fields);
    let filled = fields.filter(|field| names.iter().any(|name| name == field.name)).count();
    let is_sparse = 2 * filled < names.len() * rows.len();
    if names.len() > MOST_COLUMNS || is_sparse {
        one_below_another(table, keys, rows, how)
    } else {
        side_by_side(table, keys, names, rows, how)
    }
}

/// A field as the table shows it: a range by its ends, and the letters that the paper uses
/// for states in the words that ours are in.
pub fn cells(
    value: &Value,
    form: Form,
    published: &str,
    compared: &Compared,
    how: &ComparisonRules,
) -> [Cell; 2] {
    if form == Form::Range && numeric(value).is_some() {
        let range = |ends: Vec<Rounded>, whole: &str| match <[Rounded; 2]>::try_from(ends) {
            Ok(ends) => Cell::Range(ends),
            Err(_) => Cell::text(whole),
        };
        let stated = match value {
            Value::Sequence(items) => items.iter().flat_map(|end| shown(end).parse()).collect(),
            _ => Vec::new(),
        };
        return [range(stated, published), range(compared.each.clone(), &compared.ours)];
    }
    let letter = |word: &str| how.words.get(word).filter(|_| word.len() == 1);
    let written = if matches!(value, Value::Number(_)) || compared.ours.is_empty() {
        published.to_owned()
    } else {
        let words = published.split(", ").map(|word| letter(word).map_or(word, String::as_str));
        words.collect::<Vec<_>>().join(", ")
    };
    [Cell::text(written), Cell::text(&compared.ours)]
}

/// A title as a sentence begins.
fn title(table: &PublishedTable, how: &str) -> String {
    let mut letters = table.title.chars();
    let first = letters.next().map(|c| c.to_uppercase().collect::<String>()).unwrap_or_default();
    format!("{first}{} ({}): {how}", letters.as_str(), table.place)
}

fn column(name: &str, is_key: bool, how: &ComparisonRules) -> Column {
    let last = name.rsplit('.').next().unwrap_or(name);
    let unit = how.units.get(last).cloned().unwrap_or_default();
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
    how: &ComparisonRules,
) -> Table {
    let mut columns: Vec<Column> = keys.iter().map(|key| column(key, true, how)).collect();
    // Some of the paper's tables have a column of that name themselves.
    let field = if keys.iter().any(|key| key == "field") { "part" } else { "field" };
    columns.push(column(field, true, how));
    for name in ["published", "ours", "whose", "status"] {
        columns.push(column(name, false, how));
    }
    let mut out = Vec::new();
    for (id, own, fields) in rows {
        let known: Vec<Cell> = keys.iter().map(|key| shown_key(own, key)).collect();
        for field in fields.iter().filter(|f| !f.compared.ours.is_empty()) {
            let found = [
                Cell::text(field.name.replace('.', " ")),
                field.cells[0].clone(),
                field.cells[1].clone(),
                Cell::text(in_words(&field.basis)),
                Cell::text(field.compared.status.words()),
            ];
            let sources = field.sources.iter().cloned().collect();
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
pub type FieldRow<'a> = (String, &'a [(String, Value)], Vec<Field<'a>>);

/// Two rows per published row: the paper's and ours.
fn side_by_side(
    table: &PublishedTable,
    keys: &[String],
    names: &[String],
    rows: &[FieldRow<'_>],
    how: &ComparisonRules,
) -> Table {
    let mut columns: Vec<Column> = keys.iter().map(|key| column(key, true, how)).collect();
    columns.push(column("whose", true, how));
    columns.extend(names.iter().map(|name| column(name, false, how)));
    for name in ["fields_compared", "fields_that_agree", "fields_that_differ"] {
        columns.push(column(name, false, how));
    }
    let mut out = Vec::new();
    for (id, own, fields) in rows {
        let known: Vec<Cell> = keys.iter().map(|key| shown_key(own, key)).collect();
        let of = |pick: &dyn Fn(&Field<'_>) -> Cell| -> Vec<Cell> {
            names
                .iter()
                .map(|name| {
                    fields.iter().find(|f| f.name == name.as_str()).map_or(Cell::Empty, pick)
                })
                .collect()
        };
        let compared: Vec<&Field<'_>> =
            fields.iter().filter(|f| !f.compared.ours.is_empty()).collect();
        let (differ, agree): (Vec<&Field<'_>>, Vec<&Field<'_>>) =
            compared.iter().partition(|f| f.compared.status == Status::Differs);
        let differ: Vec<&str> = differ.iter().map(|f| f.name).collect();
        let stand = vec![
            Cell::Count(compared.len() as u64),
            Cell::Count(agree.len() as u64),
            Cell::text(differ.join(", ")),
        ];
        let sources: BTreeSet<SourceFile> =
            fields.iter().flat_map(|f| f.sources.iter().cloned()).collect();
        let whose: BTreeSet<Basis> = fields.iter().flat_map(|f| f.basis.iter().copied()).collect();
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
