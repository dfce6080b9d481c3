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
pub(crate) fn laid_out(
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
            Value::Sequence(items) => {
                let ends: Result<_, _> = items.iter().map(|end| shown(end).parse()).collect();
                ends.unwrap_or_default()
            }
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

/// A row's identity, its published values and its fields.
pub(crate) type FieldRow<'a> = (String, &'a [(String, Value)], Vec<Field<'a>>);

/// A line of the table: what identifies it, each cell with its column, and its files.
struct Line {
    key: String,
    cells: Vec<(Column, Cell)>,
    sources: BTreeSet<SourceFile>,
}

/// Lines that have the same columns, under these.
fn lined_up(table: &PublishedTable, how: &str, lines: impl Iterator<Item = Line>) -> Table {
    let mut columns = Vec::new();
    let row = |line: Line| {
        let (own, cells): (Vec<Column>, Vec<Cell>) = line.cells.into_iter().unzip();
        columns = own;
        Row { key: line.key, cells, sources: line.sources.into_iter().collect() }
    };
    let rows = lines.map(row).collect();
    Table { name: table.id.replace('.', "_"), title: title(table, how), columns, rows }
}

/// A cell that says which line this is, with its column.
fn key(name: &str, cell: Cell, how: &ComparisonRules) -> (Column, Cell) {
    let (column, cell) = finding(name, cell, how);
    (Column { is_key: true, ..column }, cell)
}

/// A cell with its column.
fn finding(name: &str, cell: Cell, how: &ComparisonRules) -> (Column, Cell) {
    let last = name.rsplit('.').next().unwrap_or(name);
    let unit = how.units.get(last).cloned().unwrap_or_default();
    let column = Column {
        name: Cow::Owned(name.replace('.', "_")),
        unit: Cow::Owned(unit),
        meaning: Cow::Borrowed("As the published table has it"),
        is_key: false,
    };
    (column, cell)
}

/// The cells of a row's keys.
fn known(keys: &[String], row: &[(String, Value)], how: &ComparisonRules) -> Vec<(Column, Cell)> {
    let shown_key = |name: &String| {
        let value = row.iter().find(|(own, _)| own == name);
        value.map_or(Cell::Empty, |(_, value)| Cell::text(shown(value)))
    };
    keys.iter().map(|name| key(name, shown_key(name), how)).collect()
}

/// One line per field of every row: published, ours, how they stand.
fn one_below_another(
    table: &PublishedTable,
    keys: &[String],
    rows: &[FieldRow<'_>],
    how: &ComparisonRules,
) -> Table {
    // Some of the paper's tables have a column of that name themselves.
    let name = if keys.iter().any(|key| key == "field") { "part" } else { "field" };
    let line = |(id, own, _): &FieldRow<'_>, field: &Field<'_>| {
        let [published, ours] = field.cells.clone();
        let mut cells = known(keys, own, how);
        cells.extend([
            key(name, Cell::text(field.name.replace('.', " ")), how),
            finding("published", published, how),
            finding("ours", ours, how),
            finding("whose", Cell::text(in_words(&field.basis)), how),
            finding("status", Cell::text(field.compared.status.words()), how),
        ]);
        Line { key: format!("{id}/{}", field.name), cells, sources: field.sources.clone() }
    };
    let lines = rows.iter().flat_map(|row| compared(row).map(move |field| line(row, field)));
    lined_up(table, "published and ours, a field per line", lines)
}

/// The fields of a row that have something of ours beside them.
fn compared<'r, 'a>((.., fields): &'r FieldRow<'a>) -> impl Iterator<Item = &'r Field<'a>> {
    fields.iter().filter(|field| !field.compared.ours.is_empty())
}

/// Two lines per published row: the paper's and ours.
fn side_by_side(
    table: &PublishedTable,
    keys: &[String],
    names: &[String],
    rows: &[FieldRow<'_>],
    how: &ComparisonRules,
) -> Table {
    let line = |row: &FieldRow<'_>, side: usize| {
        let (id, own, fields) = row;
        let is_ours = side == 1;
        let basis: BTreeSet<Basis> = fields.iter().flat_map(|f| f.basis.iter().copied()).collect();
        let whose = match is_ours && !basis.is_empty() {
            true => in_words(&basis),
            false => ["published", "ours"][side].to_owned(),
        };
        let mut cells = known(keys, own, how);
        cells.push(key("whose", Cell::text(whose), how));
        cells.extend(names.iter().map(|name| {
            let field = fields.iter().find(|field| field.name == name);
            finding(name, field.map_or(Cell::Empty, |field| field.cells[side].clone()), how)
        }));
        let (differ, agree): (Vec<_>, Vec<_>) =
            compared(row).partition(|field| field.compared.status == Status::Differs);
        let (count, agree) = (differ.len() + agree.len(), agree.len());
        let differ = differ.iter().map(|field| field.name).collect::<Vec<_>>().join(", ");
        let said = |cell: Cell| if is_ours { cell } else { Cell::Empty };
        cells.extend([
            finding("fields_compared", said(Cell::Count(count as u64)), how),
            finding("fields_that_agree", said(Cell::Count(agree as u64)), how),
            finding("fields_that_differ", said(Cell::text(differ)), how),
        ]);
        let sources = fields.iter().filter(|_| is_ours).flat_map(|f| f.sources.iter().cloned());
        Line {
            key: format!("{id}/{}", ["published", "ours"][side]),
            cells,
            sources: sources.collect(),
        }
    };
    let lines = rows.iter().flat_map(|row| [line(row, 0), line(row, 1)]);
    lined_up(table, "published, and ours under it", lines)
}
