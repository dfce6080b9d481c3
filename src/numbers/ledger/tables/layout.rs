//! How a published table is set beside ours.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde_yaml::Value;

use crate::run::SourceFile;
use crate::table::{Cell, Column, Row, Table};

use super::super::Status;
use super::super::answers::Basis;
use super::super::compare::Compared;
use super::super::comparison::Comparison;
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
    how: &Comparison,
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
    how: &Comparison,
) -> [Cell; 2] {
    if form == Form::Range && numeric(value).is_some() {
        let range = |ends: Vec<String>, whole: &str| match <[String; 2]>::try_from(ends) {
            Ok(ends) => Cell::Range(ends),
            Err(_) => Cell::text(whole),
        };
        let stated = match value {
            Value::Sequence(items) => items.iter().map(shown).collect(),
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

/// What ours rests on, in words.
fn in_words(basis: &BTreeSet<Basis>) -> String {
    basis.iter().map(|basis| basis.words()).collect::<Vec<_>>().join(" and ")
}

/// A title as a sentence begins.
fn title(table: &PublishedTable, how: &str) -> String {
    let mut letters = table.title.chars();
    let first = letters.next().map(|c| c.to_uppercase().collect::<String>()).unwrap_or_default();
    format!("{first}{} ({}): {how}", letters.as_str(), table.place)
}

fn column(name: &str, is_key: bool, how: &Comparison) -> Column {
    let last = name.rsplit('.').next().unwrap_or(name);
    let unit = how.units.get(last).cloned().unwrap_or_default();
    Column {
        name: Cow::Owned(name.replace('.', "_")),
        unit: Cow::Owned(unit),
        meaning: Cow::Borrowed("As the published table has it"),
        is_key,
    }
}

/// A column, and how its cell comes from a line.
type Declared<'a, Line> = (Column, Box<dyn Fn(&Line) -> Cell + 'a>);

/// Lines under their columns; each has a key and the files it is from.
fn lined_up<Line>(
    (table, how): (&PublishedTable, &str),
    columns: Vec<Declared<'_, Line>>,
    lines: impl Iterator<Item = (String, Line, Vec<SourceFile>)>,
) -> Table {
    let cells = |line: &Line| columns.iter().map(|(_, cell)| cell(line)).collect();
    let rows =
        lines.map(|(key, line, sources)| Row { key, cells: cells(&line), sources }).collect();
    let (name, title) = (table.id.replace('.', "_"), title(table, how));
    Table { name, title, columns: columns.into_iter().map(|(column, _)| column).collect(), rows }
}

/// One line per field of every row: published, ours, how they stand.
fn one_below_another(
    table: &PublishedTable,
    keys: &[String],
    rows: &[FieldRow<'_>],
    how: &Comparison,
) -> Table {
    type Line<'r, 'a> = (&'r FieldRow<'a>, &'r Field<'a>);
    let new = |name, cell: fn(&Field<'_>) -> Cell| -> Declared<'_, Line<'_, '_>> {
        (column(name, false, how), Box::new(move |(_, field)| cell(field)))
    };
    let mut columns: Vec<Declared<'_, Line<'_, '_>>> = Vec::new();
    for key in keys {
        columns.push((column(key, true, how), Box::new(move |(row, _)| shown_key(row.1, key))));
    }
    // Some of the paper's tables have a column of that name themselves.
    let field = if keys.iter().any(|key| key == "field") { "part" } else { "field" };
    let (of_field, named) = new(field, |field| Cell::text(field.name.replace('.', " ")));
    columns.extend([
        (Column { is_key: true, ..of_field }, named),
        new("published", |field| field.cells[0].clone()),
        new("ours", |field| field.cells[1].clone()),
        new("whose", |field| Cell::text(in_words(&field.basis))),
        new("status", |field| Cell::text(field.compared.status.words())),
    ]);
    let lines = rows.iter().flat_map(|row| {
        let compared = row.2.iter().filter(|field| !field.compared.ours.is_empty());
        compared.map(move |field| {
            let sources = field.sources.iter().cloned().collect();
            (format!("{}/{}", row.0, field.name), (row, field), sources)
        })
    });
    lined_up((table, "published and ours, a field per line"), columns, lines)
}

fn shown_key(row: &[(String, Value)], key: &str) -> Cell {
    let value = row.iter().find(|(name, _)| name == key);
    value.map_or(Cell::Empty, |(_, value)| Cell::text(shown(value)))
}

/// A row's identity, its published values and its fields.
pub type FieldRow<'a> = (String, &'a [(String, Value)], Vec<Field<'a>>);

/// A published row, or ours under it.
struct Side<'r, 'a> {
    of: &'r FieldRow<'a>,
    is_ours: bool,
}

impl<'r, 'a> Side<'r, 'a> {
    fn whose(&self) -> String {
        let basis: BTreeSet<Basis> =
            self.of.2.iter().flat_map(|f| f.basis.iter().copied()).collect();
        match (self.is_ours, basis.is_empty()) {
            (false, _) => "published".into(),
            (true, true) => "ours".into(),
            (true, false) => in_words(&basis),
        }
    }

    fn cell(&self, name: &str) -> Cell {
        let field = self.of.2.iter().find(|field| field.name == name);
        field.map_or(Cell::Empty, |field| field.cells[usize::from(self.is_ours)].clone())
    }

    /// What is found in the fields that were compared and differ, or do not; in ours.
    fn found(&self, differs: Option<bool>, cell: impl Fn(Vec<&'r Field<'a>>) -> Cell) -> Cell {
        let asked = |field: &&Field<'_>| {
            let is = field.compared.status == Status::Differs;
            !field.compared.ours.is_empty() && differs.is_none_or(|differs| differs == is)
        };
        match self.is_ours {
            true => cell(self.of.2.iter().filter(asked).collect()),
            false => Cell::Empty,
        }
    }

    fn sources(&self) -> Vec<SourceFile> {
        let all = self.of.2.iter().filter(|_| self.is_ours).flat_map(|f| f.sources.iter().cloned());
        all.collect::<BTreeSet<_>>().into_iter().collect()
    }
}

/// Two rows per published row: the paper's and ours.
fn side_by_side(
    table: &PublishedTable,
    keys: &[String],
    names: &[String],
    rows: &[FieldRow<'_>],
    how: &Comparison,
) -> Table {
    let new = |name, cell: fn(&Side<'_, '_>) -> Cell| -> Declared<'_, Side<'_, '_>> {
        (column(name, false, how), Box::new(cell))
    };
    fn count(fields: Vec<&Field<'_>>) -> Cell {
        Cell::Count(fields.len() as u64)
    }
    let mut columns: Vec<Declared<'_, Side<'_, '_>>> = Vec::new();
    for key in keys {
        columns.push((column(key, true, how), Box::new(move |side| shown_key(side.of.1, key))));
    }
    columns.push(new("whose", |side| Cell::text(side.whose())));
    for name in names {
        columns.push((column(name, false, how), Box::new(move |side| side.cell(name))));
    }
    columns.extend([
        new("fields_compared", |side| side.found(None, count)),
        new("fields_that_agree", |side| side.found(Some(false), count)),
        new("fields_that_differ", |side| {
            side.found(Some(true), |fields| {
                Cell::text(fields.iter().map(|f| f.name).collect::<Vec<_>>().join(", "))
            })
        }),
    ]);
    let lines = rows.iter().flat_map(|of| {
        [("published", false), ("ours", true)].map(|(word, is_ours)| {
            let side = Side { of, is_ours };
            let sources = side.sources();
            (format!("{}/{word}", of.0), side, sources)
        })
    });
    lined_up((table, "published, and ours under it"), columns, lines)
}
