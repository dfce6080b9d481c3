//! A published table with ours under each row, in the same shape.

mod layout;

use std::collections::{BTreeMap, BTreeSet};

use serde_yaml::Value;

use crate::table::{Cell, Table};

use super::bindings::{Block, BoundTable, filled};
use super::catalogue::Catalogue;
use super::compare::{Asked, Compared, compare};
use super::evaluate::{self, Found, Lack};
use super::published::{Form, Kind, PublishedTable, numeric, shown};
use super::quantity::{Quantity, Take};
use super::tolerance::Tolerances;
use super::{Entry, Status, computed_from, in_words, rests_on};
use layout::{cells, laid_out};

/// A published table, compared.
pub struct ComparedTable {
    /// A row of the ledger per row of the table.
    pub entries: Vec<Entry>,
    /// Published beside ours; `None` where nothing of the table is bound to a quantity.
    pub table: Option<Table>,
    /// Bindings that lead nowhere.
    pub broken: Vec<String>,
}

/// One field of one row, compared.
struct Field {
    name: String,
    published: String,
    compared: Compared,
    /// Published and ours as they are set in the table.
    cells: [Cell; 2],
    found: Result<Found, Lack>,
}

/// Compares every row of a table.
pub fn compared(
    table: &PublishedTable,
    bound: BoundTable<'_>,
    catalogue: &Catalogue,
    tolerances: &Tolerances,
) -> ComparedTable {
    let blocks = bound.binding.map_or(&[][..], |b| &b.blocks);
    let keys = blocks.first().map_or_else(Vec::new, |block| block.keys.clone());
    let mut out = ComparedTable { entries: Vec::new(), table: None, broken: Vec::new() };
    let mut rows = Vec::new();
    let mut names: Vec<String> = Vec::new();
    for (i, row) in table.rows.iter().enumerate() {
        let of_row: Vec<&Block> = blocks.iter().filter(|block| block.holds(row)).collect();
        let keys = of_row.first().map_or(&keys, |block| &block.keys);
        let id = identity(&table.id, keys, row, i);
        let fields: Vec<Field> = row
            .iter()
            .filter(|(name, value)| !keys.contains(name) && !value.is_null())
            .map(|(name, value)| field(name, value, row, &of_row, bound, catalogue, tolerances))
            .collect();
        for field in &fields {
            if let Err(Lack::Broken(why)) = &field.found {
                out.broken.push(format!("{id}: {}: {why}", field.name));
            }
            if !names.contains(&field.name) && !field.compared.ours.is_empty() {
                names.push(field.name.clone());
            }
        }
        out.entries.push(entry(table, &id, &fields));
        rows.push((id, row, fields));
    }
    if !names.is_empty() {
        out.table = Some(laid_out(table, &keys, &names, &rows, bound));
    }
    out
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

fn field(
    name: &str,
    value: &Value,
    row: &[(String, Value)],
    blocks: &[&Block],
    bound: BoundTable<'_>,
    catalogue: &Catalogue,
    tolerances: &Tolerances,
) -> Field {
    let binding = blocks.iter().find_map(|block| block.fields.get(name));
    let none = || {
        let of = |key: &str| blocks.iter().find_map(|block| block.none.get(key));
        of(name).or_else(|| of("*"))
    };
    let (found, form) = match binding {
        Some(binding) => match Quantity::parse(&filled(binding, row)) {
            Ok(quantity) => (catalogue.evaluate(&quantity), form_of(&quantity)),
            Err(why) => (Err(Lack::Broken(why)), None),
        },
        None => (Err(none().map_or_else(unbound, lack)), None),
    };
    let unit = name.rsplit('.').next().and_then(|last| bound.all.units.get(last));
    let compared = match (&found, numeric(value)) {
        (Ok(_), Some((values, digits))) => {
            let form = form.unwrap_or(Form::List);
            let unit = unit.map_or("", String::as_str);
            let kind = Kind::Measured;
            let asked = Asked { values, form, kind, unit, digits, approx: false };
            compare(&asked, &found, tolerances)
        }
        (Ok(own), None) => words(value, own, &bound.all.words),
        (Err(lack), _) => Compared::lacking(lack),
    };
    let published = match (form, value) {
        (Some(form), Value::Sequence(items)) if items.len() == 2 => {
            items.iter().map(shown).collect::<Vec<_>>().join(form.joint())
        }
        _ => shown(value),
    };
    let cells = cells(value, form, &published, &compared, &found, &bound.all.words);
    Field { name: name.into(), published, compared, cells, found }
}

fn unbound() -> Lack {
    Lack::NotComputed("not bound to a quantity of ours".into())
}

/// What a block says of a field that nothing answers.
fn lack(value: &Value) -> Lack {
    match Quantity::parse(value) {
        Ok(Quantity::Nova(path, because)) => Lack::Nova { path, because },
        Ok(Quantity::None(why)) => Lack::NotComputed(why),
        _ => Lack::NotComputed(shown(value)),
    }
}

/// How a quantity's values belong together, where its form says so.
fn form_of(quantity: &Quantity) -> Option<Form> {
    match quantity {
        Quantity::Cells(cells) => match cells.take {
            Take::Of => Some(Form::Of),
            Take::Range => Some(Form::Range),
            _ => None,
        },
        Quantity::Range(_) => Some(Form::Range),
        Quantity::ShareOf(..) => Some(Form::Of),
        Quantity::Scale(_, of) | Quantity::Abs(of) => form_of(of),
        _ => None,
    }
}

/// Words against words, after the paper's abbreviations are written out.
fn words(value: &Value, own: &Found, dictionary: &BTreeMap<String, String>) -> Compared {
    let plain = |text: &str| text.to_lowercase().replace(['_', '-'], " ");
    let items = match value {
        Value::Sequence(items) => items.iter().map(shown).collect(),
        one => vec![shown(one)],
    };
    let known = |word: &str| plain(dictionary.get(word).map_or(word, String::as_str));
    let published: Vec<String> = items.iter().map(|word| known(word)).collect();
    let ours: Vec<String> = own
        .values
        .iter()
        .map(|value| match value {
            evaluate::Value::Text(text) => text.clone(),
            evaluate::Value::Number(x) => x.to_string(),
        })
        .collect();
    let same = ours.iter().map(|word| known(word)).eq(published.iter().cloned());
    let on_runs = !own.uses.origins.is_empty();
    Compared {
        ours: ours.join(", "),
        status: match (same, on_runs) {
            (false, _) => Status::Differs,
            (true, true) => Status::Replicated,
            (true, false) => Status::Reproduced,
        },
        gap: String::new(),
        because: "the same words".into(),
    }
}

/// A row of the ledger: it stands as well as the worst of its fields that were compared.
fn entry(table: &PublishedTable, id: &str, fields: &[Field]) -> Entry {
    let with = |status: Status| fields.iter().filter(|f| f.compared.status == status).count();
    let (reproduced, replicated, differs) =
        (with(Status::Reproduced), with(Status::Replicated), with(Status::Differs));
    let compared = reproduced + replicated + differs;
    let status = match (differs, replicated, reproduced) {
        (1.., ..) => Status::Differs,
        (0, 1.., _) => Status::Replicated,
        (0, 0, 1..) => Status::Reproduced,
        (0, 0, 0) if with(Status::NeedsNova) > 0 => Status::NeedsNova,
        (0, 0, 0) => Status::NotComputed,
    };
    let off: Vec<&str> = fields
        .iter()
        .filter(|f| f.compared.status == Status::Differs)
        .map(|f| f.name.as_str())
        .collect();
    let gaps: Vec<String> = fields
        .iter()
        .filter(|f| f.compared.status == Status::Differs && !f.compared.gap.is_empty())
        .map(|f| format!("{} {}", f.name, f.compared.gap))
        .collect();
    let because = if compared == 0 {
        fields.first().map_or_else(String::new, |f| f.compared.because.clone())
    } else {
        format!(
            "{} of {compared} compared fields agree, of {} in the row",
            compared - off.len(),
            fields.len()
        )
    };
    let mut from: BTreeSet<String> = BTreeSet::new();
    let mut files = BTreeSet::new();
    for field in fields {
        from.extend(rests_on(&field.found));
        files.extend(computed_from(&field.found));
    }
    let of = |pick: &dyn Fn(&Field) -> &str| {
        let shown = fields.iter().filter(|f| !f.compared.ours.is_empty() || compared == 0);
        shown.map(|f| format!("{} {}", f.name, pick(f))).collect::<Vec<_>>().join("; ")
    };
    Entry {
        id: id.to_owned(),
        place: table.place.clone(),
        statement: table.title.clone(),
        kind: "table".into(),
        unit: String::new(),
        published: of(&|f| &f.published),
        ours: if compared == 0 { String::new() } else { of(&|f| &f.compared.ours) },
        from: in_words(&from),
        status,
        gap: gaps.join("; "),
        because,
        computed_from: files.into_iter().collect(),
    }
}
